/* training_progress.h - how a training is doing, in a line. */
#ifndef IMP_CLI_TRAINING_PROGRESS_H
#define IMP_CLI_TRAINING_PROGRESS_H

#include <stddef.h>

#include "train/trainer.h"

/* Loss, accuracy, clusters, variances, validation, speed and the time left; cut to fit. Accuracies
 * are named by the way of their episodes, which they depend on, if `settings` are not NULL. */
void imp_training_describe(const imp_train_report *report, const imp_settings *settings, char *text,
                           size_t size);

#endif
