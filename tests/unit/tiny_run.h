/*
 * tiny_run.h - a training run so small that thousands of its updates take seconds, and a watch on
 * its memory.
 */
#ifndef TINY_RUN_H
#define TINY_RUN_H

#include <stddef.h>

#include "settings/settings.h"

/* Two alphabets of 8x8 pixels on a network of one layer, two episodes an update, a line of the log
 * after each; no validation. */
imp_settings tiny_settings(const char *method);

/* The data of these settings; the test fails if it cannot be had. */
imp_dataset *tiny_dataset(const imp_settings *settings);

/* Trains in the new folder `folder`, with validations and checkpoints on the way, and fails unless
 * the process's resident memory is about the same after a tenth of the updates and after all.
 * Skipped under the address sanitizer, which holds back what is freed (and finds leaks itself). */
void assert_flat_memory(const char *folder, int64_t updates);

#endif
