/* progress.h - how far a run is: the numbers that are logged, reported and kept in checkpoints. */
#ifndef IMP_TRAIN_PROGRESS_H
#define IMP_TRAIN_PROGRESS_H

#include <stdint.h>

#include "train/learner.h"
#include "train/settings.h"

/* Sums over the updates since the last line of the log. Only doubles: a checkpoint keeps them as
 * one tensor. */
typedef struct imp_window {
    double episodes, updates, loss, accuracy, clusters, norm, images, seconds;
} imp_window;

/* All that a run counts. */
typedef struct imp_progress {
    uint64_t update; /* how many have been made */
    imp_window window;
    double seconds;       /* of updates, in all processes of the run */
    double best;          /* accuracy in validation; NAN before the first */
    uint64_t best_update; /* when it was reached */
} imp_progress;

/* A line of the log. */
typedef struct imp_line {
    uint64_t update;
    double loss, accuracy, clusters; /* means over the episodes since the last line */
    double sigma_l, sigma_u;         /* NAN where the method has none */
    double rate, norm;               /* learning rate; mean length of the gradient */
    double validation;               /* accuracy; NAN where this line has no validation */
    double images_per_second, seconds;
} imp_line;

/* The line that sums up the window, which must not be empty; `validation` may be NAN. */
imp_line imp_line_of(const imp_progress *progress, const imp_settings *settings,
                     const imp_learner *learner, double validation);

#endif
