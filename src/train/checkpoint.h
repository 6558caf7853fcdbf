/*
 * checkpoint.h - all that a run needs to go on to the same bits, in one atomically written file.
 *
 * The file is a model file that holds more: the optimizers' memory, the counters, the settings, the
 * lengths of the logs, the weights that did best in validation and their average. Random numbers
 * need no state: episodes are named by the seed and their index, which the counters give.
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
    imp_snapshot best;    /* empty before the first validation */
    imp_snapshot average; /* of the updates so far; no memory where the settings want none */
    uint64_t json_bytes, csv_bytes;
    imp_trained_on data;
    char isa[16]; /* the instruction set that computed it; empty: not known. Saving knows it. */
} imp_checkpoint;

/* Writes the updater and the rest. The checkpoint that was there is then called `kept`, in the
 * place of the one before it; NULL: it is not kept. On failure it is intact. */
imp_status imp_checkpoint_save(const char *path, const char *kept, imp_updater *updater,
                               const imp_checkpoint *checkpoint, imp_error *error);

/* Reads a checkpoint and makes the updater it holds, for so many threads. Release both; on failure
 * both are zeroed, and IMP_EFORMAT says what is wrong with the file. */
imp_status imp_checkpoint_load(const char *path, int threads, imp_updater *updater,
                               imp_checkpoint *checkpoint, imp_error *error);

/* Only the settings and how many updates were made; *settings is to be cleared also on failure. */
imp_status imp_checkpoint_glance(const char *path, imp_settings *settings, uint64_t *update,
                                 imp_error *error);

/* Harmless on a zeroed one. */
void imp_checkpoint_clear(imp_checkpoint *checkpoint);

/* A new updater, as the settings say, for images of that size. */
imp_status imp_updater_from_settings(imp_updater *updater, const imp_settings *settings,
                                     size_t channels, size_t size, int threads, imp_error *error);

#endif
