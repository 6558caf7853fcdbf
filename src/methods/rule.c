/* rule.c - the parameters of Algorithm 1: named, completed and checked. */
#include "methods/rule.h"

#include "base/value.h"

static const imp_option_info options[] = {
    {.name = "alpha",
     .help = "concentration of the Dirichlet process: a larger one makes more clusters",
     .kind = IMP_NUMBER,
     .least = 1e-300,
     .most = 1e300,
     .initial = IMP_AUTO},
    {.name = "sigma-l",
     .help = "variance of labelled clusters",
     .kind = IMP_NUMBER,
     .least = IMP_LEAST_SIGMA,
     .most = IMP_MOST_SIGMA,
     .initial = IMP_AUTO},
    {.name = "sigma-u",
     .help = "variance of unlabelled clusters",
     .kind = IMP_NUMBER,
     .least = IMP_LEAST_SIGMA,
     .most = IMP_MOST_SIGMA,
     .initial = IMP_AUTO},
    {.name = "lambda",
     .help = "squared distance beyond which a point starts a cluster",
     .kind = IMP_NUMBER,
     .least = 0,
     .most = INFINITY,
     .initial = IMP_AUTO},
    {.name = "cluster-steps",
     .help = "number of clustering passes",
     .kind = IMP_INTEGER,
     .least = 1,
     .most = 1e6,
     .initial = IMP_AUTO},
};

enum { NUMBERS = sizeof options / sizeof *options };

_Static_assert(sizeof(imp_rule) == NUMBERS * sizeof(double), "a row for every number of a rule");

const imp_option_info *imp_rule_option_at(size_t index)
{
    return index < NUMBERS ? &options[index] : NULL;
}

double *imp_rule_number(imp_rule *rule, size_t index)
{
    double *const numbers[] = {&rule->alpha, &rule->sigma_l, &rule->sigma_u, &rule->lambda,
                               &rule->steps};
    return numbers[index];
}

imp_rule imp_rule_over(const imp_rule *given, const imp_rule *otherwise)
{
    imp_rule result = *given, rest = *otherwise;
    for (size_t i = 0; i < NUMBERS; i++)
        if (isnan(*imp_rule_number(&result, i)))
            *imp_rule_number(&result, i) = *imp_rule_number(&rest, i);
    return result;
}

imp_status imp_check_rule(const imp_rule *rule, imp_error *error)
{
    imp_rule checked = *rule;
    imp_status status = IMP_OK;
    for (size_t i = 0; i < NUMBERS && !status; i++)
        status = imp_value_check(&options[i], *imp_rule_number(&checked, i), error);
    return status;
}
