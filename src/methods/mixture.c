/*
 * mixture.c - fitting a mixture by Algorithm 1, adding points to it later, merging two.
 *
 * Adding is the life-long setting that the paper names as future work: the rule of step 3 decides
 * whether a point starts a cluster, and the soft assignment of step 4 enters the running sums that
 * step 5 divides. What came before is not looked at again.
 */
#include "methods/mixture.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "methods/imp.h"
#include "methods/option_checks.h"
#include "methods/refine.h"

imp_mixture *imp_mixture_create(size_t dimensions)
{
    imp_mixture *mixture = imp_allocate_zeroed(1, sizeof *mixture);
    if (mixture)
        imp_clusters_restart(&mixture->clusters, dimensions);
    return mixture;
}

void imp_mixture_free(imp_mixture *mixture)
{
    if (!mixture)
        return;
    imp_clusters_release(&mixture->clusters);
    imp_release(mixture->note);
    imp_release(mixture);
}

const char *imp_mixture_note(const imp_mixture *mixture)
{
    return mixture->note;
}

imp_status imp_mixture_set_note(imp_mixture *mixture, const char *note, imp_error *error)
{
    char *copy = note ? imp_duplicate(note) : NULL;
    if (note && !copy)
        return imp_fail_memory(error, "the note of a mixture");
    imp_release(mixture->note);
    mixture->note = copy;
    return IMP_OK;
}

void imp_mixture_place(imp_mixture *mixture, size_t c)
{
    imp_clusters *clusters = &mixture->clusters;
    for (size_t j = 0; j < clusters->dimensions; j++)
        imp_clusters_mean(clusters, c)[j] = imp_clusters_sum(clusters, c)[j] / clusters->weight[c];
}

static double sigma_of(const imp_mixture *mixture, int32_t label)
{
    return label < 0 ? mixture->sigma_u : mixture->sigma_l;
}

/* ---- fitting ---- */

void imp_mixture_options_init(imp_mixture_options *options)
{
    *options = (imp_mixture_options){
        .size = sizeof *options,
        .sigma_l = 5,
        .sigma_u = 5,
        .alpha = 0.1,
        .lambda = NAN,
        .cluster_steps = 1,
    };
}

static imp_status check_options(const imp_mixture_options *given, imp_mixture_options *options,
                                imp_error *error)
{
    imp_mixture_options_init(options);
    imp_status status =
        imp_take_options(options, sizeof *options, given, "imp_mixture_options", error);
    if (status == IMP_OK)
        status = imp_check_sigma(options->sigma_l, "sigma_l", error);
    if (status == IMP_OK)
        status = imp_check_sigma(options->sigma_u, "sigma_u", error);
    if (status == IMP_OK)
        status = imp_check_alpha(options->alpha, error);
    if (status == IMP_OK)
        status = imp_check_lambda(options->lambda, error);
    if (status == IMP_OK)
        status = imp_check_steps(options->cluster_steps, error);
    return status;
}

/* Checks points to fit or to add; *way becomes one more than the largest label, or `known`. */
static imp_status check_points(const float *x, const int32_t *y, size_t n, size_t d, size_t known,
                               size_t *way, imp_error *error)
{
    *way = known;
    if (d == 0)
        return imp_fail(error, IMP_EINVAL, "the points have no dimensions; they need at least 1");
    if (n > UINT32_MAX)
        return imp_fail(error, IMP_EUNSUPPORTED, "there are %zu points; at most %u can be fitted",
                        n, UINT32_MAX);
    for (size_t i = 0; y && i < n; i++) {
        if (y[i] < IMP_UNLABELED)
            return imp_fail(error, IMP_EINVAL,
                            "point %zu has the label %d; labels are classes from 0 on, or -1 for "
                            "an unlabelled point",
                            i, (int)y[i]);
        if (y[i] >= 0 && (size_t)y[i] >= *way)
            *way = (size_t)y[i] + 1;
    }
    return imp_check_finite(x, n, d, 0, "point", error);
}

static imp_status infer(imp_mixture *mixture, const imp_points *points, size_t way,
                        const imp_mixture_options *options, imp_error *error)
{
    mixture->classes = way;
    mixture->sigma_l = options->sigma_l;
    mixture->sigma_u = options->sigma_u;
    const imp_algorithm algorithm = {
        .sigma_l = options->sigma_l,
        .sigma_u = options->sigma_u,
        .lambda = options->lambda,
        .lambda_sigma = imp_lambda_sigma(points, options->sigma_l, options->sigma_u),
        .alpha = options->alpha,
        .steps = options->cluster_steps,
        .refine = imp_refine_in_blocks,
    };
    imp_shares block = {0};
    imp_status status = imp_run_algorithm(&algorithm, points, way, &mixture->clusters, &block,
                                          &mixture->lambda, error);
    imp_shares_release(&block);
    return status;
}

/* infer() on the points with labels first; `order` has room for n numbers. */
static imp_status infer_in_order(imp_mixture *mixture, const float *x, const int32_t *y, size_t n,
                                 size_t way, uint32_t *order, const imp_mixture_options *options,
                                 imp_error *error)
{
    imp_points points = {.dimensions = mixture->clusters.dimensions,
                         .first = x,
                         .label = y,
                         .first_count = n,
                         .unlabeled_count = y ? imp_count_unlabeled(y, n) : n};
    if (y) {
        imp_order_labeled_first(y, n, 0, order);
        points.order = order;
    }
    return infer(mixture, &points, way, options, error);
}

imp_status imp_mixture_fit(const float *x, const int32_t *y, size_t n, size_t d,
                           const imp_mixture_options *given, imp_mixture **out, imp_error *error)
{
    *out = NULL;
    imp_mixture_options options;
    size_t way;
    imp_status status = check_options(given, &options, error);
    if (status == IMP_OK)
        status = check_points(x, y, n, d, 0, &way, error);
    if (status != IMP_OK)
        return status;
    if (n == 0)
        return imp_fail(error, IMP_EINVAL, "there are no points to fit; at least 1 is needed");
    if (way == 0 && isnan(options.lambda))
        return imp_fail(error, IMP_EINVAL,
                        "no point has a label, so lambda cannot be estimated; give lambda");

    imp_mixture *mixture = imp_mixture_create(d);
    uint32_t *order = imp_allocate(n, sizeof *order);
    unsigned char *seen = imp_allocate(imp_seen_bytes(n, way), 1);
    if (!mixture || !order || !seen)
        status = imp_fail_memory(error, "a mixture");
    else if (way > 0)
        status = imp_check_complete(y, n, way, seen, error);
    imp_release(seen);
    if (status == IMP_OK)
        status = infer_in_order(mixture, x, y, n, way, order, &options, error);
    imp_release(order);
    if (status != IMP_OK) {
        imp_mixture_free(mixture);
        return status;
    }
    *out = mixture;
    return IMP_OK;
}

/* ---- adding ---- */

static imp_mixture *copy_mixture(const imp_mixture *mixture, imp_error *error)
{
    const imp_clusters *from = &mixture->clusters;
    imp_mixture *copy = imp_mixture_create(from->dimensions);
    if (!copy) {
        imp_fail_memory(error, "a mixture");
        return NULL;
    }
    imp_clusters *to = &copy->clusters;
    if (imp_clusters_reserve(to, from->count, error) != IMP_OK ||
        imp_mixture_set_note(copy, mixture->note, error) != IMP_OK) {
        imp_mixture_free(copy);
        return NULL;
    }
    copy->classes = mixture->classes;
    copy->lambda = mixture->lambda;
    copy->sigma_l = mixture->sigma_l;
    copy->sigma_u = mixture->sigma_u;
    to->count = from->count;
    memcpy(to->label, from->label, from->count * sizeof *to->label);
    memcpy(to->sigma, from->sigma, from->count * sizeof *to->sigma);
    memcpy(to->offset, from->offset, from->count * sizeof *to->offset);
    memcpy(to->weight, from->weight, from->count * sizeof *to->weight);
    memcpy(to->sum, from->sum, from->count * from->dimensions * sizeof *to->sum);
    memcpy(to->mean, from->mean, from->count * from->dimensions * sizeof *to->mean);
    return copy;
}

/* x joins cluster c by z. */
static void join(imp_mixture *mixture, size_t c, const float *x, double z)
{
    double *sum = imp_clusters_sum(&mixture->clusters, c);
    mixture->clusters.weight[c] += z;
    for (size_t j = 0; j < mixture->clusters.dimensions; j++)
        sum[j] += z * x[j];
    imp_mixture_place(mixture, c);
}

static imp_status add_point(imp_mixture *mixture, const float *x, int32_t label, imp_error *error)
{
    imp_clusters *clusters = &mixture->clusters;
    double distance;
    imp_nearest_cluster(clusters, x, label, &distance);
    if (distance > mixture->lambda) {
        imp_status status = imp_clusters_add(clusters, label, sigma_of(mixture, label), x, error);
        if (status == IMP_OK)
            join(mixture, clusters->count - 1, x, 1);
        return status;
    }
    imp_soft_assignment(clusters, x, label);
    for (size_t c = 0; c < clusters->count; c++)
        if (clusters->score[c] > 0)
            join(mixture, c, x, clusters->score[c]);
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

static imp_status check_dimensions(const imp_mixture *mixture, size_t d, imp_error *error)
{
    if (d != mixture->clusters.dimensions)
        return imp_fail(error, IMP_EINVAL, "the points have %zu dimensions, the mixture has %zu", d,
                        mixture->clusters.dimensions);
    return IMP_OK;
}

imp_status imp_mixture_add(const imp_mixture *mixture, const float *x, const int32_t *y, size_t n,
                           size_t d, imp_mixture **out, imp_error *error)
{
    *out = NULL;
    size_t way;
    imp_status status = check_dimensions(mixture, d, error);
    if (status == IMP_OK)
        status = check_points(x, y, n, d, mixture->classes, &way, error);
    if (status == IMP_OK && way > mixture->classes)
        status = check_new_classes(y, n, mixture->classes, way, error);
    if (status != IMP_OK)
        return status;

    imp_mixture *grown = copy_mixture(mixture, error);
    if (!grown)
        return IMP_ENOMEM;
    grown->classes = way;
    for (size_t i = 0; i < n && status == IMP_OK; i++)
        status = add_point(grown, x + i * d, y ? y[i] : IMP_UNLABELED, error);
    if (status != IMP_OK) {
        imp_mixture_free(grown);
        return status;
    }
    *out = grown;
    return IMP_OK;
}

/* ---- merging ---- */

/* The cluster of that label nearest to the mean, if it is within lambda; else clusters.count. */
static size_t find_partner(const imp_mixture *mixture, size_t known, int32_t label,
                           const double *mean)
{
    const imp_clusters *clusters = &mixture->clusters;
    size_t partner = clusters->count;
    double nearest = INFINITY;
    for (size_t c = 0; c < known; c++) {
        double distance = 0;
        for (size_t j = 0; j < clusters->dimensions; j++) {
            double difference = imp_clusters_mean(clusters, c)[j] - mean[j];
            distance += difference * difference;
        }
        if (clusters->label[c] == label && distance <= mixture->lambda && distance < nearest) {
            nearest = distance;
            partner = c;
        }
    }
    return partner;
}

imp_status imp_mixture_merge(const imp_mixture *mixture, const imp_mixture *other,
                             imp_mixture **out, imp_error *error)
{
    *out = NULL;
    imp_status status = check_dimensions(mixture, other->clusters.dimensions, error);
    if (status != IMP_OK)
        return status;
    imp_mixture *merged = copy_mixture(mixture, error);
    if (!merged)
        return IMP_ENOMEM;
    if (other->classes > merged->classes)
        merged->classes = other->classes;

    /* Clusters of `other` are fused with clusters of `mixture` only, not with each other. */
    imp_clusters *clusters = &merged->clusters;
    size_t known = clusters->count;
    for (size_t c = 0; c < other->clusters.count; c++) {
        int32_t label = other->clusters.label[c];
        size_t to = find_partner(merged, known, label, imp_clusters_mean(&other->clusters, c));
        if (to == clusters->count) {
            status = imp_clusters_add(clusters, label, sigma_of(merged, label), NULL, error);
            if (status != IMP_OK) {
                imp_mixture_free(merged);
                return status;
            }
        }
        clusters->weight[to] += other->clusters.weight[c];
        for (size_t j = 0; j < clusters->dimensions; j++)
            imp_clusters_sum(clusters, to)[j] += imp_clusters_sum(&other->clusters, c)[j];
        imp_mixture_place(merged, to);
    }
    *out = merged;
    return IMP_OK;
}
