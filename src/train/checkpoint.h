/*
 * checkpoint.h - everything a run needs to continue to the same bits, in one atomically written
 * file.
 *
 * The file is a model file with more in it: the optimizers' state, the counters, the settings, the
 * lengths of the logs, the weights that did best in validation, and the averaged weights. Random
 * numbers need no state: an episode is determined by the seed and its index, which the counters
 * give.
 */
#ifndef IMP_TRAIN_CHECKPOINT_H
#define IMP_TRAIN_CHECKPOINT_H

#include "model/trained_on.h"
#include "settings/settings.h"
#include "train/progress.h"
#include "train/snapshot.h"
#include "train/updater.h"

typedef struct imp_checkpoint {
    imp_settings settings;
    imp_progress progress;
    imp_snapshot best; /* empty before the first validation */
    imp_snapshot
        average; /* average over the updates so far; not allocated unless the settings want it */
    uint64_t json_bytes, csv_bytes;
    imp_trained_on data;
    char isa[16]; /* the instruction set that computed it; empty: unknown. Saving fills it in. */
} imp_checkpoint;

/* Writes the updater and the rest. The previous checkpoint is renamed to `kept`, replacing an older
 * one; NULL: it is not kept. On failure it is intact. */
imp_status imp_checkpoint_save(const char *path, const char *kept, imp_updater *updater,
                               const imp_checkpoint *checkpoint, imp_error *error);

/* Reads a checkpoint and makes its updater, for `threads` threads. Release both; on failure both
 * are zeroed, and IMP_EFORMAT says what is wrong with the file. */
imp_status imp_checkpoint_load(const char *path, int threads, imp_updater *updater,
                               imp_checkpoint *checkpoint, imp_error *error);

/* Reads only the settings and the number of updates; clear *settings even on failure. */
imp_status imp_checkpoint_glance(const char *path, imp_settings *settings, uint64_t *update,
                                 imp_error *error);

/* Harmless on a zeroed one. */
void imp_checkpoint_clear(imp_checkpoint *checkpoint);

/* A new updater for the settings and for images of that size. */
imp_status imp_updater_from_settings(imp_updater *updater, const imp_settings *settings,
                                     size_t channels, size_t size, int threads, imp_error *error);

#endif
