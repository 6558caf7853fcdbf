/*
 * arena.h - places for arrays that do not all live at the same time: two may share memory if one is
 * gone when the other comes.
 */
#ifndef IMP_NN_ARENA_H
#define IMP_NN_ARENA_H

#include <stddef.h>

/* An array from the beginning of step `born` to the end of step `dies`; none if floats is 0. */
typedef struct imp_span {
    size_t floats, born, dies;
    size_t at; /* where it lies, in floats; a multiple of a cache line's */
} imp_span;

/* Places all spans, each at the lowest place that is free all its life, and returns the floats that
 * takes. Spans are best given largest or longest first. */
size_t imp_arena_place(imp_span *spans, size_t count);

#endif
