/* mixture.h - the inside of a mixture. */
#ifndef IMP_METHODS_MIXTURE_H
#define IMP_METHODS_MIXTURE_H

#include <imp/mixture.h>

#include "methods/clusters.h"
#include "methods/crew.h"
#include "methods/metric.h"
#include "methods/point_source.h"
#include "methods/reference.h"
#include "methods/sample.h"
#include "methods/views.h"

/* What was chosen from the data. All zero for the paper's rule. */
typedef struct imp_mixture_chosen {
    bool any;        /* options were chosen from the data */
    double lambda_u; /* threshold beyond which an unlabelled point starts a cluster */
    double weight;   /* of an unlabelled point in clusters that have a label */
    double
        ratio; /* limit of the total weight of unlabelled points, relative to the labelled ones */
    double labeled_mass; /* total weight so far of labelled points, and of unlabelled ones */
    double unlabeled_mass;
    size_t held_out;
    double loss, accuracy;
    imp_mixture_candidate *candidates; /* (candidate_count) */
    size_t candidate_count;
    double *distance; /* (distance_count), ascending: scores of held-out points (open_set.h); in
                         files without a reference, their squared distances to clusters */
    size_t distance_count;
    double rate;    /* fraction of known points rejected in open-set mode */
    double nowhere; /* the corresponding score; INFINITY if unknown */
} imp_mixture_chosen;

/* The options that were given, for choosing the rest again. */
typedef struct imp_mixture_given {
    imp_rule rule;
    imp_metric_kind metric;
    imp_whitening whitening;
    double unlabeled_weight;
    bool view_weights; /* weights of views were given */
} imp_mixture_given;

struct imp_mixture {
    size_t classes;
    imp_rule rule;         /* as used */
    imp_clusters clusters; /* mean = sum / weight in each */
    imp_views views;       /* joined before anything else */
    imp_metric metric;     /* of kind 0 if points are used as they are */
    imp_mixture_chosen chosen;
    imp_mixture_given given; /* this and the next two are empty for the paper's rule */
    imp_sample sample;       /* of all points seen */
    imp_reference reference; /* the labelled points of the sample */
    char *note;              /* the application's, or NULL */
};

/* Whether points stay as they are. */
static inline bool imp_mixture_is_plain(const imp_mixture *mixture)
{
    return mixture->views.count == 0 && imp_metric_is_plain(&mixture->metric);
}

/* Points of x in the mixture's metric: x itself, or *room, which is then new; release that even on
 * failure. */
imp_status imp_mixture_enter(const imp_mixture *mixture, const float *x, size_t n, float **room,
                             const float **rows, imp_error *error);

/* imp_mixture_fit() for points that are read on demand, block by block; their source checks that
 * values are finite. Memory holds the labelled points, up to 2000 of the others, a sample of 10,000
 * points while options are chosen, a block and the clusters. Where the crew has a place, points in
 * the mixture's metric are kept if they need no more than its memory, and otherwise mapped again in
 * each pass; the paper's rule keeps twelve bytes per point there. The crew may be NULL, and has no
 * ranks. Points with weights must all be in memory. */
imp_status imp_mixture_fit_source(const imp_point_source *source,
                                  const imp_mixture_options *options, const imp_crew *crew,
                                  imp_mixture **out, imp_error *error);

/* Fits an empty mixture in the points' dimensions, choosing what the options leave open. Labels
 * have been checked and are complete. */
imp_status imp_mixture_choose(imp_mixture *mixture, const imp_mixture_options *options,
                              const imp_point_source *source, size_t way, const imp_crew *crew,
                              imp_error *error);

imp_status imp_mixture_chosen_copy(const imp_mixture_chosen *from, imp_mixture_chosen *to,
                                   imp_error *error);
void imp_mixture_chosen_release(imp_mixture_chosen *chosen);

/* imp_mixture_choose() after joining views, and takes a sample of the points. */
imp_status imp_mixture_begin(imp_mixture *mixture, const imp_mixture_options *options,
                             const imp_point_source *source, size_t way, const imp_crew *crew,
                             imp_error *error);

/* Offers a point, unchanged, to the sample; *renewed becomes true if the mixture was refitted to
 * the sample and has a new metric. `kind` is a class, IMP_UNLABELED or imp_stranger(). */
imp_status imp_mixture_remember(imp_mixture *mixture, const float *x, int32_t kind, bool *renewed,
                                imp_error *error);

/* Refits the mixture to its sample. On failure the clusters are as they were: IMP_EINVAL if a class
 * has no point in the sample or would have no cluster; IMP_ENOMEM. */
imp_status imp_mixture_renew(imp_mixture *mixture, imp_error *error);

/* How many of the clusters before number c have no label. */
size_t imp_mixture_stranger_number(const imp_clusters *clusters, size_t c);

/* Checks points to fit or to add, and their values where they are in memory; *way becomes one more
 * than the largest label, or `known`. */
imp_status imp_mixture_check_points(const imp_point_source *source, size_t known, size_t *way,
                                    imp_error *error);
imp_status imp_mixture_check_dimensions(const imp_mixture *mixture, size_t d, imp_error *error);

/* A mixture without clusters in that many dimensions, or NULL without memory. */
imp_mixture *imp_mixture_create(size_t dimensions);

/* A deep copy; NULL, with a sentence, without memory. */
imp_mixture *imp_mixture_copy(const imp_mixture *mixture, imp_error *error);

/* The variance of clusters of that label. */
static inline double imp_mixture_sigma(const imp_mixture *mixture, int32_t label)
{
    return label < 0 ? mixture->rule.sigma_u : mixture->rule.sigma_l;
}

/* mean of cluster c = sum / weight */
void imp_mixture_place(imp_mixture *mixture, size_t c);

#endif
