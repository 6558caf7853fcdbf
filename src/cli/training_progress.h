/* training_progress.h - how a training is doing, in a line. */
#ifndef IMP_CLI_TRAINING_PROGRESS_H
#define IMP_CLI_TRAINING_PROGRESS_H

#include <stddef.h>

#include "train/trainer.h"

/* Loss, accuracy, clusters, variances, validation, speed and the time left; cut to fit. */
void imp_training_describe(const imp_train_report *report, char *text, size_t size);

#endif
