/*
 * option_checks.h - what values the options of methods, mixtures and clusterings may have, and the
 * sentences that say so.
 */
#ifndef IMP_METHODS_OPTION_CHECKS_H
#define IMP_METHODS_OPTION_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

/* Within these bounds no density of floats leaves the range of a double, as a logarithm. */
#define IMP_LEAST_SIGMA 1e-30
#define IMP_MOST_SIGMA 1e30

static inline bool imp_is_sigma(double value)
{
    return value >= IMP_LEAST_SIGMA && value <= IMP_MOST_SIGMA;
}

/* Each fails unless the value is in range; `name` is what the sentence calls it. */
imp_status imp_check_sigma(double sigma, const char *name, imp_error *error);
imp_status imp_check_alpha(double alpha, imp_error *error);
imp_status imp_check_lambda(double lambda, imp_error *error); /* NAN: to be chosen */
imp_status imp_check_steps(size_t cluster_steps, imp_error *error);

#endif
