/* utf8.h - text that may be any bytes, such as the names of files, for formats that take UTF-8. */
#ifndef IMP_BASE_UTF8_H
#define IMP_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the UTF-8 character that `text` begins with; 0 where it begins with none. */
size_t imp_utf8_size(const char *text);

/* Whether all of it is UTF-8. jansson refuses other text too, but does not say whether it was that
 * or the memory. */
bool imp_is_utf8(const char *text);

/* Bytes of the control character that `text` begins with; 0 where it begins with none. A line break
 * is one, and what tells a terminal to do something begins with one. */
size_t imp_utf8_control(const char *text);

/* How many characters the text has; a byte that belongs to none counts as one. */
size_t imp_utf8_length(const char *text);

/* A copy in which U+FFFD stands for every byte that belongs to no character, or NULL without
 * memory. Give it back with imp_release(). */
char *imp_utf8_repair(const char *text);

#endif
