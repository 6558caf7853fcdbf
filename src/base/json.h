/* json.h - JSON text through jansson, with this library's errors. */
#ifndef IMP_BASE_JSON_H
#define IMP_BASE_JSON_H

#include <jansson.h>

#include <imp/status.h>

/* Parses strictly: duplicate keys and anything after the value are refused. On success *out is a
 * new reference; the sentence of a failure names line and column. */
imp_status imp_json_parse(const char *text, size_t size, json_t **out, imp_error *error);

/* `value` (NULL gives NULL) on one line, zero-terminated; give it back with imp_release(). NULL
 * when memory ran out. */
char *imp_json_text(const json_t *value);

/* A new reference to a number, or to null for one that JSON cannot say; NULL without memory. */
json_t *imp_json_number(double value);

/* A new reference to {"mean": ..., "interval": ...}, of which the second is half of an interval's
 * width; NULL without memory. */
json_t *imp_json_interval(double mean, double half_width);

/* A new reference to a text of any bytes, such as a path; U+FFFD stands for those that are no
 * UTF-8. NULL without memory. */
json_t *imp_json_any_text(const char *text);

/* Writes `value`, indented and newline-terminated, atomically to `path`. */
imp_status imp_json_save(const char *path, const json_t *value, imp_error *error);

/* The same where there must be no file of that name; IMP_EIO if there is by then. */
imp_status imp_json_save_new(const char *path, const json_t *value, imp_error *error);

#endif
