/*
 * rooms.h - arrays that are made and given back together: what works on a task or in a thread lists
 * its arrays once, for both.
 */
#ifndef IMP_BASE_ROOMS_H
#define IMP_BASE_ROOMS_H

#include "base/memory.h"

/* Room for an array. */
typedef struct imp_room {
    void *pointer;              /* where the pointer to it is kept */
    size_t rows, columns, size; /* so many items, of that many bytes each */
} imp_room;

/* For the array that a pointer is for. */
#define IMP_ROOM(pointer, rows, columns)                 \
    {                                                    \
        &(pointer), (rows), (columns), sizeof *(pointer) \
    }

/* Makes all, as imp_allocate() does. On failure there is none, and all pointers are NULL. */
bool imp_rooms_make(const imp_room *rooms, size_t count);

/* Gives all back that there are; all pointers are NULL then. */
void imp_rooms_release(const imp_room *rooms, size_t count);

/* Makes all anew if they were made for a *capacity of less than `wanted`, which is then the
 * capacity, or 0 on failure. What they held is lost. */
bool imp_rooms_reserve(const imp_room *rooms, size_t count, size_t wanted, size_t *capacity);

#endif
