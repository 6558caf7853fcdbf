/*
 * clusters.c - the list of clusters, and steps 1 and 5 of Algorithm 1: class means, and weighted
 * means with their gradient.
 */
#include "methods/clusters.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- the list ---- */

void imp_clusters_restart(imp_clusters *clusters, size_t dimensions)
{
    size_t vectors = clusters->values / dimensions;
    clusters->dimensions = dimensions;
    clusters->count = 0;
    clusters->capacity = vectors < clusters->rows ? vectors : clusters->rows;
}

void imp_clusters_release(imp_clusters *clusters)
{
    imp_release(clusters->label);
    imp_release(clusters->sigma);
    imp_release(clusters->offset);
    imp_release(clusters->weight);
    imp_release(clusters->sum);
    imp_release(clusters->mean);
    imp_release(clusters->score);
    imp_release(clusters->moved);
    *clusters = (imp_clusters){.dimensions = clusters->dimensions};
}

imp_status imp_clusters_reserve(imp_clusters *clusters, size_t capacity, imp_error *error)
{
    if (capacity <= clusters->capacity)
        return IMP_OK;
    size_t values;
    if (capacity > UINT32_MAX || !imp_multiply(capacity, clusters->dimensions, &values))
        return imp_fail_memory(error, "the clusters");
    /* Earlier uses may have had many clusters in few dimensions, or few in many. */
    size_t rows = capacity > clusters->rows ? capacity : clusters->rows;
    values = values > clusters->values ? values : clusters->values;

    size_t count = clusters->count, used = count * clusters->dimensions;
    imp_clusters larger = {
        .dimensions = clusters->dimensions,
        .count = count,
        .capacity = capacity,
        .rows = rows,
        .values = values,
        .label = imp_enlarge(clusters->label, count, rows, sizeof *larger.label),
        .sigma = imp_enlarge(clusters->sigma, count, rows, sizeof *larger.sigma),
        .offset = imp_enlarge(clusters->offset, count, rows, sizeof *larger.offset),
        .weight = imp_enlarge(clusters->weight, count, rows, sizeof *larger.weight),
        .sum = imp_enlarge(clusters->sum, used, values, sizeof *larger.sum),
        .mean = imp_enlarge(clusters->mean, used, values, sizeof *larger.mean),
        .score = imp_allocate(rows, sizeof *larger.score),
        .moved = imp_allocate(rows, sizeof *larger.moved),
    };
    if (!larger.label || !larger.sigma || !larger.offset || !larger.weight || !larger.sum ||
        !larger.mean || !larger.score || !larger.moved) {
        imp_clusters_release(&larger);
        return imp_fail_memory(error, "the clusters");
    }
    imp_clusters_release(clusters);
    *clusters = larger;
    return IMP_OK;
}

imp_status imp_clusters_make_room(imp_clusters *clusters, imp_error *error)
{
    if (clusters->count < clusters->capacity)
        return IMP_OK;
    size_t capacity = clusters->capacity < 8 ? 16 : 2 * clusters->capacity;
    return imp_clusters_reserve(clusters, capacity, error);
}

imp_status imp_clusters_add(imp_clusters *clusters, int32_t label, double sigma, const float *mean,
                            imp_error *error)
{
    imp_status status = imp_clusters_make_room(clusters, error);
    if (status)
        return status;
    size_t c = clusters->count++;
    clusters->label[c] = label;
    clusters->weight[c] = 0;
    imp_clusters_set_density(clusters, c, sigma, 0);
    for (size_t j = 0; j < clusters->dimensions; j++) {
        imp_clusters_mean(clusters, c)[j] = mean ? mean[j] : 0;
        imp_clusters_sum(clusters, c)[j] = 0;
    }
    return IMP_OK;
}

void imp_clusters_set_density(imp_clusters *clusters, size_t c, double sigma, double log_prior)
{
    clusters->sigma[c] = sigma;
    clusters->offset[c] = log_prior + imp_log_normalizer(sigma, clusters->dimensions);
}

void imp_clusters_set_sigmas(imp_clusters *clusters, double sigma_l, double sigma_u)
{
    for (size_t c = 0; c < clusters->count; c++)
        imp_clusters_set_density(clusters, c, clusters->label[c] < 0 ? sigma_u : sigma_l, 0);
}

/* ---- step 1: one cluster per class ---- */

imp_status imp_clusters_add_class_means(imp_clusters *clusters, const imp_points *points,
                                        size_t way, double sigma, imp_error *error)
{
    size_t before = clusters->count;
    for (size_t class = 0; class < way; class ++) {
        imp_status status = imp_clusters_add(clusters, (int32_t) class, sigma, NULL, error);
        if (status)
            return status;
    }
    if (way > 0)
        imp_sum_classes(points, way, clusters->weight + before, imp_clusters_sum(clusters, before));
    for (size_t c = before; c < clusters->count; c++)
        for (size_t j = 0; j < clusters->dimensions; j++)
            imp_clusters_mean(clusters, c)[j] =
                imp_clusters_sum(clusters, c)[j] / clusters->weight[c];
    return IMP_OK;
}

void imp_clusters_center(const imp_clusters *clusters, size_t way, double *center)
{
    memset(center, 0, clusters->dimensions * sizeof *center);
    for (size_t c = 0; c < way; c++)
        for (size_t j = 0; j < clusters->dimensions; j++)
            center[j] += imp_clusters_mean(clusters, c)[j] / (double)way;
}

/* ---- shares ---- */

imp_status imp_shares_reserve(imp_shares *shares, size_t capacity, imp_error *error)
{
    if (capacity <= shares->capacity)
        return IMP_OK;
    imp_share *larger = imp_enlarge(shares->share, shares->count, capacity, sizeof *larger);
    if (!larger)
        return imp_fail_memory(error, "the points' shares in the clusters");
    imp_release(shares->share);
    shares->share = larger;
    shares->capacity = capacity;
    return IMP_OK;
}

imp_status imp_shares_add(imp_shares *shares, size_t point, size_t cluster, double z,
                          imp_error *error)
{
    if (shares->count == shares->capacity) {
        size_t capacity = shares->capacity < 128 ? 256 : 2 * shares->capacity;
        imp_status status = imp_shares_reserve(shares, capacity, error);
        if (status)
            return status;
    }
    shares->share[shares->count++] =
        (imp_share){.point = (uint32_t)point, .cluster = (uint32_t)cluster, .z = z};
    return IMP_OK;
}

void imp_shares_release(imp_shares *shares)
{
    imp_release(shares->share);
    *shares = (imp_shares){0};
}

imp_status imp_shares_add_labeled(imp_shares *shares, const imp_points *points, imp_error *error)
{
    imp_status status = IMP_OK;
    for (size_t i = 0; i < points->first_count && !status; i++) {
        int32_t label = imp_points_label(points, i);
        if (label >= 0)
            status = imp_shares_add(shares, i, (size_t)label, 1, error);
    }
    return status;
}

/* ---- step 5: weighted means ---- */

void imp_means_begin(imp_clusters *clusters)
{
    for (size_t c = 0; c < clusters->count; c++)
        clusters->weight[c] = 0;
    if (clusters->count > 0)
        memset(clusters->sum, 0, clusters->count * clusters->dimensions * sizeof *clusters->sum);
}

void imp_means_add(imp_clusters *clusters, const imp_points *points, const imp_shares *shares)
{
    imp_means_add_to(clusters, points, shares, 0, clusters->dimensions);
}

void imp_means_add_to(imp_clusters *clusters, const imp_points *points, const imp_shares *shares,
                      size_t begin, size_t end)
{
    for (size_t s = 0; s < shares->count; s++) {
        const imp_share *share = &shares->share[s];
        const float *x = imp_points_row(points, share->point);
        double *sum = imp_clusters_sum(clusters, share->cluster);
        if (begin == 0)
            clusters->weight[share->cluster] += share->z;
        for (size_t j = begin; j < end; j++)
            sum[j] += share->z * x[j];
    }
}

void imp_clusters_move(imp_clusters *clusters, size_t from, size_t to)
{
    if (from == to)
        return;
    size_t bytes = clusters->dimensions * sizeof(double);
    clusters->label[to] = clusters->label[from];
    clusters->sigma[to] = clusters->sigma[from];
    clusters->offset[to] = clusters->offset[from];
    clusters->weight[to] = clusters->weight[from];
    memcpy(imp_clusters_sum(clusters, to), imp_clusters_sum(clusters, from), bytes);
    memcpy(imp_clusters_mean(clusters, to), imp_clusters_mean(clusters, from), bytes);
}

void imp_means_finish(imp_clusters *clusters, imp_shares *shares)
{
    const uint32_t nowhere = UINT32_MAX;
    size_t kept = 0;
    for (size_t c = 0; c < clusters->count; c++) {
        bool keep = clusters->weight[c] > IMP_LEAST_WEIGHT;
        clusters->moved[c] = keep ? (uint32_t)kept : nowhere;
        if (keep)
            imp_clusters_move(clusters, c, kept);
        kept += keep;
    }
    bool dropped = kept < clusters->count;
    clusters->count = kept;

    if (dropped && shares) {
        size_t left = 0;
        for (size_t s = 0; s < shares->count; s++) {
            imp_share share = shares->share[s];
            share.cluster = clusters->moved[share.cluster];
            if (share.cluster != nowhere)
                shares->share[left++] = share;
        }
        shares->count = left;
    }
    for (size_t c = 0; c < kept; c++) {
        const double *sum = imp_clusters_sum(clusters, c);
        double *mean = imp_clusters_mean(clusters, c);
        for (size_t j = 0; j < clusters->dimensions; j++)
            mean[j] = sum[j] / clusters->weight[c];
    }
}

void imp_weighted_means(imp_clusters *clusters, const imp_points *points, imp_shares *shares)
{
    imp_means_begin(clusters);
    imp_means_add(clusters, points, shares);
    imp_means_finish(clusters, shares);
}

void imp_weighted_means_gradient(const imp_clusters *clusters, const imp_shares *shares,
                                 const double *mean_gradient, double *point_gradient)
{
    size_t dimensions = clusters->dimensions;
    for (size_t s = 0; s < shares->count; s++) {
        const imp_share *share = &shares->share[s];
        /* mean_c = sum_i z_ic x_i / weight_c */
        double slope = share->z / clusters->weight[share->cluster];
        const double *from = mean_gradient + share->cluster * dimensions;
        double *to = point_gradient + share->point * dimensions;
        for (size_t j = 0; j < dimensions; j++)
            to[j] += slope * from[j];
    }
}
