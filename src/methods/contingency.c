/*
 * contingency.c - counts the points of each class in each cluster.
 *
 * Pairs are counted by sorting, so a million clusters of one point each take no more memory than
 * two clusters.
 */
#include "methods/contingency.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static int compare_labels(const void *a, const void *b)
{
    int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

static int compare_pairs(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

imp_status imp_distinct_labels(const int32_t *label, size_t count, int32_t **values,
                               size_t *distinct, imp_error *error)
{
    *values = imp_allocate(count, sizeof **values);
    if (!*values)
        return imp_fail_memory(error, "labels to count");
    if (count > 0)
        memcpy(*values, label, count * sizeof **values);
    qsort(*values, count, sizeof **values, compare_labels);
    *distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || (*values)[i] != (*values)[i - 1])
            (*values)[(*distinct)++] = (*values)[i];
    return IMP_OK;
}

size_t imp_label_rank(const int32_t *values, size_t distinct, int32_t label)
{
    const int32_t *found = bsearch(&label, values, distinct, sizeof *values, compare_labels);
    return (size_t)(found - values);
}

/* keys[i] = cluster and class of point i as one number, sorted. */
static void sort_pairs(const int32_t *truth, const int32_t *classes, size_t class_count,
                       const int32_t *found, const int32_t *clusters, size_t cluster_count,
                       size_t count, uint64_t *keys)
{
    for (size_t i = 0; i < count; i++)
        keys[i] = (uint64_t)imp_label_rank(clusters, cluster_count, found[i]) << 32 |
                  imp_label_rank(classes, class_count, truth[i]);
    qsort(keys, count, sizeof *keys, compare_pairs);
}

static imp_status count_pairs(imp_contingency *contingency, const uint64_t *keys, imp_error *error)
{
    size_t count = contingency->points, pairs = 0;
    for (size_t i = 0; i < count; i++)
        pairs += i == 0 || keys[i] != keys[i - 1];
    contingency->class_size = imp_allocate_zeroed(contingency->classes, sizeof(uint32_t));
    contingency->cluster_size = imp_allocate_zeroed(contingency->clusters, sizeof(uint32_t));
    contingency->pair_class = imp_allocate(pairs, sizeof(uint32_t));
    contingency->pair_cluster = imp_allocate(pairs, sizeof(uint32_t));
    contingency->pair_size = imp_allocate_zeroed(pairs, sizeof(uint32_t));
    if (!contingency->class_size || !contingency->cluster_size || !contingency->pair_class ||
        !contingency->pair_cluster || !contingency->pair_size)
        return imp_fail_memory(error, "pairs of labels");

    for (size_t i = 0; i < count; i++) {
        uint32_t class = (uint32_t)keys[i], cluster = (uint32_t)(keys[i] >> 32);
        if (i == 0 || keys[i] != keys[i - 1]) {
            contingency->pair_class[contingency->pairs] = class;
            contingency->pair_cluster[contingency->pairs] = cluster;
            contingency->pairs++;
        }
        contingency->pair_size[contingency->pairs - 1]++;
        contingency->class_size[class]++;
        contingency->cluster_size[cluster]++;
    }
    return IMP_OK;
}

imp_status imp_contingency_create(const int32_t *truth, const int32_t *found, size_t count,
                                  imp_contingency **out, imp_error *error)
{
    *out = NULL;
    if (count > INT32_MAX)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "there are %zu points in the two labelings; at most %d can be compared",
                        count, INT32_MAX);
    imp_contingency *contingency = imp_allocate_zeroed(1, sizeof *contingency);
    uint64_t *keys = imp_allocate(count, sizeof *keys);
    int32_t *classes = NULL, *clusters = NULL;
    imp_status status = IMP_OK;
    if (!contingency || !keys)
        status = imp_fail_memory(error, "pairs of labels");
    if (!status) {
        contingency->points = count;
        status = imp_distinct_labels(truth, count, &classes, &contingency->classes, error);
    }
    if (!status)
        status = imp_distinct_labels(found, count, &clusters, &contingency->clusters, error);
    if (!status) {
        sort_pairs(truth, classes, contingency->classes, found, clusters, contingency->clusters,
                   count, keys);
        status = count_pairs(contingency, keys, error);
    }
    imp_release(keys);
    imp_release(classes);
    imp_release(clusters);
    if (status) {
        imp_contingency_free(contingency);
        return status;
    }
    *out = contingency;
    return IMP_OK;
}

void imp_contingency_free(imp_contingency *contingency)
{
    if (!contingency)
        return;
    imp_release(contingency->class_size);
    imp_release(contingency->cluster_size);
    imp_release(contingency->pair_class);
    imp_release(contingency->pair_cluster);
    imp_release(contingency->pair_size);
    imp_release(contingency);
}

size_t imp_contingency_classes(const imp_contingency *contingency)
{
    return contingency->classes;
}

size_t imp_contingency_clusters(const imp_contingency *contingency)
{
    return contingency->clusters;
}

imp_status imp_distinct_of_both(const int32_t *truth, const int32_t *found, size_t count,
                                int32_t **values, size_t *distinct, imp_error *error)
{
    *values = NULL;
    size_t both;
    int32_t *all = imp_add(count, count, &both) ? imp_allocate(both, sizeof *all) : NULL;
    if (!all)
        return imp_fail_memory(error, "labels to count");
    if (count > 0) {
        memcpy(all, truth, count * sizeof *all);
        memcpy(all + count, found, count * sizeof *all);
    }
    imp_status status = imp_distinct_labels(all, both, values, distinct, error);
    imp_release(all);
    return status;
}

imp_status imp_confusion_matrix(const int32_t *truth, const int32_t *found, size_t count,
                                imp_confusion *confusion, imp_error *error)
{
    *confusion = (imp_confusion){0};
    imp_status status =
        imp_distinct_of_both(truth, found, count, &confusion->label, &confusion->count, error);
    if (status)
        return status;
    size_t cells;
    if (imp_multiply(confusion->count, confusion->count, &cells))
        confusion->points = imp_allocate_zeroed(cells, sizeof *confusion->points);
    if (!confusion->points) {
        imp_confusion_clear(confusion);
        return imp_fail_memory(error, "a confusion matrix");
    }
    for (size_t i = 0; i < count; i++) {
        size_t row = imp_label_rank(confusion->label, confusion->count, truth[i]);
        size_t column = imp_label_rank(confusion->label, confusion->count, found[i]);
        confusion->points[row * confusion->count + column]++;
    }
    return IMP_OK;
}

void imp_confusion_clear(imp_confusion *confusion)
{
    imp_release(confusion->label);
    imp_release(confusion->points);
    *confusion = (imp_confusion){0};
}
