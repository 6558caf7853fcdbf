/*
 * method.h - few-shot classification of embedded points: clusters, predictions, loss, gradients.
 *
 * A method turns the labelled (and unlabelled) points of one episode into clusters and classifies
 * the queries by them. It knows vectors, not what they are embeddings of. All methods of the paper
 * stand behind this one interface, and each describes itself: imp_method_at() tells which there are
 * and what options they have, examples/method.c prints it.
 *
 * Variances are called sigma; they are variances, not standard deviations, and are learned as their
 * logarithms. A squared distance is compared with lambda.
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

/* One embedded episode. Nothing here is owned or changed by the library. Rows follow each other
 * without gaps; every value must be finite. */
typedef struct imp_episode_view {
    size_t dimensions; /* at least 1 */
    size_t way;        /* classes are 0 .. way-1, and each needs a labelled point */

    const float *support;         /* (support_count, dimensions) */
    const int32_t *support_label; /* a class each, or IMP_UNLABELED for one more unlabelled point */
    size_t support_count;

    const float *query;         /* (query_count, dimensions); may be NULL when there are none */
    const int32_t *query_label; /* a class each, or NULL where they are not known: no loss then */
    size_t query_count;

    const float *unlabeled; /* (unlabeled_count, dimensions); may be NULL when there are none */
    size_t unlabeled_count;
} imp_episode_view;

/* What a method says of itself. It lives as long as the program. Members may be added at the end.
 */
typedef struct imp_method_info {
    const char *name;
    const char *summary; /* a phrase: what its clusters are */
    imp_rule rule;       /* its own numbers, used where a rule leaves them open; what is open here,
                            too, is estimated in every episode or of no use to it */
    bool has_lambda;     /* it compares squared distances with lambda */
    bool has_steps;      /* its clustering can be repeated */
    bool uses_unlabeled; /* unlabelled points have a say in its clusters */
    bool hard;           /* a point belongs wholly to one cluster */
    bool unsupervised;   /* it needs no labels: imp_cluster() takes it, too */
    const imp_option_info *options; /* its own, beside the rule */
    size_t option_count;
    bool sampled; /* it draws samples: it has no gradients and cannot be trained */
} imp_method_info;

/* Method number `index`, or NULL after the last. */
IMP_API const imp_method_info *imp_method_at(size_t index);

/* The method of that name, or NULL. */
IMP_API const imp_method_info *imp_method_find(const char *name);

enum { IMP_MOST_OWN_OPTIONS = 8 };

typedef struct imp_method_options {
    size_t size; /* sizeof(imp_method_options), so that the struct may grow */

    /* What is open is the method's own. The variances are where learning begins. A method that has
     * no use for alpha or a variance leaves it alone; lambda is refused where has_lambda is false,
     * and more than one step where has_steps is. */
    imp_rule rule;

    /* Options of the method's own, such as em's {"no-prior", 1}; those that are not among them have
     * their defaults. The first without a name ends the list. Names must last until the method is
     * made. */
    imp_named_value own[IMP_MOST_OWN_OPTIONS];

    bool open_set; /* clusters without a label compete for queries as "none of these" */
    uint64_t seed; /* of what is drawn at random: first weights, and samples in every run */
} imp_method_options;

/* The defaults: a rule that leaves everything open, no options of its own, seed 1. `size` is the
 * caller's sizeof(imp_method_options). */
IMP_API void imp_method_options_init(imp_method_options *options, size_t size);

static inline imp_method_options imp_method_defaults(void)
{
    imp_method_options options;
    imp_method_options_init(&options, sizeof options);
    return options;
}

/* A method with its parameters and the memory it works in. One thread at a time may use it; any
 * number of methods may be used at once. */
typedef struct imp_method imp_method;

/* Makes the method of that name. `options` may be NULL for its defaults.
 *
 * On success *out is new; free it with imp_method_free(). On failure *out is NULL: IMP_EINVAL for a
 * name that is none (the sentence tells the nearest, or all) or an option out of range, IMP_ENOMEM.
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

/* The learned tensors; none is a possible number. The array lives as long as the method. */
IMP_API const imp_method_parameter *imp_method_parameters(const imp_method *method, size_t *count);

/* All learned values one after the other, to read and to write between runs; *count may be NULL. */
IMP_API double *imp_method_values(imp_method *method, size_t *count);

/* What a run found. All arrays belong to the method and last until its next run or its end. */
typedef struct imp_method_result {
    double loss;   /* mean cross-entropy of the queries; NAN without query labels or queries */
    double lambda; /* NAN for a method that has no threshold */

    const int32_t *predictions; /* (queries): a class, or IMP_UNLABELED in open-set mode */
    const float *probabilities; /* (queries, outcomes) */
    size_t outcomes;            /* way, and one more in open-set mode: "none of these", the last */
    const int32_t *deciding_cluster; /* (queries): the best cluster of the class predicted */

    /* (queries): the class of the best of all clusters, IMP_UNLABELED where that has no label, in
     * either mode. What is right of `predictions` among the classes is the closed accuracy; what is
     * right of these is the open one, which counts a query that an unlabelled cluster won as wrong.
     */
    const int32_t *open_predictions;

    /* The clusters in the order of their creation. */
    size_t cluster_count;
    const int32_t *cluster_label;
    const double *cluster_sigma;  /* variance of the density that scores queries */
    const double *cluster_weight; /* sum of the points' shares */
    const float *cluster_mean;    /* (cluster_count, dimensions) */

    /* Gradients of the loss; NULL unless they were asked for and there is a loss. */
    const float *support_gradient;    /* (support_count, dimensions) */
    const float *query_gradient;      /* (query_count, dimensions) */
    const float *unlabeled_gradient;  /* (unlabeled_count, dimensions) */
    const double *parameter_gradient; /* as imp_method_values() */
} imp_method_result;

/* Clusters the episode's points, classifies its queries and, if `gradients`, differentiates.
 *
 * Points are taken in order, labelled ones first; the clusters of some methods depend on it. Which
 * cluster a point joins and by what share, and lambda, are constants to the gradient (the masks of
 * soft-kmeans-masked are not). After a run on an episode of some size, a run on one with no more
 * dimensions, classes, supports, queries and unlabelled points allocates nothing; beyond 1000
 * classes and points together, or with several cluster_steps, that holds only if it comes to no
 * more clusters and shares either.
 *
 * On failure *result is zeroed: IMP_EINVAL for a value that is not finite (names its row), a label
 * out of range, a class without points, no dimensions, a variance that is no longer from 1e-30 to
 * 1e30, a lambda that is estimated as no finite number, or a class whose clusters were all dropped;
 * IMP_EUNSUPPORTED for more than 2^32 - 1 supports and unlabelled points, and for gradients of a
 * method that has none (gibbs); IMP_ENOMEM. The method can be used again. */
IMP_API imp_status imp_method_run(imp_method *method, const imp_episode_view *episode,
                                  bool gradients, imp_method_result *result, imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
