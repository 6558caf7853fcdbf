/* number.c - reads and writes numbers with the calling thread switched to the C locale. */
#define _DEFAULT_SOURCE /* newlocale, uselocale */

#include "base/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* The C locale is built in: asking for it takes no memory and cannot fail. */
static locale_t borrow(locale_t *own)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *own = uselocale(plain);
    return plain;
}

static void give_back(locale_t plain, locale_t own)
{
    uselocale(own);
    freelocale(plain);
}

double imp_number_read(const char *text, char **end)
{
    locale_t own, plain = borrow(&own);
    double value = strtod(text, end);
    give_back(plain, own);
    return value;
}

void imp_number_write(double value, int digits, char *text, size_t size)
{
    locale_t own, plain = borrow(&own);
    snprintf(text, size, "%.*g", digits, value);
    give_back(plain, own);
}
