/* fit.c - fits a run into a given time, by a trial of a few seconds. */
#include "train/fit.h"

#include <math.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "train/pace.h"
#include "train/trainer.h"

enum { FEWEST = 3 }; /* updates of a trial; the first one does not count */

static bool proceed(const imp_train_report *report, void *context)
{
    const double *end = context; /* by imp_clock() */
    return report->update < FEWEST || imp_clock() < *end;
}

/* What rank 0 has, on all ranks, which run the same program. */
static imp_status agree(const imp_ranks *ranks, void *bytes, size_t size, imp_error *error)
{
    return imp_ranks_any(ranks) ? ranks->broadcast(ranks, 0, bytes, size, error) : IMP_OK;
}

imp_status imp_fit_updates(imp_settings *settings, const imp_dataset *dataset, int threads,
                           const imp_ranks *ranks, double seconds, imp_error *error)
{
    double end = imp_clock() + fmin(3, 0.02 * seconds);
    imp_pace pace;
    imp_trainer_options trial = {
        .threads = threads, .ranks = ranks, .proceed = proceed, .context = &end, .pace = &pace};
    int64_t episodes = imp_parallel_threads(threads);
    imp_status status = agree(ranks, &episodes, sizeof episodes, error);
    imp_settings wanted = *settings;
    wanted.updates = INT64_MAX;
    wanted.validation_episodes = episodes; /* one for each thread */
    if (settings->validate_every > 0)
        wanted.validate_every = FEWEST;
    imp_train_result result;
    if (!status)
        status = imp_trainer_run(&wanted, dataset, &trial, &result, error);
    if (!status)
        status = agree(ranks, &pace, sizeof pace, error);
    if (!status)
        imp_pace_fit(&pace, seconds, episodes, settings);
    return status;
}
