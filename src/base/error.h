/* error.h - writing the sentence that travels with a status. */
#ifndef IMP_BASE_ERROR_H
#define IMP_BASE_ERROR_H

#include <imp/status.h>

/* Stores `status` and the formatted sentence in `error` (when not NULL) and returns `status`,
 * so that a failing function ends in `return imp_fail(error, IMP_EINVAL, "...", ...)`. A sentence
 * too long for the struct is cut at a character boundary and ends in "...". */
imp_status imp_fail(imp_error *error, imp_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* imp_fail() for memory that could not be had: "out of memory for WHAT". */
imp_status imp_fail_memory(imp_error *error, const char *what);

/* What is out of range in a file is a fault of its format: makes IMP_EFORMAT of IMP_EINVAL, in
 * `error` (when not NULL) too, and returns it. Another status stays as it is. */
imp_status imp_as_format(imp_status status, imp_error *error);

/* Puts "PREFIX: " before the sentence already in `error`: how a file's name joins a fault that
 * a parser found without knowing the name. Does nothing when `error` is NULL. */
void imp_error_prefix(imp_error *error, const char *prefix);

#endif
