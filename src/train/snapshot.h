/* snapshot.h - a copy of everything that makes up a model, weights, running statistics and
 * variances, or an average of such copies. */
#ifndef IMP_TRAIN_SNAPSHOT_H
#define IMP_TRAIN_SNAPSHOT_H

#include "train/updater.h"

typedef struct imp_snapshot {
    float *values; /* the network's tensors in order, then the method's values */
    size_t count;
    bool taken;
} imp_snapshot;

/* Allocates a snapshot of the updater's size, without taking it. Release with
 * imp_snapshot_clear(). */
imp_status imp_snapshot_make(imp_snapshot *snapshot, const imp_updater *updater, imp_error *error);

/* Copies the updater, without its optimizers, into the snapshot. */
void imp_snapshot_take(imp_snapshot *snapshot, const imp_updater *updater);

/* decay * snapshot + (1 - decay) * updater, number by number; a copy the first time. */
void imp_snapshot_average(imp_snapshot *snapshot, const imp_updater *updater, double decay);

/* Copies the snapshot into the updater; does nothing if none was taken. */
void imp_snapshot_restore(const imp_snapshot *snapshot, imp_updater *updater);

/* Swaps the two; does nothing if no snapshot was taken. Swapping twice restores every bit. */
void imp_snapshot_swap(imp_snapshot *snapshot, imp_updater *updater);

/* Harmless on a zeroed one. */
void imp_snapshot_clear(imp_snapshot *snapshot);

#endif
