/*
 * options.h - how the library takes a struct of options from a caller and gives him the defaults.
 *
 * Such a struct begins with its size, as the caller's header has it, and grows at its end. Only
 * that many bytes of it are ever read or written, so that a program and a library of different
 * versions understand each other.
 */
#ifndef IMP_BASE_OPTIONS_H
#define IMP_BASE_OPTIONS_H

#include <stddef.h>

#include <imp/status.h>

/* Writes the defaults, a struct of `size` bytes, into that of a caller who has `known` bytes. What
 * an older caller does not know is left out; what a newer one knows and the library does not
 * becomes zero. */
void imp_give_options(void *options, size_t known, const void *defaults, size_t size);

/* Copies the options that a caller gave (NULL: none) over the defaults in `options`, `size` bytes
 * long. What an older caller does not know keeps its default, and the size becomes the whole. A
 * newer caller's that the library does not know must be zero: IMP_EINVAL otherwise. `name` is the
 * struct's. */
imp_status imp_take_options(void *options, size_t size, const void *given, const char *name,
                            imp_error *error);

#endif
