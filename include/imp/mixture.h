/*
 * mixture.h - a classifier made of clusters, fitted to a few labelled (and unlabelled) points.
 *
 * A mixture is fitted by Algorithm 1 of the paper and then classifies new points. It is immutable
 * but for its note and its open-set rate: any number of threads may use it at once, and adding
 * points or merging makes a new mixture and leaves the old one as it was.
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

/* How points are compared: the map that is applied to them first. */
typedef enum imp_metric_kind {
    IMP_METRIC_AUTO,     /* chosen from the data */
    IMP_METRIC_AS_IS,    /* the points themselves */
    IMP_METRIC_SCALED,   /* centred, and divided by their overall spread */
    IMP_METRIC_STANDARD, /* centred, and every feature divided by its own spread */
    IMP_METRIC_UNIT,     /* centred, then scaled to length 1 */
    IMP_METRIC_ROOT,     /* square roots, scaled to length 1, centred, scaled to length 1 */
    IMP_METRIC_COSINE,   /* scaled to length 1, not centred; never chosen automatically */
} imp_metric_kind;

/* "auto", "as-is", "scaled", "standard", "unit", "root" or "cosine"; NULL for any other value. */
IMP_API const char *imp_metric_name(imp_metric_kind kind);

/* Whether the within-class covariance is then whitened. */
typedef enum imp_whitening {
    IMP_WHITEN_AUTO, /* chosen from the data; no if a metric is given */
    IMP_WHITEN_NO,
    IMP_WHITEN_YES,
} imp_whitening;

/* How options that are left open are set. */
typedef enum imp_preset {
    IMP_PRESET_AUTO, /* from the data, as described at imp_mixture_fit() */
    IMP_PRESET_PAPER /* as in the paper: alpha 0.1, variances 5, 1 step, points as they are */
} imp_preset;

typedef struct imp_mixture_options {
    size_t size; /* sizeof(imp_mixture_options), so that the struct may grow */

    imp_rule rule; /* variances and lambda are in squared units of the points */
    imp_preset preset;
    imp_metric_kind metric;
    imp_whitening whitening;
    double unlabeled_weight; /* weight of an unlabelled point, from 0 to 1; a labelled point has
                                weight 1; IMP_AUTO: chosen from the data */
    double open_set_rate;    /* see imp_mixture_set_open_set_rate(); the default is 0.05 */

    /* For points described in several ways at once, as by picture and caption: the numbers of a
     * point are those of its views, one after the other. 0 or 1: a single view. `metric` applies to
     * every view. */
    size_t view_count;
    const size_t *view_dimensions; /* (view_count): the dimensions of each, which sum to d */
    const double *view_weights; /* (view_count): the weight of each; NULL: chosen from the data */
    const double *point_weight; /* (n): the weight of each point in the means of clusters, above 0;
                                   NULL: 1. Not with the paper's rule. Only read while fitting */
} imp_mixture_options;

/* The defaults: everything is left open, to be chosen from the data. `size` is the caller's
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
 * y[i] is a class in 0 .. classes-1, or IMP_UNLABELED; y may be NULL if no point has a label; then
 * lambda must be given. Points are taken in order, labelled ones first; the clusters made depend on
 * that order. `options` may be NULL for the defaults.
 *
 * What is left open is chosen by cross-validation with the paper's loss: labelled points are held
 * out in turn, and the metric, lambda and variance with which the others classify them best are
 * used, with a preference for the simpler ones. Scaling all points by a hundred or a thousandth
 * therefore gives the same answers but for rounding. How unlabelled points are used is chosen the
 * same way: not at all; by soft assignment to clusters; or by label propagation from neighbour to
 * neighbour, after which they count as labelled points, weighted by confidence, and each of these
 * is replaced by the mean of itself and its neighbours of the same class (up to 2000 of them,
 * evenly spaced, and only if no more than 2000 points have labels). If no class has two labelled
 * points, nothing can be held out: points are then scaled to length 1, or standardised if they have
 * few features or features of different units, labels are propagated, and imp_mixture_choice_of()
 * reports this as `little`. The choice uses up to 500 labelled points of up to 100 classes, and as
 * many unlabelled ones, so its time is bounded.
 *
 * With several views, each gets a metric of its own; then held-out points choose the weights of the
 * views, which may be 0. The squared distance of two points is the weighted mean of their squared
 * distances in the views, each in units of the view's own spread; so no variance, lambda or alpha
 * can be given with several views.
 *
 * A given variance or lambda refers to the points as they are, so no metric is chosen then. A rule
 * with an alpha, or with both variances and lambda, is the paper's: what it leaves open is as in
 * IMP_PRESET_PAPER.
 *
 * Besides x, y and the clusters memory is needed for the labelled points, a sample of 10,000, and
 * up to 256 MB of unlabelled points; so x may be a mapped file that is larger than memory. The
 * paper's rule needs twelve bytes per point.
 *
 * On success *out is a new mixture; free it with imp_mixture_free(). On failure *out is NULL:
 * IMP_EINVAL for a class without points, a value that is not finite (names its row), no points, no
 * dimensions, points all smaller than 1e-30 but not 0, an option out of range or an estimated
 * lambda that is not finite; IMP_EUNSUPPORTED for more than 2^32 - 1 points; IMP_ENOMEM. */
IMP_API imp_status imp_mixture_fit(const float *x, const int32_t *y, size_t n, size_t d,
                                   const imp_mixture_options *options, imp_mixture **out,
                                   imp_error *error);

/* NULL is allowed. */
IMP_API void imp_mixture_free(imp_mixture *mixture);

/* Makes a copy of `mixture` with the `n` points added, one after the other: adding them in two
 * calls gives the same bits as in one; another order may give other clusters.
 *
 * A labelled point is softly assigned to the clusters of its class, through their running sums, or
 * starts a new one if it is farther than lambda from all of them; a point of a new class starts a
 * cluster; an unlabelled point may join any cluster or, if it is very far from all, start one,
 * which can be named later (imp_mixture_name_cluster()); if the rest is chosen again, groups that
 * are too far and too many for chance start clusters, too. New classes continue the numbering
 * without a gap. If the weight of unlabelled points was chosen from the data, it also applies to
 * those that are added, until their total weight relative to the labelled points reaches what was
 * found to help; after that they no longer move a cluster that has a class.
 *
 * With the paper's rule, lambda and the variances stay as fitted. Otherwise the mixture keeps a
 * sample of the points it has seen: up to 2000 labelled ones (or two per class, if that is more),
 * spread evenly over the classes, and up to 1000 unlabelled ones. Once a quarter of the sample is
 * new, there are a quarter more classes, or there are twice as many clusters as sampled points,
 * everything that was left open is chosen again from the sample, and the clusters are made from it
 * anew; each sampled point weighs as much as the points it stands for. The clusters and their
 * numbers change then. As long as the sample holds all points, this is the same as fitting to all
 * of them.
 *
 * On failure *out is NULL, as for imp_mixture_fit(), and also if `d` is not the mixture's. */
IMP_API imp_status imp_mixture_add(const imp_mixture *mixture, const float *x, const int32_t *y,
                                   size_t n, size_t d, imp_mixture **out, imp_error *error);

/* Makes a new mixture from two whose labels mean the same classes.
 *
 * With the paper's rule, the clusters of `other` are taken in order: one whose mean is within
 * lambda of a cluster with the same label is merged into the nearest such cluster, any other is
 * added; lambda and the variances are those of `mixture`. Otherwise the samples of both are joined,
 * and what the options of `mixture` left open is chosen from them. On failure *out is NULL:
 * IMP_EINVAL if the dimensions or views differ, or if only one uses the paper's rule; IMP_ENOMEM.
 */
IMP_API imp_status imp_mixture_merge(const imp_mixture *mixture, const imp_mixture *other,
                                     imp_mixture **out, imp_error *error);

/* The same, but class c of `other` is class number[c] of `mixture`, or a new one; new ones continue
 * the numbering without a gap. IMP_EINVAL for numbers that do not. */
IMP_API imp_status imp_mixture_merge_as(const imp_mixture *mixture, const imp_mixture *other,
                                        const int32_t *number, imp_mixture **out, imp_error *error);

/* Makes a copy without a class; the numbers of the classes above it go down by one. On failure *out
 * is NULL: IMP_EINVAL for a class that does not exist or is the only one; IMP_ENOMEM. */
IMP_API imp_status imp_mixture_forget_class(const imp_mixture *mixture, int32_t class_number,
                                            imp_mixture **out, imp_error *error);

/* Makes a copy without these clusters and the points of the sample that belong to them. On failure
 * *out is NULL: IMP_EINVAL for a cluster that does not exist, or if a class would have none left;
 * IMP_ENOMEM. */
IMP_API imp_status imp_mixture_forget_clusters(const imp_mixture *mixture, const size_t *cluster,
                                               size_t count, imp_mixture **out, imp_error *error);

/* Makes a copy that is fitted only to those points of the sample that are among the newest `points`
 * points added. On failure *out is NULL: IMP_EINVAL if a class has no such point, or with the
 * paper's rule, which keeps no sample; IMP_ENOMEM. */
IMP_API imp_status imp_mixture_keep_newest(const imp_mixture *mixture, uint64_t points,
                                           imp_mixture **out, imp_error *error);

/* Makes a copy in which a cluster without a label belongs to a class: an existing one, or a new one
 * if class_number is the number of classes. Its points in the sample are labelled from then on. On
 * failure *out is NULL: IMP_EINVAL for a cluster that does not exist or has a class, or for a class
 * number out of range; IMP_ENOMEM. */
IMP_API imp_status imp_mixture_name_cluster(const imp_mixture *mixture, size_t cluster,
                                            int32_t class_number, imp_mixture **out,
                                            imp_error *error);

/* Where predictions go; each array may be NULL if it is not wanted. */
typedef struct imp_mixture_predictions {
    int32_t *label; /* (n): a class; IMP_UNLABELED for "none of these" in open-set mode, and always
                       if the mixture has no classes */
    float
        *probability; /* (n, classes), or in open-set mode (n, classes + 1), "none of these" last */
    float *distance;  /* (n): squared distance to the mean of the cluster that decided */
    int32_t *cluster; /* (n): that cluster */
} imp_mixture_predictions;

/* Classifies `n` points of `d` floats: a class scores by the density of its best cluster. In
 * open-set mode a point far from all labelled ones is "none of these" if options were chosen from
 * the data (imp_mixture_set_open_set_rate()); otherwise, and if there is no threshold, clusters
 * without a label compete as "none of these". On failure nothing is written: IMP_EINVAL for a value
 * that is not finite or when `d` is not the mixture's; IMP_ENOMEM.
 */
IMP_API imp_status imp_mixture_predict(const imp_mixture *mixture, const float *x, size_t n,
                                       size_t d, bool open_set,
                                       const imp_mixture_predictions *predictions,
                                       imp_error *error);

/* Sets the fraction of points of the known classes that is rejected as "none of these" in open-set
 * mode: from 0 to 1, 0.05 for one in twenty. Points are scored by the squared distance to the
 * nearest labelled point of the sample that the mixture keeps; where clusters without a label claim
 * a point, the score is up to twice that. Points are as they are, or with standardised features if
 * these have different units, independently of the metric of the clusters. The threshold is the
 * score that a new point of the known classes exceeds with this probability: every labelled point
 * whose class has another, up to 500 of them, is scored as if it were new, and the ranks of n such
 * scores promise rates of 1 / (n + 1) and above, whatever the distribution. For smaller rates the
 * threshold is extrapolated (imp_mixture_choice.open_set_points). If no class has two labelled
 * points, there is no threshold. Changes the mixture, so no other thread may be using it.
 * IMP_EINVAL for a rate out of range. */
IMP_API imp_status imp_mixture_set_open_set_rate(imp_mixture *mixture, double rate,
                                                 imp_error *error);

/* Maps points into the metric of the mixture, in which its clusters and distances are: out is (n,
 * d). Fails as imp_mixture_predict() does. */
IMP_API imp_status imp_mixture_transform(const imp_mixture *mixture, const float *x, size_t n,
                                         size_t d, float *out, imp_error *error);

/* What was chosen when the mixture was fitted, and on what evidence. */
typedef struct imp_mixture_choice {
    size_t size; /* sizeof(imp_mixture_choice), so that the struct may grow */

    imp_metric_kind metric;
    bool whitened;
    double unlabeled_weight; /* of each unlabelled point in the fit */
    size_t held_out;         /* labelled points that were held out; 0 if none */
    double loss;     /* their mean cross-entropy with the options chosen; NAN if there were none */
    double accuracy; /* the fraction of them classified correctly; likewise */
    double open_set_distance; /* squared distance from the nearest labelled point beyond which a
                                 point is "none of these", or half of it where clusters without a
                                 label claim the point; INFINITY: none */
    size_t candidates;        /* for imp_mixture_candidate_at() */
    bool little;              /* nothing could be held out, so open options are guesses */
    bool every_point;         /* every labelled point is a cluster: nearest neighbours */
    size_t views;             /* for imp_mixture_view_at(); 0: a single view */
    double open_set_rate;     /* see imp_mixture_set_open_set_rate() */
    size_t open_set_points;   /* labelled points that the threshold was measured on, n: rates below
                                 1 / (n + 1) are extrapolated; 0: there is no threshold */
} imp_mixture_choice;

/* `size` is the caller's sizeof(imp_mixture_choice). */
IMP_API void imp_mixture_choice_of(const imp_mixture *mixture, imp_mixture_choice *choice,
                                   size_t size);

/* A metric that was tried, with the best lambda and variance for it. */
typedef struct imp_mixture_candidate {
    imp_metric_kind metric;
    bool whitened;
    double lambda; /* relative to the median squared distance within classes: 0, 0.5 or INFINITY */
    double loss;   /* mean cross-entropy of the held-out points */
} imp_mixture_candidate;

/* Candidate `index` of 0 .. candidates-1. */
IMP_API imp_mixture_candidate imp_mixture_candidate_at(const imp_mixture *mixture, size_t index);

/* One of several views. */
typedef struct imp_mixture_view {
    size_t dimensions;
    imp_metric_kind metric;
    double weight; /* from 0 to 1; those of all views sum to 1 */
    double loss; /* mean cross-entropy of the held-out points with this view alone; NAN: unknown */
} imp_mixture_view;

/* View `index` of 0 .. views-1. */
IMP_API imp_mixture_view imp_mixture_view_at(const imp_mixture *mixture, size_t index);

/* A mixture at a glance. */
typedef struct imp_mixture_summary {
    size_t dimensions, classes, clusters;
    imp_rule rule; /* as used in the fit; alpha and steps are open in a mixture from a file of an
                      earlier version, which did not keep them */
    double weight; /* total weight of its points, up to rounding and dropped clusters */
} imp_mixture_summary;

/* Summarises the mixture. */
IMP_API imp_mixture_summary imp_mixture_summarize(const imp_mixture *mixture);

typedef struct imp_mixture_cluster {
    int32_t label; /* a class or IMP_UNLABELED */
    double sigma;
    double weight;      /* sum of its points' responsibilities */
    const double *mean; /* (dimensions), in the mixture's metric; lives as long as the mixture */
} imp_mixture_cluster;

/* Cluster `index` of 0 .. clusters-1, in the order of creation. */
IMP_API imp_mixture_cluster imp_mixture_cluster_at(const imp_mixture *mixture, size_t index);

/* Writes a human-readable description, one line per class, into `text` as snprintf() does:
 * truncated to `size` bytes and terminated. Returns the full length. */
IMP_API size_t imp_mixture_describe(const imp_mixture *mixture, char *text, size_t size);

/* A text of the application's own, such as the names of the classes, that is saved and loaded with
 * the mixture and copied to mixtures made from it. NULL if there is none; it is valid until the
 * mixture is freed or the note is set again. */
IMP_API const char *imp_mixture_note(const imp_mixture *mixture);

/* Sets the note to a copy of `note`, or removes it if that is NULL. Changes the mixture, so no
 * other thread may be using it. On failure (IMP_ENOMEM) the note is as it was. A note that is not
 * UTF-8 is refused when the mixture is saved. */
IMP_API imp_status imp_mixture_set_note(imp_mixture *mixture, const char *note, imp_error *error);

/* Writes the mixture atomically to a safetensors file. Read back by imp_mixture_load(), it predicts
 * and takes further points to the same bits. */
IMP_API imp_status imp_mixture_save(const imp_mixture *mixture, const char *path, imp_error *error);

/* Reads a mixture from a file. On failure *out is NULL: IMP_EIO, IMP_EFORMAT for a file that is not
 * a valid mixture, IMP_EUNSUPPORTED for tensors of types that no mixture has, IMP_ENOMEM. */
IMP_API imp_status imp_mixture_load(const char *path, imp_mixture **out, imp_error *error);

/* Gives the bytes that imp_mixture_save() would write, for a database or a pipe. On success *bytes
 * points to *size bytes of new memory; free them with imp_mixture_bytes_free(). On failure *bytes
 * is NULL: IMP_ENOMEM, or IMP_EINVAL for a note that is not UTF-8. */
IMP_API imp_status imp_mixture_to_bytes(const imp_mixture *mixture, unsigned char **bytes,
                                        size_t *size, imp_error *error);

/* NULL is allowed. */
IMP_API void imp_mixture_bytes_free(unsigned char *bytes);

/* As imp_mixture_load(), from the bytes of a file, which remain the caller's. */
IMP_API imp_status imp_mixture_from_bytes(const unsigned char *bytes, size_t size,
                                          imp_mixture **out, imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
