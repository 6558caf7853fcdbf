/* label_import.c - imports existing labels, and the truth for simulations. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/label.h"
#include "data/checksum.h"
#include "data/csv.h"
#include "label/directory.h"

static const char command[] = "label";

enum { LABELS_LIMIT = 1 << 28 };

/* Called for each item that a file labels. Any result other than IMP_GO_ON ends the reading. */
typedef int on_label(size_t item, const char *class, void *context);

static bool ends_with(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

/* ---- items by their names ---- */

typedef struct listing {
    imp_directory names;
    size_t strangers; /* names that no item has */
} listing;

static int tell_one(listing *list, const char *name, const char *class, on_label *told,
                    void *context)
{
    size_t item = imp_directory_find(&list->names, name);
    if (item == SIZE_MAX) {
        list->strangers++;
        return IMP_GO_ON;
    }
    return *class ? told(item, class, context) : IMP_GO_ON;
}

/* ---- folders ---- */

typedef struct content {
    uint64_t digest;
    size_t item;
} content;

static int by_digest(const void *a, const void *b)
{
    uint64_t x = ((const content *)a)->digest, y = ((const content *)b)->digest;
    return (x > y) - (x < y);
}

/* Sub-folders that are classes, such as an export; items are matched by content, wherever they are
 * now. */
static int read_folder(const char *path, const uint64_t *digests, size_t count, on_label *told,
                       void *context)
{
    imp_gallery gallery = {.any = true};
    imp_error error;
    content *sorted = malloc(count * sizeof *sorted);
    size_t strangers = 0;
    int status = sorted ? IMP_GO_ON : imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    if (status == IMP_GO_ON && imp_gallery_add_classes(&gallery, path, &error) != IMP_OK)
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    for (size_t i = 0; i < count && status == IMP_GO_ON; i++)
        sorted[i] = (content){digests[i], i};
    if (status == IMP_GO_ON)
        qsort(sorted, count, sizeof *sorted, by_digest);
    for (size_t k = 0; k < gallery.count && status == IMP_GO_ON; k++) {
        if (gallery.pictures[k].class < 0)
            continue;
        uint8_t *bytes;
        size_t size;
        if (imp_gallery_bytes(&gallery, k, &bytes, &size, &error) != IMP_OK) {
            status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
            break;
        }
        content key = {imp_checksum(bytes, size), 0};
        imp_release(bytes);
        content *found = bsearch(&key, sorted, count, sizeof *sorted, by_digest);
        if (found)
            status = told(found->item, gallery.classes[gallery.pictures[k].class], context);
        strangers += !found;
    }
    if (status == IMP_GO_ON && strangers > 0)
        imp_complain(EXIT_SUCCESS, command, "%zu of the files in '%s' are not in this pile",
                     strangers, path);
    free(sorted);
    imp_gallery_clear(&gallery);
    return status;
}

/* ---- files ---- */

/* Columns "name" and "class", in any order and among others. */
static int read_csv(const char *path, char *bytes, size_t size, listing *list, on_label *told,
                    void *context)
{
    imp_csv csv = imp_csv_start(bytes, size);
    imp_error error;
    size_t name = SIZE_MAX, class = SIZE_MAX;
    imp_status failed = imp_csv_next(&csv, &error);
    for (size_t k = 0; k < csv.count && !failed; k++) {
        if (strcmp(csv.fields[k], "name") == 0)
            name = k;
        if (strcmp(csv.fields[k], "class") == 0)
            class = k;
    }
    if (!failed && (name == SIZE_MAX || class == SIZE_MAX))
        return imp_complain(IMP_EXIT_FAILURE, command,
                            "%s: its first line must have the columns name and class", path);
    int status = IMP_GO_ON;
    while (!failed && status == IMP_GO_ON && !(failed = imp_csv_next(&csv, &error)) &&
           csv.count > 0) {
        if (csv.count <= name || csv.count <= class)
            return imp_complain(IMP_EXIT_FAILURE, command, "%s: line %zu has too few columns", path,
                                csv.line);
        status = tell_one(list, csv.fields[name], csv.fields[class], told, context);
    }
    return failed ? imp_complain(IMP_EXIT_FAILURE, command, "%s: %s", path, error.message) : status;
}

/* {"items": [{"name": ..., "class": ..., "answered": true}, ...]}, as exported; guesses do not
 * count as labels. */
static int read_json(const char *path, const char *bytes, size_t size, listing *list,
                     on_label *told, void *context)
{
    json_t *object, *item;
    imp_error error;
    if (imp_json_parse(bytes, size, &object, &error) != IMP_OK)
        return imp_complain(IMP_EXIT_FAILURE, command, "%s: %s", path, error.message);
    json_t *items = json_object_get(object, "items");
    int status = json_is_array(items)
                     ? IMP_GO_ON
                     : imp_complain(IMP_EXIT_FAILURE, command, "%s: it has no list of items", path);
    size_t index;
    json_array_foreach(items, index, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        const char *class = json_string_value(json_object_get(item, "class"));
        if (status != IMP_GO_ON || json_is_false(json_object_get(item, "answered")))
            continue;
        status =
            name && class ? tell_one(list, name, class, told, context)
                          : imp_complain(IMP_EXIT_FAILURE, command,
                                         "%s: item %zu has no name and class", path, index + 1);
    }
    json_decref(object);
    return status;
}

static int read_npy(const char *path, size_t count, on_label *told, void *context)
{
    int32_t *labels;
    size_t given;
    int status = imp_read_labels(command, path, &labels, &given);
    if (status == IMP_GO_ON && given != count)
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s: it has %zu labels for %zu items",
                              path, given, count);
    for (size_t i = 0; i < given && status == IMP_GO_ON; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", labels[i]);
        if (labels[i] >= 0)
            status = told(i, name, context);
    }
    free(labels);
    return status;
}

static int read_labels(const char *path, char *const *names, const uint64_t *digests, size_t count,
                       on_label *told, void *context)
{
    if (imp_is_folder_or_archive(path))
        return read_folder(path, digests, count, told, context);
    if (ends_with(path, ".npy"))
        return read_npy(path, count, told, context);
    unsigned char *bytes;
    size_t size;
    imp_error error;
    if (imp_file_read(path, LABELS_LIMIT, &bytes, &size, &error) != IMP_OK)
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    listing list = {0};
    bool listed = imp_directory_create(&list.names, names, count, &error) == IMP_OK;
    int status = !listed ? imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message)
                 : ends_with(path, ".json")
                     ? read_json(path, (char *)bytes, size, &list, told, context)
                     : read_csv(path, (char *)bytes, size, &list, told, context);
    if (status == IMP_GO_ON && list.strangers > 0)
        imp_complain(EXIT_SUCCESS, command, "%zu of the labels in '%s' name nothing in this pile",
                     list.strangers, path);
    imp_directory_release(&list.names);
    imp_release(bytes);
    return status;
}

/* ---- into a project ---- */

static int name_item(size_t item, const char *class, void *context)
{
    imp_project *project = context;
    if (project->state.all.class[item] != IMP_UNKNOWN)
        return IMP_GO_ON;
    json_t *change = json_pack("{s: s, s: [I], s: s}", "change", "label", "items", (json_int_t)item,
                               "class", class);
    imp_error error;
    imp_status failed = change ? imp_project_change(project, change, &error)
                               : imp_fail(&error, IMP_EINVAL, "a class name is not valid UTF-8");
    json_decref(change);
    return failed ? imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message) : IMP_GO_ON;
}

int imp_label_import(imp_project *project, const char *path)
{
    imp_project_begin_many(project);
    int status =
        read_labels(path, project->name, project->digest, project->count, name_item, project);
    imp_error error;
    if (imp_project_end_many(project, &error) != IMP_OK)
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    return status;
}

/* ---- the truth ---- */

typedef struct truths {
    int32_t *truth;
    char **classes;
    size_t count, capacity;
} truths;

static int note_truth(size_t item, const char *class, void *context)
{
    truths *own = context;
    for (size_t c = 0; c < own->count; c++)
        if (strcmp(own->classes[c], class) == 0) {
            own->truth[item] = (int32_t)c;
            return IMP_GO_ON;
        }
    if (own->count == own->capacity) {
        size_t capacity = 2 * own->capacity + 16;
        char **larger = realloc(own->classes, capacity * sizeof *larger);
        if (!larger)
            return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
        own->classes = larger;
        own->capacity = capacity;
    }
    own->classes[own->count] = strdup(class);
    if (!own->classes[own->count])
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    own->truth[item] = (int32_t)own->count++;
    return IMP_GO_ON;
}

int imp_label_truth(const imp_label_pile *pile, const char *path, int32_t **truth)
{
    truths own = {.truth = malloc(pile->count * sizeof *own.truth)};
    if (!own.truth)
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    for (size_t i = 0; i < pile->count; i++)
        own.truth[i] = IMP_UNKNOWN;
    int status = IMP_GO_ON;
    if (strcmp(path, "folders") == 0) {
        const imp_gallery *gallery = &pile->embedded.gallery;
        for (size_t i = 0; i < gallery->count; i++)
            own.truth[i] = gallery->pictures[i].class;
    } else {
        status = read_labels(path, pile->name, pile->digest, pile->count, note_truth, &own);
    }
    for (size_t i = 0; i < pile->count && status == IMP_GO_ON; i++)
        if (own.truth[i] == IMP_UNKNOWN)
            status = imp_complain(IMP_EXIT_FAILURE, command,
                                  "'%s' does not say what '%s' is; a simulation needs the truth of "
                                  "every item",
                                  path, pile->name[i]);
    for (size_t c = 0; c < own.count; c++)
        free(own.classes[c]);
    free(own.classes);
    *truth = own.truth;
    if (status != IMP_GO_ON) {
        free(own.truth);
        *truth = NULL;
    }
    return status;
}
