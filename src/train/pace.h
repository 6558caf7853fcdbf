/*
 * pace.h - how long a run takes: the time of its updates and validations so far, the time left, and
 * how many updates fit into a given time.
 */
#ifndef IMP_TRAIN_PACE_H
#define IMP_TRAIN_PACE_H

#include <stdint.h>

#include "settings/settings.h"

/* Measured in this process only: an earlier one may have run on a slower machine. */
typedef struct imp_pace {
    double first; /* seconds of the first update, which also allocates memory */
    double updates, update_seconds, images;
    double validations, validation_seconds;
    double validation_images; /* of one episode, for an estimate before the first validation */
} imp_pace;

void imp_pace_add_update(imp_pace *pace, double seconds, double images);
void imp_pace_add_validation(imp_pace *pace, double seconds);

/* Seconds of one update; NAN before the first. */
double imp_pace_update(const imp_pace *pace);

/* Seconds of one validation with `episodes` episodes: as measured with `measured` of them or,
 * before that, estimated from its images. */
double imp_pace_validation(const imp_pace *pace, int64_t episodes, int64_t measured);

/* Seconds until the last of the settings' updates, with all validations on the way. */
double imp_pace_left(const imp_pace *pace, const imp_settings *settings, uint64_t update);

/* Sets the number of updates that fit into the given seconds, at least 10, and scales the learning
 * rate schedule and the validation interval with it. If validations would take more than a fifth of
 * the time, they become fewer, with fewer episodes. `measured` as above. */
void imp_pace_fit(const imp_pace *pace, double seconds, int64_t measured, imp_settings *settings);

#endif
