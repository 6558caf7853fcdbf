/*
 * rule.h - ranges of the parameters of Algorithm 1, and completing a rule that leaves some open.
 */
#ifndef IMP_METHODS_RULE_H
#define IMP_METHODS_RULE_H

#include <imp/rule.h>
#include <imp/status.h>

/* Within these bounds the log density of any floats stays in the range of a double. */
#define IMP_LEAST_SIGMA 1e-30
#define IMP_MOST_SIGMA 1e30

/* The paper's parameters for Omniglot; lambda is estimated. */
#define IMP_USUAL_RULE                                                            \
    {                                                                             \
        .alpha = 0.1, .sigma_l = 5, .sigma_u = 5, .lambda = IMP_AUTO, .steps = 1, \
    }

/* Parameter `index` of a rule, in the order of imp_rule_option_at(). */
double *imp_rule_number(imp_rule *rule, size_t index);

/* The given rule, with open parameters taken from `otherwise`. */
imp_rule imp_rule_over(const imp_rule *given, const imp_rule *otherwise);

/* Fails unless each parameter is open or in range. */
imp_status imp_check_rule(const imp_rule *rule, imp_error *error);

#endif
