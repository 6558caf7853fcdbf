/*
 * learner.c - the list of learners, and what they have in common.
 *
 * Everything specific to a learner is in the file of its name.
 */
#include "learners/learner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/value.h"
#include "methods/rule.h"

static const imp_learner_kind *const kinds[] = {&imp_learner_metric, &imp_learner_maml,
                                                &imp_learner_reptile, &imp_learner_memory,
                                                &imp_learner_graph};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- finding ---- */

const imp_learner_info *imp_learner_at(size_t index)
{
    return index < KINDS ? &kinds[index]->info : NULL;
}

static const imp_learner_kind *find(const char *name)
{
    for (size_t k = 0; k < KINDS; k++)
        if (strcmp(kinds[k]->info.name, name) == 0)
            return kinds[k];
    return NULL;
}

const imp_learner_info *imp_learner_find(const char *name)
{
    const imp_learner_kind *kind = find(name);
    return kind ? &kind->info : NULL;
}

const imp_option_info *imp_learner_option(const imp_learner_info *learner, const char *name)
{
    for (size_t i = 0; i < learner->option_count; i++)
        if (strcmp(learner->options[i].name, name) == 0)
            return &learner->options[i];
    return NULL;
}

const imp_option_info *imp_any_learner_option(const char *name)
{
    const imp_option_info *found = NULL;
    for (size_t k = 0; k < KINDS && !found; k++)
        found = imp_learner_option(&kinds[k]->info, name);
    return found;
}

static imp_status find_kind(const char *name, const imp_learner_kind **kind, imp_error *error)
{
    *kind = find(name);
    if (*kind)
        return IMP_OK;
    imp_suggestion suggestion = imp_suggestion_start(name);
    char all[400] = "";
    for (size_t k = 0; k < KINDS; k++) {
        size_t used = strlen(all);
        imp_suggestion_offer(&suggestion, kinds[k]->info.name);
        snprintf(all + used, sizeof all - used, "%s%s", k > 0 ? ", " : "", kinds[k]->info.name);
    }
    if (suggestion.nearest)
        return imp_fail(error, IMP_EINVAL, "'%s' is not a learner; did you mean '%s'?", name,
                        suggestion.nearest);
    return imp_fail(error, IMP_EINVAL, "'%s' is not a learner; there are: %s", name, all);
}

/* ---- options ---- */

imp_learner_options imp_learner_defaults(void)
{
    return (imp_learner_options){.method_options = imp_method_defaults(), .seed = 1};
}

/* Refuses options that the learner does not use, since they must be a mistake. */
static imp_status refuse_method(const imp_learner_info *info, const imp_learner_options *options,
                                imp_error *error)
{
    imp_rule rule = options->method_options.rule;
    const char *given = options->method_options.own[0].name;
    for (size_t i = 0; imp_rule_option_at(i) && !given; i++)
        if (!isnan(*imp_rule_number(&rule, i)))
            given = imp_rule_option_at(i)->name;
    if (!given && options->method && strcmp(options->method, imp_method_at(0)->name) != 0)
        given = "method";
    if (!given)
        return IMP_OK;
    return imp_fail(error, IMP_EINVAL,
                    "the learner '%s' does not classify by a method, so '%s' is of no use to it",
                    info->name, given);
}

static imp_status take_own(imp_learner *learner, imp_error *error)
{
    const imp_learner_info *info = &learner->kind->info;
    for (size_t i = 0; i < info->option_count; i++)
        learner->own[i] = info->options[i].initial;
    for (size_t g = 0; g < IMP_MOST_OWN_OPTIONS && learner->options.own[g].name; g++) {
        const imp_named_value *given = &learner->options.own[g];
        const imp_option_info *option = imp_learner_option(info, given->name);
        if (!option)
            return imp_fail(error, IMP_EINVAL, "the learner '%s' has no option '%s'", info->name,
                            given->name);
        imp_status status = imp_value_check(option, given->value, error);
        if (status)
            return status;
        learner->own[option - info->options] = given->value;
    }
    return info->by_method ? IMP_OK : refuse_method(info, &learner->options, error);
}

/* ---- creating ---- */

imp_status imp_learner_create(const char *name, const imp_learner_options *options,
                              imp_network *network, size_t dimensions, imp_learner **out,
                              imp_error *error)
{
    *out = NULL;
    const imp_learner_kind *kind;
    imp_status status = find_kind(name, &kind, error);
    if (status)
        return status;
    if (!network && !kind->info.embeds)
        return imp_fail(error, IMP_EINVAL, "the learner '%s' needs a network", name);
    imp_learner *learner = imp_allocate_zeroed(1, sizeof *learner);
    if (!learner)
        return imp_fail_memory(error, "a learner");
    learner->kind = kind;
    learner->options = *options;
    const imp_method_info *method = options->method ? imp_method_find(options->method) : NULL;
    if (method)
        learner->options.method = method->name; /* outlives the caller's string */
    learner->network = network;
    learner->dimensions = network ? imp_network_output_size(network) : dimensions;
    status = take_own(learner, error);
    if (!status)
        status = kind->create(learner, error);
    if (status)
        imp_learner_free(learner);
    else
        *out = learner;
    return status;
}

void imp_learner_free(imp_learner *learner)
{
    if (!learner)
        return;
    learner->kind->release(learner);
    imp_release(learner);
}

void imp_learner_set(imp_learner *learner, const double *values)
{
    if (learner->value_count > 0)
        memcpy(learner->values, values, learner->value_count * sizeof *values);
    imp_learner_publish(learner);
}

void imp_learner_publish(imp_learner *learner)
{
    if (learner->kind->publish)
        learner->kind->publish(learner);
}

const imp_learner_parameter *imp_learner_parameter_of(const imp_learner *learner, const char *name)
{
    for (size_t p = 0; p < learner->parameter_count; p++)
        if (strcmp(learner->parameters[p].name, name) == 0)
            return &learner->parameters[p];
    return NULL;
}

imp_rule imp_learner_rule(const imp_learner *learner)
{
    imp_rule none = IMP_RULE_AUTO;
    return learner->kind->learned ? learner->kind->learned(learner) : none;
}

/* ---- tasks ---- */

imp_status imp_learner_step(imp_learner *learner, const imp_task *task, imp_step *step,
                            imp_error *error)
{
    *step = (imp_step){0};
    imp_status status = learner->kind->step(learner, task, step, error);
    if (!status && !isfinite(step->outcome.loss))
        status = imp_fail(error, IMP_EINVAL, "the loss is %g", step->outcome.loss);
    return status;
}

imp_status imp_learner_predict(imp_learner *learner, const imp_task *task, const float *embeddings,
                               imp_solution *answer, imp_error *error)
{
    *answer = (imp_solution){.lambda = NAN};
    return learner->kind->predict(learner, task, embeddings, answer, error);
}

double imp_episode_accuracy(const imp_episode *episode, const int32_t *predictions)
{
    const int32_t *truth = episode->labels + episode->supports;
    size_t right = 0;
    for (size_t q = 0; q < episode->queries; q++)
        right += predictions[q] == truth[q];
    return (double)right / (double)episode->queries;
}
