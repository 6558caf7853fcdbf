/*
 * cluster.h - clustering points without any labels, by the rule of Algorithm 1 or by DP-means.
 *
 * Both rules take the points in order, and a point farther than lambda (a squared distance) from
 * every cluster starts a new one; the first point starts the first. So the order of the points
 * matters: another one may give other clusters, and another number of them.
 */
#ifndef IMP_CLUSTER_H
#define IMP_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/export.h>
#include <imp/rule.h>
#include <imp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum imp_cluster_order {
    IMP_ORDER_DEFAULT,       /* farthest-first when a number of clusters is wanted, else as given */
    IMP_ORDER_GIVEN,         /* row by row */
    IMP_ORDER_RANDOM,        /* shuffled by `seed` */
    IMP_ORDER_FARTHEST_FIRST /* from row 0 on always the point farthest from those before it, as
                                long as that is farther than lambda; then the rest, row by row */
} imp_cluster_order;

typedef struct imp_cluster_options {
    size_t size; /* sizeof(imp_cluster_options), so that the struct may grow */

    /* "imp" (or NULL, the default): soft assignments to Gaussians of variance sigma_u, `steps`
     * times. "dp-means": hard assignments until nothing changes (Kulis and Jordan). */
    const char *method;

    /* lambda, sigma_u and steps count, since no cluster has a label. What is open is chosen, see
     * below; steps: 5 of "imp", and of "dp-means" as many passes as it takes. */
    imp_rule rule;

    size_t clusters; /* about how many are wanted, used if lambda is open; 0 (the default): any */
    imp_cluster_order order;
    uint64_t seed; /* of the random order; default 1 */
    int threads;   /* 0 (the default): as many as the machine offers; no result depends on it */
} imp_cluster_options;

/* The defaults: "imp", a rule that leaves everything open, seed 1. `size` is the caller's
 * sizeof(imp_cluster_options). */
IMP_API void imp_cluster_options_init(imp_cluster_options *options, size_t size);

static inline imp_cluster_options imp_cluster_defaults(void)
{
    imp_cluster_options options;
    imp_cluster_options_init(&options, sizeof options);
    return options;
}

/* What a clustering found. */
typedef struct imp_clustering {
    size_t points, dimensions, clusters;
    int32_t *assignment;  /* (points): the densest cluster; for DP-means the one that was nearest
                             before the means moved the last time, which is the nearest still if it
                             converged, but need not be if `steps` ended it */
    size_t *cluster_size; /* (clusters): points assigned; 0 is possible for "imp" */
    float *mean;          /* (clusters, dimensions), in the order of creation */
    double lambda;        /* as given or chosen */
    double objective;     /* sum of squared distances to the assigned means + lambda * clusters */
    size_t steps;         /* passes made */
    bool converged;       /* the last pass changed no assignment and made no cluster */
    double sigma;         /* sigma_u, as given or chosen */
} imp_clustering;

/* Clusters `n` points of `d` floats, row by row in `x`. `options` may be NULL for the defaults.
 *
 * Where lambda is not given it is chosen from the radii of a farthest-first traversal, r_k being
 * the largest squared distance of any point to the nearest of the first k: for a wanted number of
 * clusters, half-way between r_(k-1) and r_k (so that the first pass, taken farthest-first, makes
 * just so many; fewer if points coincide, more if the two are equal, since all points that far then
 * start clusters; later passes may add or lose a few); otherwise automatically, at the k whose
 * r_(k-1) / r_k is largest, or one cluster if none reaches 2. At most 1000 clusters are found
 * automatically, and no more than half as many as there are points. imp_cluster_tune() is the
 * better choice where labelled points of the same kind exist.
 *
 * Where sigma_u is not given it is 5; for a wanted number of clusters it is lambda / (8 d), of the
 * points' own scale: by a much larger one the clusters would overlap, their means gather in the
 * middle and every pass start many more.
 *
 * On success *out is new; free it with imp_clustering_free(). On failure *out is NULL: IMP_EINVAL
 * for a value that is not finite (names its row), no points, no dimensions, more clusters than
 * points or another option out of range; IMP_EUNSUPPORTED for more than 2^31 - 1 points;
 * IMP_ENOMEM. */
IMP_API imp_status imp_cluster(const float *x, size_t n, size_t d,
                               const imp_cluster_options *options, imp_clustering **out,
                               imp_error *error);

/* NULL is allowed. */
IMP_API void imp_clustering_free(imp_clustering *clustering);

/* Finds the cluster of each of `n` points of `d` floats: the nearest of the (clusters, d) means,
 * such as those of an imp_clustering; of equals the first. assignment receives n numbers from 0 to
 * clusters-1. No points are nothing to do. For the points of a clustering that converged these are
 * its assignments, but for ties that rounding the means to floats may turn.
 *
 * On failure the assignment is undefined: IMP_EINVAL for a value that is not finite (names its
 * row), no means or no dimensions; IMP_EUNSUPPORTED for more than 2^31 - 1 points or means;
 * IMP_ENOMEM. */
IMP_API imp_status imp_cluster_assign(const float *mean, size_t clusters, const float *x, size_t n,
                                      size_t d, int32_t *assignment, imp_error *error);

/* Labelled points to choose lambda on. */
typedef struct imp_labeled_points {
    const float *x;       /* (count, dimensions) */
    const int32_t *label; /* (count) */
    size_t count;
} imp_labeled_points;

/* Chooses lambda by validation: the candidate whose clusterings, by the other options, have the
 * largest adjusted mutual information with the labels on average over the `episodes`. Candidates
 * are taken from the episodes' own farthest-first radii. Never tune on what you test on.
 *
 * On failure *lambda is not touched; failures are those of imp_cluster(). */
IMP_API imp_status imp_cluster_tune(const imp_labeled_points *episodes, size_t count, size_t d,
                                    const imp_cluster_options *options, double *lambda,
                                    imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
