/*
 * mixture_file.c - a mixture as a safetensors file.
 *
 * The running sums are stored in double, so a mixture that was saved and loaded takes further
 * points to the same bits as one that was not. Tensors: cluster.label, cluster.weight, cluster.sum
 * (the mean is the sum divided by the weight), and the scalars classes, lambda, sigma_l, sigma_u
 * and, if known, alpha and steps. The application's note is in the metadata.
 *
 * A mixture with options chosen from the data has format 2, since a reader that ignores its metric
 * would give wrong answers: it adds the metric, the choice and its evidence
 * (mixture_file_chosen.c). A mixture with several views has format 3, and adds these as well
 * (views_file.c).
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/mixture.h"
#include "methods/mixture_file.h"
#include "methods/rule.h"

#define FORMAT "imp mixture 1"
#define FORMAT_CHOSEN "imp mixture 2"
#define FORMAT_VIEWS "imp mixture 3"

/* ---- writing ---- */

enum {
    OWN_TENSORS = 9,
    MOST_TENSORS = OWN_TENSORS + IMP_CHOSEN_TENSORS + IMP_VIEW_TENSORS,
    MOST_METADATA = 2
};

/* The contents of a file. Nearly all of it points into the mixture's own memory. */
typedef struct contents {
    int64_t classes;
    imp_chosen_numbers numbers;
    imp_view_numbers views;
    imp_tensor tensors[MOST_TENSORS];
    size_t tensor_count;
    imp_metadata metadata[MOST_METADATA];
    size_t metadata_count;
} contents;

static void list_contents(const imp_mixture *mixture, contents *file)
{
    const imp_clusters *clusters = &mixture->clusters;
    size_t count = clusters->count, d = clusters->dimensions;
    file->classes = (int64_t)mixture->classes;
    const imp_tensor tensors[OWN_TENSORS] = {
        {"cluster.label", IMP_INT32, 1, {count}, count, clusters->label},
        {"cluster.weight", IMP_FLOAT64, 1, {count}, count, clusters->weight},
        {"cluster.sum", IMP_FLOAT64, 2, {count, d}, count * d, clusters->sum},
        {"classes", IMP_INT64, 0, {0}, 1, &file->classes},
        {"lambda", IMP_FLOAT64, 0, {0}, 1, &mixture->rule.lambda},
        {"sigma_l", IMP_FLOAT64, 0, {0}, 1, &mixture->rule.sigma_l},
        {"sigma_u", IMP_FLOAT64, 0, {0}, 1, &mixture->rule.sigma_u},
        {"alpha", IMP_FLOAT64, 0, {0}, 1, &mixture->rule.alpha},
        {"steps", IMP_FLOAT64, 0, {0}, 1, &mixture->rule.steps},
    };
    memcpy(file->tensors, tensors, sizeof tensors);
    bool complete = !isnan(mixture->rule.alpha) && !isnan(mixture->rule.steps);
    file->tensor_count = complete ? OWN_TENSORS : OWN_TENSORS - 2;
    bool chosen = mixture->chosen.any;
    if (chosen) {
        /* alpha plays no part in a choice; steps do. */
        file->tensors[OWN_TENSORS - 2] = tensors[OWN_TENSORS - 1];
        file->tensor_count = OWN_TENSORS - 1;
        file->tensor_count +=
            imp_list_chosen(mixture, &file->numbers, file->tensors + file->tensor_count);
    }
    bool views = mixture->views.count > 0;
    if (views && chosen)
        file->tensor_count +=
            imp_list_views(&mixture->views, &file->views, file->tensors + file->tensor_count);
    file->metadata[0] = (imp_metadata){"format", views    ? FORMAT_VIEWS
                                                 : chosen ? FORMAT_CHOSEN
                                                          : FORMAT};
    file->metadata[1] = (imp_metadata){"note", mixture->note};
    file->metadata_count = mixture->note ? 2 : 1;
}

imp_status imp_mixture_save(const imp_mixture *mixture, const char *path, imp_error *error)
{
    contents file;
    list_contents(mixture, &file);
    return imp_safetensors_save(path, file.tensors, file.tensor_count, file.metadata,
                                file.metadata_count, error);
}

imp_status imp_mixture_to_bytes(const imp_mixture *mixture, unsigned char **bytes, size_t *size,
                                imp_error *error)
{
    contents file;
    list_contents(mixture, &file);
    return imp_safetensors_write(file.tensors, file.tensor_count, file.metadata,
                                 file.metadata_count, bytes, size, error);
}

void imp_mixture_bytes_free(unsigned char *bytes)
{
    imp_release(bytes);
}

/* ---- reading ---- */

/* The tensor of that name, type and rank; NULL on failure. */
static const imp_tensor *expect(const imp_safetensors *file, const char *name, imp_dtype dtype,
                                size_t rank, imp_error *error)
{
    const imp_tensor *tensor = imp_safetensors_find(file, name);
    if (tensor && tensor->dtype == dtype && tensor->rank == rank)
        return tensor;
    imp_fail(error, IMP_EFORMAT, "a mixture needs the tensor '%s', %s of rank %zu%s", name,
             imp_dtype_name(dtype), rank, tensor ? "; here it is another" : "; there is none");
    return NULL;
}

static imp_status read_number(const imp_safetensors *file, const char *name, double *value,
                              imp_error *error)
{
    const imp_tensor *tensor = expect(file, name, IMP_FLOAT64, 0, error);
    if (!tensor)
        return IMP_EFORMAT;
    *value = *(const double *)tensor->data;
    /* An infinite lambda means one cluster per class. */
    if (!isfinite(*value) && !(*value > 0 && strcmp(name, "lambda") == 0))
        return imp_fail(error, IMP_EFORMAT, "%s is %g; it must be a finite number", name, *value);
    return IMP_OK;
}

static imp_status read_rule(const imp_safetensors *file, imp_rule *rule, imp_error *error)
{
    *rule = (imp_rule)IMP_RULE_AUTO;
    imp_status status = read_number(file, "lambda", &rule->lambda, error);
    if (!status)
        status = read_number(file, "sigma_l", &rule->sigma_l, error);
    if (!status)
        status = read_number(file, "sigma_u", &rule->sigma_u, error);
    /* Files of version 0.1 do not have these two. */
    if (!status && imp_safetensors_find(file, "alpha"))
        status = read_number(file, "alpha", &rule->alpha, error);
    if (!status && imp_safetensors_find(file, "steps"))
        status = read_number(file, "steps", &rule->steps, error);
    imp_rule checked = *rule;
    if (isinf(checked.lambda))
        checked.lambda = IMP_AUTO;
    return status ? status : imp_as_format(imp_check_rule(&checked, error), error);
}

static imp_status read_clusters(imp_mixture *mixture, const imp_tensor *label,
                                const imp_tensor *weight, const imp_tensor *sum, imp_error *error)
{
    imp_clusters *clusters = &mixture->clusters;
    size_t count = label->count, d = clusters->dimensions;
    imp_status status = imp_clusters_reserve(clusters, count, error);
    for (size_t c = 0; c < count && !status; c++) {
        int32_t class = ((const int32_t *)label->data)[c];
        double of = ((const double *)weight->data)[c];
        if (!isfinite(of) || !(of > 0))
            return imp_fail(error, IMP_EFORMAT,
                            "the weight of cluster %zu is %g; it must be a finite number above 0",
                            c, of);
        status = imp_clusters_add(clusters, class,
                                  class < 0 ? mixture->rule.sigma_u : mixture->rule.sigma_l, NULL,
                                  error);
        if (status)
            return status;
        clusters->weight[c] = of;
        memcpy(imp_clusters_sum(clusters, c), (const double *)sum->data + c * d,
               d * sizeof(double));
        imp_mixture_place(mixture, c);
        /* A mean of floats is in their range, up to rounding; the test also rejects NaN. */
        for (size_t j = 0; j < d; j++)
            if (!(fabs(imp_clusters_mean(clusters, c)[j]) < 1.001 * FLT_MAX))
                return imp_fail(error, IMP_EFORMAT,
                                "the mean of cluster %zu, its sum divided by its weight, is %g in "
                                "dimension %zu; it must be in the range of a float",
                                c, imp_clusters_mean(clusters, c)[j], j);
    }
    return status;
}

/* Each cluster has a class of 0 .. way-1 or none, and each class a cluster. */
static imp_status check_labels(const imp_tensor *label, size_t way, imp_error *error)
{
    size_t count = label->count;
    const int32_t *labels = label->data;
    for (size_t c = 0; c < count && way == 0; c++)
        if (labels[c] != IMP_UNLABELED)
            return imp_fail(error, IMP_EFORMAT,
                            "cluster %zu has the label %d; without classes it can only be -1", c,
                            (int)labels[c]);
    if (way == 0)
        return IMP_OK;
    unsigned char *seen = imp_allocate(imp_seen_bytes(count, way), 1);
    if (!seen)
        return imp_fail_memory(error, "a mixture");
    imp_status status = imp_check_labels(labels, count, IMP_UNLABELED, way, "cluster", error);
    if (!status)
        status = imp_check_complete(labels, count, way, seen, error);
    imp_release(seen);
    return imp_as_format(status, error);
}

static imp_status read_mixture(const imp_safetensors *file, imp_mixture **out, imp_error *error)
{
    const char *format = imp_safetensors_metadata(file, "format");
    bool views = format && strcmp(format, FORMAT_VIEWS) == 0;
    bool chosen = views || (format && strcmp(format, FORMAT_CHOSEN) == 0);
    if (!format || (strcmp(format, FORMAT) != 0 && !chosen))
        return imp_fail(error, IMP_EFORMAT,
                        "this is not a mixture: its format is '%s', that of a mixture '%s'",
                        format ? format : "not stated", FORMAT);
    const imp_tensor *label = expect(file, "cluster.label", IMP_INT32, 1, error);
    const imp_tensor *weight = label ? expect(file, "cluster.weight", IMP_FLOAT64, 1, error) : NULL;
    const imp_tensor *sum = weight ? expect(file, "cluster.sum", IMP_FLOAT64, 2, error) : NULL;
    const imp_tensor *classes = sum ? expect(file, "classes", IMP_INT64, 0, error) : NULL;
    if (!classes)
        return IMP_EFORMAT;
    size_t count = label->count, d = sum->shape[1];
    if (count == 0 || d == 0 || weight->count != count || sum->shape[0] != count)
        return imp_fail(error, IMP_EFORMAT,
                        "labels, weights and sums are of %zu, %zu and %zu clusters in %zu "
                        "dimensions; a mixture has the same of each, and at least 1",
                        count, weight->count, sum->shape[0], d);
    int64_t way = *(const int64_t *)classes->data;
    if (way < 0 || way > (int64_t)INT32_MAX + 1)
        return imp_fail(error, IMP_EFORMAT, "the number of classes is out of range");

    imp_mixture *mixture = imp_mixture_create(d);
    if (!mixture)
        return imp_fail_memory(error, "a mixture");
    mixture->classes = (size_t)way;
    imp_status status = read_rule(file, &mixture->rule, error);
    if (!status)
        status = check_labels(label, (size_t)way, error);
    if (!status)
        status = read_clusters(mixture, label, weight, sum, error);
    if (!status && chosen)
        status = imp_read_chosen(file, mixture, error);
    if (!status && views)
        status = imp_read_views(file, mixture->clusters.dimensions, &mixture->views, error);
    if (!status)
        status = imp_mixture_set_note(mixture, imp_safetensors_metadata(file, "note"), error);
    if (status) {
        imp_mixture_free(mixture);
        return status;
    }
    *out = mixture;
    return IMP_OK;
}

imp_status imp_mixture_load(const char *path, imp_mixture **out, imp_error *error)
{
    *out = NULL;
    imp_safetensors *file;
    imp_status status = imp_safetensors_load(path, &file, error);
    if (status)
        return status;
    status = read_mixture(file, out, error);
    imp_safetensors_free(file);
    if (status)
        imp_error_prefix(error, path);
    return status;
}

imp_status imp_mixture_from_bytes(const unsigned char *bytes, size_t size, imp_mixture **out,
                                  imp_error *error)
{
    *out = NULL;
    unsigned char *copy = imp_allocate(size, 1);
    if (!copy)
        return imp_fail_memory(error, "a mixture");
    if (size > 0)
        memcpy(copy, bytes, size);
    imp_safetensors *file;
    imp_status status = imp_safetensors_parse(copy, size, &file, error);
    if (status)
        return status;
    status = read_mixture(file, out, error);
    imp_safetensors_free(file);
    return status;
}
