/*
 * value.h - the values of options that have names (<imp/option.h>): as text, and checked.
 */
#ifndef IMP_BASE_VALUE_H
#define IMP_BASE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/option.h>
#include <imp/status.h>

/* Whether both are the same number, or both IMP_AUTO. */
static inline bool imp_same_value(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Whether the option takes the value. */
bool imp_value_allowed(const imp_option_info *option, double value);

/* Fails with a sentence if it does not. */
imp_status imp_value_check(const imp_option_info *option, double value, imp_error *error);

/* Reads a value as people write it: a decimal number, yes or no, auto. False, and nothing set, for
 * anything else and for what the option does not take. */
bool imp_value_parse(const imp_option_info *option, const char *text, double *value);

/* Writes what values the option takes, "a number of at least 0, or auto", cut to fit. */
void imp_value_describe(const imp_option_info *option, char *text, size_t size);

#endif
