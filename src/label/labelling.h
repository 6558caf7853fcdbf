/*
 * labelling.h - a pile of points being labelled: the answers, and the guesses for the other points.
 *
 * Every answer is a cluster of its class, as in Algorithm 1 with a fixed threshold: a named point
 * starts a cluster, unless it was named together with others and is within lambda of a cluster of
 * its class. A class scores by its nearest cluster, and probabilities are the softmax over classes.
 * A table keeps the distance of every point to the nearest cluster of every class, so an answer
 * costs one pass over the points, not a fit. A point's own cluster never counts for the point
 * itself, so the table also says how the others would have classified it, from which the variance
 * is chosen.
 *
 * Class 0 is "none of these". Nothing here knows about names or files.
 */
#ifndef IMP_LABEL_LABELLING_H
#define IMP_LABEL_LABELLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

enum {
    IMP_UNKNOWN = -1, /* the class of a point that was not named */
    IMP_MOST_KINDS = 1000
};

/* What the answers so far say about a point. */
typedef struct imp_guess {
    int32_t class;     /* the likeliest; IMP_UNKNOWN before the first answer */
    float probability; /* of the likeliest */
    float margin;      /* how much farther the second class's cluster is, as a difference of squared
                          distances */
    float distance;    /* squared, to the nearest cluster */
} imp_guess;

typedef struct imp_labelling {
    size_t count, dimensions;
    const float *points; /* (count, dimensions): owned by the caller. A row of NAN is not a
                            point, and near to nothing */
    int threads;
    double lambda, sigma;

    int32_t *class;   /* (count): as answered, or IMP_UNKNOWN */
    bool *alone;      /* (count): the answer was about this point only */
    imp_guess *guess; /* (count): from the answers about other points */
    size_t answered;

    size_t class_count;
    float *nearest; /* (count, class_capacity): squared distance to the class, INFINITY: none */
    size_t class_capacity;
    uint32_t *cluster; /* (cluster_count): the points that started clusters, in order */
    size_t cluster_count;
} imp_labelling;

/* Begins with `count` points of `d` floats, which must outlive it, and no answers. lambda is
 * derived from `scale`, the squared distance of points within a group. On failure (IMP_ENOMEM)
 * there is nothing to release. */
imp_status imp_labelling_create(imp_labelling *work, const float *points, size_t count, size_t d,
                                double scale, int threads, imp_error *error);
void imp_labelling_release(imp_labelling *work);

/* Makes room for `classes` classes, so that answers about them cannot fail. */
imp_status imp_labelling_reserve(imp_labelling *work, size_t classes, imp_error *error);

/* Records that these points belong to `class`, or IMP_UNKNOWN to undo answers. Guesses change only
 * with imp_labelling_look(). On failure (IMP_ENOMEM; IMP_EINVAL for a class beyond IMP_MOST_KINDS
 * or an index that is not a point) nothing has changed. */
imp_status imp_labelling_answer(imp_labelling *work, const uint32_t *points, size_t count,
                                int32_t class, imp_error *error);

/* Chooses sigma from the answers and guesses the class of every point again. */
void imp_labelling_look(imp_labelling *work);

/* The current class of a point: the answer or the guess. */
static inline int32_t imp_labelling_class(const imp_labelling *work, size_t point)
{
    return work->class[point] != IMP_UNKNOWN ? work->class[point] : work->guess[point].class;
}

/* Writes the probability of every class for a point, (class_count) floats. */
void imp_labelling_probabilities(const imp_labelling *work, size_t point, float *probability);

/* |a - b|^2 */
float imp_squared_distance(const float *a, const float *b, size_t d);

#endif
