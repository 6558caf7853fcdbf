/*
 * pace.h - how long a run takes: what its updates and validations have taken so far, what is left,
 * and how many updates fit into a time.
 */
#ifndef IMP_TRAIN_PACE_H
#define IMP_TRAIN_PACE_H

#include <stdint.h>

#include "settings/settings.h"

/* Of this process alone: another may have run on a slower machine. */
typedef struct imp_pace {
    double first; /* seconds of the first update, which also takes memory */
    double updates, update_seconds, images;
    double validations, validation_seconds;
    double validation_images; /* of one episode, for a guess before the first validation */
} imp_pace;

void imp_pace_add_update(imp_pace *pace, double seconds, double images);
void imp_pace_add_validation(imp_pace *pace, double seconds);

/* Seconds of one update; NAN before the first. */
double imp_pace_update(const imp_pace *pace);

/* Seconds of one validation by so many episodes: as measured with `measured` of them or, before
 * that, by the images in it. */
double imp_pace_validation(const imp_pace *pace, int64_t episodes, int64_t measured);

/* Seconds until the last of the settings' updates, with all validations on the way. */
double imp_pace_left(const imp_pace *pace, const imp_settings *settings, uint64_t update);

/* Gives the settings as many updates as fit into so many seconds, at least 10, and stretches or
 * shrinks the learning rate's schedule and the intervals of validation with them. Where validations
 * would take more than a fifth of the time, they have fewer episodes, and there are fewer of them.
 * `measured` as above. */
void imp_pace_fit(const imp_pace *pace, double seconds, int64_t measured, imp_settings *settings);

#endif
