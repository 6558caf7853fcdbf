/*
 * cluster.h - clustering without a training set, by Algorithm 1 or by DP-means.
 *
 * Both take the points in order. The first point starts a cluster, and so does every point whose
 * squared distance from all clusters is greater than lambda. So another order may give other
 * clusters, and another number of them. Where lambda is not given, the number of clusters and their
 * initial means are found from the points.
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
    IMP_ORDER_FARTHEST_FIRST /* row 0, then repeatedly the point farthest from those before it while
                                that is farther than lambda; then the rest, row by row */
} imp_cluster_order;

/* A constraint on two points, numbered from 0: they must be in one cluster (must-link) or, if
 * `apart`, must not be (cannot-link). */
typedef struct imp_cluster_pair {
    uint32_t a, b;
    bool apart;
} imp_cluster_pair;

typedef struct imp_cluster_options {
    size_t size; /* sizeof(imp_cluster_options), so that the struct may grow */

    /* "imp" (or NULL, the default): soft assignments to Gaussians of variance sigma_u, in `steps`
     * passes. "dp-means": hard assignments until nothing changes (Kulis and Jordan). */
    const char *method;

    /* Only lambda, sigma_u and steps are used. What is left open is chosen as described at
     * imp_cluster(); steps defaults to 5 for "imp" and, for "dp-means", to as many passes as it
     * takes to converge. */
    imp_rule rule;

    size_t clusters;         /* the wanted number, used if lambda is open; 0 (the default): any */
    imp_cluster_order order; /* used only where lambda is given */
    uint64_t seed;           /* of the random order; default 1 */
    int threads; /* 0 (the default): as many as the machine offers; no result depends on it */

    /* What is known about some points. label (points, or NULL): a class, 0 or more, or
     * IMP_UNLABELED. A cluster holds points of at most one class; a class may have several
     * clusters. Every point goes to the nearest cluster that these constraints allow; where they
     * allow none, a cluster is added. Pairs are taken in order. */
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

/* How lambda was chosen. */
typedef enum imp_cluster_choice {
    IMP_CLUSTER_GIVEN,
    IMP_CLUSTER_APART,  /* as many clusters as held-out points can tell apart */
    IMP_CLUSTER_WANTED, /* by the wanted number of clusters */
    IMP_CLUSTER_GAP,    /* by the largest gap in the distances, if there are few points */
    IMP_CLUSTER_LIKELY  /* as many clusters of spherical noise as are likely */
} imp_cluster_choice;

/* The result of a clustering. */
typedef struct imp_clustering {
    size_t points, dimensions, clusters;
    int32_t *assignment;  /* (points): the cluster of highest density; for DP-means the one that was
                             nearest before the last update of the means, which is still the nearest
                             if it converged, but need not be if `steps` ended it */
    size_t *cluster_size; /* (clusters): points assigned; 0 is possible for "imp" */
    float *mean;          /* (clusters, dimensions), in the order of their first points */
    double lambda;        /* as given or chosen */
    double objective;     /* sum of squared distances to the assigned means + lambda * clusters */
    size_t steps;         /* passes made */
    bool converged;       /* the last pass changed no assignment and made no cluster */
    double sigma;         /* sigma_u, as given or chosen */
    imp_cluster_choice choice; /* how lambda was chosen */
    size_t sampled; /* size of the sample that the choice was made on; 0: all points, or nothing was
                       chosen */
    size_t groups;  /* that the choice started from */
    double apart;   /* held-out evidence, in nats, that the two clusters hardest to tell apart are
                       two; INFINITY where this was not computed */
    int32_t *cluster_label; /* (clusters): the class of its labelled points, or IMP_UNLABELED; NULL
                               where no labels were given */
} imp_clustering;

/* Clusters `n` points of `d` floats, row by row in `x`. `options` may be NULL for the defaults.
 *
 * Where lambda is not given, the number of clusters is found from a sample of up to 8000 points.
 * One half of the sample is divided into many small groups by Ward's method; the other half, which
 * took no part in that, decides which neighbouring groups are distinct, and those that are not are
 * merged. In 16 or more dimensions, points that are spherical noise of one variance around their
 * centers are grouped by their likelihood instead; and in more than 64 dimensions, most of them
 * noise, groups that are two by their own principal components are divided again. The clusters
 * start at the means of the remaining groups
 * and no point starts another, so the order of the points does not matter; the lambda reported is
 * the largest squared distance of a point from the mean of its cluster. Clusters with fewer than
 * about ten points in the sample cannot be told apart this way. With fewer than 200 points the
 * radii of a farthest-first traversal are therefore examined as well, r_k being the largest squared
 * distance of any point to the nearest of the first k: if some r_(k-1) / r_k exceeds 4 and k
 * exceeds the number of clusters found so far, lambda is set between the two. With fewer than 32
 * points only this test is used, with 2 instead of 4. imp_cluster_tune() is the better choice if
 * labelled points of the same kind exist. Scaling all points by a hundred or a thousandth gives the
 * same clusters but for rounding.
 *
 * A wanted number of clusters is found by Ward's method on a sample or, beyond 500 clusters or an
 * eighth of the points, by a farthest-first traversal; there are fewer only if points coincide or a
 * cluster loses all of its points on the way.
 *
 * Where sigma_u is not given, it is the mean squared deviation of a coordinate from the mean of its
 * cluster, over the sample; if lambda is given, it is 5.
 *
 * On success *out is new; free it with imp_clustering_free(). On failure *out is NULL: IMP_EINVAL
 * for a value that is not finite (names its row), no points, no dimensions, more clusters than
 * points, contradictory pairs and labels, or an option out of range; IMP_EUNSUPPORTED for more than
 * 2^31 - 1 points; IMP_ENOMEM. */
IMP_API imp_status imp_cluster(const float *x, size_t n, size_t d,
                               const imp_cluster_options *options, imp_clustering **out,
                               imp_error *error);

/* NULL is allowed. */
IMP_API void imp_clustering_free(imp_clustering *clustering);

/* Finds the cluster of each of `n` points of `d` floats: the nearest of the (clusters, d) means,
 * such as those of an imp_clustering, and the first of several at the same distance. assignment
 * receives n numbers from 0 to clusters-1; n may be 0. For the points of a clustering that
 * converged these are its assignments, except where rounding the means to floats breaks a tie the
 * other way.
 *
 * On failure the assignment is undefined: IMP_EINVAL for a value that is not finite (names its
 * row), no means or no dimensions; IMP_EUNSUPPORTED for more than 2^31 - 1 points or means;
 * IMP_ENOMEM. */
IMP_API imp_status imp_cluster_assign(const float *mean, size_t clusters, const float *x, size_t n,
                                      size_t d, int32_t *assignment, imp_error *error);

/* An episode to choose lambda on. */
typedef struct imp_labeled_points {
    const float *x;       /* (count, dimensions) */
    const int32_t *label; /* (count) */
    size_t count;
} imp_labeled_points;

/* Chooses lambda by validation: the candidate whose clusterings, with the other options as given,
 * have the highest adjusted mutual information with the labels, averaged over the `episodes`.
 * Candidates are taken from the farthest-first radii of the episodes. Never tune on test data.
 *
 * On failure, for the same reasons as imp_cluster(), *lambda is not touched. */
IMP_API imp_status imp_cluster_tune(const imp_labeled_points *episodes, size_t count, size_t d,
                                    const imp_cluster_options *options, double *lambda,
                                    imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
