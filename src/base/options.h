/* options.h - how the library takes a struct of options, which begins with its size. */
#ifndef IMP_BASE_OPTIONS_H
#define IMP_BASE_OPTIONS_H

#include <stddef.h>

#include <imp/status.h>

/* Copies the options that a caller gave (NULL: none) over the defaults in `options`, `size` bytes
 * long. That of an older caller is shorter: what it does not know keeps its default, and the size
 * becomes the whole. `name` is the struct's. */
imp_status imp_take_options(void *options, size_t size, const void *given, const char *name,
                            imp_error *error);

#endif
