/*
 * catalog.c - collects the pictures of a dataset, checks them and groups them into classes.
 *
 * A picture's name begins with its class's name, so sorting by name groups pictures by class.
 */
#include "data/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static bool reserve(imp_catalog *catalog)
{
    if (catalog->count < catalog->capacity)
        return true;
    size_t capacity = catalog->capacity > 0 ? 2 * catalog->capacity : 1024;
    imp_catalog_entry *larger =
        imp_enlarge(catalog->entries, catalog->count, capacity, sizeof *larger);
    if (larger == NULL)
        return false;
    imp_release(catalog->entries);
    catalog->entries = larger;
    catalog->capacity = capacity;
    return true;
}

imp_catalog_entry *imp_catalog_add(imp_catalog *catalog, const char *name)
{
    if (!reserve(catalog))
        return NULL;
    char *copy = imp_duplicate(name);
    if (copy == NULL)
        return NULL;
    const char *file = strrchr(copy, '/');
    const char *slash = strchr(copy, '/');
    imp_catalog_entry *entry = &catalog->entries[catalog->count++];
    *entry = (imp_catalog_entry){.name = copy, .split = IMP_SPLIT_NONE, .member = IMP_ABSENT};
    if (file != NULL)
        entry->class_length = (uint32_t)(file - copy);
    if (slash != file)
        entry->super_length = (uint32_t)(slash - copy);
    return entry;
}

void imp_catalog_clear(imp_catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++) {
        imp_release(catalog->entries[i].name);
        imp_release(catalog->entries[i].absent);
    }
    imp_release(catalog->entries);
    for (size_t i = 0; i < catalog->source_count; i++)
        imp_source_clear(&catalog->sources[i]);
    *catalog = (imp_catalog){0};
}

/* ---- checking ---- */

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const imp_catalog_entry *)a)->name, ((const imp_catalog_entry *)b)->name);
}

static bool same_class(const imp_catalog_entry *a, const imp_catalog_entry *b)
{
    return a->class_length == b->class_length && memcmp(a->name, b->name, a->class_length) == 0;
}

static bool same_super_class(const imp_catalog_entry *a, const imp_catalog_entry *b)
{
    return a->super_length == b->super_length && memcmp(a->name, b->name, a->super_length) == 0;
}

imp_status imp_catalog_check(imp_catalog *catalog, imp_error *error)
{
    if (catalog->count > UINT32_MAX / 4)
        return imp_fail(error, IMP_EUNSUPPORTED, "there are %zu pictures, which are too many",
                        catalog->count);
    if (catalog->count > 0)
        qsort(catalog->entries, catalog->count, sizeof *catalog->entries, compare_entries);
    for (size_t i = 0; i < catalog->count; i++)
        if (!imp_is_path_below(catalog->entries[i].name))
            return imp_fail(error, IMP_EFORMAT,
                            "in the path of the picture '%s' a part is empty, '.' or '..'",
                            catalog->entries[i].name);
    for (size_t i = 1; i < catalog->count; i++) {
        const imp_catalog_entry *before = &catalog->entries[i - 1], *entry = &catalog->entries[i];
        if (same_class(before, entry) && before->split != entry->split)
            return imp_fail(error, IMP_EINVAL,
                            "the splits overlap: class '%.*s' is in %s ('%s') and in %s ('%s')",
                            (int)entry->class_length, entry->name, imp_split_name(before->split),
                            before->name, imp_split_name(entry->split), entry->name);
        if (strcmp(before->name, entry->name) == 0)
            return imp_fail(error, IMP_EINVAL, "the picture '%s' is listed twice", entry->name);
    }
    return IMP_OK;
}

/* ---- grouping ---- */

static char *copy_prefix(const char *text, size_t length)
{
    char *copy = imp_allocate(length + 1, 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

static imp_status group_names(const imp_catalog *catalog, imp_dataset *dataset, imp_error *error)
{
    size_t total = 0;
    for (size_t i = 0; i < catalog->count; i++)
        if (!imp_add(total, strlen(catalog->entries[i].name) + 1, &total) || total > UINT32_MAX)
            return imp_fail(error, IMP_EUNSUPPORTED, "the names of the pictures are too long");
    uint32_t *names = imp_allocate(catalog->count, sizeof *names);
    char *text = imp_allocate(total, 1);
    dataset->owned_names = names;
    dataset->owned_text = text;
    if (names == NULL || text == NULL)
        return imp_fail_memory(error, "the names of the pictures");

    size_t used = 0;
    for (size_t i = 0; i < catalog->count; i++) {
        size_t length = strlen(catalog->entries[i].name) + 1;
        memcpy(text + used, catalog->entries[i].name, length);
        names[i] = (uint32_t)used;
        used += length;
    }
    dataset->picture_names = names;
    dataset->picture_text = text;
    dataset->picture_text_size = total;
    dataset->picture_count = catalog->count;
    return IMP_OK;
}

imp_status imp_catalog_group(const imp_catalog *catalog, imp_dataset *dataset, imp_error *error)
{
    imp_status status = group_names(catalog, dataset, error);
    if (status)
        return status;

    const imp_catalog_entry *entries = catalog->entries;
    size_t classes = 0, supers = 0;
    for (size_t i = 0; i < catalog->count; i++) {
        classes += i == 0 || !same_class(&entries[i - 1], &entries[i]);
        supers += entries[i].super_length > 0 &&
                  (i == 0 || !same_super_class(&entries[i - 1], &entries[i]));
    }
    dataset->classes = imp_allocate_zeroed(classes, sizeof *dataset->classes);
    dataset->super_classes = imp_allocate_zeroed(supers, sizeof *dataset->super_classes);
    if (dataset->classes == NULL || dataset->super_classes == NULL)
        return imp_fail_memory(error, "the classes");

    for (size_t i = 0; i < catalog->count; i++) {
        const imp_catalog_entry *entry = &entries[i];
        if (entry->super_length > 0 && (i == 0 || !same_super_class(entry - 1, entry))) {
            char *name = copy_prefix(entry->name, entry->super_length);
            if (name == NULL)
                return imp_fail_memory(error, "the classes");
            dataset->super_classes[dataset->super_count++] = name;
        }
        if (i == 0 || !same_class(entry - 1, entry)) {
            char *name = copy_prefix(entry->name, entry->class_length);
            if (name == NULL)
                return imp_fail_memory(error, "the classes");
            dataset->classes[dataset->class_count++] = (imp_class){
                .name = name,
                .super_class = entry->super_length > 0 ? (uint32_t)dataset->super_count - 1
                                                       : IMP_NO_SUPER_CLASS,
                .split = entry->split,
                .first_picture = (uint32_t)i,
            };
        }
        dataset->classes[dataset->class_count - 1].count++;
    }
    return imp_dataset_number(dataset, error);
}
