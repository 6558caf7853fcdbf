/* utf8.h - handles text of arbitrary bytes, such as file names, for formats that require UTF-8. */
#ifndef IMP_BASE_UTF8_H
#define IMP_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the UTF-8 character at the start of `text`; 0 if there is none. */
size_t imp_utf8_size(const char *text);

/* Whether all of it is UTF-8. jansson refuses other text too, but does not tell that from lack of
 * memory. */
bool imp_is_utf8(const char *text);

/* Bytes of the control character at the start of `text`; 0 if there is none. Line breaks are
 * control characters, and terminal escape sequences begin with one. */
size_t imp_utf8_control(const char *text);

/* The number of characters; a byte that belongs to none counts as one. */
size_t imp_utf8_length(const char *text);

/* A copy in which every byte that belongs to no character is replaced by U+FFFD; NULL without
 * memory. Release it with imp_release(). */
char *imp_utf8_repair(const char *text);

#endif
