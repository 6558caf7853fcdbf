/* progress.h - the state of a run: the numbers that are logged, reported and kept in
 * checkpoints. */
#ifndef IMP_TRAIN_PROGRESS_H
#define IMP_TRAIN_PROGRESS_H

#include <stdint.h>

#include <imp/train.h>

#include "settings/settings.h"
#include "train/updater.h"

/* Sums over the updates since the last line of the log. Only doubles: a checkpoint keeps them as
 * one tensor. */
typedef struct imp_window {
    double episodes, updates, loss, accuracy, clusters, norm, images, seconds;
} imp_window;

/* Everything a run counts. */
typedef struct imp_progress {
    uint64_t update; /* updates made */
    imp_window window;
    double seconds;       /* of updates, in all processes of the run */
    double best;          /* accuracy in validation; NAN before the first */
    uint64_t best_update; /* when it was reached */
} imp_progress;

/* The log line for the window, which must not be empty; `validation` may be NAN. */
imp_train_line imp_line_of(const imp_progress *progress, const imp_settings *settings,
                           const imp_updater *updater, double validation);

#endif
