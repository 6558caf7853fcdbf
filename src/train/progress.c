/* progress.c - a run's counters as a line of its log. */
#include "train/progress.h"

#include <math.h>

imp_train_line imp_line_of(const imp_progress *progress, const imp_settings *settings,
                           const imp_updater *updater, double validation)
{
    const imp_window *window = &progress->window;
    double tied = imp_updater_sigma(updater, "log_sigma"); /* imp-tied has one for both */
    return (imp_train_line){
        .update = progress->update,
        .loss = window->loss / window->episodes,
        .accuracy = window->accuracy / window->episodes,
        .clusters = window->clusters / window->episodes,
        .sigma_l = isnan(tied) ? imp_updater_sigma(updater, "log_sigma_l") : tied,
        .sigma_u = isnan(tied) ? imp_updater_sigma(updater, "log_sigma_u") : tied,
        .rate = imp_settings_rate(settings, progress->update - 1),
        .norm = window->norm / window->updates,
        .validation = validation,
        .images_per_second = window->images / window->seconds,
        .seconds = progress->seconds,
        .validation_open = NAN,
    };
}
