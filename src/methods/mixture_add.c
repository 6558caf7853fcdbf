/*
 * mixture_add.c - adds points to a mixture one after the other, the life-long setting that the
 * paper names as future work: step 3 decides whether a point starts a cluster, and its soft
 * assignment in step 4 updates the running sums behind step 5.
 *
 * Earlier points are not revisited, except for the sample of them that a mixture keeps. When enough
 * of that is new, everything that was chosen from the data is chosen again (mixture_renew.c).
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/mixture.h"
#include "methods/refine.h"
#include "methods/work.h"

/* A point being added. Each point moves the means for the next, so points are taken one after the
 * other, and threads divide the clusters instead. */
typedef struct addition {
    imp_mixture *mixture;
    const imp_kernels *kernels;
    const float *x;
    size_t candidates, part; /* their number, and how many one thread takes at a time */
    uint32_t *candidate;     /* clusters that it may join */
    double *z;               /* squared distances to them, then shares in them */
} addition;

enum { PART_VALUES = 1 << 16 }; /* of the means that one thread processes */

static size_t part_end(const addition *a, size_t part)
{
    size_t begin = part * a->part;
    return a->candidates - begin < a->part ? a->candidates : begin + a->part;
}

static void measure_part(size_t part, int worker, void *context)
{
    (void)worker;
    const addition *a = context;
    size_t begin = part * a->part;
    a->kernels->distances(a->mixture->clusters.dimensions, a->x, a->mixture->clusters.mean,
                          a->candidate + begin, part_end(a, part) - begin, a->z + begin);
}

/* Adds x to cluster c with share z. */
static void join(imp_mixture *mixture, size_t c, const float *x, double z)
{
    double *sum = imp_clusters_sum(&mixture->clusters, c);
    mixture->clusters.weight[c] += z;
    for (size_t j = 0; j < mixture->clusters.dimensions; j++)
        sum[j] += z * x[j];
    imp_mixture_place(mixture, c);
}

/* Shares too small to change a weight are left out. */
static void join_part(size_t part, int worker, void *context)
{
    (void)worker;
    const addition *a = context;
    const double *weight = a->mixture->clusters.weight;
    for (size_t i = part * a->part; i < part_end(a, part); i++) {
        size_t c = a->candidate[i];
        if (a->z[i] > 0 && weight[c] + a->z[i] > weight[c])
            join(a->mixture, c, a->x, a->z[i]);
    }
}

static void in_parts(const addition *a, imp_parallel_body *body)
{
    imp_parallel((a->candidates + a->part - 1) / a->part, imp_parallel_threads(0), body, (void *)a);
}

/* The weight of the next point in clusters that have a label. The total weight of unlabelled points
 * is limited to what was found to help. */
static double next_weight(imp_mixture *mixture, int32_t label)
{
    imp_mixture_chosen *chosen = &mixture->chosen;
    if (!chosen->any || label >= 0) {
        chosen->labeled_mass += chosen->any;
        return 1;
    }
    if (chosen->unlabeled_mass + chosen->weight > chosen->ratio * chosen->labeled_mass)
        return 0;
    chosen->unlabeled_mass += chosen->weight;
    return chosen->weight;
}

/* The label in the sample of an unlabelled point that joins or starts cluster c. */
static int32_t kind_of_cluster(const imp_clusters *clusters, size_t c)
{
    return c < clusters->count && clusters->label[c] >= 0
               ? IMP_UNLABELED
               : imp_stranger(imp_mixture_stranger_number(clusters, c));
}

/* *kind becomes the label with which the mixture's sample may keep the point. */
static imp_status add_point(const imp_kernels *kernels, imp_mixture *mixture, const float *x,
                            int32_t label, int32_t *kind, imp_error *error)
{
    imp_clusters *clusters = &mixture->clusters;
    addition a = {.mixture = mixture,
                  .kernels = kernels,
                  .x = x,
                  .part = PART_VALUES / clusters->dimensions + 1,
                  .candidate = clusters->moved,
                  .z = clusters->score};
    for (size_t c = 0; c < clusters->count; c++)
        if (imp_may_join(label, clusters->label[c]))
            a.candidate[a.candidates++] = (uint32_t)c;
    in_parts(&a, measure_part);
    size_t nearest = 0;
    for (size_t i = 1; i < a.candidates; i++)
        nearest = a.z[i] < a.z[nearest] ? i : nearest;
    double lambda =
        mixture->chosen.any && label < 0 ? mixture->chosen.lambda_u : mixture->rule.lambda;
    bool starts = a.candidates == 0 || a.z[nearest] > lambda;
    *kind = label < 0 ? kind_of_cluster(clusters, starts ? clusters->count : a.candidate[nearest])
                      : label;
    if (starts) {
        imp_status status =
            imp_clusters_add(clusters, label, imp_mixture_sigma(mixture, label), x, error);
        if (!status)
            join(mixture, clusters->count - 1, x, 1);
        if (label >= 0)
            next_weight(mixture, label);
        return status;
    }
    imp_share_out(kernels, clusters, a.candidate, a.candidates, a.z);
    double weight = next_weight(mixture, label);
    for (size_t i = 0; i < a.candidates && weight < 1; i++)
        if (clusters->label[a.candidate[i]] >= 0)
            a.z[i] *= weight;
    in_parts(&a, join_part);
    return IMP_OK;
}

/* New classes must continue the numbering: each of known .. way-1 needs a point among those added.
 */
static imp_status check_new_classes(const int32_t *y, size_t n, size_t known, size_t way,
                                    imp_error *error)
{
    size_t looked_at = way - known < n + 1 ? way - known : n + 1;
    unsigned char *seen = imp_allocate_zeroed(looked_at, 1);
    if (!seen)
        return imp_fail_memory(error, "the new classes");
    for (size_t i = 0; i < n; i++)
        if (y[i] >= 0 && (size_t)y[i] >= known && (size_t)y[i] - known < looked_at)
            seen[(size_t)y[i] - known] = 1;
    const unsigned char *missing = memchr(seen, 0, looked_at);
    size_t class = missing ? known + (size_t)(missing - seen) : way;
    imp_release(seen);
    if (class < way)
        return imp_fail(error, IMP_EINVAL,
                        "class %zu has no point, but class %zu does; new classes continue the "
                        "numbering from %zu on without a gap",
                        class, way - 1, known);
    return IMP_OK;
}

/* Adds the points, mapping a few at a time into the metric, which may change meanwhile. */
static imp_status add_points(const imp_kernels *kernels, imp_mixture *mixture, const float *x,
                             const int32_t *y, size_t n, imp_error *error)
{
    enum { TOGETHER = 1024 };
    size_t d = mixture->clusters.dimensions;
    imp_status status = IMP_OK;
    for (size_t begin = 0, end; begin < n && !status; begin = end) {
        float *room;
        const float *rows;
        bool renewed = false;
        end = n - begin < TOGETHER ? n : begin + TOGETHER;
        status = imp_mixture_enter(mixture, x + begin * d, end - begin, &room, &rows, error);
        for (size_t i = begin; i < end && !status && !renewed; i++) {
            int32_t kind, label = y ? y[i] : IMP_UNLABELED;
            if (label >= 0 && (size_t)label >= mixture->classes)
                mixture->classes = (size_t)label + 1;
            status = add_point(kernels, mixture, rows + (i - begin) * d, label, &kind, error);
            if (!status && mixture->chosen.any)
                status = imp_mixture_remember(mixture, x + i * d, kind, &renewed, error);
            if (renewed)
                end = i + 1;
        }
        imp_release(room);
    }
    return status;
}

/* With the paper's rule nothing bounds the clusters; otherwise the sample does. */
static imp_status foresee(const imp_mixture *mixture, const float *x, const int32_t *y, size_t n,
                          imp_error *error)
{
    const imp_points points = {
        .dimensions = mixture->clusters.dimensions, .first = x, .label = y, .first_count = n};
    const imp_point_source source = imp_source_of_points(&points);
    const imp_plan_of_work plan = {.source = &source,
                                   .lambda = mixture->rule.lambda,
                                   .lambda_u = mixture->rule.lambda,
                                   .clusters = mixture->clusters.count,
                                   .passes = 1};
    return mixture->chosen.any ? IMP_OK : imp_foresee(&plan, error);
}

imp_status imp_mixture_add(const imp_mixture *mixture, const float *x, const int32_t *y, size_t n,
                           size_t d, imp_mixture **out, imp_error *error)
{
    *out = NULL;
    size_t way;
    const imp_kernels *kernels;
    const imp_point_source source = imp_source_of_labeled(x, y, n, d);
    imp_status status = imp_mixture_check_dimensions(mixture, d, error);
    if (!status)
        status = imp_mixture_check_points(&source, mixture->classes, &way, error);
    if (!status && way > mixture->classes)
        status = check_new_classes(y, n, mixture->classes, way, error);
    if (!status)
        status = imp_kernels_choose(&kernels, error);
    if (!status)
        status = foresee(mixture, x, y, n, error);
    if (status)
        return status;
    imp_mixture *grown = imp_mixture_copy(mixture, error);
    if (!grown)
        return IMP_ENOMEM;
    status = add_points(kernels, grown, x, y, n, error);
    if (!status && grown->chosen.any)
        status = imp_reference_place(&grown->reference, &grown->sample, error);
    if (status) {
        imp_mixture_free(grown);
        return status;
    }
    *out = grown;
    return IMP_OK;
}
