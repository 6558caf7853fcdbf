/*
 * run_folder.h - the folder of a run: settings.json, checkpoint.safetensors, the previous
 * checkpoint, model.safetensors, log.jsonl, log.csv.
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

/* FOLDER/NAME; empty, so that opening it fails, if it is too long for any file system. */
imp_training_path imp_training_file(const char *folder, const char *name);

/* Whether there is such a file in it. */
bool imp_training_has(const char *folder, const char *name);

/* Makes the folder and its parents, and writes the settings into it. IMP_EINVAL if the folder
 * already holds a run, even one started just now. */
imp_status imp_training_begin(const char *folder, const imp_settings *settings, imp_error *error);

/* Replaces settings.json. */
imp_status imp_training_write_settings(const char *folder, const imp_settings *settings,
                                       imp_error *error);

/* Whether there is a checkpoint, intact or not. */
bool imp_training_has_checkpoint(const char *folder);

/* imp_checkpoint_load() of the newest intact checkpoint: the last or, if that is damaged, the
 * previous one; `damage->message` then says so, and is empty otherwise. */
imp_status imp_training_load(const char *folder, int threads, imp_updater *updater,
                             imp_checkpoint *checkpoint, imp_error *damage, imp_error *error);

/* The name of that checkpoint, and its number of updates; NULL if none is intact. */
const char *imp_training_whole_checkpoint(const char *folder, uint64_t *update);

/* Reads a run's settings and number of updates from that checkpoint or, before there is one, from
 * settings.json. Clear *settings even on failure. IMP_EINVAL if there is no run in the folder. */
imp_status imp_training_glance(const char *folder, imp_settings *settings, uint64_t *update,
                               imp_error *error);

#endif
