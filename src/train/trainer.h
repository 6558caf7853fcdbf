/*
 * trainer.h - the training loop: a run from its settings to its model.
 *
 * A run lives in a folder (run_folder.h). It can be stopped at any moment, by its caller or by a
 * kill, and resumed to the same bits on any number of threads of the same kind of machine.
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
    imp_updater *updater; /* if not NULL: gets what was trained, to be cleared by the caller */
    imp_steps *steps;     /* NULL: this process makes all of them, or its share */
    int threads;          /* 0: as many as the machine offers */
    bool tensorboard;     /* write events for TensorBoard into the folder, too */
    double seconds;       /* after which the run ends as if the caller wanted so; 0: never */
    imp_pace *pace;       /* if not NULL: gets what the updates and validations have taken */
    bool *diverged;       /* if not NULL: gets whether a loss or a gradient ended the run */

    /* Who makes the run together: all begin with the same settings and data, and rank 0 writes the
     * folder; the others read it where a run is resumed. NULL: this process alone. */
    const imp_ranks *ranks;

    /* Called after each update; false ends the run after a checkpoint. May be NULL. */
    bool (*proceed)(const imp_train_report *report, void *context);
    /* Called before the first update of a resumed run with a sentence that somebody should read: a
     * checkpoint is damaged, or the instruction set another. May be NULL. */
    void (*notice)(const char *sentence, void *context);
    void *context; /* of both */
} imp_trainer_options;

/* Trains on an open dataset, which must be the one the settings say, from the beginning.
 *
 * On failure a run's folder holds its last checkpoint: IMP_EINVAL for settings that cannot be met,
 * and when the loss is no longer finite or exceeds its limit (the sentence names the update and the
 * checkpoint); IMP_EIO for files. */
imp_status imp_trainer_run(const imp_settings *settings, const imp_dataset *dataset,
                           const imp_trainer_options *options, imp_train_result *result,
                           imp_error *error);

/* Goes on with the run in options->folder. `settings` are those of the run, except that there may
 * be more updates, how often is logged and saved and the limit of the loss may differ, and the data
 * may lie elsewhere; other data than the run's is refused by its fingerprint. What validation is
 * stays as it was, so that all models of a run are compared on the same episodes.
 *
 * Where the last checkpoint is damaged, the run goes on from the one before it.
 *
 * A run that had ended and is given more updates has been validated at its former end, too. */
imp_status imp_trainer_resume(const imp_settings *settings, const imp_dataset *dataset,
                              const imp_trainer_options *options, imp_train_result *result,
                              imp_error *error);

/* imp_train() and imp_train_resume() by several processes. */
imp_status imp_train_together(const imp_ranks *ranks, const imp_settings *settings,
                              const imp_dataset *dataset, const imp_train_options *options,
                              imp_train_result *result, imp_error *error);
imp_status imp_train_resume_together(const imp_ranks *ranks, const imp_settings *settings,
                                     const imp_dataset *dataset, const imp_train_options *options,
                                     imp_train_result *result, imp_error *error);

#endif
