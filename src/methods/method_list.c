/*
 * method_list.c - the list of methods: lookup by name, and checks of their options.
 *
 * Everything else about a method is in the file of its name.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/value.h"
#include "methods/method.h"
#include "methods/rule.h"

static const imp_method_kind *const kinds[] = {
    &imp_kind_imp,
    &imp_kind_imp_tied,
    &imp_kind_prototypes,
    &imp_kind_neighbors,
    &imp_kind_soft_kmeans,
    &imp_kind_soft_kmeans_cluster,
    &imp_kind_soft_kmeans_masked,
    &imp_kind_dp_means,
    &imp_kind_map_dp,
    &imp_kind_em,
    &imp_kind_nca,
    &imp_kind_fixed_modes,
    &imp_kind_gibbs,
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- finding ---- */

const imp_method_info *imp_method_at(size_t index)
{
    return index < KINDS ? &kinds[index]->info : NULL;
}

static const imp_method_kind *find(const char *name)
{
    for (size_t k = 0; k < KINDS; k++)
        if (strcmp(kinds[k]->info.name, name) == 0)
            return kinds[k];
    return NULL;
}

const imp_method_info *imp_method_find(const char *name)
{
    const imp_method_kind *kind = find(name);
    return kind ? &kind->info : NULL;
}

/* Which methods a sentence lists. */
typedef bool chosen(const imp_method_info *info, const char *option);

static bool any(const imp_method_info *info, const char *option)
{
    (void)info, (void)option;
    return true;
}

static bool has_lambda(const imp_method_info *info, const char *option)
{
    (void)option;
    return info->has_lambda;
}

static bool has_steps(const imp_method_info *info, const char *option)
{
    (void)option;
    return info->has_steps;
}

static bool unsupervised(const imp_method_info *info, const char *option)
{
    (void)option;
    return info->unsupervised;
}

static bool has_option(const imp_method_info *info, const char *option)
{
    return imp_method_option(info, option) != NULL;
}

/* Their names as text, "a, b and c", and their number. */
typedef struct names {
    char text[400];
    size_t count;
} names;

static names list(chosen *wanted, const char *option)
{
    const char *found[KINDS];
    names result = {.text = ""};
    for (size_t k = 0; k < KINDS; k++)
        if (wanted(&kinds[k]->info, option))
            found[result.count++] = kinds[k]->info.name;
    for (size_t i = 0; i < result.count; i++) {
        size_t used = strlen(result.text);
        const char *before = i == 0 ? "" : i + 1 < result.count ? ", " : " and ";
        snprintf(result.text + used, sizeof result.text - used, "%s%s", before, found[i]);
    }
    return result;
}

imp_status imp_kind_find(const char *name, const imp_method_kind **kind, imp_error *error)
{
    *kind = find(name);
    if (*kind)
        return IMP_OK;
    imp_suggestion suggestion = imp_suggestion_start(name);
    for (size_t k = 0; k < KINDS; k++)
        imp_suggestion_offer(&suggestion, kinds[k]->info.name);
    if (suggestion.nearest)
        return imp_fail(error, IMP_EINVAL, "'%s' is not a method; did you mean '%s'?", name,
                        suggestion.nearest);
    return imp_fail(error, IMP_EINVAL, "'%s' is not a method; there are %s", name,
                    list(any, NULL).text);
}

imp_status imp_find_clustering(const char *name, const imp_method_info **method, imp_error *error)
{
    const imp_method_kind *kind = &imp_kind_imp;
    imp_status status = name ? imp_kind_find(name, &kind, error) : IMP_OK;
    if (status)
        return status;
    *method = &kind->info;
    if (kind->info.unsupervised)
        return IMP_OK;
    return imp_fail(error, IMP_EINVAL, "'%s' does not cluster without labels; %s do", name,
                    list(unsupervised, NULL).text);
}

/* ---- a method's own options ---- */

const imp_option_info *imp_method_option(const imp_method_info *method, const char *name)
{
    for (size_t i = 0; i < method->option_count; i++)
        if (strcmp(method->options[i].name, name) == 0)
            return &method->options[i];
    return NULL;
}

const imp_option_info *imp_own_option(const char *name)
{
    for (size_t k = 0; k < KINDS; k++) {
        const imp_option_info *option = imp_method_option(&kinds[k]->info, name);
        if (option)
            return option;
    }
    return NULL;
}

static imp_status refuse_option(const imp_method_kind *kind, const char *name, imp_error *error)
{
    names having = list(has_option, name);
    if (having.count == 0)
        return imp_fail(error, IMP_EINVAL, "no method has an option '%s'", name);
    return imp_fail(error, IMP_EINVAL, "'%s' has no option '%s'; %s %s", kind->info.name, name,
                    having.text, having.count == 1 ? "has" : "have");
}

imp_status imp_kind_take_own(const imp_method_kind *kind, const imp_method_options *options,
                             double own[IMP_MOST_OWN_OPTIONS], imp_error *error)
{
    const imp_method_info *info = &kind->info;
    for (size_t i = 0; i < info->option_count; i++)
        own[i] = info->options[i].initial;
    for (size_t g = 0; g < IMP_MOST_OWN_OPTIONS && options->own[g].name; g++) {
        const imp_option_info *option = imp_method_option(info, options->own[g].name);
        if (!option)
            return refuse_option(kind, options->own[g].name, error);
        imp_status status = imp_value_check(option, options->own[g].value, error);
        if (status)
            return status;
        own[option - info->options] = options->own[g].value;
    }
    return IMP_OK;
}

imp_status imp_own_set(imp_named_value *own, const imp_option_info *option, double value,
                       imp_error *error)
{
    size_t count = 0, at = IMP_MOST_OWN_OPTIONS;
    for (; count < IMP_MOST_OWN_OPTIONS && own[count].name; count++)
        if (strcmp(own[count].name, option->name) == 0)
            at = count;
    bool given = at < count;
    if (imp_same_value(value, option->initial)) {
        for (; given && at + 1 < count; at++)
            own[at] = own[at + 1];
        if (given)
            own[at] = (imp_named_value){0};
        return IMP_OK;
    }
    if (!given && count == IMP_MOST_OWN_OPTIONS)
        return imp_fail(error, IMP_EINVAL, "'%s' is one too many: at most %d options of methods",
                        option->name, IMP_MOST_OWN_OPTIONS);
    own[given ? at : count] = (imp_named_value){option->name, value};
    return IMP_OK;
}

double imp_own_value(const imp_named_value *own, const imp_option_info *option)
{
    for (size_t i = 0; i < IMP_MOST_OWN_OPTIONS && own[i].name; i++)
        if (strcmp(own[i].name, option->name) == 0)
            return own[i].value;
    return option->initial;
}

void imp_own_keep(imp_named_value *own, const char *method)
{
    const imp_method_kind *kind = find(method);
    size_t kept = 0;
    for (size_t i = 0; i < IMP_MOST_OWN_OPTIONS && own[i].name; i++)
        if (kind && imp_method_option(&kind->info, own[i].name))
            own[kept++] = own[i];
    while (kept < IMP_MOST_OWN_OPTIONS)
        own[kept++] = (imp_named_value){0};
}

/* Whether each of `a` is in `b` with the same value. */
static bool is_part(const imp_named_value *a, const imp_named_value *b)
{
    for (size_t i = 0; i < IMP_MOST_OWN_OPTIONS && a[i].name; i++) {
        size_t j = 0;
        while (j < IMP_MOST_OWN_OPTIONS && b[j].name && strcmp(a[i].name, b[j].name) != 0)
            j++;
        if (j == IMP_MOST_OWN_OPTIONS || !b[j].name || !imp_same_value(a[i].value, b[j].value))
            return false;
    }
    return true;
}

bool imp_own_equal(const imp_named_value *a, const imp_named_value *b)
{
    return is_part(a, b) && is_part(b, a);
}

size_t imp_method_value_count(const char *name, const imp_method_options *options)
{
    const imp_method_kind *kind = find(name);
    double own[IMP_MOST_OWN_OPTIONS];
    if (!kind || imp_kind_take_own(kind, options, own, NULL) != IMP_OK)
        return 0;
    return (kind->variant ? kind->variant(own) : kind)->value_count;
}

/* ---- the rule ---- */

imp_status imp_kind_check_rule(const imp_method_kind *kind, const imp_rule *rule, imp_error *error)
{
    imp_status status = imp_check_rule(rule, error);
    if (status)
        return status;
    if (!isnan(rule->lambda) && !kind->info.has_lambda)
        return imp_fail(error, IMP_EINVAL, "'%s' has no threshold lambda; %s do", kind->info.name,
                        list(has_lambda, NULL).text);
    if (rule->steps > 1 && !kind->info.has_steps)
        return imp_fail(error, IMP_EINVAL,
                        "'%s' clusters once; only %s take more than one cluster step",
                        kind->info.name, list(has_steps, NULL).text);
    return IMP_OK;
}

bool imp_has_distractors(const char *method)
{
    const imp_method_kind *kind = find(method);
    return kind && kind->distractors;
}

imp_rule imp_rule_for_another(const imp_rule *rule, const char *from, const char *to)
{
    bool foreign = imp_has_distractors(from) || imp_has_distractors(to);
    return (imp_rule){.alpha = rule->alpha,
                      .sigma_l = rule->sigma_l,
                      .sigma_u = foreign ? IMP_AUTO : rule->sigma_u,
                      .lambda = IMP_AUTO,
                      .steps = IMP_AUTO};
}

imp_rule imp_rule_for_mixture(const imp_rule *rule, const char *method)
{
    const imp_method_kind *kind = find(method);
    const imp_method_info *imp = &imp_kind_imp.info;
    imp_rule known =
        kind && kind->fits_mixtures ? *rule : imp_rule_for_another(rule, method, imp->name);
    return imp_rule_over(&known, &imp->rule);
}
