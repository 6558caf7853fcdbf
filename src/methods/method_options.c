/*
 * method_options.c - which methods there are, their options and the defaults, and what values the
 * options may have.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "methods/method.h"
#include "methods/option_checks.h"

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
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

const imp_method_parameter imp_sigma_parameters[2] = {
    {.name = "log_sigma_l", .offset = 0, .count = 1},
    {.name = "log_sigma_u", .offset = 1, .count = 1},
};

void imp_initialize_sigmas(const imp_method_options *options, double *values)
{
    values[0] = log(options->sigma_l);
    values[1] = log(options->sigma_u);
}

const char *imp_method_name_at(size_t index)
{
    return index < KINDS ? kinds[index]->name : NULL;
}

void imp_method_options_init(imp_method_options *options, const char *method)
{
    bool distractors = method && strcmp(method, imp_kind_soft_kmeans_cluster.name) == 0;
    *options = (imp_method_options){
        .size = sizeof *options,
        .sigma_l = 5,
        .sigma_u = distractors ? 100 : 5,
        .alpha = 0.1,
        .lambda = NAN,
        .cluster_steps = 1,
        .seed = 1,
    };
}

imp_status imp_kind_find(const char *name, const imp_method_kind **kind, imp_error *error)
{
    char names[400] = "";
    imp_suggestion suggestion = imp_suggestion_start(name);
    for (size_t k = 0; k < KINDS; k++) {
        if (strcmp(kinds[k]->name, name) == 0) {
            *kind = kinds[k];
            return IMP_OK;
        }
        imp_suggestion_offer(&suggestion, kinds[k]->name);
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", k > 0 ? ", " : "", kinds[k]->name);
    }
    if (suggestion.nearest)
        return imp_fail(error, IMP_EINVAL, "'%s' is not a method; did you mean '%s'?", name,
                        suggestion.nearest);
    return imp_fail(error, IMP_EINVAL, "'%s' is not a method; there are %s", name, names);
}

imp_status imp_kind_check_options(const imp_method_kind *kind, const imp_method_options *options,
                                  imp_error *error)
{
    imp_status status = imp_check_sigma(options->sigma_l, "sigma_l", error);
    if (status == IMP_OK)
        status = imp_check_sigma(options->sigma_u, "sigma_u", error);
    if (status == IMP_OK)
        status = imp_check_alpha(options->alpha, error);
    if (status == IMP_OK)
        status = imp_check_lambda(options->lambda, error);
    if (status == IMP_OK)
        status = imp_check_steps(options->cluster_steps, error);
    if (status != IMP_OK)
        return status;
    if (!isnan(options->lambda) && !kind->has_lambda)
        return imp_fail(error, IMP_EINVAL,
                        "'%s' has no threshold lambda; imp, imp-tied and dp-means do", kind->name);
    if (options->cluster_steps > 1 && !kind->has_steps)
        return imp_fail(error, IMP_EINVAL,
                        "'%s' clusters once; only imp, imp-tied, dp-means, soft-kmeans and "
                        "soft-kmeans-cluster take more than one cluster step",
                        kind->name);
    if (options->learn_sigma && kind != &imp_kind_prototypes)
        return imp_fail(error, IMP_EINVAL,
                        "only prototypes can be told to learn sigma; '%s' learns what it has",
                        kind->name);
    if (options->no_prior && kind != &imp_kind_em)
        return imp_fail(error, IMP_EINVAL, "only em can go without its prior; '%s' cannot",
                        kind->name);
    return IMP_OK;
}
