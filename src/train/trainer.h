/*
 * trainer.h - the training loop: a run from its settings to its model.
 *
 * A run lives in a folder (run_folder.h). It can be stopped at any moment, by its caller or by a
 * kill, and resumed to the same bits on any number of threads of the same kind of machine.
 */
#ifndef IMP_TRAIN_TRAINER_H
#define IMP_TRAIN_TRAINER_H

#include "train/learner.h"
#include "train/progress.h"
#include "train/settings.h"

/* Where the time of an update went, in seconds; the rest is bookkeeping and the log. */
typedef struct imp_update_times {
    double feed;    /* waiting for episodes, which are drawn beside earlier updates */
    double network; /* forward and backward */
    double method;
    double optimizer;
} imp_update_times;

/* How a run is doing. */
typedef struct imp_train_report {
    uint64_t update, updates;
    imp_update_times times; /* of the last update */
    imp_line line;          /* the newest line of the log, or what its first one is going to be */
    bool new_line;          /* it has just been written */
    double validation;      /* the last one's accuracy; NAN before the first */
    double best;
    uint64_t best_update;
    double seconds_left; /* NAN until it can be told */
} imp_train_report;

typedef struct imp_train_options {
    const char *folder;   /* NULL: nothing is written */
    imp_learner *learner; /* if not NULL: gets what was trained, to be cleared by the caller */
    int threads;          /* 0: as many as the machine offers */

    /* Called after each update; false ends the run after a checkpoint. May be NULL. */
    bool (*proceed)(const imp_train_report *report, void *context);
    void *context;
} imp_train_options;

typedef struct imp_train_result {
    uint64_t update;
    bool finished; /* all updates are made; false: the caller wanted to stop */
    double best;   /* NAN without validation */
    uint64_t best_update;
    double seconds;
} imp_train_result;

/* Trains on an open dataset, which must be the one the settings say, from the beginning.
 *
 * On failure a run's folder holds its last checkpoint: IMP_EINVAL for settings that cannot be met,
 * and when the loss is no longer finite or exceeds its limit (the sentence names the update and the
 * checkpoint); IMP_EIO for files. */
imp_status imp_train(const imp_settings *settings, const imp_dataset *dataset,
                     const imp_train_options *options, imp_train_result *result, imp_error *error);

/* Goes on with the run in options->folder. `settings` are those of the run, except that the number
 * of updates, how often is logged, validated and saved, how long a validation is, the limit of the
 * loss and where the data lies may differ; other data than the run's is refused by its fingerprint.
 * The best model so far is forgotten if it would not have been validated as often as now, and
 * judged again if the episodes are more or fewer.
 */
imp_status imp_train_resume(const imp_settings *settings, const imp_dataset *dataset,
                            const imp_train_options *options, imp_train_result *result,
                            imp_error *error);

#endif
