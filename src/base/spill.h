/*
 * spill.h - room for a number or two of every point: in memory while they are few, else in a file.
 *
 * A file of scratch is mapped and has no name, so that it goes with the process. What was written
 * stays where it is put when the memory it takes is given back, and is read again when it is
 * needed.
 */
#ifndef IMP_BASE_SPILL_H
#define IMP_BASE_SPILL_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

/* Where numbers of many points may go. */
typedef struct imp_spill_place {
    const char *folder; /* NULL: nowhere, all stay in memory */
    size_t memory;      /* bytes of an array that stays in memory all the same */
} imp_spill_place;

typedef struct imp_spill {
    void *values; /* (count), of `size` bytes each */
    size_t count, size;
    bool mapped;
} imp_spill;

/* Room for `count` items, not initialised. `place` may be NULL for memory. On failure there is
 * nothing to release: IMP_ENOMEM, and IMP_EIO for a folder that cannot be written or a disk that is
 * too full. */
imp_status imp_spill_create(imp_spill *spill, const imp_spill_place *place, size_t count,
                            size_t size, imp_error *error);

/* Items begin .. end - 1 are not needed for a while: the memory they take may go. */
void imp_spill_leave(const imp_spill *spill, size_t begin, size_t end);

/* Harmless on a zeroed one. */
void imp_spill_release(imp_spill *spill);

#endif
