/*
 * point_source.h - a source of points: rows that are read in blocks, pass after pass.
 *
 * Code that assigns points to clusters processes one block after another and needs memory for only
 * one, wherever the rest is stored. Rows in memory and in .npy files are such sources.
 */
#ifndef IMP_METHODS_POINT_SOURCE_H
#define IMP_METHODS_POINT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "base/npy_shards.h"
#include "methods/points.h"

typedef struct imp_point_source {
    size_t dimensions, count;
    const int32_t *label; /* of the first label_count points: a class or IMP_UNLABELED; the rest */
    size_t label_count;   /* have no label */

    /* Reads points begin .. begin + count - 1, row by row: *rows points to them, or is `room`,
     * which is large enough. They are valid until the next call. Called by one thread at a time.
     */
    imp_status (*read)(const struct imp_point_source *source, size_t begin, size_t count,
                       float *room, const float **rows, imp_error *error);
    bool in_place;     /* read() never needs room */
    const void *where; /* the data of read() */
} imp_point_source;

/* (count, dimensions) floats in memory, without labels. */
imp_point_source imp_source_of_rows(const float *rows, size_t count, size_t dimensions);

/* The points of an episode by index, regardless of their order. */
imp_point_source imp_source_of_points(const imp_points *points);

/* The rows of open files. Reading a value that is not a finite float fails with IMP_EINVAL and a
 * sentence that names the file, row and column. */
imp_point_source imp_source_of_shards(const imp_npy_shards *shards);

/* (count, dimensions) floats in memory and a label for each; NULL: none has one. */
imp_point_source imp_source_of_labeled(const float *rows, const int32_t *label, size_t count,
                                       size_t dimensions);

static inline int32_t imp_source_label(const imp_point_source *source, size_t point)
{
    return point < source->label_count ? source->label[point] : IMP_UNLABELED;
}

/* How many points have no label. */
size_t imp_source_unlabeled(const imp_point_source *source);

/* rows(count, dimensions) = the points of these numbers, which should ascend. */
imp_status imp_source_gather(const imp_point_source *source, const uint32_t *number, size_t count,
                             float *rows, imp_error *error);

/* *rows = up to `most` points, evenly spaced: *room, which is new then, or where they are. Release
 * *room even on failure. */
imp_status imp_source_sample(const imp_point_source *source, size_t most, float **room,
                             const float **rows, size_t *count, imp_error *error);

/* Points of a block that is read, so that it is neither large nor slow. */
static inline size_t imp_source_block(const imp_point_source *source)
{
    enum { MOST = 1 << 15, MOST_VALUES = 1 << 20, LEAST = 256 };
    size_t most = MOST_VALUES / (source->dimensions > 0 ? source->dimensions : 1);
    most = most < MOST ? most : MOST;
    return most > LEAST ? most : LEAST;
}

/* Locates most points by an evenly spaced sample: origin(dimensions) is its mean, and *radius
 * several times the distance within which nine tenths of it lie, INFINITY if that is 0. Fails as
 * reading does, and with IMP_ENOMEM. */
imp_status imp_source_center(const imp_point_source *source, float *origin, double *radius,
                             imp_error *error);

/* Reads a source in a given order. */
typedef struct imp_reader {
    const imp_point_source *source;
    const uint32_t *order; /* the points' numbers in the order to take them; NULL: 0, 1, 2, ... */
    size_t most;           /* points of a block */
    float *room;           /* for that many, or NULL if not needed */
} imp_reader;

/* For blocks of up to `most` points. On failure, IMP_ENOMEM, there is nothing to release. */
imp_status imp_reader_create(imp_reader *reader, const imp_point_source *source,
                             const uint32_t *order, size_t most, imp_error *error);
void imp_reader_release(imp_reader *reader);

/* The index of the point at `position` in the order. */
static inline size_t imp_reader_point(const imp_reader *reader, size_t position)
{
    return reader->order ? reader->order[position] : position;
}

/* *rows = the points at positions begin .. begin + count - 1 of the order. */
imp_status imp_reader_read(imp_reader *reader, size_t begin, size_t count, const float **rows,
                           imp_error *error);

#endif
