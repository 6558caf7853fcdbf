/*
 * fixed_modes.c - a fixed number of modes per class (Mensink et al.): k-means inside each class,
 * and queries go to the class of the nearest centre.
 *
 * The number that IMP infers from the data is given here. The centres start at the class's first
 * point and then, one by one, at the point farthest from those before; Lloyd's algorithm follows
 * until no point changes. A class has no more centres than distinct points. The assignments are
 * constants to the gradient. Unlabelled points are ignored.
 */
#include "methods/imp.h"
#include "methods/labeled_means.h"
#include "methods/rule.h"

enum { MODES, LEARN_SIGMA };
enum {
    MOST_STEPS = 1000
}; /* of Lloyd's algorithm, which converges unless rounding makes it cycle */

static const imp_option_info options[] = {
    [MODES] = {.name = "modes-per-class",
               .help = "k of the k-means inside each class",
               .kind = IMP_INTEGER,
               .least = 1,
               .most = 1e6,
               .initial = 3},
    [LEARN_SIGMA] = IMP_OPTION_LEARN_SIGMA,
};

/* ---- k-means inside a class ---- */

/* The point of a class that is farthest from the clusters from `begin` on, and its squared
 * distance; ties go to the first. Without clusters it is the class's first point. */
static size_t farthest_point(const imp_run *run, int32_t label, size_t begin, double *distance)
{
    const imp_clusters *clusters = &run->clusters;
    size_t chosen = 0;
    *distance = -1;
    for (size_t i = 0; i < run->points.first_count; i++) {
        if (imp_points_label(&run->points, i) != label)
            continue;
        double nearest = INFINITY;
        for (size_t c = begin; c < clusters->count; c++)
            nearest =
                fmin(nearest, imp_clusters_distance(clusters, c, imp_points_row(&run->points, i)));
        if (nearest > *distance) {
            *distance = nearest;
            chosen = i;
        }
    }
    return chosen;
}

static imp_status start_class(imp_run *run, int32_t label, imp_error *error)
{
    size_t begin = run->clusters.count, modes = (size_t)run->own[MODES];
    imp_status status = IMP_OK;
    while (run->clusters.count - begin < modes && !status) {
        double distance;
        size_t point = farthest_point(run, label, begin, &distance);
        if (!(distance > 0))
            break; /* no distinct point is left */
        status =
            imp_clusters_add(&run->clusters, label, 1, imp_points_row(&run->points, point), error);
    }
    return status;
}

/* Gives each labelled point a share in the nearest centre of its class; *changed says whether any
 * share changed. */
static imp_status assign(imp_run *run, bool *changed, imp_error *error)
{
    imp_shares *shares = &run->shares;
    size_t before = shares->count, count = 0;
    imp_status status = IMP_OK;
    *changed = false;
    for (size_t i = 0; i < run->points.first_count && !status; i++) {
        int32_t label = imp_points_label(&run->points, i);
        if (label < 0)
            continue;
        double distance;
        size_t nearest =
            imp_nearest_cluster(&run->clusters, imp_points_row(&run->points, i), label, &distance);
        if (count < before) {
            *changed |= shares->share[count].cluster != nearest;
            shares->share[count].cluster = (uint32_t)nearest;
        } else {
            *changed = true;
            status = imp_shares_add(shares, i, nearest, 1, error);
        }
        count++;
    }
    return status;
}

static imp_status decide(imp_run *run, imp_error *error)
{
    imp_status status = IMP_OK;
    for (size_t k = 0; k < run->way && !status; k++)
        status = start_class(run, (int32_t)k, error);
    bool changed = true;
    for (size_t step = 0; step < MOST_STEPS && changed && !status; step++) {
        status = assign(run, &changed, error);
        if (!status && changed)
            imp_weighted_means(&run->clusters, &run->points, &run->shares);
    }
    return status;
}

static const imp_method_kind learned = IMP_LEARNED_VARIANT("fixed-modes", decide);

static const imp_method_kind *variant(const double *own)
{
    return own[LEARN_SIGMA] != 0 ? &learned : &imp_kind_fixed_modes;
}

const imp_method_kind imp_kind_fixed_modes = {
    .info = {.name = "fixed-modes",
             .summary = "k-means inside each class, with k given (Mensink et al.)",
             .rule = IMP_USUAL_RULE,
             .hard = true,
             .options = options,
             .option_count = sizeof options / sizeof *options},
    .variant = variant,
    .decide = decide,
    .place = imp_means_place,
    .differentiate = imp_means_differentiate,
};
