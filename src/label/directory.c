/* directory.c - looks up names by binary search. */
#include "label/directory.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(((const imp_directory_entry *)a)->name, ((const imp_directory_entry *)b)->name);
}

imp_status imp_directory_create(imp_directory *directory, char *const *names, size_t count,
                                imp_error *error)
{
    *directory = (imp_directory){imp_allocate(count, sizeof *directory->entries), count};
    if (!directory->entries)
        return imp_fail_memory(error, "the names of the items");
    for (size_t i = 0; i < count; i++)
        directory->entries[i] = (imp_directory_entry){names[i], i};
    qsort(directory->entries, count, sizeof *directory->entries, by_name);
    return IMP_OK;
}

void imp_directory_release(imp_directory *directory)
{
    imp_release(directory->entries);
    *directory = (imp_directory){0};
}

size_t imp_directory_find(const imp_directory *directory, const char *name)
{
    imp_directory_entry key = {name, 0};
    const imp_directory_entry *found =
        bsearch(&key, directory->entries, directory->count, sizeof key, by_name);
    return found ? found->item : SIZE_MAX;
}
