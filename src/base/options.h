/*
 * options.h - how the library takes an options struct from a caller and fills in defaults.
 *
 * Such a struct begins with its size according to the caller's header, and grows at its end. Only
 * that many bytes are ever read or written, so that programs and libraries of different versions
 * work together.
 */
#ifndef IMP_BASE_OPTIONS_H
#define IMP_BASE_OPTIONS_H

#include <stddef.h>

#include <imp/status.h>

/* Copies the defaults, a struct of `size` bytes, into the caller's struct of `known` bytes. Members
 * that an older caller does not know are left out; members that only a newer caller knows become
 * zero. */
void imp_give_options(void *options, size_t known, const void *defaults, size_t size);

/* Copies the caller's options (NULL: none) over the defaults in `options`, a struct of `size`
 * bytes. Members that an older caller does not know keep their defaults, and the size becomes
 * `size`. Members that only a newer caller knows must be zero: IMP_EINVAL otherwise. `name` is that
 * of the struct. */
imp_status imp_take_options(void *options, size_t size, const void *given, const char *name,
                            imp_error *error);

#endif
