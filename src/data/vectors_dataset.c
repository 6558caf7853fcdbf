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
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/error.h"
#include "base/labels.h"
#include "base/memory.h"
#include "data/dataset.h"

enum { ENOUGH_CLASSES = 20, MOST_DIMENSIONS = 1 << 20, AT_ONCE = 1024 };

/* ---- opening ---- */

typedef struct vectors {
    imp_npy_shards file;
    imp_labels labels;
    uint8_t *splits; /* (points): an imp_split each, if points are split; or NULL */
    size_t *place;   /* (labels x PARTS): where in the dataset the next point of each goes */
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

/* ---- classes ---- */

enum { PARTS = IMP_SPLIT_NONE + 1 };

/* A class of the dataset: the points of one label in one split. */
typedef struct part {
    char *name;
    imp_split split;
    size_t number; /* label x PARTS + split */
} part;

/* By "NAME/", as the names of points are sorted. */
static int compare_parts(const void *a, const void *b)
{
    const char *x = ((const part *)a)->name, *y = ((const part *)b)->name;
    while (*x && *x == *y)
        x++, y++;
    int p = *x ? (unsigned char)*x : '/', q = *y ? (unsigned char)*y : '/';
    return p != q ? p - q : (*x != '\0') - (*y != '\0');
}

static size_t part_of(const vectors *of, size_t point)
{
    return (size_t)of->labels.label[point] * PARTS + (of->splits ? of->splits[point] : 0);
}

static imp_status name_part(const vectors *of, size_t number, part *out, imp_error *error)
{
    static const char *const endings[PARTS] = {"", "@val", "@test", "@none"};
    const char *label = of->labels.names[number / PARTS], *ending = endings[number % PARTS];
    if (strchr(label, '/'))
        return imp_fail(error, IMP_EUNSUPPORTED, "the label '%s' must not hold a '/'", label);
    if (!imp_is_path_below(label))
        return imp_fail(error, IMP_EFORMAT, "the label '%s' is not a name, but a path", label);
    size_t room = strlen(label) + strlen(ending) + 1;
    *out = (part){imp_allocate(room, 1), (imp_split)(number % PARTS), number};
    if (!out->name)
        return imp_fail_memory(error, "the classes");
    snprintf(out->name, room, "%s%s", label, ending);
    return IMP_OK;
}

/* Makes the classes of the parts that have points, (labels x PARTS), in the order of their names.
 * `counts` then holds where the points of each end. */
static imp_status make_classes(const vectors *of, size_t *counts, imp_dataset *dataset,
                               imp_error *error)
{
    size_t all = of->labels.classes * PARTS, found = 0, used = 0, next = 0;
    for (size_t p = 0; p < all; p++)
        used += counts[p] > 0;
    part *parts = imp_allocate_zeroed(used, sizeof *parts);
    dataset->classes = imp_allocate_zeroed(used, sizeof *dataset->classes);
    imp_status status = parts && dataset->classes ? IMP_OK : imp_fail_memory(error, "the classes");
    for (size_t p = 0; p < all && !status; p++)
        if (counts[p] > 0)
            status = name_part(of, p, &parts[found++], error);
    if (!status)
        qsort(parts, used, sizeof *parts, compare_parts);
    for (size_t k = 0; k + 1 < used && !status; k++)
        if (strcmp(parts[k].name, parts[k + 1].name) == 0)
            status = imp_fail(error, IMP_EINVAL,
                              "the splits overlap: the class '%s' is a label and the %s points of "
                              "another",
                              parts[k].name,
                              imp_split_name(parts[k].split == IMP_SPLIT_TRAIN ? parts[k + 1].split
                                                                               : parts[k].split));
    for (size_t k = 0; k < used && !status; k++) {
        size_t count = counts[parts[k].number];
        dataset->classes[dataset->class_count++] = (imp_class){
            .name = parts[k].name,
            .super_class = IMP_NO_SUPER_CLASS,
            .split = parts[k].split,
            .first_picture = (uint32_t)next,
            .count = (uint32_t)count,
        };
        parts[k].name = NULL; /* the dataset owns it */
        counts[parts[k].number] = next += count;
    }
    for (size_t k = 0; parts && k < used; k++)
        imp_release(parts[k].name);
    imp_release(parts);
    return status;
}

/* Groups the points into classes; those of a class stay in the order of the file. */
static imp_status group(vectors *of, imp_dataset *dataset, imp_error *error)
{
    size_t parts, n = of->labels.count;
    if (n > UINT32_MAX / 4)
        return imp_fail(error, IMP_EUNSUPPORTED, "there are %zu points, which are too many", n);
    if (imp_multiply(of->labels.classes, PARTS, &parts))
        of->place = imp_allocate_zeroed(parts, sizeof *of->place);
    if (!of->place)
        return imp_fail_memory(error, "the classes");
    for (size_t i = 0; i < n; i++)
        if (of->labels.label[i] >= 0) {
            of->place[part_of(of, i)]++;
            dataset->picture_count++;
        }
    uint32_t *rows = dataset->owned_rows = imp_allocate(dataset->picture_count, sizeof *rows);
    dataset->rows = rows;
    dataset->row_digits = snprintf(NULL, 0, "%zu", n);
    imp_status status = rows ? make_classes(of, of->place, dataset, error)
                             : imp_fail_memory(error, "the order of the points");
    for (size_t i = n; i > 0 && !status; i--)
        if (of->labels.label[i - 1] >= 0)
            rows[--of->place[part_of(of, i - 1)]] = (uint32_t)(i - 1);
    return status ? status : imp_dataset_number(dataset, error);
}

/* ---- names ---- */

int imp_point_name(const imp_dataset *dataset, size_t point, char *text, size_t room)
{
    return snprintf(text, room, "%s/%0*u",
                    dataset->classes[imp_dataset_class_of(dataset, point)].name,
                    dataset->row_digits, (unsigned)dataset->rows[point]);
}

static bool row_is_before(const void *rows, size_t index, const void *row)
{
    return ((const uint32_t *)rows)[index] < *(const uint64_t *)row;
}

size_t imp_point_find(const imp_dataset *dataset, const char *name, size_t length)
{
    size_t digits = (size_t)dataset->row_digits, end = length - digits;
    uint64_t row = 0;
    if (length < digits + 2 || name[end - 1] != '/')
        return dataset->picture_count;
    for (size_t i = end; i < length; i++) {
        if (name[i] < '0' || name[i] > '9')
            return dataset->picture_count;
        row = 10 * row + (uint64_t)(name[i] - '0');
    }
    for (size_t c = 0; c < dataset->class_count; c++) {
        const imp_class *entry = &dataset->classes[c];
        if (strlen(entry->name) != end - 1 || memcmp(entry->name, name, end - 1) != 0)
            continue;
        const uint32_t *rows = dataset->rows + entry->first_picture;
        size_t at = imp_bisect(rows, entry->count, row_is_before, &row);
        return at < entry->count && rows[at] == row ? entry->first_picture + at
                                                    : dataset->picture_count;
    }
    return dataset->picture_count;
}

/* ---- numbers ---- */

/* Where the vectors will be: in their files, which are mapped, or in memory. */
static imp_status find_room(vectors *of, imp_dataset *dataset, imp_error *error)
{
    size_t floats;
    bool mapped;
    imp_status status = imp_npy_map_open(&dataset->vector_map, &of->file, &mapped, error);
    if (status || mapped)
        return status;
    if (imp_multiply(dataset->picture_count, of->file.columns, &floats))
        dataset->owned_vectors = imp_allocate(floats, sizeof *dataset->owned_vectors);
    return dataset->owned_vectors
               ? IMP_OK
               : imp_fail(error, IMP_ENOMEM, "out of memory for %zu points of %zu dimensions",
                          dataset->picture_count, of->file.columns);
}

/* Reads all points in the order of the file, keeps those with a label if they must be in memory,
 * and computes the fingerprint from the dimensions and the class and numbers of every point. */
static imp_status read_points(vectors *of, imp_dataset *dataset, imp_error *error)
{
    size_t d = of->file.columns, n = of->file.rows;
    float *rows = imp_allocate(AT_ONCE * d, sizeof *rows);
    imp_status status =
        rows ? find_room(of, dataset, error) : imp_fail_memory(error, "a block of points");
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
            sha256_update(&state, strlen(name) + 1, (const uint8_t *)name);
            sha256_update(&state, d * sizeof *rows, (const uint8_t *)(rows + (i - begin) * d));
        }
        for (size_t i = begin; i < begin + count && dataset->owned_vectors && !status; i++)
            if (of->labels.label[i] >= 0)
                memcpy(dataset->owned_vectors + of->place[part_of(of, i)]++ * d,
                       rows + (i - begin) * d, d * sizeof *rows);
    }
    sha256_digest(&state, IMP_FINGERPRINT_BYTES, dataset->fingerprint);
    imp_fingerprint_format(dataset);
    imp_release(rows);
    return status;
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
        status = group(&of, dataset, error);
    }
    if (!status)
        status = read_points(&of, dataset, error);
    for (size_t i = 0; i < of.labels.count && !status; i++)
        dataset->unlabeled += of.labels.label[i] < 0;
    bool own = !options->split || strcmp(options->split, "own") == 0;
    if (!status && own && !by_points)
        status = imp_dataset_apply_split(dataset, IMP_USUAL_SPLIT, options->split_seed, error);
    vectors_clear(&of);
    return status;
}
