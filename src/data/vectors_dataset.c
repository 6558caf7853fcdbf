/*
 * vectors_dataset.c - vectors, such as embeddings, as a dataset: the rows of a .npy file, with a
 * label each.
 *
 * A vector is an image of one pixel with one channel per number, and stays a row of floats. Classes
 * are split like those of pictures or, if there are too few, the points of each class are divided:
 * "7" for training, "7@val" for validation and "7@test" for testing.
 */
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/labels.h"
#include "base/memory.h"
#include "base/npy_shards.h"
#include "base/parallel.h"
#include "data/catalog.h"

enum { ENOUGH_CLASSES = 20, MOST_DIMENSIONS = 1 << 20, AT_ONCE = 1024 };

/* ---- opening ---- */

typedef struct vectors {
    imp_npy_shards file;
    imp_labels labels;
    imp_split *splits; /* (points), if points are split; or NULL */
    uint32_t *place;   /* (points): index in the dataset; UINT32_MAX: left out */
} vectors;

static void vectors_clear(vectors *of)
{
    imp_npy_shards_close(&of->file);
    imp_labels_clear(&of->labels);
    imp_release(of->splits);
    imp_release(of->place);
}

static imp_status check_options(const imp_dataset_options *options, imp_error *error)
{
    const char *option = options->size > 1             ? "a size"
                         : options->channels != 0      ? "a colour"
                         : options->ink != IMP_INK_OWN ? "an ink"
                         : options->rotations > 1      ? "rotations"
                                                       : NULL;
    for (int i = 0; i < 3 && !option; i++)
        if (options->mean[i] != 0 || options->deviation[i] != 0)
            option = "a mean or deviation of channels";
    return option ? imp_fail(error, IMP_EINVAL,
                             "%s goes with pictures; a set of vectors is taken as it is", option)
                  : IMP_OK;
}

/* Opens "POINTS,LABELS". */
static imp_status open_files(vectors *of, const char *name, imp_error *error)
{
    const char *comma = strrchr(name, ',');
    if (!comma || comma == name || comma[1] == '\0')
        return imp_fail(error, IMP_EINVAL,
                        "'%s' is not two files: vectors:POINTS.npy,LABELS.npy are the points, a "
                        "row each, and a label for each of them",
                        name);
    char *points = imp_allocate((size_t)(comma - name) + 1, 1);
    if (!points)
        return imp_fail_memory(error, "a path");
    memcpy(points, name, (size_t)(comma - name));
    points[comma - name] = '\0';
    imp_status status = imp_npy_shards_open(points, &of->file, error);
    if (!status)
        status = imp_labels_read(comma + 1, &of->labels, error);
    if (!status && of->labels.count != of->file.rows)
        status = imp_fail(error, IMP_EINVAL,
                          "%s has %zu labels for the %zu points of %s; each needs one", comma + 1,
                          of->labels.count, of->file.rows, points);
    if (!status && of->labels.classes == 0)
        status = imp_fail(error, IMP_EINVAL, "%s: no point has a label", comma + 1);
    if (!status && (of->file.columns == 0 || of->file.columns > MOST_DIMENSIONS))
        status = imp_fail(error, IMP_EUNSUPPORTED,
                          "%s: its points have %zu dimensions; they may have 1 to %d", points,
                          of->file.columns, MOST_DIMENSIONS);
    imp_release(points);
    return status;
}

/* ---- the split ---- */

/* "points:..." if that was asked for, or if nothing was and it suits the data. */
static const char *points_split(const vectors *of, const char *split)
{
    bool own = !split || strcmp(split, "own") == 0;
    if (own)
        return of->labels.classes < ENOUGH_CLASSES ? IMP_USUAL_POINTS_SPLIT : NULL;
    return imp_split_is_of_points(split) ? split : NULL;
}

/* ---- names ---- */

static imp_status add_names(vectors *of, imp_catalog *catalog, imp_error *error)
{
    static const char *const parts[] = {"", "@val", "@test", "@none"};
    char digits[24];
    int width = snprintf(digits, sizeof digits, "%zu", of->labels.count);
    size_t longest = 0;
    for (size_t c = 0; c < of->labels.classes; c++) {
        size_t length = strlen(of->labels.names[c]);
        longest = length > longest ? length : longest;
    }
    size_t room = longest + sizeof "@test/" + sizeof digits;
    char *name = imp_allocate(room, 1);
    if (!name)
        return imp_fail_memory(error, "the names of the points");
    imp_status status = IMP_OK;
    for (size_t i = 0; i < of->labels.count && !status; i++) {
        int32_t label = of->labels.label[i];
        imp_split split = of->splits ? of->splits[i] : IMP_SPLIT_TRAIN;
        if (label < 0)
            continue;
        if (strchr(of->labels.names[label], '/')) {
            status = imp_fail(error, IMP_EUNSUPPORTED, "the label '%s' must not hold a '/'",
                              of->labels.names[label]);
            break;
        }
        int length = snprintf(name, room, "%s%s", of->labels.names[label], parts[split]);
        snprintf(name + length, room - (size_t)length, "/%0*zu", width, i);
        imp_catalog_entry *entry = imp_catalog_add(catalog, name);
        if (!entry) {
            status = imp_fail_memory(error, "the names of the points");
            break;
        }
        entry->class_length = (uint32_t)length;
        entry->super_length = 0;
        entry->split = split;
        entry->member = (uint32_t)i;
    }
    imp_release(name);
    return status;
}

/* ---- numbers ---- */

/* Where the vectors will be: in their files, which are mapped, or in memory. */
static imp_status find_room(vectors *of, imp_dataset *dataset, float **values, imp_error *error)
{
    size_t d = of->file.columns, floats;
    bool mapped;
    *values = NULL;
    dataset->vectors = imp_allocate(dataset->picture_count, sizeof *dataset->vectors);
    if (!dataset->vectors)
        return imp_fail_memory(error, "the places of points");
    imp_status status = imp_npy_map_open(&dataset->vector_map, &of->file, &mapped, error);
    if (status || mapped)
        return status;
    if (imp_multiply(dataset->picture_count, d, &floats))
        *values = dataset->owned_vectors = imp_allocate(floats, sizeof **values);
    return *values ? IMP_OK
                   : imp_fail(error, IMP_ENOMEM, "out of memory for %zu points of %zu dimensions",
                              dataset->picture_count, d);
}

/* Reads all points in the order of the file, notes where those with a label are, and computes the
 * fingerprint from the dimensions and the class and numbers of every point. */
static imp_status read_points(vectors *of, imp_dataset *dataset, imp_error *error)
{
    size_t d = of->file.columns, n = of->file.rows;
    float *values, *rows = imp_allocate(AT_ONCE * d, sizeof *rows);
    imp_status status =
        rows ? find_room(of, dataset, &values, error) : imp_fail_memory(error, "a block of points");
    if (status) {
        imp_release(rows);
        return status;
    }
    char head[48];
    int length = snprintf(head, sizeof head, "imp vectors 1, %zu\n", d);
    struct sha256_ctx state;
    sha256_init(&state);
    sha256_update(&state, (size_t)length, (const uint8_t *)head);
    for (size_t begin = 0; begin < n && !status; begin += AT_ONCE) {
        size_t count = n - begin < AT_ONCE ? n - begin : AT_ONCE;
        status = imp_npy_shards_read(&of->file, begin, count, rows, error);
        for (size_t i = begin; i < begin + count && !status; i++) {
            int32_t label = of->labels.label[i];
            const char *name = label < 0 ? "" : of->labels.names[label];
            const float *row = rows + (i - begin) * d;
            sha256_update(&state, strlen(name) + 1, (const uint8_t *)name);
            sha256_update(&state, d * sizeof *row, (const uint8_t *)row);
            if (label < 0)
                continue;
            dataset->vectors[of->place[i]] =
                values ? values + of->place[i] * d : imp_npy_map_row(&dataset->vector_map, i);
            if (values)
                memcpy(values + of->place[i] * d, row, d * sizeof *row);
        }
    }
    sha256_digest(&state, IMP_FINGERPRINT_BYTES, dataset->fingerprint);
    imp_fingerprint_format(dataset);
    imp_release(rows);
    return status;
}

static imp_status fill(vectors *of, imp_dataset *dataset, imp_error *error)
{
    imp_catalog catalog = {0};
    imp_status status = add_names(of, &catalog, error);
    if (!status)
        status = imp_catalog_check(&catalog, error);
    if (!status)
        status = imp_catalog_group(&catalog, dataset, error);
    if (!status) {
        of->place = imp_allocate(of->labels.count, sizeof *of->place);
        if (!of->place)
            status = imp_fail_memory(error, "the order of the points");
    }
    for (size_t p = 0; p < catalog.count && !status; p++)
        of->place[catalog.entries[p].member] = (uint32_t)p;
    imp_catalog_clear(&catalog);
    return status ? status : read_points(of, dataset, error);
}

imp_status imp_open_vectors(imp_dataset *dataset, const char *name,
                            const imp_dataset_options *options, imp_error *error)
{
    vectors of = {0};
    imp_status status = check_options(options, error);
    if (!status)
        status = open_files(&of, name, error);
    const char *by_points = status ? NULL : points_split(&of, options->split);
    if (by_points)
        status = imp_split_points(by_points, options->split_seed, &of.labels, &of.splits, error);
    if (!status) {
        dataset->by_points = by_points != NULL;
        dataset->size = 1;
        dataset->channels = (uint32_t)of.file.columns;
        dataset->sizes = (imp_size_range){{1, 1}, {1, 1}};
        status = fill(&of, dataset, error);
    }
    for (size_t i = 0; i < of.labels.count && !status; i++)
        dataset->unlabeled += of.labels.label[i] < 0;
    bool own = !options->split || strcmp(options->split, "own") == 0;
    if (!status && own && !by_points)
        status = imp_dataset_apply_split(dataset, IMP_USUAL_SPLIT, options->split_seed, error);
    vectors_clear(&of);
    return status;
}
