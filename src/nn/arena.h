/*
 * arena.h - places arrays in memory by lifetime: two share memory if they do not live at the same
 * time.
 */
#ifndef IMP_NN_ARENA_H
#define IMP_NN_ARENA_H

#include <stddef.h>

/* An array that lives from the beginning of step `born` to the end of step `dies`; none if floats
 * is 0. */
typedef struct imp_span {
    size_t floats, born, dies;
    size_t at; /* its offset in floats, a multiple of a cache line */
} imp_span;

/* Places each span at the lowest offset that is free for its whole life, and returns the floats
 * needed in total. Works best with the largest or longest-lived spans first. */
size_t imp_arena_place(imp_span *spans, size_t count);

#endif
