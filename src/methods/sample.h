/*
 * sample.h - points kept in a mixture unchanged: a stratified random sample of all that it has
 * seen.
 *
 * A first batch cannot know what comes later. What was chosen from it is chosen again from this
 * sample when enough of the sample is new, and a point far from all its labelled points belongs to
 * none of the classes (reference.h).
 *
 * The sample has up to 2000 labelled points, or two per class if that is more, and 1000 unlabelled
 * ones. Labelled ones are divided among the classes as evenly as possible, unlabelled ones among
 * the clusters without a label and the rest. Which of them stay depends only on how many points
 * came before each.
 */
#ifndef IMP_METHODS_SAMPLE_H
#define IMP_METHODS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

enum { IMP_MOST_LABELED = 2000, IMP_MOST_FREE = 1000 };

/* The sampled points of one kind. */
typedef struct imp_stratum {
    size_t kept;
    uint64_t worst; /* the last priority among them; 0: unknown */
} imp_stratum;

typedef struct imp_sample {
    size_t dimensions, count, room;
    float *rows;         /* (count, dimensions) */
    int32_t *label;      /* (count): a class, IMP_UNLABELED, or imp_stranger() */
    double *weight;      /* (count): the weight of the point */
    uint64_t *arrival;   /* (count): how many points came before it */
    uint64_t arrived;    /* points so far */
    size_t labeled_kept; /* of `count` */
    size_t classes, strangers;
    double *seen;         /* (1 + classes + strangers): points seen of each kind: */
    imp_stratum *stratum; /* unlabelled ones in labelled clusters, those of class 0, ... */

    size_t news;  /* points added since the last choice */
    size_t base;  /* points at the last choice */
    size_t kinds; /* classes with enough points then */
} imp_sample;

/* The label of points in the k-th cluster without a label. */
static inline int32_t imp_stranger(size_t k)
{
    return -2 - (int32_t)k;
}

/* The functions below fail only with IMP_ENOMEM, and then leave the sample as it was. */

/* Makes room for at least that many kinds. A sample starts zeroed, except for its dimensions. */
imp_status imp_sample_make_room(imp_sample *sample, size_t classes, size_t strangers,
                                imp_error *error);

/* Adds a point, for whose kind there must be room. */
imp_status imp_sample_add(imp_sample *sample, const float *x, int32_t label, double weight,
                          imp_error *error);

/* The weight a sampled point stands for: its share of all points seen of its kind. */
double imp_sample_share(const imp_sample *sample, size_t i);

/* Gives every point i the label label[i], and moves the counts of kinds accordingly. */
imp_status imp_sample_relabel(imp_sample *sample, const int32_t *label, size_t classes,
                              size_t strangers, imp_error *error);

/* Drops points that are `gone`, together with what they stand for. */
void imp_sample_drop(imp_sample *sample, const bool *gone);

/* Adds the points of another sample with the same classes, as many as there is room for. */
imp_status imp_sample_join(imp_sample *sample, const imp_sample *other, imp_error *error);

/* Whether enough is new to choose again; and marks that as done. */
bool imp_sample_is_due(const imp_sample *sample);
void imp_sample_settle(imp_sample *sample);

/* Counts the points of each kind by their labels; false if a label is out of range. */
bool imp_sample_count(imp_sample *sample);

imp_status imp_sample_copy(const imp_sample *from, imp_sample *to, imp_error *error);
void imp_sample_release(imp_sample *sample);

#endif
