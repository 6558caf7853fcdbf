/*
 * number.h - decimal numbers in texts that programs read.
 *
 * strtod() and printf() speak the language of the locale, in which half may be "0,5", and the
 * program that uses this library chooses that. These two speak the C locale's in any. Nothing
 * but the calling thread is touched, and that is left as it was.
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
