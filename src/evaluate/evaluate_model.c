/*
 * evaluate_model.c - the public evaluation: combines a model, its settings and data.
 */
#include <imp/evaluate.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "evaluate/contestant.h"
#include "settings/choices.h"

static const imp_evaluation_options defaults = {
    .size = sizeof defaults, .purpose = IMP_FOR_TESTING, .seed = 1, .episodes = 1000};

void imp_evaluation_options_init(imp_evaluation_options *options, size_t size)
{
    imp_give_options(options, size, &defaults, sizeof defaults);
}

imp_status imp_evaluation_settings(const imp_model *model, imp_settings **out, imp_error *error)
{
    *out = NULL;
    imp_settings known = imp_settings_of_model(model);
    imp_settings *settings = imp_allocate_zeroed(1, sizeof *settings);
    if (!settings)
        return imp_fail_memory(error, "the settings");
    imp_status status = imp_settings_copy(settings, &known, error);
    if (status)
        imp_settings_free(settings);
    else
        *out = settings;
    return status;
}

imp_status imp_check_images(const imp_model *model, const imp_settings *settings,
                            const imp_dataset *dataset, imp_error *error)
{
    const imp_network_options *input = imp_network_options_of(model->network);
    uint32_t channels = imp_dataset_channels(dataset), side = imp_dataset_size(dataset);
    if (input->channels == channels && input->height == side && input->width == side)
        return IMP_OK;
    if (side == 1 && input->height == 1 && input->width == 1)
        return imp_fail(error, IMP_EINVAL,
                        "'%s' needs vectors of %zu numbers, but those of '%s' have %u", model->name,
                        input->channels, settings->data, channels);
    return imp_fail(error, IMP_EINVAL,
                    "'%s' needs images of %zux%zux%zu, but those of '%s' are %ux%ux%u; --size and "
                    "--colour change that",
                    model->name, input->channels, input->height, input->width, settings->data,
                    channels, side, side);
}

static imp_status evaluate(const imp_ranks *ranks, const imp_model *model,
                           const imp_settings *const *settings, size_t count,
                           const imp_dataset *dataset, const imp_evaluation_options *options,
                           imp_evaluation *results, imp_error *error)
{
    imp_contestant *contestants = imp_allocate(count, sizeof *contestants);
    if (!contestants)
        return imp_fail_memory(error, "an evaluation");
    for (size_t c = 0; c < count; c++)
        contestants[c] = imp_contestant_of(model, settings[c]);
    imp_evaluate_options wanted = {.task = imp_settings_task(settings[0], options->purpose),
                                   .episodes = options->episodes,
                                   .threads = options->threads,
                                   .ranks = ranks,
                                   .network = model->network,
                                   .episode_statistics = options->episode_statistics,
                                   .proceed = options->proceed,
                                   .context = options->context};
    wanted.task.pool = options->pool;
    wanted.task.seed = options->seed;
    imp_status status =
        imp_evaluate(model->encoder, dataset, contestants, count, &wanted, results, error);
    imp_release(contestants);
    return status;
}

imp_status imp_evaluate_model_together(const imp_ranks *ranks, const imp_model *model,
                                       const imp_settings *const *settings, size_t count,
                                       const imp_dataset *dataset,
                                       const imp_evaluation_options *options,
                                       imp_evaluation *results, imp_error *error)
{
    imp_evaluation_options known = defaults;
    imp_status status =
        imp_take_options(&known, sizeof known, options, "imp_evaluation_options", error);
    if (!status && count == 0)
        status = imp_fail(error, IMP_EINVAL, "an evaluation needs settings");
    imp_dataset *opened = NULL;
    if (!status && !dataset) {
        imp_dataset_options data = imp_settings_data(settings[0], known.threads);
        status = imp_dataset_open(settings[0]->data, &data, &opened, error);
    }
    const imp_dataset *used = dataset ? dataset : opened;
    if (!status)
        status = imp_check_images(model, settings[0], used, error);
    if (!status)
        status = evaluate(ranks, model, settings, count, used, &known, results, error);
    imp_dataset_free(opened);
    return status;
}

imp_status imp_evaluate_model(const imp_model *model, const imp_settings *const *settings,
                              size_t count, const imp_dataset *dataset,
                              const imp_evaluation_options *options, imp_evaluation *results,
                              imp_error *error)
{
    return imp_evaluate_model_together(NULL, model, settings, count, dataset, options, results,
                                       error);
}
