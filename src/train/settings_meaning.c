/*
 * settings_meaning.c - settings translated into the options of the layers below, the learning
 * rate's schedule, and which settings a run may change on its way.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "train/settings.h"

imp_dataset_options imp_settings_data(const imp_settings *settings, int threads)
{
    static const uint32_t channels[] = {0, 1, 3};
    static const int invert[] = {0, -1, 1};
    imp_dataset_options options = imp_dataset_defaults();
    options.size = (uint32_t)settings->size;
    options.channels = channels[settings->colour];
    options.invert = invert[settings->ink];
    options.rotations = (uint32_t)settings->rotations;
    options.split = settings->split;
    options.split_seed = (uint64_t)settings->split_seed;
    options.glyphs = (imp_glyph_options){
        .seed = (uint64_t)settings->glyph_seed,
        .alphabets = (uint32_t)settings->alphabets,
        .fewest_characters = (uint32_t)settings->fewest_characters,
        .most_characters = (uint32_t)settings->most_characters,
        .drawings = (uint32_t)settings->drawings,
    };
    options.threads = threads;
    return options;
}

bool imp_settings_by_super_class(const imp_settings *settings)
{
    return settings->task % 2 == 1; /* the names come in pairs */
}

imp_episode_options imp_settings_task(const imp_settings *settings, imp_purpose purpose)
{
    imp_episode_options options = imp_episode_defaults();
    options.kind =
        imp_settings_by_super_class(settings) ? IMP_EPISODE_SUPER_CLASSES : IMP_EPISODE_CLASSES;
    options.purpose = purpose;
    options.seed = (uint64_t)settings->seed;
    options.way = (uint32_t)settings->way;
    options.fewest_way = (uint32_t)settings->fewest_way;
    options.modes = (uint32_t)settings->modes;
    options.shot = (uint32_t)settings->shot;
    options.fewest_shot = (uint32_t)settings->fewest_shot;
    options.unbalanced = settings->unbalanced;
    options.queries = (uint32_t)settings->queries;
    options.unlabeled = (uint32_t)settings->unlabeled;
    options.distractors = (uint32_t)settings->distractors;
    options.labeled_fraction = settings->labeled_fraction;
    if (purpose == IMP_FOR_VALIDATION && settings->validation_way > 0) {
        options.way = (uint32_t)settings->validation_way;
        options.fewest_way = 0;
    }
    return options;
}

imp_method_options imp_settings_method(const imp_settings *settings)
{
    imp_method_options options;
    imp_method_options_init(&options, settings->method);
    if (settings->sigma_l > 0)
        options.sigma_l = settings->sigma_l;
    if (settings->sigma_u > 0)
        options.sigma_u = settings->sigma_u;
    if (settings->lambda >= 0)
        options.lambda = settings->lambda;
    options.alpha = settings->alpha;
    options.cluster_steps = (size_t)settings->cluster_steps;
    options.learn_sigma = settings->learn_sigma;
    options.no_prior = settings->no_prior;
    options.seed = (uint64_t)settings->seed;
    return options;
}

imp_optimizer_options imp_settings_optimizer(const imp_settings *settings)
{
    return imp_optimizer_defaults((imp_optimizer_kind)settings->optimizer);
}

double imp_settings_rate(const imp_settings *settings, uint64_t update)
{
    uint64_t from = (uint64_t)settings->halve_from, every = (uint64_t)settings->halve_every;
    if (every == 0 || update < from)
        return settings->rate;
    uint64_t halvings = 1 + (update - from) / every;
    return ldexp(settings->rate, halvings < 1000 ? -(int)halvings : -1000);
}

const char *imp_settings_difference(const imp_settings *a, const imp_settings *b,
                                    const char *const *free_names)
{
    for (size_t i = 0; imp_setting_at(i); i++) {
        const imp_setting *setting = imp_setting_at(i);
        bool may_differ = false;
        for (const char *const *name = free_names; *name; name++)
            may_differ |= strcmp(setting->name, *name) == 0;
        if (!may_differ && !imp_setting_equal(setting, a, b))
            return setting->name;
    }
    return NULL;
}

const char *imp_settings_conflict(const imp_settings *given, const imp_settings *wanted)
{
    /* Data may have moved: its fingerprint is what counts. */
    static const char *const free_names[] = {"data",
                                             "updates",
                                             "validate-every",
                                             "validation-episodes",
                                             "checkpoint-every",
                                             "log-every",
                                             "loss-limit",
                                             NULL};
    return imp_settings_difference(given, wanted, free_names);
}
