/*
 * omniglot.c - the Omniglot distribution: two folders or zips of ALPHABET/characterNN/NNNN_NN.png.
 *
 * Alphabets are super-classes. Both parts are always read, since the split of Vinyals et al. mixes
 * them.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/catalog.h"

enum { DEFAULT_SIZE = 28, PARTS = 2 };

static const char *const parts[PARTS] = {"images_background", "images_evaluation"};

/* The path of a part: the folder if it exists, otherwise the zip. */
static char *part_path(const char *path, const char *part, bool *exists)
{
    size_t room = strlen(path) + strlen(part) + sizeof "/.zip";
    char *whole = imp_allocate(room, 1);
    if (whole == NULL)
        return NULL;
    struct stat about;
    snprintf(whole, room, "%s/%s", path, part);
    *exists = stat(whole, &about) == 0;
    if (!*exists) {
        snprintf(whole, room, "%s/%s.zip", path, part);
        *exists = stat(whole, &about) == 0;
    }
    return whole;
}

/* "Greek/character07/0394_01.png" of "images_background/Greek/character07/0394_01.png". */
static const char *below(const char *name, const char *part)
{
    size_t length = strlen(part);
    bool nested = strncmp(name, part, length) == 0 && name[length] == '/';
    return nested ? name + length + 1 : name;
}

/* Both parts are opened at once, each by its own thread. */
typedef struct opening {
    const char *path;
    imp_source *sources;
    imp_status status[PARTS];
    imp_error error[PARTS];
} opening;

static void open_part(size_t part, int worker, void *context)
{
    (void)worker;
    opening *work = context;
    imp_error *error = &work->error[part];
    bool exists = false;
    char *whole = part_path(work->path, parts[part], &exists);
    if (whole == NULL) {
        work->status[part] = imp_fail_memory(error, "a path");
        return;
    }
    work->status[part] =
        exists ? imp_source_open(&work->sources[part], whole, error)
               : imp_fail(error, IMP_EIO,
                          "'%s' is not Omniglot: it has neither a folder %s nor %s.zip", work->path,
                          parts[part], parts[part]);
    imp_release(whole);
}

static imp_status open_parts(imp_catalog *catalog, const char *path, int threads, imp_error *error)
{
    opening work = {.path = path, .sources = catalog->sources};
    imp_parallel(PARTS, threads, open_part, &work);
    catalog->source_count = PARTS;
    for (size_t part = 0; part < PARTS; part++)
        if (work.status[part])
            return imp_fail(error, work.status[part], "%s", work.error[part].message);
    return IMP_OK;
}

static imp_status add_part(imp_catalog *catalog, uint32_t part, imp_error *error)
{
    const imp_source *source = &catalog->sources[part];
    for (size_t member = 0; member < source->count; member++) {
        const char *name = below(source->names[member], parts[part]);
        if (!imp_source_is_picture(name))
            continue;
        imp_catalog_entry *entry = imp_catalog_add(catalog, name);
        if (entry == NULL)
            return imp_fail_memory(error, "a list of pictures");
        if (entry->super_length == 0 ||
            strchr(entry->name + entry->super_length + 1, '/') != entry->name + entry->class_length)
            return imp_fail(error, IMP_EFORMAT,
                            "'%s' in '%s' is not where Omniglot has pictures: "
                            "ALPHABET/characterNN/NNNN_NN.png",
                            name, source->path);
        entry->source = part;
        entry->member = (uint32_t)member;
    }
    return IMP_OK;
}

imp_status imp_open_omniglot(imp_dataset *dataset, const char *path,
                             const imp_dataset_options *options, imp_error *error)
{
    imp_load_plan plan = imp_load_plan_from(options);
    if (plan.size == 0)
        plan.size = DEFAULT_SIZE;
    if (plan.channels == 0)
        plan.channels = 1;
    plan.invert =
        options->ink != IMP_INK_AS_IS; /* ink is black in the files and has high values here */

    imp_catalog catalog = {0};
    imp_status status = open_parts(&catalog, path, plan.threads, error);
    for (uint32_t part = 0; part < PARTS && !status; part++)
        status = add_part(&catalog, part, error);
    if (!status)
        status = imp_catalog_load(&catalog, &plan, dataset, error);
    imp_catalog_clear(&catalog);
    for (size_t i = 0; i < dataset->class_count && !status; i++)
        dataset->classes[i].split = imp_omniglot_vinyals(dataset->classes[i].name);
    return status;
}
