/* contestant.c - what of a model an evaluation takes over. */
#include "train/contestant.h"

#include <stdio.h>
#include <string.h>

imp_settings imp_evaluation_settings(const imp_model *model)
{
    imp_settings settings = model->settings;
    settings.texts = NULL; /* the model keeps them */
    settings.queries = 0;
    settings.size = (int64_t)imp_network_options_of(model->network)->height;
    return settings;
}

bool imp_has_distractors(const char *method)
{
    return strcmp(method, "soft-kmeans-cluster") == 0;
}

imp_settings imp_settings_for(const imp_settings *trained, const char *method)
{
    imp_settings settings = *trained;
    settings.method = method;
    if (strcmp(method, trained->method) == 0)
        return settings;
    if (imp_has_distractors(method) || imp_has_distractors(trained->method))
        settings.sigma_u = 0;
    settings.lambda = -1;
    settings.cluster_steps = 1;
    settings.learn_sigma = settings.no_prior = false;
    return settings;
}

imp_contestant imp_contestant_of(const imp_model *model, const imp_settings *settings)
{
    const imp_settings *trained = &model->settings;
    imp_settings own = *settings, apt = imp_settings_for(trained, own.method);
    /* What is still as the model was trained need not suit another method. */
    if (own.sigma_u == trained->sigma_u)
        own.sigma_u = apt.sigma_u;
    if (own.lambda == trained->lambda)
        own.lambda = apt.lambda;
    if (own.cluster_steps == trained->cluster_steps)
        own.cluster_steps = apt.cluster_steps;
    own.learn_sigma &= strcmp(own.method, "prototypes") == 0;
    own.no_prior &= strcmp(own.method, "em") == 0;
    bool learned = model->values && strcmp(own.method, trained->method) == 0 &&
                   own.learn_sigma == trained->learn_sigma && own.sigma_l == trained->sigma_l &&
                   own.sigma_u == trained->sigma_u;
    return (imp_contestant){.method = own.method,
                            .options = imp_settings_method(&own),
                            .values = learned ? model->values : NULL};
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
