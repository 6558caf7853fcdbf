/*
 * mixture.h - a fitted set of clusters: what a few labelled (and unlabelled) points became.
 *
 * A mixture is fitted by Algorithm 1 of the paper and then classifies new points. It is immutable:
 * any number of threads may use one at once, and adding points or merging makes a new mixture and
 * leaves the old one as it was.
 */
#ifndef IMP_MIXTURE_H
#define IMP_MIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/export.h>
#include <imp/method.h>
#include <imp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct imp_mixture imp_mixture;

typedef struct imp_mixture_options {
    size_t size; /* sizeof(imp_mixture_options), so that the struct may grow */

    double sigma_l;       /* variance of labelled clusters, from 1e-30 to 1e30; default 5 */
    double sigma_u;       /* of unlabelled ones; default 5 */
    double alpha;         /* concentration of the Dirichlet process; above 0; default 0.1 */
    double lambda;        /* threshold for squared distances; NAN (the default): estimated */
    size_t cluster_steps; /* repeats of the clustering; at least 1, the default */
} imp_mixture_options;

/* Sets the size, and all options to their defaults. */
IMP_API void imp_mixture_options_init(imp_mixture_options *options);

/* Fits Algorithm 1 to `n` points of `d` floats, row by row in `x`.
 *
 * y[i] is a class in 0 .. classes-1, or IMP_UNLABELED; y may be NULL when no point has a label, and
 * then lambda must be given. Points are taken in order, labelled ones first; the clusters made
 * depend on that order. `options` may be NULL for the defaults.
 *
 * On success *out is a new mixture; free it with imp_mixture_free(). On failure *out is NULL:
 * IMP_EINVAL for a class without points, a value that is not finite (names its row), no points, no
 * dimensions, an option out of range or a lambda that is estimated as no finite number;
 * IMP_EUNSUPPORTED for more than 2^32 - 1 points; IMP_ENOMEM. */
IMP_API imp_status imp_mixture_fit(const float *x, const int32_t *y, size_t n, size_t d,
                                   const imp_mixture_options *options, imp_mixture **out,
                                   imp_error *error);

/* NULL is allowed. */
IMP_API void imp_mixture_free(imp_mixture *mixture);

/* A copy of `mixture` to which the `n` points have been added, in order and one after the other:
 * adding them in two calls gives the same bits as in one, another order may give other clusters.
 *
 * lambda and the variances stay as fitted. A labelled point joins the clusters of its class by the
 * soft rule, through their running sums, or starts a new one when it is farther than lambda from
 * all of them; a point of a new class starts a cluster; an unlabelled point may join any cluster or
 * start one. New classes continue the numbering without a gap.
 *
 * On failure *out is NULL, as for imp_mixture_fit(); also when `d` is not the mixture's. */
IMP_API imp_status imp_mixture_add(const imp_mixture *mixture, const float *x, const int32_t *y,
                                   size_t n, size_t d, imp_mixture **out, imp_error *error);

/* A new mixture of the clusters of both, whose labels must mean the same classes. Those of `other`
 * are taken in order: one whose mean is within lambda of a cluster of the same label is fused with
 * the nearest such cluster, any other becomes one more. lambda and the variances are those of
 * `mixture`. On failure *out is NULL: IMP_EINVAL when the dimensions differ, IMP_ENOMEM. */
IMP_API imp_status imp_mixture_merge(const imp_mixture *mixture, const imp_mixture *other,
                                     imp_mixture **out, imp_error *error);

/* Where predictions go; each array may be NULL if it is not wanted. */
typedef struct imp_mixture_predictions {
    int32_t *label; /* (n): a class; IMP_UNLABELED for none of these in open-set mode, and always
                       when the mixture has no classes */
    float
        *probability; /* (n, classes), or (n, classes + 1) in open-set mode: none of these, last */
    float *distance;  /* (n): squared distance to the mean of the cluster that decided */
    int32_t *cluster; /* (n): that cluster */
} imp_mixture_predictions;

/* Classifies `n` points of `d` floats: a class scores by the density of its best cluster. In
 * open-set mode the clusters without a label compete as "none of these". On failure nothing is
 * written: IMP_EINVAL for a value that is not finite or when `d` is not the mixture's; IMP_ENOMEM.
 */
IMP_API imp_status imp_mixture_predict(const imp_mixture *mixture, const float *x, size_t n,
                                       size_t d, bool open_set,
                                       const imp_mixture_predictions *predictions,
                                       imp_error *error);

/* What a mixture is. */
typedef struct imp_mixture_summary {
    size_t dimensions, classes, clusters;
    double lambda, sigma_l, sigma_u;
    double weight; /* how many points went into it, up to rounding and dropped clusters */
} imp_mixture_summary;

/* Counts what the mixture has now; lambda and the variances are as given or estimated when it was
 * fitted. */
IMP_API imp_mixture_summary imp_mixture_summarize(const imp_mixture *mixture);

typedef struct imp_mixture_cluster {
    int32_t label; /* a class or IMP_UNLABELED */
    double sigma;
    double weight;      /* sum of its points' shares */
    const double *mean; /* (dimensions); lives as long as the mixture */
} imp_mixture_cluster;

/* Cluster `index` of 0 .. clusters-1, in the order of creation. */
IMP_API imp_mixture_cluster imp_mixture_cluster_at(const imp_mixture *mixture, size_t index);

/* Writes a description for people, a line per class, into `text` as snprintf() does: cut to `size`
 * bytes and terminated; returns the length that all of it has. */
IMP_API size_t imp_mixture_describe(const imp_mixture *mixture, char *text, size_t size);

/* A text of the application's own that goes with the mixture into its file and back, and to what
 * grows from it: the names of its classes, for instance. NULL if there is none; it lives as long as
 * the mixture or until it is set. */
IMP_API const char *imp_mixture_note(const imp_mixture *mixture);

/* Sets the note to a copy of `note`, or to none if that is NULL. This alone changes a mixture, so
 * no other thread may be using it. On failure, IMP_ENOMEM, the note is as it was. A note that is
 * not UTF-8 is refused when the mixture is saved. */
IMP_API imp_status imp_mixture_set_note(imp_mixture *mixture, const char *note, imp_error *error);

/* Writes the mixture atomically to a safetensors file. What imp_mixture_load() reads back predicts,
 * and grows, to the same bits. */
IMP_API imp_status imp_mixture_save(const imp_mixture *mixture, const char *path, imp_error *error);

/* On failure *out is NULL: IMP_EIO, IMP_EFORMAT for a file that is no sound mixture,
 * IMP_EUNSUPPORTED for tensors of kinds that no mixture has, IMP_ENOMEM. */
IMP_API imp_status imp_mixture_load(const char *path, imp_mixture **out, imp_error *error);

/* The same without a file, for a mixture that goes into a database or through a pipe: the bytes
 * that imp_mixture_save() writes. On success *bytes are *size bytes of new memory; free them with
 * imp_mixture_bytes_free(). On failure, IMP_ENOMEM or IMP_EINVAL for the note, *bytes is NULL. */
IMP_API imp_status imp_mixture_to_bytes(const imp_mixture *mixture, unsigned char **bytes,
                                        size_t *size, imp_error *error);

/* NULL is allowed. */
IMP_API void imp_mixture_bytes_free(unsigned char *bytes);

/* imp_mixture_load() of a file's bytes, which stay the caller's. */
IMP_API imp_status imp_mixture_from_bytes(const unsigned char *bytes, size_t size,
                                          imp_mixture **out, imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
