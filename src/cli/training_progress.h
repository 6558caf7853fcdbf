/* training_progress.h - training progress in one line. */
#ifndef IMP_CLI_TRAINING_PROGRESS_H
#define IMP_CLI_TRAINING_PROGRESS_H

#include <stddef.h>

#include "train/trainer.h"

/* Loss, accuracy, clusters, variances, validation, speed and the time left; truncated to fit. If
 * `settings` is not NULL, accuracies are given with the way of their episodes, on which they
 * depend. */
void imp_training_describe(const imp_train_report *report, const imp_settings *settings, char *text,
                           size_t size);

#endif
