/* json.h - JSON text through jansson, with this library's errors. */
#ifndef IMP_BASE_JSON_H
#define IMP_BASE_JSON_H

#include <jansson.h>

#include <imp/status.h>

/* Parses strictly: refuses duplicate keys and anything after the value. On success *out is a new
 * reference; on failure the sentence names line and column. */
imp_status imp_json_parse(const char *text, size_t size, json_t **out, imp_error *error);

/* `value` on one line, zero-terminated; release it with imp_release(). NULL without memory or if
 * `value` is NULL. */
char *imp_json_text(const json_t *value);

/* A new reference to a number, or to null if JSON cannot represent it; NULL without memory. */
json_t *imp_json_number(double value);

/* A new reference to {"mean": ..., "interval": ...}, where "interval" is half the width; NULL
 * without memory. */
json_t *imp_json_interval(double mean, double half_width);

/* A new reference to a string of any bytes, such as a path; bytes that are not UTF-8 become U+FFFD.
 * NULL without memory. */
json_t *imp_json_any_text(const char *text);

/* Writes `value`, indented and newline-terminated, atomically to `path`. */
imp_status imp_json_save(const char *path, const json_t *value, imp_error *error);

/* The same for a new file: IMP_EIO if one of that name exists by then. */
imp_status imp_json_save_new(const char *path, const json_t *value, imp_error *error);

#endif
