/*
 * tsne.h - t-SNE, which maps points to a plane and keeps neighbours together (van der Maaten and
 * Hinton, "Visualizing data using t-SNE", 2008); exact and in double precision.
 *
 * Distances between groups, and the groups' sizes, mean little in the plane. Nothing here is
 * random: the same points give the same plane on any number of threads.
 */
#ifndef IMP_DRAW_TSNE_H
#define IMP_DRAW_TSNE_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

/* Time and memory grow with the square of the count (8 bytes per pair). */
enum { IMP_TSNE_MOST_POINTS = 20000 };

/* A zeroed one holds the defaults. */
typedef struct imp_tsne_options {
    double perplexity; /* about how many neighbours a point has, at least 1; 0: 30. More than half
                          of the other points is lowered to that half, or 1 */
    size_t iterations; /* 0: 1000. In the first 250, with momentum 0.5 instead of 0.8, points
                          attract each other 12 times as much ("early exaggeration") */
    double learning_rate; /* 0: count / 48, but at least 50 */
    int threads;          /* 0: one per core */
    double *divergence;   /* if not NULL: receives the final Kullback-Leibler divergence */

    /* Called after each iteration; false ends the descent there. May be NULL. */
    bool (*proceed)(size_t done, size_t total, void *context);
    void *context;
} imp_tsne_options;

/* Maps `count` points of `d` floats, row by row, to `plane` (count, 2). `options` may be NULL for
 * the defaults. Starts from the first two principal components with a little jitter, so that points
 * on a line can leave it; the mean of the plane is the origin. If all points are equal, or there
 * are only two, every plane is as good, and the result is just finite.
 *
 * On failure `plane` is undefined: IMP_EINVAL for no points, no dimensions, a value that is not
 * finite (names its row) or an option out of range; IMP_EUNSUPPORTED for more than
 * IMP_TSNE_MOST_POINTS points; IMP_ENOMEM. */
imp_status imp_tsne(const float *points, size_t count, size_t d, const imp_tsne_options *options,
                    double *plane, imp_error *error);

#endif
