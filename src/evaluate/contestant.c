/* contestant.c - what an evaluation takes over from a model. */
#include "evaluate/contestant.h"

#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "methods/method.h"
#include "methods/rule.h"

imp_settings imp_settings_of_model(const imp_model *model)
{
    imp_settings settings = model->settings;
    settings.texts = NULL; /* the model still owns them */
    settings.queries = 0;
    settings.size = (int64_t)imp_network_options_of(model->network)->height;
    return settings;
}

/* Whether the method is the trained one, with its learned variances. */
static bool has_learned(const imp_model *model, const imp_settings *own,
                        const imp_learner_options *options)
{
    const imp_settings *trained = &model->settings;
    return strcmp(own->method, trained->method) == 0 &&
           imp_method_value_count(own->method, &options->method_options) == model->value_count &&
           imp_same_value(own->rule.sigma_l, trained->rule.sigma_l) &&
           imp_same_value(own->rule.sigma_u, trained->rule.sigma_u);
}

imp_contestant imp_contestant_of(const imp_model *model, const imp_settings *settings)
{
    const imp_settings *trained = &model->settings;
    imp_settings own = *settings, apt = imp_settings_for(trained, own.method);
    imp_rule theirs = trained->rule;
    /* The model's own parameters need not suit another method. */
    for (size_t i = 0; imp_rule_option_at(i); i++) {
        double *number = imp_rule_number(&own.rule, i);
        if (imp_same_value(*number, *imp_rule_number(&theirs, i)))
            *number = *imp_rule_number(&apt.rule, i);
    }
    imp_own_keep(own.own, own.method);
    const imp_learner_info *learner = imp_learner_find(own.learner);
    bool same = strcmp(own.learner, trained->learner) == 0;
    if (!same)
        memset(own.learner_own, 0, sizeof own.learner_own);
    imp_learner_options options = imp_settings_learner(&own);
    options.way = imp_settings_learner(trained).way; /* the learned parameters may depend on it */
    bool learned = model->values && same &&
                   (!learner || !learner->by_method || has_learned(model, &own, &options));
    return (imp_contestant){.learner = own.learner,
                            .options = options,
                            .values = learned ? model->values : NULL,
                            .value_count = learned ? model->value_count : 0};
}

bool imp_sweep_parse(const char *text, imp_sweep *sweep)
{
    char rest;
    long long count;
    if (sscanf(text, "%lf:%lf:%lld%c", &sweep->from, &sweep->to, &count, &rest) != 3)
        return false;
    if (!(sweep->from >= 0 && isfinite(sweep->to) && sweep->to >= sweep->from) || count < 1 ||
        count > IMP_MOST_THRESHOLDS)
        return false;
    sweep->count = (size_t)count;
    return true;
}

double imp_sweep_at(const imp_sweep *sweep, size_t index)
{
    double step = sweep->count > 1 ? (double)index / (double)(sweep->count - 1) : 0;
    return sweep->from + step * (sweep->to - sweep->from);
}
