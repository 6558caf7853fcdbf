/*
 * sample.h - points that stay with a mixture, as they came: a fair sample of all that it has seen.
 *
 * A first batch cannot know what comes later. What was chosen by it is chosen again by this sample
 * when enough of the sample is new, and what is far from all its labelled points is none of the
 * classes (reference.h).
 *
 * The sample is of up to 2000 labelled points, or two of each class where that is more, and 1000
 * unlabelled ones. Labelled ones are shared out among the classes as evenly as these have points,
 * unlabelled ones among those near the classes and each cluster that has no label. Which of them
 * stay follows from how many points came before each, and from nothing else.
 */
#ifndef IMP_METHODS_SAMPLE_H
#define IMP_METHODS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

enum { IMP_MOST_LABELED = 2000, IMP_MOST_FREE = 1000 };

/* What is kept of one kind. */
typedef struct imp_stratum {
    size_t kept;
    uint64_t worst; /* the place of the one that is last in line; 0: unknown */
} imp_stratum;

typedef struct imp_sample {
    size_t dimensions, count, room;
    float *rows;         /* (count, dimensions) */
    int32_t *label;      /* (count): a class, IMP_UNLABELED, or imp_stranger() */
    double *weight;      /* (count): what the point counts for */
    uint64_t *arrival;   /* (count): how many points came before it */
    uint64_t arrived;    /* points so far */
    size_t labeled_kept; /* of `count` */
    size_t classes, strangers;
    double *seen;         /* (1 + classes + strangers): how many points came of each kind: */
    imp_stratum *stratum; /* unlabelled ones near the classes, those of class 0, ... */

    size_t news;  /* points that came into the sample since it was last used to choose, */
    size_t base;  /* how many there were then, */
    size_t kinds; /* and how many classes had enough of them */
} imp_sample;

/* The label of points of the k-th of the clusters that have no label. */
static inline int32_t imp_stranger(size_t k)
{
    return -2 - (int32_t)k;
}

/* All below return IMP_ENOMEM, and leave the sample as it was if they do. */

/* Room for so many kinds, or as many as there are. A sample begins as zeros but for dimensions. */
imp_status imp_sample_make_room(imp_sample *sample, size_t classes, size_t strangers,
                                imp_error *error);

/* One more point, whose kind there is room for. */
imp_status imp_sample_add(imp_sample *sample, const float *x, int32_t label, double weight,
                          imp_error *error);

/* What a point of the sample stands for: the points of its kind that came, shared out. */
double imp_sample_share(const imp_sample *sample, size_t i);

/* Gives every point i its label[i]; what has been seen of kinds goes along. */
imp_status imp_sample_relabel(imp_sample *sample, const int32_t *label, size_t classes,
                              size_t strangers, imp_error *error);

/* Leaves out points where `gone`; what they stand for goes along. */
void imp_sample_drop(imp_sample *sample, const bool *gone);

/* Takes those of another one in, whose classes are the same, as many as there is room for. */
imp_status imp_sample_join(imp_sample *sample, const imp_sample *other, imp_error *error);

/* Whether so much is new that one should choose again; and that this was done. */
bool imp_sample_is_due(const imp_sample *sample);
void imp_sample_settle(imp_sample *sample);

/* Counts what is kept, by the labels; false if a kind is out of range. */
bool imp_sample_count(imp_sample *sample);

imp_status imp_sample_copy(const imp_sample *from, imp_sample *to, imp_error *error);
void imp_sample_release(imp_sample *sample);

#endif
