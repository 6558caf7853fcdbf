/*
 * folder.c - a dataset from a folder or archive of CLASS/PICTURE or SUPER-CLASS/CLASS/PICTURE.
 *
 * All pictures must be at the same depth: one at another depth is most likely misplaced, and
 * guessing would silently turn it into a class. Pictures beside the classes and in _unlabeled are
 * counted and left out.
 */
#include <string.h>

#include "base/error.h"
#include "data/catalog.h"

static unsigned depth_of(const char *name)
{
    unsigned depth = 0;
    for (; *name != '\0'; name++)
        depth += *name == '/';
    return depth;
}

static imp_status add_pictures(imp_catalog *catalog, imp_dataset *dataset, imp_error *error)
{
    const imp_source *source = &catalog->sources[0];
    size_t skip = imp_source_common_folder(source, false);
    const char *first = NULL;
    for (size_t member = 0; member < source->count; member++) {
        const char *name = source->names[member] + skip;
        if (!imp_source_is_picture(name)) {
            imp_foreign_note(&dataset->foreign, name);
            continue;
        }
        if (imp_source_is_unlabeled(name)) {
            dataset->unlabeled++;
            continue;
        }
        if (first == NULL)
            first = name;
        unsigned depth = depth_of(name);
        if (depth > 2)
            return imp_fail(error, IMP_EINVAL,
                            "'%s' in '%s' lies too deep; pictures belong in CLASS/PICTURE or "
                            "SUPER-CLASS/CLASS/PICTURE",
                            name, source->path);
        if (depth != depth_of(first))
            return imp_fail(error, IMP_EINVAL,
                            "'%s' and '%s' in '%s' do not lie equally deep; either all classes "
                            "have a super-class or none has",
                            first, name, source->path);
        imp_catalog_entry *entry = imp_catalog_add(catalog, name);
        if (entry == NULL)
            return imp_fail_memory(error, "a list of pictures");
        entry->member = (uint32_t)member;
    }
    if (first == NULL && dataset->unlabeled > 0)
        return imp_fail(error, IMP_EINVAL,
                        "no picture in '%s' is in a class; pictures belong in CLASS/PICTURE or "
                        "SUPER-CLASS/CLASS/PICTURE",
                        source->path);
    return IMP_OK;
}

imp_status imp_open_folder(imp_dataset *dataset, const char *path,
                           const imp_dataset_options *options, imp_error *error)
{
    imp_load_plan plan = imp_load_plan_from(options);
    imp_catalog catalog = {0};
    imp_status status = imp_source_open(&catalog.sources[0], path, error);
    if (!status) {
        catalog.source_count = 1;
        status = add_pictures(&catalog, dataset, error);
    }
    if (!status) {
        status = imp_catalog_load(&catalog, &plan, dataset, error);
        if (status)
            imp_error_prefix(error, path);
    }
    imp_catalog_clear(&catalog);
    if (status)
        return status;

    enum { FEWEST_CLASSES = 5 }; /* with fewer, one of the three parts is empty */
    if (dataset->class_count >= FEWEST_CLASSES)
        return imp_dataset_apply_split(dataset, IMP_USUAL_SPLIT, 0, error);
    for (size_t i = 0; i < dataset->class_count; i++)
        dataset->classes[i].split = IMP_SPLIT_TRAIN;
    return IMP_OK;
}
