/* error.h - writes the sentence that comes with a status. */
#ifndef IMP_BASE_ERROR_H
#define IMP_BASE_ERROR_H

#include <imp/status.h>

/* Stores `status` and the formatted sentence in `error` (when not NULL) and returns `status`,
 * so that a failing function ends in `return imp_fail(error, IMP_EINVAL, "...", ...)`. A sentence
 * too long for the struct is cut at a character boundary and ends in "...". */
imp_status imp_fail(imp_error *error, imp_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* imp_fail() with IMP_ENOMEM: "out of memory for WHAT". */
imp_status imp_fail_memory(imp_error *error, const char *what);

/* Turns IMP_EINVAL into IMP_EFORMAT, also in `error` (when not NULL), because a value out of range
 * in a file is a fault of the file. Returns any other status unchanged. */
imp_status imp_as_format(imp_status status, imp_error *error);

/* Puts "PREFIX: " before the sentence already in `error`, to add the name of a file to a parser's
 * message. Does nothing when `error` is NULL. */
void imp_error_prefix(imp_error *error, const char *prefix);

#endif
