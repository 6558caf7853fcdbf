/* snapshot.h - a copy of all that makes up a model: weights, running statistics, variances; or an
 * average of such copies. */
#ifndef IMP_TRAIN_SNAPSHOT_H
#define IMP_TRAIN_SNAPSHOT_H

#include "train/updater.h"

typedef struct imp_snapshot {
    float *values; /* the network's tensors in order, then the method's values */
    size_t count;
    bool taken;
} imp_snapshot;

/* Room for what the updater has; nothing is taken yet. Release with imp_snapshot_clear(). */
imp_status imp_snapshot_make(imp_snapshot *snapshot, const imp_updater *updater, imp_error *error);

/* Copies the updater into the snapshot. The optimizers are not part of it. */
void imp_snapshot_take(imp_snapshot *snapshot, const imp_updater *updater);

/* decay * snapshot + (1 - decay) * updater, number by number; the first time a copy. */
void imp_snapshot_average(imp_snapshot *snapshot, const imp_updater *updater, double decay);

/* Copies the snapshot into the updater; nothing happens if none was taken. */
void imp_snapshot_restore(const imp_snapshot *snapshot, imp_updater *updater);

/* Exchanges the two; nothing happens if none was taken. Doing it twice leaves every bit as it was.
 */
void imp_snapshot_swap(imp_snapshot *snapshot, imp_updater *updater);

/* Harmless on a zeroed one. */
void imp_snapshot_clear(imp_snapshot *snapshot);

#endif
