/*
 * value.h - values of named options (<imp/option.h>): text conversion and checks.
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

/* Fails with a sentence if the option does not take the value. */
imp_status imp_value_check(const imp_option_info *option, double value, imp_error *error);

/* Parses a value: a decimal number, yes or no, or auto. Returns false and sets nothing for anything
 * else and for values that the option does not take. */
bool imp_value_parse(const imp_option_info *option, const char *text, double *value);

/* Describes the values the option takes, such as "a number of at least 0, or auto", truncated to
 * fit. */
void imp_value_describe(const imp_option_info *option, char *text, size_t size);

#endif
