/*
 * points.h - the points of an episode in the order in which a clustering takes them.
 *
 * Supports and unlabelled points are in two arrays of the caller and numbered consecutively,
 * supports first. Nothing is copied.
 */
#ifndef IMP_METHODS_POINTS_H
#define IMP_METHODS_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include <imp/method.h>
#include <imp/status.h>

typedef struct imp_points {
    size_t dimensions;
    const float *first;   /* (first_count, dimensions) */
    const int32_t *label; /* of the first array's points; NULL: all unlabelled */
    size_t first_count;
    const float *second; /* (second_count, dimensions), all unlabelled */
    size_t second_count;
    const uint32_t *order; /* indices of the points in the order to take them; NULL: 0, 1, 2, ... */
    size_t unlabeled_count; /* points without a label, in both arrays */
} imp_points;

static inline size_t imp_points_count(const imp_points *points)
{
    return points->first_count + points->second_count;
}

/* The index of the point at `position` in the order. */
static inline size_t imp_points_at(const imp_points *points, size_t position)
{
    return points->order ? points->order[position] : position;
}

static inline const float *imp_points_row(const imp_points *points, size_t point)
{
    if (point < points->first_count)
        return points->first + point * points->dimensions;
    return points->second + (point - points->first_count) * points->dimensions;
}

static inline int32_t imp_points_label(const imp_points *points, size_t point)
{
    return points->label && point < points->first_count ? points->label[point] : IMP_UNLABELED;
}

/* Fails unless every value of the (count, dimensions) array is finite; the message calls the array
 * `what` and names the first bad row. 0 threads: as many as the machine offers. */
imp_status imp_check_finite(const float *rows, size_t count, size_t dimensions, int threads,
                            const char *what, imp_error *error);

/* Fails unless every label is in least .. way-1; the message calls the array `what`. */
imp_status imp_check_labels(const int32_t *label, size_t count, int32_t least, size_t way,
                            const char *what, imp_error *error);

/* Fails unless every class of 0 .. way-1 is among the labels. `seen` is scratch memory of
 * imp_seen_bytes() bytes. */
imp_status imp_check_complete(const int32_t *label, size_t count, size_t way, unsigned char *seen,
                              imp_error *error);
size_t imp_seen_bytes(size_t count, size_t way);

/* members(way) = the number of labelled points of each class, sum(way, dimensions) = their sums. */
void imp_sum_classes(const imp_points *points, size_t way, double *members, double *sum);

/* How many of the labels are IMP_UNLABELED. */
size_t imp_count_unlabeled(const int32_t *label, size_t count);

/* order[0 .. first + second - 1] = the indices of the labelled points, then of the others, each in
 * their order. `label` has the labels of the first `first` points. */
void imp_order_labeled_first(const int32_t *label, size_t first, size_t second, uint32_t *order);

#endif
