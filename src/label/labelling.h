/*
 * labelling.h - a pile of points that somebody is naming: what is known of each, and what follows
 * for the others.
 *
 * Every answer is a cluster of its class, as in Algorithm 1 with a threshold: a named point starts
 * a cluster, unless it was named together with others and lies within lambda of one of its class. A
 * class scores by its nearest cluster, and probabilities are the softmax over classes. A table
 * keeps the distance of every point to the nearest cluster of every class, so an answer costs one
 * pass over the points and not a fit. A point's own cluster never counts for the point itself; so
 * the table also says how the others would have classified it, and that is what the variance comes
 * from.
 *
 * Class 0 is "none of these". Nothing here knows names, files or people.
 */
#ifndef IMP_LABEL_LABELLING_H
#define IMP_LABEL_LABELLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

enum {
    IMP_UNKNOWN = -1, /* the class of a point that nobody named */
    IMP_MOST_KINDS = 1000
};

/* What the answers so far say of a point. */
typedef struct imp_guess {
    int32_t class;     /* the likeliest; IMP_UNKNOWN before the first answer */
    float probability; /* of the likeliest */
    float margin;      /* how much farther the second one's cluster is: a squared distance */
    float distance;    /* squared, to the nearest cluster */
} imp_guess;

typedef struct imp_labelling {
    size_t count, dimensions;
    const float *points; /* (count, dimensions): the caller's. A row of NAN is no point: it is
                            near to nothing */
    int threads;
    double lambda, sigma;

    int32_t *class;   /* (count): as answered, or IMP_UNKNOWN */
    bool *alone;      /* (count): the answer was about this point and no other */
    imp_guess *guess; /* (count): by the answers about other points */
    size_t answered;

    size_t class_count;
    float *nearest; /* (count, class_capacity): squared distance to the class, INFINITY: none */
    size_t class_capacity;
    uint32_t *cluster; /* (cluster_count): the points that are clusters, in order */
    size_t cluster_count;
} imp_labelling;

/* Begins with `count` points of `d` floats, which must stay, and nothing known. lambda is taken
 * from `scale`, the squared distance of points within a group. On failure, IMP_ENOMEM, there is
 * nothing to release. */
imp_status imp_labelling_create(imp_labelling *work, const float *points, size_t count, size_t d,
                                double scale, int threads, imp_error *error);
void imp_labelling_release(imp_labelling *work);

/* Makes room for so many classes, so that answers about them cannot fail. */
imp_status imp_labelling_reserve(imp_labelling *work, size_t classes, imp_error *error);

/* Takes the answer that these points are of `class`, or IMP_UNKNOWN to take answers back. Guesses
 * are those of before until imp_labelling_look(). On failure (IMP_ENOMEM; IMP_EINVAL for a class
 * beyond IMP_MOST_KINDS or a number that is no point) nothing has changed. */
imp_status imp_labelling_answer(imp_labelling *work, const uint32_t *points, size_t count,
                                int32_t class, imp_error *error);

/* Chooses sigma by the answers and guesses the class of every point anew. */
void imp_labelling_look(imp_labelling *work);

/* The class that a point would get now: the answer or the guess. */
static inline int32_t imp_labelling_class(const imp_labelling *work, size_t point)
{
    return work->class[point] != IMP_UNKNOWN ? work->class[point] : work->guess[point].class;
}

/* Writes the probability of every class for a point, (class_count) floats. */
void imp_labelling_probabilities(const imp_labelling *work, size_t point, float *probability);

/* |a - b|^2 */
float imp_squared_distance(const float *a, const float *b, size_t d);

#endif
