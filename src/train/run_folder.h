/*
 * run_folder.h - the folder of a run: settings.json, checkpoint.safetensors, model.safetensors,
 * log.jsonl, log.csv.
 */
#ifndef IMP_TRAIN_RUN_FOLDER_H
#define IMP_TRAIN_RUN_FOLDER_H

#include "train/settings.h"

typedef struct imp_run_path {
    char text[4096];
} imp_run_path;

extern const char imp_settings_name[], imp_checkpoint_name[], imp_model_name[];

/* FOLDER/NAME; empty, so that no file opens, if it is too long for any file system. */
imp_run_path imp_run_file(const char *folder, const char *name);

/* Whether there is such a file in it. */
bool imp_run_has(const char *folder, const char *name);

/* Makes the folder, with those above it, and writes the settings into it. A folder that already
 * holds a run is refused: IMP_EINVAL. */
imp_status imp_run_begin(const char *folder, const imp_settings *settings, imp_error *error);

/* Removes what a killed process had begun to write. Only while no other process uses the folder. */
void imp_run_sweep(const char *folder);

/* Writes settings.json anew. */
imp_status imp_run_write_settings(const char *folder, const imp_settings *settings,
                                  imp_error *error);

/* Reads the settings of a run and how many updates it has made: those of its checkpoint or, before
 * there is one, of settings.json and none. *settings is to be cleared also on failure. IMP_EINVAL
 * if there is no run in the folder. */
imp_status imp_run_glance(const char *folder, imp_settings *settings, uint64_t *update,
                          imp_error *error);

#endif
