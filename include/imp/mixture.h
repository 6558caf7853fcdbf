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

/* Where points are compared: a map that they go through before anything else. */
typedef enum imp_metric_kind {
    IMP_METRIC_AUTO,     /* chosen */
    IMP_METRIC_AS_IS,    /* the points themselves */
    IMP_METRIC_SCALED,   /* centred, and divided by how far they spread in all */
    IMP_METRIC_STANDARD, /* centred, and every feature divided by its own spread */
    IMP_METRIC_UNIT,     /* centred, then scaled to length 1 */
    IMP_METRIC_ROOT,     /* square roots, scaled to length 1, centred, scaled to length 1 */
    IMP_METRIC_COSINE,   /* scaled to length 1 and not centred; never chosen */
} imp_metric_kind;

/* "auto", "as-is", "scaled", "standard", "unit", "root", "cosine"; NULL for another number. */
IMP_API const char *imp_metric_name(imp_metric_kind kind);

/* Whether that is followed by a division by the covariance within the classes. */
typedef enum imp_whitening {
    IMP_WHITEN_AUTO, /* chosen; not with a metric that is given */
    IMP_WHITEN_NO,
    IMP_WHITEN_YES,
} imp_whitening;

/* What is done about options that are left open. */
typedef enum imp_preset {
    IMP_PRESET_AUTO, /* the points choose, as imp_mixture_fit() says */
    IMP_PRESET_PAPER /* the paper's: alpha 0.1, variances 5, 1 step, points as they are */
} imp_preset;

typedef struct imp_mixture_options {
    size_t size; /* sizeof(imp_mixture_options), so that the struct may grow */

    imp_rule rule; /* in the squared unit of the points */
    imp_preset preset;
    imp_metric_kind metric;
    imp_whitening whitening;
    double unlabeled_weight; /* what an unlabelled point counts for where a labelled one counts 1,
                                from 0 to 1; IMP_AUTO: chosen */
    double open_set_rate;    /* see imp_mixture_set_open_set_rate(); the default is 0.05 */

    /* Where points are known in several ways at once, as pictures and captions are: the numbers of
     * a point are those of its views, one after the other. 0 or 1: of one kind. `metric` is that of
     * every view. */
    size_t view_count;
    const size_t *view_dimensions; /* (view_count): how many numbers each has; they sum to d */
    const double *view_weights;    /* (view_count): how much each counts; NULL: chosen */
    const double *point_weight; /* (n): what each point counts for in the means of clusters, above
                                   0; NULL: 1. Not with the paper's rule. Read while fitting */
} imp_mixture_options;

/* The defaults: everything is left open, and chosen by the points. `size` is the caller's
 * sizeof(imp_mixture_options). */
IMP_API void imp_mixture_options_init(imp_mixture_options *options, size_t size);

static inline imp_mixture_options imp_mixture_defaults(void)
{
    imp_mixture_options options;
    imp_mixture_options_init(&options, sizeof options);
    return options;
}

/* Fits Algorithm 1 to `n` points of `d` floats, row by row in `x`.
 *
 * y[i] is a class in 0 .. classes-1, or IMP_UNLABELED; y may be NULL when no point has a label, and
 * then lambda must be given. Points are taken in order, labelled ones first; the clusters made
 * depend on that order. `options` may be NULL for the defaults.
 *
 * What is open is chosen by the paper's loss: labelled points are held out in turn, and the metric,
 * lambda and variance by which the others classify them best are taken, the simpler ones unless
 * others are better. So points, a hundred times these points and a thousandth of them give the same
 * answers but for rounding. What unlabelled points are good for is chosen the same way: nothing;
 * soft shares in the clusters; or labels that spread to them from neighbour to neighbour, after
 * which they count as labelled points by how sure that is (up to 2000 of them, spread evenly, and
 * where no more than 2000 points have labels). Where no class has two labelled points there is
 * nothing to hold out: points are then scaled to length 1, or standardised where they have few
 * features or features of different units, labels spread, and imp_mixture_choice_of() says that the
 * data say little. The choice looks at up to 500 labelled points of up to 100 classes, and as many
 * unlabelled ones, so its time does not grow with theirs.
 *
 * Several views each choose a metric; then held-out points choose what the views weigh, 0 being
 * allowed. The squared distance of two points is the mean of what the views say by these weights,
 * each in units of its own spread; so no variance, lambda or alpha can be given with them.
 *
 * A variance or lambda that is given is one of the points as they are, so they stay as they are. A
 * rule with an alpha, or with both variances and lambda, is the paper's: what it leaves open is as
 * in IMP_PRESET_PAPER.
 *
 * On success *out is a new mixture; free it with imp_mixture_free(). On failure *out is NULL:
 * IMP_EINVAL for a class without points, a value that is not finite (names its row), no points, no
 * dimensions, points all smaller than 1e-30 but not 0, an option out of range or a lambda that is
 * estimated as no finite number; IMP_EUNSUPPORTED for more than 2^32 - 1 points; IMP_ENOMEM. */
IMP_API imp_status imp_mixture_fit(const float *x, const int32_t *y, size_t n, size_t d,
                                   const imp_mixture_options *options, imp_mixture **out,
                                   imp_error *error);

/* NULL is allowed. */
IMP_API void imp_mixture_free(imp_mixture *mixture);

/* A copy of `mixture` to which the `n` points have been added, in order and one after the other:
 * adding them in two calls gives the same bits as in one, another order may give other clusters.
 *
 * The metric and the variances stay as fitted, and so does lambda, unless a class comes to more
 * than 256 clusters: then the nearest of them are joined until 128 are left, and lambda is raised
 * to match. A labelled point joins the clusters of its
 * class by the soft rule, through their running sums, or starts a new one when it is farther than
 * lambda from all of them; a point of a new class starts a cluster; an unlabelled point may join
 * any cluster or start one. New classes continue the numbering without a gap. Where the weight of
 * unlabelled points was chosen, it holds for those that are added, until all of them weigh as much
 * beside the labelled ones as they were found to be good for; after that they move no cluster of a
 * class.
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
 * open-set mode the clusters without a label compete as "none of these", and so does the distance
 * from labelled points beyond which few of the known ones are, where the points chose
 * (imp_mixture_set_open_set_rate()).
 * On failure nothing is written: IMP_EINVAL for a value that is not finite or when `d` is not the
 * mixture's; IMP_ENOMEM.
 */
IMP_API imp_status imp_mixture_predict(const imp_mixture *mixture, const float *x, size_t n,
                                       size_t d, bool open_set,
                                       const imp_mixture_predictions *predictions,
                                       imp_error *error);

/* How many points of the known classes may be sent to "none of these" in open-set mode: from 0 to
 * 1, 0.05 for one in twenty. The distance is that beyond which so many of the labelled points are
 * from the nearest other one; where no class has two, there is no such distance. It is measured
 * between points as they come, or with standardised features where these are of different units,
 * whatever the metric of the clusters; up to 2000 labelled points are kept for it. Changes the
 * mixture, so no other thread may be using it. IMP_EINVAL for another rate. */
IMP_API imp_status imp_mixture_set_open_set_rate(imp_mixture *mixture, double rate,
                                                 imp_error *error);

/* out(n, d) = the points in the metric of the mixture, which is where its clusters and distances
 * are. Fails as imp_mixture_predict() does. */
IMP_API imp_status imp_mixture_transform(const imp_mixture *mixture, const float *x, size_t n,
                                         size_t d, float *out, imp_error *error);

/* What was chosen when the mixture was fitted, and why. */
typedef struct imp_mixture_choice {
    size_t size; /* sizeof(imp_mixture_choice), so that the struct may grow */

    imp_metric_kind metric;
    bool whitened;
    double unlabeled_weight; /* of each unlabelled point that was fitted */
    size_t held_out;         /* labelled points that chose; 0 if none did */
    double loss;     /* their mean cross-entropy by what was chosen; NAN if there were none */
    double accuracy; /* the share of them that was classified rightly; likewise */
    double open_set_distance; /* squared, from the nearest labelled point, beyond which a point is
                                 none of the classes; INFINITY */
    size_t candidates;        /* for imp_mixture_candidate_at() */
    bool little;              /* open numbers were not chosen but guessed: nothing to hold out */
    bool every_point;         /* every labelled point became a cluster: nearest neighbours */
    size_t views;             /* for imp_mixture_view_at(); 0: points are of one kind */
} imp_mixture_choice;

/* `size` is the caller's sizeof(imp_mixture_choice). */
IMP_API void imp_mixture_choice_of(const imp_mixture *mixture, imp_mixture_choice *choice,
                                   size_t size);

/* A metric that was tried, with the best lambda and variance for it. */
typedef struct imp_mixture_candidate {
    imp_metric_kind metric;
    bool whitened;
    double lambda; /* in parts of the median squared distance within classes: 0, 0.5 or INFINITY */
    double loss;   /* mean cross-entropy of the points held out */
} imp_mixture_candidate;

/* Candidate `index` of 0 .. candidates-1. */
IMP_API imp_mixture_candidate imp_mixture_candidate_at(const imp_mixture *mixture, size_t index);

/* One of several views. */
typedef struct imp_mixture_view {
    size_t dimensions;
    imp_metric_kind metric;
    double weight; /* from 0 to 1; those of all views sum to 1 */
    double loss;   /* mean cross-entropy of the points held out, by this view alone; NAN: unknown */
} imp_mixture_view;

/* View `index` of 0 .. views-1. */
IMP_API imp_mixture_view imp_mixture_view_at(const imp_mixture *mixture, size_t index);

/* What a mixture is. */
typedef struct imp_mixture_summary {
    size_t dimensions, classes, clusters;
    imp_rule rule; /* as used when it was fitted; alpha and steps are open in a mixture from a file
                      of an earlier version, which did not keep them */
    double weight; /* how many points went into it, up to rounding and dropped clusters */
} imp_mixture_summary;

/* Counts what the mixture has now. */
IMP_API imp_mixture_summary imp_mixture_summarize(const imp_mixture *mixture);

typedef struct imp_mixture_cluster {
    int32_t label; /* a class or IMP_UNLABELED */
    double sigma;
    double weight;      /* sum of its points' shares */
    const double *mean; /* (dimensions), in the mixture's metric; lives as long as the mixture */
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
