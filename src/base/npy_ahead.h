/*
 * npy_ahead.h - reads the rows that will be wanted next while the last ones are in use.
 *
 * A disk and the processors then work at the same time. Rows are read by a thread that lasts as
 * long as one block; without memory or a thread for it, nothing is read ahead.
 */
#ifndef IMP_BASE_NPY_AHEAD_H
#define IMP_BASE_NPY_AHEAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

/* An array whose rows are read one block after another. */
typedef struct imp_row_array {
    size_t rows, columns;
    /* Reads rows begin .. begin + count - 1 of `where` into `to`. */
    imp_status (*read)(const void *where, size_t begin, size_t count, float *to, imp_error *error);
    const void *where;
} imp_row_array;

typedef struct imp_row_block {
    float *values;
    size_t capacity; /* values that there is room for */
} imp_row_block;

typedef struct imp_npy_ahead {
    imp_row_array array;
    imp_row_block given, next;
    size_t begin, count; /* the rows in `next`, if status is IMP_OK */
    imp_status status;
    pthread_t thread;
    bool running;
} imp_npy_ahead;

/* Waits until nothing is being read, as the array may be used by one thread at a time. Harmless on
 * a zeroed one. */
void imp_npy_ahead_wait(imp_npy_ahead *ahead);

/* *rows = rows begin .. begin + count - 1 of the array: if they are few, in `room`, which must be
 * large enough; else in memory that is valid until the next call, and as many of the next rows are
 * then read ahead. */
imp_status imp_npy_ahead_read(imp_npy_ahead *ahead, const imp_row_array *array, size_t begin,
                              size_t count, float *room, const float **rows, imp_error *error);

/* Waits and frees all rows. */
void imp_npy_ahead_release(imp_npy_ahead *ahead);

#endif
