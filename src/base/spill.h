/*
 * spill.h - arrays of a number or two per point: in memory if they are small, otherwise in a file.
 *
 * The file is mapped and has no name, so it disappears with the process. Memory given back while a
 * part is not needed loses nothing: the part is read from the file again.
 */
#ifndef IMP_BASE_SPILL_H
#define IMP_BASE_SPILL_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

/* Where such arrays may go. */
typedef struct imp_spill_place {
    const char *folder; /* NULL: always in memory */
    size_t memory;      /* arrays up to this many bytes stay in memory */
} imp_spill_place;

typedef struct imp_spill {
    void *values; /* (count), of `size` bytes each */
    size_t count, size;
    bool mapped;
} imp_spill;

/* Room for `count` items, not initialised. With a NULL `place` it is in memory. On failure there is
 * nothing to release: IMP_ENOMEM, and IMP_EIO for a folder that cannot be written or a disk that is
 * too full. */
imp_status imp_spill_create(imp_spill *spill, const imp_spill_place *place, size_t count,
                            size_t size, imp_error *error);

/* Items begin .. end - 1 are not needed for a while: their memory may be reclaimed. */
void imp_spill_leave(const imp_spill *spill, size_t begin, size_t end);

/* Harmless on a zeroed one. */
void imp_spill_release(imp_spill *spill);

#endif
