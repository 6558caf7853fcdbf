/*
 * number.h - decimal numbers in machine-readable text.
 *
 * strtod() and printf() follow the locale, which the host program chooses and in which a half may
 * be "0,5". These two always use the C locale. They affect only the calling thread and restore its
 * locale.
 */
#ifndef IMP_BASE_NUMBER_H
#define IMP_BASE_NUMBER_H

#include <stddef.h>

/* As strtod(): *end, if `end` is not NULL, is where the number ends, and is `text` where there is
 * none; errno is ERANGE for one that is too large or too small. */
double imp_number_read(const char *text, char **end);

/* As snprintf() of "%.*g". 17 digits tell every double from all others. */
void imp_number_write(double value, int digits, char *text, size_t size);

#endif
