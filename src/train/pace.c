/* pace.c - estimates from measured seconds. */
#include "train/pace.h"

#include <math.h>

void imp_pace_add_update(imp_pace *pace, double seconds, double images)
{
    if (pace->updates == 0)
        pace->first = seconds;
    pace->updates++;
    pace->update_seconds += seconds;
    pace->images += images;
}

void imp_pace_add_validation(imp_pace *pace, double seconds)
{
    pace->validations++;
    pace->validation_seconds += seconds;
}

double imp_pace_update(const imp_pace *pace)
{
    if (pace->updates < 2)
        return pace->updates > 0 ? pace->first : NAN;
    return (pace->update_seconds - pace->first) / (pace->updates - 1);
}

double imp_pace_validation(const imp_pace *pace, int64_t episodes, int64_t measured)
{
    if (pace->validations > 0)
        return pace->validation_seconds / pace->validations * (double)episodes / (double)measured;
    /* Without the backward pass, an image takes about a third of its time in training. */
    double image = imp_pace_update(pace) * pace->updates / fmax(pace->images, 1);
    return image / 3 * pace->validation_images * (double)episodes;
}

double imp_pace_left(const imp_pace *pace, const imp_settings *settings, uint64_t update)
{
    uint64_t all = (uint64_t)settings->updates, every = (uint64_t)settings->validate_every;
    double left = imp_pace_update(pace) * (double)(all - update);
    if (every == 0 || update >= all)
        return left;
    uint64_t validations = all / every - update / every + (all % every != 0); /* and at the end */
    int64_t episodes = settings->validation_episodes;
    return left + imp_pace_validation(pace, episodes, episodes) * (double)validations;
}

static int64_t scaled(int64_t value, double by)
{
    double result = floor((double)value * by);
    return value <= 0 ? value : result < 1 ? 1 : result > 1e15 ? (int64_t)1e15 : (int64_t)result;
}

void imp_pace_fit(const imp_pace *pace, double seconds, int64_t measured, imp_settings *settings)
{
    enum { FEWEST = 10, LINES = 20 };
    double for_validation = 0, update = imp_pace_update(pace), validations = 0;
    if (settings->validate_every > 0) {
        double wanted = ceil((double)settings->updates / (double)settings->validate_every);
        double episode = imp_pace_validation(pace, 1, measured);
        double episodes = floor(0.2 * seconds / episode); /* of all validations */
        validations = fmin(wanted, fmax(2, floor(episodes / FEWEST)));
        if (episodes < validations * (double)settings->validation_episodes)
            settings->validation_episodes = (int64_t)fmax(FEWEST, floor(episodes / validations));
        for_validation = validations * episode * (double)settings->validation_episodes;
    }
    double fits = floor((seconds - for_validation) / update);
    int64_t updates = !(fits >= FEWEST) ? FEWEST : fits > 1e12 ? (int64_t)1e12 : (int64_t)fits;
    double by = (double)updates / (double)settings->updates;
    settings->updates = updates;
    settings->halve_from = scaled(settings->halve_from, by);
    settings->halve_every = scaled(settings->halve_every, by);
    settings->fade_until = scaled(settings->fade_until, by);
    if (validations > 0)
        settings->validate_every = (int64_t)ceil((double)updates / validations);
    if (settings->log_every > updates / LINES)
        settings->log_every = updates / LINES > 0 ? updates / LINES : 1;
}
