/*
 * soft_kmeans_masked.c - the third variant of Ren et al.: soft k-means with a learned mask on the
 * unlabelled points.
 *
 * A small network (mask_network.c) computes a soft distance threshold for each class from the
 * distances of the unlabelled points to the class mean. The soft assignments are constants to the
 * gradient; the masks are not, neither in the network's weights nor in the distances. There is one
 * refinement, and variances are 1.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "methods/imp.h"
#include "methods/mask_network.h"
#include "methods/method.h"
#include "methods/rule.h"

/* The scratch memory, divided into arrays; `count` unlabelled points, numbered in the order they
 * are taken.
 */
typedef struct workspace {
    size_t way, count, dimensions;
    imp_mask_activation *activation; /* (way) */
    double *members;                 /* (way): labelled points of each class */
    double *class_mean;              /* (way, dimensions): before the refinement */
    double *scale;                   /* (way): mean distance of the unlabelled points to it */
    double *z;                       /* (way, count): the soft assignments */
    double *distance;                /* (way, count): relative to `scale` */
    double *mask;                    /* (way, count) */
    double *mask_gradient;           /* (count): of one class, like the next two */
    double *distance_gradient;       /* (count) */
    double *class_mean_gradient;     /* (dimensions) */
} workspace;

static const size_t activation_doubles =
    (sizeof(imp_mask_activation) + sizeof(double) - 1) / sizeof(double);

static workspace carve(const imp_run *run)
{
    size_t way = run->way, count = run->points.unlabeled_count, d = run->points.dimensions;
    workspace w = {.way = way, .count = count, .dimensions = d};
    w.activation = (imp_mask_activation *)run->scratch;
    w.members = run->scratch + way * activation_doubles;
    w.class_mean = w.members + way;
    w.scale = w.class_mean + way * d;
    w.z = w.scale + way;
    w.distance = w.z + way * count;
    w.mask = w.distance + way * count;
    w.mask_gradient = w.mask + way * count;
    w.distance_gradient = w.mask_gradient + count;
    w.class_mean_gradient = w.distance_gradient + count;
    return w;
}

static imp_status reserve(imp_run *run, imp_error *error)
{
    size_t way = run->way, count = run->points.unlabeled_count, d = run->points.dimensions;
    size_t total = 0, part;
    bool fits = imp_multiply(3, count, &part) && imp_add(part, d, &part) &&
                imp_add(part, activation_doubles + 2, &part) && imp_multiply(way, part, &total) &&
                imp_multiply(2, count, &part) && imp_add(part, d, &part) &&
                imp_add(total, part, &total);
    return imp_run_scratch(run, fits ? total : SIZE_MAX, error);
}

/* The index among all points of unlabelled point j: labelled points come first. */
static size_t unlabeled_point(const imp_points *points, size_t j)
{
    return imp_points_at(points, imp_points_count(points) - points->unlabeled_count + j);
}

/* ---- the class means ---- */

static void find_class_means(const imp_run *run, workspace *w)
{
    size_t d = w->dimensions;
    imp_sum_classes(&run->points, w->way, w->members, w->class_mean);
    for (size_t c = 0; c < w->way; c++)
        for (size_t k = 0; k < d; k++)
            w->class_mean[c * d + k] /= w->members[c];
}

/* Adds w->class_mean_gradient, which is that of class c's mean, to the class's points. */
static void differentiate_class_mean(imp_run *run, const workspace *w, size_t c)
{
    size_t d = w->dimensions;
    for (size_t i = 0; i < run->points.first_count; i++)
        if (imp_points_label(&run->points, i) == (int32_t)c)
            for (size_t k = 0; k < d; k++)
                run->point_gradient[i * d + k] += w->class_mean_gradient[k] / w->members[c];
}

/* ---- the relative distances of one class ---- */

static void find_distances(const imp_run *run, workspace *w, size_t c)
{
    double *distance = w->distance + c * w->count, sum = 0;
    for (size_t j = 0; j < w->count; j++) {
        const float *x = imp_points_row(&run->points, unlabeled_point(&run->points, j));
        distance[j] = imp_squared_distance(x, w->class_mean + c * w->dimensions, w->dimensions);
        sum += distance[j];
    }
    /* If all points lie on the class mean, each is at average distance. */
    w->scale[c] = sum / (double)w->count;
    for (size_t j = 0; j < w->count; j++)
        distance[j] = w->scale[c] > 0 ? distance[j] / w->scale[c] : 1;
}

/* From w->distance_gradient to the unlabelled points and the class's points. */
static void differentiate_distances(imp_run *run, const workspace *w, size_t c)
{
    if (!(w->scale[c] > 0))
        return;
    size_t d = w->dimensions;
    const double *distance = w->distance + c * w->count;
    double along = 0;
    for (size_t j = 0; j < w->count; j++)
        along += w->distance_gradient[j] * distance[j] / (double)w->count;
    memset(w->class_mean_gradient, 0, d * sizeof *w->class_mean_gradient);
    for (size_t j = 0; j < w->count; j++) {
        size_t point = unlabeled_point(&run->points, j);
        const float *x = imp_points_row(&run->points, point);
        double slope = (w->distance_gradient[j] - along) / w->scale[c];
        for (size_t k = 0; k < d; k++) {
            double step = 2 * slope * (x[k] - w->class_mean[c * d + k]);
            run->point_gradient[point * d + k] += step;
            w->class_mean_gradient[k] -= step;
        }
    }
    differentiate_class_mean(run, w, c);
}

/* ---- the refined mean of one class ---- */

/* mean_c = (sum of the class's points + sum_j z_jc mask_jc x_j) / (members + sum_j z_jc mask_jc) */
static void find_mean(imp_run *run, const workspace *w, size_t c)
{
    size_t d = w->dimensions;
    const double *z = w->z + c * w->count, *mask = w->mask + c * w->count;
    double *sum = imp_clusters_sum(&run->clusters, c), *mean = imp_clusters_mean(&run->clusters, c);
    double weight = w->members[c];
    for (size_t k = 0; k < d; k++)
        sum[k] = w->members[c] * w->class_mean[c * d + k];
    for (size_t j = 0; j < w->count; j++) {
        const float *x = imp_points_row(&run->points, unlabeled_point(&run->points, j));
        weight += z[j] * mask[j];
        for (size_t k = 0; k < d; k++)
            sum[k] += z[j] * mask[j] * x[k];
    }
    for (size_t k = 0; k < d; k++)
        mean[k] = sum[k] / weight;
    run->clusters.weight[c] = weight;
}

/* From the gradient of mean_c to the points and to w->mask_gradient. */
static void differentiate_mean(imp_run *run, const workspace *w, size_t c)
{
    size_t d = w->dimensions;
    const double *z = w->z + c * w->count, *mask = w->mask + c * w->count;
    const double *gradient = run->mean_gradient + c * d;
    const double *mean = imp_clusters_mean(&run->clusters, c);
    double weight = run->clusters.weight[c];
    for (size_t k = 0; k < d; k++)
        w->class_mean_gradient[k] = gradient[k] * w->members[c] / weight;
    differentiate_class_mean(run, w, c);
    for (size_t j = 0; j < w->count; j++) {
        size_t point = unlabeled_point(&run->points, j);
        const float *x = imp_points_row(&run->points, point);
        double along = 0;
        for (size_t k = 0; k < d; k++) {
            run->point_gradient[point * d + k] += gradient[k] * z[j] * mask[j] / weight;
            along += gradient[k] * (x[k] - mean[k]);
        }
        w->mask_gradient[j] = along * z[j] / weight;
    }
}

/* ---- the method ---- */

static imp_status decide(imp_run *run, imp_error *error)
{
    imp_clusters *clusters = &run->clusters;
    imp_status status = imp_clusters_add_class_means(clusters, &run->points, run->way, 1, error);
    if (!status)
        status = reserve(run, error);
    if (status)
        return status;

    workspace w = carve(run);
    for (size_t j = 0; j < w.count; j++) {
        const float *x = imp_points_row(&run->points, unlabeled_point(&run->points, j));
        imp_soft_assignment(clusters, x, IMP_UNLABELED, clusters->score);
        for (size_t c = 0; c < w.way; c++)
            w.z[c * w.count + j] = clusters->score[c];
    }
    return IMP_OK;
}

static void place(imp_run *run)
{
    workspace w = carve(run);
    find_class_means(run, &w);
    for (size_t c = 0; c < w.way; c++) {
        if (w.count > 0) {
            find_distances(run, &w, c);
            imp_mask_network(run->values, w.distance + c * w.count, w.count, &w.activation[c],
                             w.mask + c * w.count);
        }
        find_mean(run, &w, c);
    }
}

static void differentiate(imp_run *run)
{
    workspace w = carve(run);
    for (size_t c = 0; c < w.way; c++) {
        differentiate_mean(run, &w, c);
        if (w.count == 0)
            continue;
        imp_mask_network_gradient(run->values, w.distance + c * w.count, w.mask + c * w.count,
                                  w.count, &w.activation[c], w.mask_gradient, run->value_gradient,
                                  w.distance_gradient);
        differentiate_distances(run, &w, c);
    }
}

static void initialize(const imp_method_options *options, double *values)
{
    imp_mask_initialize(options->seed, values);
}

const imp_method_kind imp_kind_soft_kmeans_masked = {
    .info = {.name = "soft-kmeans-masked",
             .summary = "soft-kmeans with a learned mask instead",
             .rule = IMP_USUAL_RULE,
             .uses_unlabeled = true},
    .parameters = imp_mask_parameters,
    .parameter_count = 4,
    .value_count = IMP_MASK_VALUES,
    .initialize = initialize,
    .decide = decide,
    .place = place,
    .differentiate = differentiate,
};
