/*
 * train.c - the public training: combines settings and data for the trainer.
 */
#include <imp/train.h>

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "settings/choices.h"
#include "train/fit.h"
#include "train/run_folder.h"
#include "train/trainer.h"

static const imp_train_options defaults = {.size = sizeof defaults};

void imp_train_options_init(imp_train_options *options, size_t size)
{
    imp_give_options(options, size, &defaults, sizeof defaults);
}

typedef imp_status trainer(const imp_settings *settings, const imp_dataset *dataset,
                           const imp_trainer_options *options, imp_train_result *result,
                           imp_error *error);

/* Fits a new run into the given time, and reports how. */
static imp_status fit(imp_settings *settings, const imp_dataset *dataset, const imp_ranks *ranks,
                      const imp_train_options *options, double seconds, imp_error *error)
{
    imp_status status = imp_fit_updates(settings, dataset, options->threads, ranks, seconds, error);
    if (status || !options->notice)
        return status;
    char sentence[200];
    snprintf(sentence, sizeof sentence,
             "%lld updates fit into %g minute%s; the schedule is scaled to them",
             (long long)settings->updates, options->minutes, options->minutes == 1 ? "" : "s");
    options->notice(sentence, options->context);
    return IMP_OK;
}

/* Completes the settings, opens the data unless it is given, and trains. */
static imp_status train(trainer *run, const imp_ranks *ranks, const imp_settings *given,
                        const imp_dataset *dataset, const imp_train_options *options,
                        imp_train_result *result, imp_error *error)
{
    imp_settings settings = *given;
    settings.texts = NULL; /* the caller still owns them */
    imp_dataset *opened = NULL;
    imp_status status = IMP_OK;
    if (dataset) {
        imp_choices_default(&settings);
        status = imp_choices_network(&settings, dataset, error);
    } else {
        status =
            imp_choices_open_data(&settings, imp_choices_are_open(&settings), options->skip_broken,
                                  options->threads, NULL, &opened, error);
    }
    dataset = dataset ? dataset : opened;
    double begin = imp_clock(), seconds = 60 * options->minutes;
    /* A little less, for busy machines: updates after the time is up would be lost. */
    if (!status && seconds > 0 && run == imp_trainer_run)
        status = fit(&settings, dataset, ranks, options, 0.9 * seconds, error);
    imp_trainer_options wanted = {.folder = options->folder,
                                  .threads = options->threads,
                                  .tensorboard = options->tensorboard,
                                  .seconds =
                                      seconds > 0 ? fmax(seconds - (imp_clock() - begin), 1) : 0,
                                  .ranks = ranks,
                                  .proceed = options->proceed,
                                  .notice = options->notice,
                                  .context = options->context};
    if (!status)
        status = run(&settings, dataset, &wanted, result, error);
    imp_dataset_free(opened);
    imp_settings_clear(&settings);
    return status;
}

static imp_status take_options(imp_train_options *known, const imp_train_options *options,
                               imp_train_result *result, imp_error *error)
{
    *result = (imp_train_result){.best = NAN};
    *known = defaults;
    imp_status status = imp_take_options(known, sizeof *known, options, "imp_train_options", error);
    if (!status && !known->folder)
        status = imp_fail(error, IMP_EINVAL, "a run needs a folder");
    if (!status && !(known->minutes >= 0 && known->minutes <= 1e6))
        status = imp_fail(error, IMP_EINVAL, "minutes must be from 0 to 1000000, not %g",
                          known->minutes);
    return status;
}

imp_status imp_train_together(const imp_ranks *ranks, const imp_settings *settings,
                              const imp_dataset *dataset, const imp_train_options *options,
                              imp_train_result *result, imp_error *error)
{
    imp_train_options known;
    imp_status status = take_options(&known, options, result, error);
    return status ? status
                  : train(imp_trainer_run, ranks, settings, dataset, &known, result, error);
}

imp_status imp_train(const imp_settings *settings, const imp_dataset *dataset,
                     const imp_train_options *options, imp_train_result *result, imp_error *error)
{
    return imp_train_together(NULL, settings, dataset, options, result, error);
}

imp_status imp_train_settings(const char *folder, imp_settings **out, imp_error *error)
{
    *out = NULL;
    imp_settings *settings = imp_allocate_zeroed(1, sizeof *settings);
    if (!settings)
        return imp_fail_memory(error, "the settings");
    imp_status status = imp_training_glance(folder, settings, &(uint64_t){0}, error);
    if (status)
        imp_settings_free(settings);
    else
        *out = settings;
    return status;
}

imp_status imp_train_resume_together(const imp_ranks *ranks, const imp_settings *settings,
                                     const imp_dataset *dataset, const imp_train_options *options,
                                     imp_train_result *result, imp_error *error)
{
    imp_train_options known;
    imp_settings *own = NULL;
    imp_status status = take_options(&known, options, result, error);
    if (!status && !settings)
        status = imp_train_settings(known.folder, &own, error);
    if (!status)
        status = train(imp_trainer_resume, ranks, settings ? settings : own, dataset, &known,
                       result, error);
    imp_settings_free(own);
    return status;
}

imp_status imp_train_resume(const imp_settings *settings, const imp_dataset *dataset,
                            const imp_train_options *options, imp_train_result *result,
                            imp_error *error)
{
    return imp_train_resume_together(NULL, settings, dataset, options, result, error);
}
