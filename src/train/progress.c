/* progress.c - what a run has counted, as a line of its log. */
#include "train/progress.h"

#include <math.h>

imp_line imp_line_of(const imp_progress *progress, const imp_settings *settings,
                     const imp_learner *learner, double validation)
{
    const imp_window *window = &progress->window;
    double tied = imp_learner_sigma(learner, "log_sigma"); /* one for both, in imp-tied */
    return (imp_line){
        .update = progress->update,
        .loss = window->loss / window->episodes,
        .accuracy = window->accuracy / window->episodes,
        .clusters = window->clusters / window->episodes,
        .sigma_l = isnan(tied) ? imp_learner_sigma(learner, "log_sigma_l") : tied,
        .sigma_u = isnan(tied) ? imp_learner_sigma(learner, "log_sigma_u") : tied,
        .rate = imp_settings_rate(settings, progress->update - 1),
        .norm = window->norm / window->updates,
        .validation = validation,
        .images_per_second = window->images / window->seconds,
        .seconds = progress->seconds,
    };
}
