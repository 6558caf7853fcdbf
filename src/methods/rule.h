/*
 * rule.h - what values the numbers of Algorithm 1 may have, and how a rule that leaves some open is
 * completed by another.
 */
#ifndef IMP_METHODS_RULE_H
#define IMP_METHODS_RULE_H

#include <stdbool.h>

#include <imp/rule.h>
#include <imp/status.h>

/* Within these bounds no density of floats leaves the range of a double, as a logarithm. */
#define IMP_LEAST_SIGMA 1e-30
#define IMP_MOST_SIGMA 1e30

static inline bool imp_is_sigma(double value)
{
    return value >= IMP_LEAST_SIGMA && value <= IMP_MOST_SIGMA;
}

/* The paper's numbers for Omniglot; lambda is estimated. */
#define IMP_USUAL_RULE                                                            \
    {                                                                             \
        .alpha = 0.1, .sigma_l = 5, .sigma_u = 5, .lambda = IMP_AUTO, .steps = 1, \
    }

/* Number `index` of a rule, in the order of imp_rule_option_at(). */
double *imp_rule_number(imp_rule *rule, size_t index);

/* What was given; where that leaves a number open, what `otherwise` says. */
imp_rule imp_rule_over(const imp_rule *given, const imp_rule *otherwise);

/* Fails unless each number is open or in range. */
imp_status imp_check_rule(const imp_rule *rule, imp_error *error);

#endif
