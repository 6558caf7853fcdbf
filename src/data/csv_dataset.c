/*
 * csv_dataset.c - train.csv, val.csv and test.csv beside their pictures; also mini-ImageNet, which
 * has this layout but is a kind of its own.
 *
 * Three headers are in use for the same two columns, so columns are found by name. The pictures may
 * be in the folder itself, in any sub-folder or in an archive, so files are looked up by the end of
 * their path.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bisect.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/catalog.h"
#include "data/csv.h"

#define CSV_LIMIT ((size_t)256 << 20)

static const struct {
    const char *file, *label;
} headers[] = {{"filename", "label"}, {"filename", "class"}, {"image_name", "class_name"}};

/* ---- finding the pictures ---- */

/* All pictures of the sources, sorted by the last part of their names. */
typedef struct place {
    const char *base, *name;
    uint32_t source, member;
} place;

typedef struct atlas {
    place *places;
    size_t count;
} atlas;

static int compare_places(const void *a, const void *b)
{
    int order = strcmp(((const place *)a)->base, ((const place *)b)->base);
    return order != 0 ? order : strcmp(((const place *)a)->name, ((const place *)b)->name);
}

static const char *base_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

static imp_status draw_atlas(const imp_catalog *catalog, atlas *map, imp_error *error)
{
    size_t total = 0;
    for (size_t s = 0; s < catalog->source_count; s++)
        total += catalog->sources[s].count;
    map->places = imp_allocate(total, sizeof *map->places);
    if (map->places == NULL)
        return imp_fail_memory(error, "a list of pictures");
    for (size_t s = 0; s < catalog->source_count; s++)
        for (size_t m = 0; m < catalog->sources[s].count; m++) {
            const char *name = catalog->sources[s].names[m];
            if (imp_source_is_picture(name))
                map->places[map->count++] =
                    (place){base_name(name), name, (uint32_t)s, (uint32_t)m};
        }
    if (map->count > 0)
        qsort(map->places, map->count, sizeof *map->places, compare_places);
    return IMP_OK;
}

/* Whether `name` is `file` or ends in "/file". */
static bool ends_in(const char *name, const char *file)
{
    size_t long_length = strlen(name), length = strlen(file);
    if (length > long_length || strcmp(name + long_length - length, file) != 0)
        return false;
    return length == long_length || name[long_length - length - 1] == '/';
}

/* Whether the path contains a folder of that name, which may have several parts. */
static bool leads_through(const char *path, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(path, name); at != NULL && *at != '\0'; at = strstr(at + 1, name))
        if (at[length] == '/' && (at == path || at[-1] == '/'))
            return true;
    return false;
}

static bool is_named_before(const void *places, size_t index, const void *base)
{
    return strcmp(((const place *)places)[index].base, base) < 0;
}

/* The place of a file that a CSV names; NULL if there is none. If several match, the one below a
 * folder named like its class, otherwise the first. */
static const place *find_place(const atlas *map, const char *file, const char *label)
{
    const char *base = base_name(file);
    const place *found = NULL;
    for (size_t i = imp_bisect(map->places, map->count, is_named_before, base);
         i < map->count && strcmp(map->places[i].base, base) == 0; i++) {
        const place *candidate = &map->places[i];
        if (!ends_in(candidate->name, file))
            continue;
        if (found == NULL)
            found = candidate;
        if (leads_through(candidate->name, label))
            return candidate;
    }
    return found;
}

/* Opens the possible sources of pictures: archives named "images.*", and the folder itself. */
static imp_status open_sources(imp_catalog *catalog, const char *path, imp_error *error)
{
    static const char *const archives[] = {"images.zip", "images.tar", "images.tar.gz"};
    imp_status status = imp_source_open(&catalog->sources[0], path, error);
    if (status)
        return status;
    catalog->source_count = 1;
    for (size_t i = 0; i < sizeof archives / sizeof *archives; i++) {
        if (imp_source_find(&catalog->sources[0], archives[i]) == catalog->sources[0].count)
            continue;
        char *whole = imp_source_join(path, archives[i]);
        if (whole == NULL)
            return imp_fail_memory(error, "a path");
        status = imp_source_open(&catalog->sources[catalog->source_count], whole, error);
        imp_release(whole);
        if (status)
            return status;
        catalog->source_count++;
    }
    return IMP_OK;
}

/* ---- reading the lists ---- */

static imp_status find_columns(const imp_csv *csv, size_t *file, size_t *label, imp_error *error)
{
    for (size_t h = 0; h < sizeof headers / sizeof *headers; h++) {
        *file = *label = csv->count;
        for (size_t i = 0; i < csv->count; i++) {
            if (strcmp(csv->fields[i], headers[h].file) == 0)
                *file = i;
            if (strcmp(csv->fields[i], headers[h].label) == 0)
                *label = i;
        }
        if (*file < csv->count && *label < csv->count)
            return IMP_OK;
    }
    return imp_fail(error, IMP_EFORMAT,
                    "line 1 must name the columns filename,label or filename,class or "
                    "class_name,image_name");
}

static imp_status add_row(imp_catalog *catalog, const atlas *map, const imp_csv *csv,
                          const char *file, const char *label, imp_split split, const char *list,
                          imp_error *error)
{
    if (file[0] == '\0' || label[0] == '\0')
        return imp_fail(error, IMP_EFORMAT, "line %zu has an empty file name or class", csv->line);
    if (strchr(label, '/') != NULL)
        return imp_fail(error, IMP_EFORMAT, "line %zu: the class '%s' must not hold a '/'",
                        csv->line, label);
    if (!imp_is_path_below(label) || !imp_is_path_below(file))
        return imp_fail(error, IMP_EFORMAT,
                        "line %zu: in '%s' of the class '%s' a folder or the class is empty, '.' "
                        "or '..'",
                        csv->line, file, label);

    /* A name begins with that of its class, even if the file's path does not. */
    size_t length = strlen(label);
    bool prefixed = strncmp(file, label, length) == 0 && file[length] == '/';
    char *name = prefixed ? imp_duplicate(file) : imp_source_join(label, file);
    imp_catalog_entry *entry = name != NULL ? imp_catalog_add(catalog, name) : NULL;
    imp_release(name);
    if (entry == NULL)
        return imp_fail_memory(error, "a list of pictures");
    entry->class_length = (uint32_t)length;
    entry->super_length = 0;
    entry->split = split;

    const place *found = find_place(map, file, label);
    if (found != NULL) {
        entry->source = found->source;
        entry->member = found->member;
        return IMP_OK;
    }
    char why[200];
    snprintf(why, sizeof why, "line %zu of %s names it, but there is no such picture", csv->line,
             list);
    entry->absent = imp_duplicate(why);
    return entry->absent != NULL ? IMP_OK : imp_fail_memory(error, "a list of pictures");
}

static imp_status read_rows(imp_catalog *catalog, const atlas *map, char *text, size_t size,
                            imp_split split, const char *list, imp_error *error)
{
    imp_csv csv = imp_csv_start(text, size);
    size_t file = 0, label = 0;
    imp_status status = imp_csv_next(&csv, error);
    if (!status)
        status = find_columns(&csv, &file, &label, error);
    while (!status) {
        status = imp_csv_next(&csv, error);
        if (status || csv.count == 0)
            break;
        if (file >= csv.count || label >= csv.count)
            status =
                imp_fail(error, IMP_EFORMAT, "line %zu has only %zu columns", csv.line, csv.count);
        else
            status = add_row(catalog, map, &csv, csv.fields[file], csv.fields[label], split, list,
                             error);
    }
    return status;
}

static imp_status read_list(imp_catalog *catalog, const atlas *map, const char *path,
                            imp_split split, size_t *lists, imp_error *error)
{
    char list[16];
    snprintf(list, sizeof list, "%s.csv", imp_split_name(split));
    if (imp_source_find(&catalog->sources[0], list) == catalog->sources[0].count)
        return IMP_OK;
    char *whole = imp_source_join(path, list);
    if (whole == NULL)
        return imp_fail_memory(error, "a path");
    unsigned char *text;
    size_t size;
    imp_status status = imp_file_read(whole, CSV_LIMIT, &text, &size, error);
    if (!status) {
        status = read_rows(catalog, map, (char *)text, size, split, list, error);
        if (status)
            imp_error_prefix(error, whole);
    }
    imp_release(text);
    imp_release(whole);
    ++*lists;
    return status;
}

imp_status imp_open_csv(imp_dataset *dataset, const char *path, const imp_dataset_options *options,
                        imp_error *error)
{
    imp_load_plan plan = imp_load_plan_from(options);
    imp_catalog catalog = {0};
    atlas map = {0};
    size_t lists = 0;
    imp_status status = open_sources(&catalog, path, error);
    if (!status)
        status = draw_atlas(&catalog, &map, error);
    for (imp_split split = IMP_SPLIT_TRAIN; split <= IMP_SPLIT_TEST && !status; split++)
        status = read_list(&catalog, &map, path, split, &lists, error);
    if (!status && lists == 0)
        status = imp_fail(error, IMP_EINVAL, "'%s' has no train.csv, val.csv or test.csv", path);
    if (!status)
        status = imp_catalog_load(&catalog, &plan, dataset, error);
    imp_release(map.places);
    imp_catalog_clear(&catalog);
    return status;
}

/* A folder with all three lists of Ravi & Larochelle (2017), whose pictures are in colour. */
imp_status imp_open_mini_imagenet(imp_dataset *dataset, const char *path,
                                  const imp_dataset_options *options, imp_error *error)
{
    enum { SIZE = 84, CHANNELS = 3 };
    for (imp_split split = IMP_SPLIT_TRAIN; split <= IMP_SPLIT_TEST; split++) {
        char list[16];
        struct stat about;
        snprintf(list, sizeof list, "%s.csv", imp_split_name(split));
        char *whole = imp_source_join(path, list);
        if (whole == NULL)
            return imp_fail_memory(error, "a path");
        bool exists = stat(whole, &about) == 0;
        imp_release(whole);
        if (!exists)
            return imp_fail(error, IMP_EIO,
                            "'%s' is not mini-ImageNet: it has no %s; train.csv, val.csv and "
                            "test.csv belong beside images.zip or a folder of the pictures",
                            path, list);
    }
    imp_dataset_options own = *options;
    if (own.size == 0)
        own.size = SIZE;
    if (own.channels == 0)
        own.channels = CHANNELS;
    return imp_open_csv(dataset, path, &own, error);
}
