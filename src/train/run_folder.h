/*
 * run_folder.h - the folder of a run: settings.json, checkpoint.safetensors, the checkpoint before
 * it, model.safetensors, log.jsonl, log.csv.
 */
#ifndef IMP_TRAIN_RUN_FOLDER_H
#define IMP_TRAIN_RUN_FOLDER_H

#include "settings/settings.h"
#include "train/checkpoint.h"

typedef struct imp_training_path {
    char text[4096];
} imp_training_path;

extern const char imp_settings_name[], imp_checkpoint_name[], imp_kept_checkpoint_name[],
    imp_model_name[];

/* FOLDER/NAME; empty, so that no file opens, if it is too long for any file system. */
imp_training_path imp_training_file(const char *folder, const char *name);

/* Whether there is such a file in it. */
bool imp_training_has(const char *folder, const char *name);

/* Makes the folder, with those above it, and writes the settings into it. A folder that already
 * holds a run is refused, also if it came there at this moment: IMP_EINVAL. */
imp_status imp_training_begin(const char *folder, const imp_settings *settings, imp_error *error);

/* Writes settings.json anew. */
imp_status imp_training_write_settings(const char *folder, const imp_settings *settings,
                                       imp_error *error);

/* Whether there is a checkpoint, whole or not. */
bool imp_training_has_checkpoint(const char *folder);

/* imp_checkpoint_load() on the newest checkpoint that is whole: the last or, where that is damaged,
 * the one before it. `damage->message` then says so, and is empty otherwise. */
imp_status imp_training_load(const char *folder, int threads, imp_updater *updater,
                             imp_checkpoint *checkpoint, imp_error *damage, imp_error *error);

/* Which checkpoint that would be, and how many updates it has seen; NULL if none is whole. */
const char *imp_training_whole_checkpoint(const char *folder, uint64_t *update);

/* Reads the settings of a run and how many updates it has made: those of that checkpoint or, before
 * there is one, of settings.json and none. *settings is to be cleared also on failure. IMP_EINVAL
 * if there is no run in the folder. */
imp_status imp_training_glance(const char *folder, imp_settings *settings, uint64_t *update,
                               imp_error *error);

#endif
