/*
 * dataset_open.c - opens the dataset of a name such as "omniglot:PATH".
 *
 * Every kind provides base classes and its own split; the rest is the same for all: another split
 * if one was asked for, then rotated classes, or the other way round if the split treats these
 * separately.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "data/dataset.h"
#include "data/survey.h"

typedef enum kind { OMNIGLOT, MINI_IMAGENET, CSV, FOLDER, GLYPHS, PACK, VECTORS, UNKNOWN } kind;

static const char *const kind_names[] = {"omniglot", "mini-imagenet", "csv",    "folder",
                                         "glyphs",   "pack",          "vectors"};

enum { MOST_SIZE = 4096 };

static bool holds(const char *path, const char *name)
{
    char whole[4096];
    struct stat about;
    int length = snprintf(whole, sizeof whole, "%s/%s", path, name);
    return length > 0 && (size_t)length < sizeof whole && stat(whole, &about) == 0;
}

/* The kind of a path given without one. */
static kind guess(const char *path)
{
    if (holds(path, "images_background") || holds(path, "images_background.zip"))
        return OMNIGLOT;
    if (holds(path, "train.csv") || holds(path, "val.csv") || holds(path, "test.csv"))
        return CSV;
    return imp_is_pack(path) ? PACK : FOLDER;
}

/* Splits "omniglot:PATH". */
static kind parse_name(const char *name, const char **path)
{
    *path = name;
    for (kind k = OMNIGLOT; k < UNKNOWN; k++) {
        size_t length = strlen(kind_names[k]);
        if (strncmp(name, kind_names[k], length) != 0)
            continue;
        if (name[length] == ':') {
            *path = name + length + 1;
            return k;
        }
        if (k == GLYPHS && name[length] == '\0')
            return k;
    }
    return UNKNOWN;
}

/* How the dataset of a name is to be opened. "omniglot:FILE" may also be a pack of Omniglot. */
static kind find_kind(const char *name, const char **path)
{
    kind what = parse_name(name, path);
    imp_kind packed;
    if (what == UNKNOWN)
        return guess(*path);
    if (what != GLYPHS && what != VECTORS && imp_pack_kind(*path, &packed) &&
        strcmp(packed.text, kind_names[what]) == 0)
        return PACK;
    return what;
}

bool imp_names_folder(const char *name, const char **path)
{
    return find_kind(name, path) == FOLDER;
}

imp_kind imp_dataset_kind_of(const char *name)
{
    const char *path;
    kind what = find_kind(name, &path);
    imp_kind found;
    if (what != PACK || !imp_pack_kind(path, &found))
        snprintf(found.text, sizeof found.text, "%s", kind_names[what]);
    return found;
}

const char *imp_dataset_path(const char *name)
{
    const char *path;
    return parse_name(name, &path) == GLYPHS ? NULL : path;
}

static imp_status check_options(const imp_dataset_options *options, imp_error *error)
{
    if (options->size > MOST_SIZE)
        return imp_fail(error, IMP_EINVAL, "the size must be from 1 to %d pixels, not %u",
                        MOST_SIZE, options->size);
    if (options->channels != 0 && options->channels != 1 && options->channels != 3)
        return imp_fail(error, IMP_EINVAL, "the channels must be 1 (gray) or 3 (RGB), not %u",
                        options->channels);
    if (options->rotations != 0 && options->rotations != 1 && options->rotations != 4)
        return imp_fail(error, IMP_EINVAL, "the rotations must be 1 or 4, not %u",
                        options->rotations);
    for (int i = 0; i < 3; i++)
        if (!isfinite(options->mean[i]) || !isfinite(options->deviation[i]) ||
            options->deviation[i] < 0.0f)
            return imp_fail(error, IMP_EINVAL,
                            "the mean of a channel must be finite and its deviation positive");
    return IMP_OK;
}

static imp_status open_kind(imp_dataset *dataset, kind what, const char *path,
                            const imp_dataset_options *options, imp_error *error)
{
    snprintf(dataset->kind, sizeof dataset->kind, "%s", kind_names[what]);
    switch (what) {
    case OMNIGLOT:
        return imp_open_omniglot(dataset, path, options, error);
    case MINI_IMAGENET:
        return imp_open_mini_imagenet(dataset, path, options, error);
    case CSV:
        return imp_open_csv(dataset, path, options, error);
    case FOLDER:
        return imp_open_folder(dataset, path, options, error);
    case GLYPHS:
        return imp_open_glyphs(dataset, options, error);
    case PACK:
        return imp_open_pack(dataset, path, options, error);
    case VECTORS:
        return imp_open_vectors(dataset, path, options, error);
    case UNKNOWN:
        break;
    }
    return imp_fail(error, IMP_EINVAL, "unknown kind of dataset");
}

imp_status imp_dataset_open(const char *name, const imp_dataset_options *given, imp_dataset **out,
                            imp_error *error)
{
    *out = NULL;
    imp_dataset_options taken = imp_dataset_defaults();
    const imp_dataset_options *options = &taken;
    imp_status status = imp_take_options(&taken, sizeof taken, given, "imp_dataset_options", error);
    if (!status)
        status = check_options(options, error);
    if (status)
        return status;
    const char *path;
    kind what = find_kind(name, &path);
    if (what == GLYPHS && path != name)
        return imp_fail(error, IMP_EINVAL, "'%s': glyphs are made, not read, and have no path",
                        name);
    if (path[0] == '\0')
        return imp_fail(error, IMP_EINVAL, "'%s': the path of the dataset is empty", name);
    imp_kind packed;
    if (what != PACK && what != VECTORS && path != name && imp_pack_kind(path, &packed))
        return imp_fail(error, IMP_EINVAL, "'%s' is a pack of %s, not of %s", path, packed.text,
                        kind_names[what]);

    imp_dataset *dataset = imp_allocate_zeroed(1, sizeof *dataset);
    if (dataset == NULL)
        return imp_fail_memory(error, "a dataset");
    status = open_kind(dataset, what, path, options, error);
    bool own = options->split == NULL || strcmp(options->split, "own") == 0;
    bool of_turns = imp_split_is_of_turns(options->split);
    if (!status && imp_split_is_of_points(options->split)) {
        if (what != VECTORS)
            status = imp_fail(error, IMP_EINVAL, "the split '%s' is for sets of vectors",
                              options->split);
        own = true; /* applied while it was opened */
    }
    if (!status && !own && !of_turns)
        status = imp_dataset_apply_split(dataset, options->split, options->split_seed, error);
    if (!status && options->rotations == 4)
        status = imp_dataset_rotate(dataset, error);
    if (!status && of_turns)
        status = imp_dataset_apply_split(dataset, options->split, options->split_seed, error);
    if (status) {
        imp_dataset_free(dataset);
        return status;
    }
    for (int i = 0; i < 3; i++) {
        dataset->mean[i] = options->mean[i];
        dataset->deviation[i] = options->deviation[i] > 0.0f ? options->deviation[i] : 1.0f;
    }
    *out = dataset;
    return IMP_OK;
}
