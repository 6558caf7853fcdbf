/* value.c - reads, checks and describes the values of named options. */
#include "base/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"

bool imp_value_allowed(const imp_option_info *option, double value)
{
    if (isnan(value))
        return isnan(option->initial);
    bool whole = option->kind == IMP_NUMBER || value == floor(value);
    return isfinite(value) && whole && value >= option->least && value <= option->most;
}

imp_status imp_value_check(const imp_option_info *option, double value, imp_error *error)
{
    if (imp_value_allowed(option, value))
        return IMP_OK;
    char values[100];
    imp_value_describe(option, values, sizeof values);
    return imp_fail(error, IMP_EINVAL, "%s is %g; it must be %s", option->name, value, values);
}

bool imp_value_parse(const imp_option_info *option, const char *text, double *value)
{
    double parsed;
    if (option->kind == IMP_FLAG) {
        bool yes = strcmp(text, "yes") == 0;
        if (!yes && strcmp(text, "no") != 0)
            return false;
        parsed = yes;
    } else if (strcmp(text, "auto") == 0) {
        parsed = IMP_AUTO;
    } else {
        /* Decimal only: the C library also knows spaces, hexadecimal, infinity and NaN. */
        const char *digits = option->kind == IMP_INTEGER ? "+-0123456789" : "+-.0123456789eE";
        if (text[0] == '\0' || text[strspn(text, digits)] != '\0')
            return false;
        char *end;
        errno = 0;
        parsed = imp_number_read(text, &end);
        if (errno != 0 || *end != '\0')
            return false;
    }
    if (!imp_value_allowed(option, parsed))
        return false;
    *value = parsed;
    return true;
}

void imp_value_describe(const imp_option_info *option, char *text, size_t size)
{
    const char *what = option->kind == IMP_INTEGER ? "an integer" : "a number";
    const char *or_auto = isnan(option->initial) ? ", or auto" : "";
    if (option->kind == IMP_FLAG)
        snprintf(text, size, "yes or no");
    else if (isinf(option->most))
        snprintf(text, size, "%s of at least %.15g%s", what, option->least, or_auto);
    else
        snprintf(text, size, "%s from %.15g to %.15g%s", what, option->least, option->most,
                 or_auto);
}
