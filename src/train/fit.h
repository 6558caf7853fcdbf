/*
 * fit.h - a run that is to take so many minutes: how many updates that is, found by making a few.
 */
#ifndef IMP_TRAIN_FIT_H
#define IMP_TRAIN_FIT_H

#include <imp/dataset.h>

#include "settings/settings.h"

/* Makes a few updates and a short validation, which leave nothing behind, and gives the settings
 * as many updates as `seconds` have room for, with a schedule to match (imp_pace_fit()). Takes a
 * fiftieth of that, at most three seconds if three updates do not take longer. */
imp_status imp_fit_updates(imp_settings *settings, const imp_dataset *dataset, int threads,
                           double seconds, imp_error *error);

#endif
