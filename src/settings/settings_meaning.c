/*
 * settings_meaning.c - settings as the options of the layers below, the learning rate schedule, and
 * which settings may change in the middle of a run.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "episode/plan.h"
#include "methods/method.h"
#include "methods/rule.h"
#include "settings/settings.h"

imp_dataset_options imp_settings_data(const imp_settings *settings, int threads)
{
    static const uint32_t channels[] = {0, 1, 3};
    imp_dataset_options options = imp_dataset_defaults();
    options.size = (uint32_t)settings->size;
    options.channels = channels[settings->colour];
    options.ink = (imp_ink)settings->ink;
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
    return settings->task == IMP_EPISODE_SUPER_CLASSES;
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
    if (purpose == IMP_FOR_TRAINING)
        options.augment = settings->augment;
    if (purpose == IMP_FOR_VALIDATION && settings->validation_way > 0) {
        options.way = (uint32_t)settings->validation_way;
        options.fewest_way = 0;
    }
    return options;
}

imp_rule imp_settings_rule(const imp_settings *settings)
{
    const imp_method_info *method = imp_method_find(settings->method);
    return method ? imp_rule_over(&settings->rule, &method->rule) : settings->rule;
}

imp_method_options imp_settings_method(const imp_settings *settings)
{
    imp_method_options options = imp_method_defaults();
    options.rule = settings->rule;
    memcpy(options.own, settings->own, sizeof options.own);
    options.seed = (uint64_t)settings->seed;
    return options;
}

imp_learner_options imp_settings_learner(const imp_settings *settings)
{
    imp_learner_options options = imp_learner_defaults();
    memcpy(options.own, settings->learner_own, sizeof options.own);
    options.method = settings->method;
    options.method_options = imp_settings_method(settings);
    options.way = settings->way > 0                       ? (size_t)settings->way
                  : imp_settings_by_super_class(settings) ? IMP_USUAL_SUPER_CLASSES
                                                          : IMP_USUAL_CLASSES;
    options.seed = (uint64_t)settings->seed;
    return options;
}

imp_optimizer_options imp_settings_optimizer(const imp_settings *settings)
{
    imp_optimizer_options options = imp_optimizer_defaults((imp_optimizer_kind)settings->optimizer);
    options.weight_decay = settings->weight_decay;
    return options;
}

double imp_settings_rate(const imp_settings *settings, uint64_t update)
{
    uint64_t from = (uint64_t)settings->halve_from, every = (uint64_t)settings->halve_every;
    uint64_t fade = (uint64_t)settings->fade_until;
    double rate = settings->rate;
    if (fade > 0)
        rate *= update < fade ? 1 - (double)update / (double)fade : 0;
    if (every == 0 || update < from)
        return rate;
    uint64_t halvings = 1 + (update - from) / every;
    return ldexp(rate, halvings < 1000 ? -(int)halvings : -1000);
}

const char *imp_settings_conflict(const imp_settings *given, const imp_settings *wanted)
{
    /* Data may have moved; its fingerprint is compared instead. */
    static const char *const free_names[] = {"data",      "updates",    "checkpoint-every",
                                             "log-every", "loss-limit", NULL};
    return imp_settings_difference(given, wanted, free_names);
}

imp_settings imp_settings_for(const imp_settings *trained, const char *method)
{
    imp_settings settings = *trained;
    settings.method = method;
    if (strcmp(method, trained->method) == 0)
        return settings;
    settings.rule = imp_rule_for_another(&trained->rule, trained->method, method);
    memset(settings.own, 0, sizeof settings.own);
    return settings;
}
