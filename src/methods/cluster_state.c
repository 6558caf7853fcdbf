/* cluster_state.c - a clustering that was stopped, as a safetensors file. */
#include "methods/cluster_state.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/safetensors.h"

static const char kind[] = "imp clustering, stopped";

/* ---- what it is of ---- */

enum { SAMPLE = 64 }; /* points that are looked at */

uint64_t imp_state_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * 1099511628211u;
    return hash;
}

/* All labels; of the points those that have labels, and some of the others. */
imp_status imp_state_print_of(const imp_point_source *source, const char *method,
                              imp_cluster_print *print, imp_error *error)
{
    imp_reader reader;
    uint64_t hash = IMP_STATE_HASH;
    size_t n = source->count, d = source->dimensions, labeled = source->label_count;
    imp_status status = imp_reader_create(&reader, source, NULL, 1, error);
    for (size_t i = 0; i < labeled + SAMPLE && !status; i++) {
        const float *row;
        size_t s = i - labeled, point = i < labeled ? i : n / SAMPLE * s + n % SAMPLE * s / SAMPLE;
        status = imp_reader_read(&reader, point, 1, &row, error);
        hash = status ? hash : imp_state_hash(hash, row, d * sizeof *row);
    }
    imp_reader_release(&reader);
    if (labeled > 0)
        hash = imp_state_hash(hash, source->label, labeled * sizeof *source->label);
    snprintf(print->text, sizeof print->text, "%zu points of %zu dimensions, %016" PRIx64 "; %s", n,
             d, hash, method);
    return status;
}

imp_status imp_cluster_print_of(const imp_point_source *source, const imp_cluster_options *options,
                                imp_cluster_print *print, imp_error *error)
{
    char method[400];
    const imp_rule *rule = &options->rule;
    snprintf(method, sizeof method,
             "%s, lambda %a, sigma %a, steps %a, order %d, seed %" PRIu64 ", clusters %zu",
             options->method ? options->method : "", rule->lambda, rule->sigma_u, rule->steps,
             (int)options->order, options->seed, options->clusters);
    return imp_state_print_of(source, method, print, error);
}

/* ---- what is kept ---- */

enum { TENSORS = 6, NUMBERS = 7 };

/* The numbers of a state, all of them in its metadata. */
static const struct {
    const char *name;
    size_t place;
    bool of_points; /* none is more than there are points */
} numbers[NUMBERS] = {
    {"passes", offsetof(imp_cluster_state, passes), false},
    {"part", offsetof(imp_cluster_state, part), false},
    {"done", offsetof(imp_cluster_state, done), true},
    {"changed", offsetof(imp_cluster_state, changed), true},
    {"before", offsetof(imp_cluster_state, before), true},
    {"grown", offsetof(imp_cluster_state, grown), true},
    {"renumbered", offsetof(imp_cluster_state, renumbered), false},
};

/* ---- writing ---- */

typedef struct number {
    char text[24];
} number;

static number number_of(size_t value)
{
    number n;
    snprintf(n.text, sizeof n.text, "%zu", value);
    return n;
}

imp_status imp_cluster_state_save(const char *path, const imp_cluster_print *print,
                                  const imp_cluster_state *state, const imp_clusters *clusters,
                                  const int32_t *assignment, size_t points,
                                  const imp_state_more *more, imp_error *error)
{
    size_t k = clusters->count, d = clusters->dimensions, n = assignment ? points : 0;
    imp_tensor tensors[TENSORS + IMP_STATE_MORE] = {
        {"assignment", IMP_INT32, 1, {n}, n, assignment},
        {"label", IMP_INT32, 1, {k}, k, clusters->label},
        {"mean", IMP_FLOAT64, 2, {k, d}, k * d, clusters->mean},
        {"sigma", IMP_FLOAT64, 1, {k}, k, clusters->sigma},
        {"sum", IMP_FLOAT64, 2, {k, d}, k * d, clusters->sum},
        {"weight", IMP_FLOAT64, 1, {k}, k, clusters->weight},
    };
    number texts[NUMBERS];
    imp_metadata metadata[2 + NUMBERS] = {{"kind", kind}, {"of", print->text}};
    for (size_t i = 0; i < NUMBERS; i++) {
        texts[i] = number_of(*(const size_t *)((const char *)state + numbers[i].place));
        metadata[2 + i] = (imp_metadata){numbers[i].name, texts[i].text};
    }
    for (size_t i = 0; more && i < more->count; i++)
        tensors[TENSORS + i] = more->tensor[i];
    return imp_safetensors_save(path, tensors, TENSORS + (more ? more->count : 0), metadata,
                                sizeof metadata / sizeof *metadata, error);
}

/* ---- reading ---- */

imp_status imp_cluster_state_refuse(const char *path, const char *what, imp_error *error)
{
    return imp_fail(error, IMP_EFORMAT, "'%s' is not what a stopped clustering leaves: %s", path,
                    what);
}

static bool read_number(const imp_safetensors *file, const char *key, size_t most, size_t *value)
{
    const char *text = imp_safetensors_metadata(file, key);
    char *end = NULL;
    *value = text ? strtoull(text, &end, 10) : 0;
    return text && end != text && !*end && *value <= most;
}

static bool read_numbers(const imp_safetensors *file, size_t points, size_t last,
                         imp_cluster_state *state)
{
    bool all = true;
    for (size_t i = 0; i < NUMBERS; i++)
        all = read_number(file, numbers[i].name, numbers[i].of_points ? points : SIZE_MAX,
                          (size_t *)((char *)state + numbers[i].place)) &&
              all;
    return all && state->part <= last;
}

/* The tensor of that name and type with `count` elements, or NULL. */
static const void *find(const imp_safetensors *file, const char *name, imp_dtype dtype,
                        size_t count)
{
    const imp_tensor *tensor = imp_safetensors_find(file, name);
    return tensor && tensor->dtype == dtype && tensor->count == count ? tensor->data : NULL;
}

/* Whether a cluster is one of points, which are floats: a mean of some, and a sum with weights. */
static bool is_of_points(const double *mean, const double *sum, size_t dimensions, double sigma,
                         double weight)
{
    const double rounding = 1 + 1e-6;
    bool all = sigma >= 0 && sigma <= DBL_MAX && weight >= 0 && weight <= DBL_MAX / FLT_MAX;
    for (size_t j = 0; j < dimensions; j++)
        all &= fabs(mean[j]) <= FLT_MAX && fabs(sum[j]) <= FLT_MAX * weight * rounding;
    return all;
}

static imp_status take(const char *path, const imp_safetensors *file, imp_clusters *clusters,
                       int32_t *assignment, size_t points, imp_error *error)
{
    if (!assignment)
        points = 0;
    const imp_tensor *labels = imp_safetensors_find(file, "label");
    size_t k = labels ? labels->count : 0, d = clusters->dimensions, values;
    if (k > INT32_MAX || !imp_multiply(k, d, &values))
        return imp_cluster_state_refuse(path, "there are too many clusters", error);
    const int32_t *label = find(file, "label", IMP_INT32, k);
    const int32_t *assigned = find(file, "assignment", IMP_INT32, points);
    const double *sigma = find(file, "sigma", IMP_FLOAT64, k);
    const double *weight = find(file, "weight", IMP_FLOAT64, k);
    const double *mean = find(file, "mean", IMP_FLOAT64, values);
    const double *sum = find(file, "sum", IMP_FLOAT64, values);
    if (!label || !assigned || !sigma || !weight || !mean || !sum)
        return imp_cluster_state_refuse(path, "a tensor is missing or has another shape", error);
    for (size_t c = 0; c < k; c++)
        if (!is_of_points(mean + c * d, sum + c * d, d, sigma[c], weight[c]))
            return imp_cluster_state_refuse(path, "a cluster is far from all points", error);
    for (size_t i = 0; i < points; i++)
        if (assigned[i] < -1 || (assigned[i] >= 0 && (size_t)assigned[i] >= k))
            return imp_cluster_state_refuse(path, "a point is in a cluster that is not there",
                                            error);
    imp_status status = imp_clusters_reserve(clusters, k, error);
    for (size_t c = 0; c < k && !status; c++)
        status = imp_clusters_add(clusters, label[c], sigma[c], NULL, error);
    if (status)
        return status;
    if (k > 0) {
        memcpy(clusters->mean, mean, values * sizeof *mean);
        memcpy(clusters->sum, sum, values * sizeof *sum);
        memcpy(clusters->weight, weight, k * sizeof *weight);
    }
    if (points > 0)
        memcpy(assignment, assigned, points * sizeof *assignment);
    return IMP_OK;
}

static bool is_state(const imp_safetensors *file)
{
    const char *is = imp_safetensors_metadata(file, "kind");
    return is && strcmp(is, kind) == 0;
}

/* Reads the file if it is a state of what `print` says. */
static imp_status open_state(const char *path, const imp_cluster_print *print,
                             imp_safetensors **file, imp_error *error)
{
    imp_status status = imp_safetensors_load(path, file, error);
    if (status)
        return status;
    const char *of = imp_safetensors_metadata(*file, "of");
    if (!of || !is_state(*file))
        status = imp_cluster_state_refuse(path, "it says that it is something else", error);
    else if (strcmp(of, print->text) != 0)
        status = imp_fail(error, IMP_EINVAL,
                          "'%s' is of a clustering of other points or by other options; it goes on "
                          "only with what it began with",
                          path);
    if (status) {
        imp_safetensors_free(*file);
        *file = NULL;
    }
    return status;
}

imp_status imp_cluster_state_begin(const char *path, const imp_cluster_print *print, bool resume,
                                   imp_error *error)
{
    imp_safetensors *file = NULL;
    imp_status status = IMP_OK;
    struct stat about;
    if (resume)
        status = open_state(path, print, &file, error);
    else if (lstat(path, &about) == 0 &&
             (imp_safetensors_load(path, &file, NULL) || !is_state(file)))
        status =
            imp_fail(error, IMP_EINVAL,
                     "'%s' is not what a stopped run left, but this one would write there if it "
                     "were stopped; move it, or name another output",
                     path);
    imp_safetensors_free(file);
    return status;
}

imp_status imp_cluster_state_load(const char *path, const imp_cluster_print *print,
                                  imp_cluster_state *state, imp_clusters *clusters,
                                  int32_t *assignment, size_t points, imp_safetensors **out,
                                  imp_error *error)
{
    imp_safetensors *file;
    if (out)
        *out = NULL;
    imp_status status = open_state(path, print, &file, error);
    if (status)
        return status;
    if (!read_numbers(file, points, out ? IMP_PART_SAMPLE : IMP_PART_ASSIGN, state))
        status = imp_cluster_state_refuse(path, "its numbers do not make sense", error);
    else
        status = take(path, file, clusters, assignment, points, error);
    if (out && !status)
        *out = file;
    else
        imp_safetensors_free(file);
    return status;
}
