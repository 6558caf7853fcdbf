/*
 * fit.h - finds how many updates fit into a given time, by making a few.
 */
#ifndef IMP_TRAIN_FIT_H
#define IMP_TRAIN_FIT_H

#include <imp/dataset.h>

#include "base/ranks.h"
#include "settings/settings.h"

/* Makes a few updates and a short validation, which leave nothing behind, and sets the number of
 * updates that fit into `seconds`, with a matching schedule (imp_pace_fit()). Takes a fiftieth of
 * that time, at most three seconds unless three updates take longer. Ranks (NULL: this process
 * alone) make them together, and go by the times of rank 0. */
imp_status imp_fit_updates(imp_settings *settings, const imp_dataset *dataset, int threads,
                           const imp_ranks *ranks, double seconds, imp_error *error);

#endif
