/* mixture.h - what a fitted mixture consists of. */
#ifndef IMP_METHODS_MIXTURE_H
#define IMP_METHODS_MIXTURE_H

#include <imp/mixture.h>

#include "methods/clusters.h"
#include "methods/metric.h"
#include "methods/reference.h"
#include "methods/views.h"

/* What a mixture knows beyond the paper's rule, where its points chose. All zero otherwise. */
typedef struct imp_mixture_chosen {
    bool any;            /* the points chose */
    double lambda_u;     /* beyond which an unlabelled point starts a cluster */
    double weight;       /* of an unlabelled point in clusters that have a label */
    double ratio;        /* up to which all of them may weigh beside the labelled ones */
    double labeled_mass; /* labelled points so far, and what unlabelled ones have weighed */
    double unlabeled_mass;
    size_t held_out;
    double loss, accuracy;
    imp_mixture_candidate *candidates; /* (candidate_count) */
    size_t candidate_count;
    double *distance; /* (distance_count), ascending: squared, of labelled points to the nearest
                         other one; in files without a reference, of held-out points to clusters */
    size_t distance_count;
    double rate;    /* of known points that are sent to none of the classes in open-set mode */
    double nowhere; /* the squared distance that it comes to; INFINITY if unknown */
} imp_mixture_chosen;

struct imp_mixture {
    size_t classes;
    imp_rule rule;         /* as used */
    imp_clusters clusters; /* mean = sum / weight in each */
    imp_views views;       /* that are joined before anything else */
    imp_metric metric;     /* of kind 0 where the points are as they are */
    imp_mixture_chosen chosen;
    imp_reference reference; /* of labelled points; empty where the rule is the paper's */
    char *note;              /* the application's, or NULL */
};

/* Whether points stay as they are. */
static inline bool imp_mixture_is_plain(const imp_mixture *mixture)
{
    return mixture->views.count == 0 && imp_metric_is_plain(&mixture->metric);
}

/* Points of x in the mixture's metric: x itself, or *room, which is then new; release that whatever
 * is returned. */
imp_status imp_mixture_enter(const imp_mixture *mixture, const float *x, size_t n, float **room,
                             const float **rows, imp_error *error);

/* Fits the mixture, empty and in the points' dimensions, by what the points choose where the
 * options leave it open. Labels are checked and complete. */
imp_status imp_mixture_choose(imp_mixture *mixture, const imp_mixture_options *options,
                              const float *x, const int32_t *y, size_t n, size_t way,
                              imp_error *error);

/* Labelled points stay, as they come before anything else, with how far known points are from them.
 */
imp_status imp_mixture_keep_reference(imp_mixture *mixture, const float *x, const int32_t *y,
                                      size_t n, imp_error *error);

/* Sets `nowhere` by `rate`. */
void imp_mixture_place_nowhere(imp_mixture *mixture);

imp_status imp_mixture_chosen_copy(const imp_mixture_chosen *from, imp_mixture_chosen *to,
                                   imp_error *error);
void imp_mixture_chosen_release(imp_mixture_chosen *chosen);

/* Where a class, or IMP_UNLABELED, has more than 256 clusters, joins those that it costs least to
 * join until there are 128, and raises its lambda to what they were apart. IMP_ENOMEM. */
imp_status imp_mixture_thin(imp_mixture *mixture, int32_t label, imp_error *error);

/* A mixture without clusters in that many dimensions, or NULL. */
imp_mixture *imp_mixture_create(size_t dimensions);

/* mean of cluster c = sum / weight */
void imp_mixture_place(imp_mixture *mixture, size_t c);

#endif
