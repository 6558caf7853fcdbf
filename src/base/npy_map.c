/* npy_map.c - maps .npy files. */
#define _DEFAULT_SOURCE /* mmap's flags */

#include "base/npy_map.h"

#include <sys/mman.h>

#include "base/bisect.h"
#include "base/error.h"
#include "base/memory.h"

static bool is_plain(const imp_npy_file *file)
{
    return !file->stream && !file->fortran && file->layout.dtype == IMP_FLOAT32 &&
           file->begin % sizeof(float) == 0;
}

/* Maps the rows first .. next - 1 of all. */
static imp_status map_file(imp_npy_map *map, imp_npy_file *file, size_t first, size_t next,
                           bool *possible, imp_error *error)
{
    struct imp_npy_mapped *part = &map->parts[map->count];
    size_t size = file->begin + (next - first) * map->columns * sizeof(float);
    bool asleep = file->descriptor < 0;
    imp_status status = imp_npy_wake(file, error);
    if (status)
        return status;
    void *address = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file->descriptor, 0);
    if (asleep)
        imp_npy_rest(file);
    *possible = address != MAP_FAILED;
    if (!*possible)
        return IMP_OK;
    *part = (struct imp_npy_mapped){address, size, (const float *)((char *)address + file->begin),
                                    first, next};
    map->count++;
    return IMP_OK;
}

imp_status imp_npy_map_open(imp_npy_map *map, const imp_npy_shards *shards, bool *possible,
                            imp_error *error)
{
    *map = (imp_npy_map){.columns = shards->columns};
    *possible = true;
    for (size_t i = 0; i < shards->count; i++)
        *possible = *possible && is_plain(&shards->files[i]);
    if (!*possible)
        return IMP_OK;
    map->parts = imp_allocate(shards->count, sizeof *map->parts);
    imp_status status = map->parts ? IMP_OK : imp_fail_memory(error, "mapped files");
    for (size_t i = 0; i < shards->count && *possible && !status; i++)
        if (shards->first[i] < shards->first[i + 1])
            status = map_file(map, &shards->files[i], shards->first[i], shards->first[i + 1],
                              possible, error);
    if (status || !*possible)
        imp_npy_map_close(map);
    return status;
}

void imp_npy_map_close(imp_npy_map *map)
{
    for (size_t i = 0; i < map->count; i++)
        munmap(map->parts[i].address, map->parts[i].size);
    imp_release(map->parts);
    *map = (imp_npy_map){0};
}

static bool ends_before(const void *parts, size_t index, const void *row)
{
    return ((const struct imp_npy_mapped *)parts)[index].next <= *(const size_t *)row;
}

const float *imp_npy_map_row(const imp_npy_map *map, size_t row)
{
    size_t at = imp_bisect(map->parts, map->count - 1, ends_before, &row);
    const struct imp_npy_mapped *part = &map->parts[at];
    return part->rows + (row - part->first) * map->columns;
}
