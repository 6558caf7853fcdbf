/*
 * standardize.c - the centre and scales of the layer `standard`, from the data.
 *
 * All features get the same spread, chosen so that whole vectors are spread like embeddings of the
 * paper's network at the start of training, where the initial variance of 5 separates near from
 * far. So neither the scale of the data nor the number of features matters.
 */
#include "train/standardize.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "episode/pixels.h"

enum { MOST_POINTS = 10000 };

static const double whole_variance = 32; /* of all features together */

static float *tensor_of(imp_network *network, const char *name)
{
    for (size_t i = 0; i < imp_network_tensor_count(network); i++) {
        imp_network_tensor tensor = imp_network_tensor_at(network, i);
        if (strcmp(tensor.name, name) == 0)
            return tensor.values;
    }
    return NULL;
}

/* The indices of the training points, or of a sample of them; returns how many. */
static size_t list_points(const imp_dataset *dataset, uint32_t *points)
{
    size_t all = 0, taken = 0, seen = 0;
    for (size_t c = 0; c < imp_dataset_classes(dataset); c++) {
        imp_class_info class = imp_dataset_class(dataset, c);
        all += class.split == IMP_SPLIT_TRAIN ? class.images : 0;
    }
    size_t most = all < MOST_POINTS ? all : MOST_POINTS;
    for (size_t c = 0; c < imp_dataset_classes(dataset); c++) {
        imp_class_info class = imp_dataset_class(dataset, c);
        for (size_t i = 0; i < class.images && class.split == IMP_SPLIT_TRAIN; i++, seen++)
            if (taken < most && seen == imp_block_begin(all, most, taken))
                points[taken++] = (uint32_t)(class.first_image + i);
    }
    return taken;
}

static void find_moments(const imp_dataset *dataset, const uint32_t *points, size_t count, size_t d,
                         float *row, double *mean, double *variance)
{
    memset(mean, 0, d * sizeof *mean);
    memset(variance, 0, d * sizeof *variance);
    for (size_t i = 0; i < count; i++) {
        imp_images_to_floats(dataset, &points[i], 1, row);
        for (size_t j = 0; j < d; j++)
            mean[j] += row[j] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        imp_images_to_floats(dataset, &points[i], 1, row);
        for (size_t j = 0; j < d; j++)
            variance[j] += (row[j] - mean[j]) * (row[j] - mean[j]) / (double)count;
    }
}

imp_status imp_standardize(imp_network *network, const imp_dataset *dataset, imp_error *error)
{
    float *center = tensor_of(network, "input.center"),
          *factor = tensor_of(network, "input.factor");
    if (!center || !factor)
        return IMP_OK;
    size_t d = imp_dataset_channels(dataset), varying = 0;
    uint32_t *points = imp_allocate(MOST_POINTS, sizeof *points);
    float *row = imp_allocate(d, sizeof *row);
    double *mean = imp_allocate(2 * d, sizeof *mean), *variance = mean ? mean + d : NULL;
    imp_status status =
        points && row && mean ? IMP_OK : imp_fail_memory(error, "the scale of the vectors");
    if (!status) {
        double widest = 0;
        find_moments(dataset, points, list_points(dataset, points), d, row, mean, variance);
        for (size_t j = 0; j < d; j++)
            widest = fmax(widest, variance[j]);
        /* A feature that hardly varies compared with the others is only rounding noise. */
        for (size_t j = 0; j < d; j++)
            varying += variance[j] > 1e-12 * widest;
        for (size_t j = 0; j < d; j++) {
            bool says = variance[j] > 1e-12 * widest;
            center[j] = (float)mean[j];
            factor[j] = says ? (float)sqrt(whole_variance / (double)varying / variance[j]) : 0;
        }
    }
    imp_release(points);
    imp_release(row);
    imp_release(mean);
    return status;
}
