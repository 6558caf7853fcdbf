/*
 * method.h - few-shot classification of embedded points: clusters, predictions, loss and gradients.
 *
 * A method turns the labelled (and unlabelled) points of one episode into clusters and classifies
 * the queries by them. It works on vectors and does not know what they are embeddings of. All
 * methods of the paper share this interface, and each describes itself: imp_method_at() lists them
 * with their options, and examples/method.c prints the list.
 *
 * sigma is a variance, not a standard deviation, and is learned as its logarithm. lambda is a
 * threshold on squared distances.
 */
#ifndef IMP_METHOD_H
#define IMP_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/export.h>
#include <imp/option.h>
#include <imp/rule.h>
#include <imp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The label of a point whose class is not known, of a cluster of such points, and of a query that
 * belongs to none of the classes. */
#define IMP_UNLABELED (-1)

/* One embedded episode. The library neither owns nor changes it. Rows are contiguous; every value
 * must be finite. */
typedef struct imp_episode_view {
    size_t dimensions; /* at least 1 */
    size_t way;        /* classes are 0 .. way-1, and each needs a labelled point */

    const float *support; /* (support_count, dimensions) */
    const int32_t
        *support_label; /* a class each; IMP_UNLABELED makes it one more unlabelled point */
    size_t support_count;

    const float *query; /* (query_count, dimensions); may be NULL when there are none */
    const int32_t
        *query_label; /* a class each; NULL where they are unknown, and then there is no loss */
    size_t query_count;

    const float *unlabeled; /* (unlabeled_count, dimensions); may be NULL when there are none */
    size_t unlabeled_count;
} imp_episode_view;

/* The description of a method, valid as long as the program runs. Members may be added at the end.
 */
typedef struct imp_method_info {
    const char *name;
    const char *summary; /* a phrase: what its clusters are */
    imp_rule rule;   /* its defaults, used where the caller's rule is open; what is open here too is
                        estimated in every episode, or not used */
    bool has_lambda; /* it has a threshold on squared distances */
    bool has_steps;  /* it can make several clustering passes */
    bool uses_unlabeled;            /* unlabelled points affect its clusters */
    bool hard;                      /* assignments are hard: a point belongs to one cluster */
    bool unsupervised;              /* it needs no labels: imp_cluster() offers it too */
    const imp_option_info *options; /* its own options, besides the rule */
    size_t option_count;
    bool sampled; /* it draws random samples, so it has no gradients and cannot be trained */
} imp_method_info;

/* Method `index`, or NULL after the last. */
IMP_API const imp_method_info *imp_method_at(size_t index);

/* The method of that name, or NULL. */
IMP_API const imp_method_info *imp_method_find(const char *name);

enum { IMP_MOST_OWN_OPTIONS = 8 };

typedef struct imp_method_options {
    size_t size; /* sizeof(imp_method_options), so that the struct may grow */

    /* What is left open takes the method's default. The variances are initial values for learning.
     * A method ignores an alpha or a variance that it does not use; lambda is refused where
     * has_lambda is false, and more than one step where has_steps is false. */
    imp_rule rule;

    /* The method's own options, such as em's {"no-prior", 1}; those not listed have their defaults.
     * The first entry without a name ends the list. Names must stay valid until the method is
     * created. */
    imp_named_value own[IMP_MOST_OWN_OPTIONS];

    bool open_set; /* clusters without a label compete for queries as "none of these" */
    uint64_t seed; /* for initial weights, and for samples in every run */
} imp_method_options;

/* The defaults: everything in the rule open, no options, seed 1. `size` is the caller's
 * sizeof(imp_method_options). */
IMP_API void imp_method_options_init(imp_method_options *options, size_t size);

static inline imp_method_options imp_method_defaults(void)
{
    imp_method_options options;
    imp_method_options_init(&options, sizeof options);
    return options;
}

/* A method with its parameters and scratch memory. Only one thread at a time may use it; different
 * methods may be used concurrently. */
typedef struct imp_method imp_method;

/* Creates the method called `name`. `options` may be NULL for its defaults.
 *
 * On success *out is new; free it with imp_method_free(). On failure *out is NULL: IMP_EINVAL for
 * an unknown name (the sentence suggests the nearest one, or lists all) or an option out of range,
 * IMP_ENOMEM.
 */
IMP_API imp_status imp_method_create(const char *name, const imp_method_options *options,
                                     imp_method **out, imp_error *error);

/* NULL is allowed. */
IMP_API void imp_method_free(imp_method *method);

/* One learned tensor. */
typedef struct imp_method_parameter {
    const char *name; /* "log_sigma_l", "mask.0.weight", ... */
    size_t rank;      /* 0 for a scalar */
    size_t shape[2];
    size_t offset; /* of its first value in imp_method_values() */
    size_t count;
} imp_method_parameter;

/* The learned tensors; there may be none. The array lives as long as the method. */
IMP_API const imp_method_parameter *imp_method_parameters(const imp_method *method, size_t *count);

/* All learned values as one array, which may be read and written between runs; `count` may be NULL.
 */
IMP_API double *imp_method_values(imp_method *method, size_t *count);

/* The result of a run. All arrays belong to the method and are valid until its next run or until it
 * is freed. */
typedef struct imp_method_result {
    double loss;   /* mean cross-entropy of the queries; NAN without queries or their labels */
    double lambda; /* NAN for a method that has no threshold */

    const int32_t *predictions; /* (queries): a class, or IMP_UNLABELED in open-set mode */
    const float *probabilities; /* (queries, outcomes) */
    size_t outcomes;            /* way, plus one in open-set mode: the last is "none of these" */
    const int32_t *deciding_cluster; /* (queries): the best cluster of the predicted class */

    /* (queries): the label of the best of all clusters, which is IMP_UNLABELED if that has none, in
     * either mode. Closed-set accuracy scores `predictions` among the classes; open-set accuracy
     * scores these, so a query won by an unlabelled cluster counts as wrong.
     */
    const int32_t *open_predictions;

    /* The clusters, in order of creation. */
    size_t cluster_count;
    const int32_t *cluster_label;
    const double *cluster_sigma;  /* variance of the density that scores queries */
    const double *cluster_weight; /* sum of the points' responsibilities */
    const float *cluster_mean;    /* (cluster_count, dimensions) */

    /* Gradients of the loss; NULL unless they were asked for and there is a loss. */
    const float *support_gradient;    /* (support_count, dimensions) */
    const float *query_gradient;      /* (query_count, dimensions) */
    const float *unlabeled_gradient;  /* (unlabeled_count, dimensions) */
    const double *parameter_gradient; /* as imp_method_values() */
} imp_method_result;

/* Clusters the episode's points, classifies its queries and, if `gradients`, differentiates.
 *
 * Points are taken in order, labelled ones first; the clusters of some methods depend on it. The
 * gradient treats assignments, responsibilities and lambda as constants (but not the masks of
 * soft-kmeans-masked). A run on an episode with no more dimensions, classes, supports, queries and
 * unlabelled points than an earlier one allocates nothing; with more than 1000 classes and points
 * in total, or several clustering passes, that holds only if it also makes no more clusters and
 * assignments.
 *
 * On failure *result is zeroed: IMP_EINVAL for a value that is not finite (names its row), a label
 * out of range, a class without points, no dimensions, a variance that has left the range from
 * 1e-30 to 1e30, an estimated lambda that is not finite, or a class whose clusters were all
 * dropped; IMP_EUNSUPPORTED for more than 2^32 - 1 supports and unlabelled points, and for
 * gradients of a method that has none (gibbs); IMP_ENOMEM. The method remains usable. */
IMP_API imp_status imp_method_run(imp_method *method, const imp_episode_view *episode,
                                  bool gradients, imp_method_result *result, imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
