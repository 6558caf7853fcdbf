/*
 * cluster.h - clustering points without any labels, by the rule of Algorithm 1 or by DP-means.
 *
 * Both rules take the points in order, and a point farther than lambda (a squared distance) from
 * every cluster starts a new one; the first point starts the first. So the order of the points
 * matters: another one may give other clusters, and another number of them. Where lambda is not
 * given, the points choose how many clusters there are, and where these begin.
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
    IMP_ORDER_DEFAULT,       /* as given */
    IMP_ORDER_GIVEN,         /* row by row */
    IMP_ORDER_RANDOM,        /* shuffled by `seed` */
    IMP_ORDER_FARTHEST_FIRST /* from row 0 on always the point farthest from those before it, as
                                long as that is farther than lambda; then the rest, row by row */
} imp_cluster_order;

/* Two points, numbered from 0 on, of which it is known that one cluster has both, or none has. */
typedef struct imp_cluster_pair {
    uint32_t a, b;
    bool apart;
} imp_cluster_pair;

typedef struct imp_cluster_options {
    size_t size; /* sizeof(imp_cluster_options), so that the struct may grow */

    /* "imp" (or NULL, the default): soft assignments to Gaussians of variance sigma_u, `steps`
     * times. "dp-means": hard assignments until nothing changes (Kulis and Jordan). */
    const char *method;

    /* lambda, sigma_u and steps count, since no cluster has a label. What is open is chosen, see
     * below; steps: 5 of "imp", and of "dp-means" as many passes as it takes. */
    imp_rule rule;

    size_t clusters;         /* how many are wanted, used if lambda is open; 0 (the default): any */
    imp_cluster_order order; /* counts where lambda is given */
    uint64_t seed;           /* of the random order; default 1 */
    int threads; /* 0 (the default): as many as the machine offers; no result depends on it */

    /* What is known of some points. label (points, or NULL): a class from 0 on or IMP_UNLABELED; a
     * cluster has points of one class at most, and a class may have several clusters. Pairs are
     * taken in order; where no cluster may have a point, one is added. Points then belong to the
     * nearest cluster that may have them. */
    const int32_t *label;
    const imp_cluster_pair *pairs; /* (pair_count) */
    size_t pair_count;
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

/* How lambda came about. */
typedef enum imp_cluster_choice {
    IMP_CLUSTER_GIVEN,
    IMP_CLUSTER_APART,  /* as many clusters as points held out can tell apart */
    IMP_CLUSTER_WANTED, /* a number of clusters was wanted */
    IMP_CLUSTER_GAP     /* by the largest gap in the distances, where there are few points */
} imp_cluster_choice;

/* What a clustering found. */
typedef struct imp_clustering {
    size_t points, dimensions, clusters;
    int32_t *assignment;  /* (points): the densest cluster; for DP-means the one that was nearest
                             before the means moved the last time, which is the nearest still if it
                             converged, but need not be if `steps` ended it */
    size_t *cluster_size; /* (clusters): points assigned; 0 is possible for "imp" */
    float *mean;          /* (clusters, dimensions), in the order of their first points */
    double lambda;        /* as given or chosen */
    double objective;     /* sum of squared distances to the assigned means + lambda * clusters */
    size_t steps;         /* passes made */
    bool converged;       /* the last pass changed no assignment and made no cluster */
    double sigma;         /* sigma_u, as given or chosen */
    imp_cluster_choice choice; /* how lambda came about */
    size_t sampled; /* points that were looked at to choose; 0: nothing was chosen, or by all */
    size_t groups;  /* that the choice began with */
    double apart;   /* evidence, in nats, that the two clusters are two which are least apart, by
                       points held out; INFINITY where that was not asked */
    int32_t *cluster_label; /* (clusters): the class of the labelled points in it, or IMP_UNLABELED;
                               NULL where no labels were given */
} imp_clustering;

/* Clusters `n` points of `d` floats, row by row in `x`. `options` may be NULL for the defaults.
 *
 * Where lambda is not given, the points choose. Half of a sample of up to 8000 makes many small
 * groups by Ward's rule; the other half, which made none of them, tells which neighbours are apart,
 * and those that are not are joined. The clusters that are left begin at the means of these groups,
 * and no point starts another, in whatever order points come; lambda is told as the largest squared
 * distance of a point from the mean of its cluster. Clusters that have fewer than about ten points
 * in the sample cannot be told apart. So fewer than 200 points look at the radii of a
 * farthest-first traversal, too, r_k being the largest squared distance of any point to the nearest
 * of the first k: where some r_(k-1) / r_k is more than 4 and k more clusters than were told apart,
 * lambda lies between the two. Fewer than 32 points have nothing but this, with 2 for 4.
 * imp_cluster_tune() is the better choice where labelled points of the
 * same kind exist. The points, a hundred times these and a thousandth of them give the same
 * clusters but for rounding.
 *
 * For a wanted number of clusters Ward's rule makes so many of a sample, or, beyond 500 or an
 * eighth of the points, a farthest-first traversal; there are fewer only if points coincide or a
 * cluster loses all of its points on the way.
 *
 * Where sigma_u is not given, it is what coordinates of the sample deviate by from the mean of
 * their cluster, squared; it is 5 with a lambda that is given.
 *
 * On success *out is new; free it with imp_clustering_free(). On failure *out is NULL: IMP_EINVAL
 * for a value that is not finite (names its row), no points, no dimensions, more clusters than
 * points, pairs and labels that contradict each other or another option out of range;
 * IMP_EUNSUPPORTED for more than 2^31 - 1 points; IMP_ENOMEM. */
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
