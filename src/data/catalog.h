/*
 * catalog.h - the list of a dataset's pictures, before any of them is read.
 *
 * The reader of a layout (Omniglot, folder, CSV) opens its sources and adds one entry per picture;
 * imp_catalog_load() does the rest for all layouts: sort, check, decode in parallel, fingerprint,
 * group into classes.
 */
#ifndef IMP_DATA_CATALOG_H
#define IMP_DATA_CATALOG_H

#include "data/dataset.h"
#include "data/source.h"

typedef struct imp_catalog_entry {
    char *name;            /* "SUPER-CLASS/CLASS/FILE" or "CLASS/FILE" */
    uint32_t class_length; /* length of the class's name at its start */
    uint32_t super_length; /* length of the super-class's name at its start; 0: none */
    imp_split split;
    uint32_t source, member; /* where its bytes are; member IMP_ABSENT: missing */
    char *absent;            /* why it is missing, otherwise NULL */
} imp_catalog_entry;

#define IMP_ABSENT UINT32_MAX

enum { IMP_MOST_SOURCES = 4 };

typedef struct imp_catalog {
    imp_catalog_entry *entries;
    size_t count, capacity;
    imp_source sources[IMP_MOST_SOURCES];
    size_t source_count;
} imp_catalog;

/* How to load: the options with the kind's defaults filled in. If size or channels are zero, the
 * first picture decides. */
typedef struct imp_load_plan {
    uint32_t size, channels;
    bool invert, skip_broken;
    size_t pixel_limit;
    int threads;
} imp_load_plan;

imp_load_plan imp_load_plan_from(const imp_dataset_options *options);

/* Adds an entry with a copy of `name`, split as "SUPER-CLASS/CLASS/FILE"; NULL without memory. The
 * pointer is valid until the next call. */
imp_catalog_entry *imp_catalog_add(imp_catalog *catalog, const char *name);

/* Releases everything; harmless on a zeroed catalog. */
void imp_catalog_clear(imp_catalog *catalog);

/* Makes the dataset; sorts the catalog. Errors name a file or class. */
imp_status imp_catalog_load(imp_catalog *catalog, const imp_load_plan *plan, imp_dataset *dataset,
                            imp_error *error);

/* The first half of it: sorts, and refuses a picture that is listed twice or has a path outside its
 * folder, and a class that is in two splits. */
imp_status imp_catalog_check(imp_catalog *catalog, imp_error *error);

/* The second half, without pixels: names, classes and super-classes of the checked entries. */
imp_status imp_catalog_group(const imp_catalog *catalog, imp_dataset *dataset, imp_error *error);

#endif
