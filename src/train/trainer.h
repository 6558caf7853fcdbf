/*
 * trainer.h - the training loop: a run from its settings to its model.
 *
 * A run is kept in a folder (run_folder.h). It can be stopped at any time, by its caller or by a
 * kill, and resumed to the same bits with any number of threads on the same kind of machine.
 */
#ifndef IMP_TRAIN_TRAINER_H
#define IMP_TRAIN_TRAINER_H

#include <imp/train.h>

#include "base/ranks.h"
#include "settings/settings.h"
#include "train/pace.h"
#include "train/progress.h"
#include "train/steps.h"
#include "train/updater.h"

typedef struct imp_trainer_options {
    const char *folder;   /* NULL: nothing is written */
    imp_updater *updater; /* if not NULL: receives what was trained; the caller clears it */
    imp_steps *steps;     /* NULL: this process computes them all, or its share */
    int threads;          /* 0: one per core */
    bool tensorboard;     /* also write TensorBoard events to the folder */
    double seconds;       /* after which the run ends as if the caller had stopped it; 0: never */
    imp_pace *pace;       /* if not NULL: receives the times of updates and validations */
    bool *diverged;       /* if not NULL: receives whether a loss or a gradient ended the run */

    /* The ranks that share the run: all start with the same settings and data, and rank 0 writes
     * the folder; the others read it when a run is resumed. NULL: this process alone. */
    const imp_ranks *ranks;

    /* Called after each update; false ends the run after a checkpoint. May be NULL. */
    bool (*proceed)(const imp_train_report *report, void *context);
    /* Called before the first update of a resumed run with a warning: a checkpoint is damaged, or
     * the instruction set differs. May be NULL. */
    void (*notice)(const char *sentence, void *context);
    void *context; /* of both */
} imp_trainer_options;

/* Trains from the beginning on an open dataset, which must be the one that the settings name.
 *
 * On failure the run's folder holds its last checkpoint. IMP_EINVAL for settings that cannot be
 * satisfied, and if the loss is no longer finite or exceeds its limit (the error names the update
 * and the checkpoint); IMP_EIO for files. */
imp_status imp_trainer_run(const imp_settings *settings, const imp_dataset *dataset,
                           const imp_trainer_options *options, imp_train_result *result,
                           imp_error *error);

/* Continues the run in options->folder. `settings` are those of the run, except that there may be
 * more updates, the intervals of log and checkpoints and the loss limit may differ, and the data
 * may have moved; different data is refused by its fingerprint. Validation keeps its settings, so
 * that all models of a run are compared on the same episodes.
 *
 * If the last checkpoint is damaged, the run continues from the previous one.
 *
 * A finished run that is given more updates has also been validated at its former end. */
imp_status imp_trainer_resume(const imp_settings *settings, const imp_dataset *dataset,
                              const imp_trainer_options *options, imp_train_result *result,
                              imp_error *error);

/* imp_train() and imp_train_resume() with several processes. */
imp_status imp_train_together(const imp_ranks *ranks, const imp_settings *settings,
                              const imp_dataset *dataset, const imp_train_options *options,
                              imp_train_result *result, imp_error *error);
imp_status imp_train_resume_together(const imp_ranks *ranks, const imp_settings *settings,
                                     const imp_dataset *dataset, const imp_train_options *options,
                                     imp_train_result *result, imp_error *error);

#endif
