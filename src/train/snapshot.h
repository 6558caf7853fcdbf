/* snapshot.h - a copy of all that makes up a model: weights, running statistics, variances. */
#ifndef IMP_TRAIN_SNAPSHOT_H
#define IMP_TRAIN_SNAPSHOT_H

#include "train/learner.h"

typedef struct imp_snapshot {
    float *values; /* the network's tensors in order, then the method's values */
    size_t count;
    bool taken;
} imp_snapshot;

/* Room for what the learner has; nothing is taken yet. Release with imp_snapshot_clear(). */
imp_status imp_snapshot_make(imp_snapshot *snapshot, const imp_learner *learner, imp_error *error);

/* Copies the learner into the snapshot. The optimizers are not part of it. */
void imp_snapshot_take(imp_snapshot *snapshot, const imp_learner *learner);

/* Exchanges the two, of which the snapshot must have been taken; once more, and all is as it was.
 */
void imp_snapshot_swap(imp_snapshot *snapshot, imp_learner *learner);

/* Harmless on a zeroed one. */
void imp_snapshot_clear(imp_snapshot *snapshot);

#endif
