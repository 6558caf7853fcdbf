/*
 * rooms.h - arrays that are allocated and released together: their owner lists them once, for both.
 */
#ifndef IMP_BASE_ROOMS_H
#define IMP_BASE_ROOMS_H

#include "base/memory.h"

/* One array of the list. */
typedef struct imp_room {
    void *pointer;              /* address of the pointer to it */
    size_t rows, columns, size; /* rows * columns items of `size` bytes each */
} imp_room;

/* Describes the array that a pointer points to. */
#define IMP_ROOM(pointer, rows, columns)                 \
    {                                                    \
        &(pointer), (rows), (columns), sizeof *(pointer) \
    }

/* Allocates all, as imp_allocate() does. On failure none is allocated, and all pointers are NULL.
 */
bool imp_rooms_make(const imp_room *rooms, size_t count);

/* Releases all and sets all pointers to NULL. */
void imp_rooms_release(const imp_room *rooms, size_t count);

/* Reallocates all if *capacity is less than `wanted`, and sets *capacity to `wanted`, or to 0 on
 * failure. The contents are lost. */
bool imp_rooms_reserve(const imp_room *rooms, size_t count, size_t wanted, size_t *capacity);

#endif
