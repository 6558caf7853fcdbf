/* directory.h - finds items by name. */
#ifndef IMP_LABEL_DIRECTORY_H
#define IMP_LABEL_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

typedef struct imp_directory_entry {
    const char *name;
    size_t item;
} imp_directory_entry;

typedef struct imp_directory {
    imp_directory_entry *entries; /* (count), sorted */
    size_t count;
} imp_directory;

/* An index of `count` names, which must outlive it. On failure (IMP_ENOMEM) there is nothing to
 * release. */
imp_status imp_directory_create(imp_directory *directory, char *const *names, size_t count,
                                imp_error *error);
void imp_directory_release(imp_directory *directory);

/* The index of the item of that name, or SIZE_MAX. */
size_t imp_directory_find(const imp_directory *directory, const char *name);

#endif
