/*
 * labels.h - the class of each point, as integers or strings, from a .npy file or a text file with
 * one line per point.
 *
 * Classes are numbered without gaps, in the order of their names: integers by value, strings byte
 * by byte. The integer -1 and the empty string mean that a point has no label.
 */
#ifndef IMP_BASE_LABELS_H
#define IMP_BASE_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "base/file.h"

typedef struct imp_labels {
    size_t count;
    int32_t *label; /* (count): the number of its class, or -1 */
    size_t classes;
    char **names;  /* (classes) */
    bool integers; /* the names are numbers */
} imp_labels;

/* Reads labels from the content of a file, `size` bytes. On failure *labels is zeroed: IMP_EFORMAT
 * or IMP_EUNSUPPORTED with a sentence, IMP_ENOMEM. */
imp_status imp_labels_parse(const unsigned char *bytes, size_t size, imp_labels *labels,
                            imp_error *error);

/* imp_labels_parse() on a file; errors name the path. */
imp_status imp_labels_read(const char *path, imp_labels *labels, imp_error *error);

/* Harmless on a zeroed one. */
void imp_labels_clear(imp_labels *labels);

/* Renumbers the classes so that those in `known` come first, in that order; the others follow in
 * their own. On failure (IMP_ENOMEM) nothing has changed. */
imp_status imp_labels_renumber(imp_labels *labels, const char *const *known, size_t count,
                               imp_error *error);

/* Writes the names of the classes, atomically; no label is written as -1 or an empty string. If the
 * path ends in .npy, the file holds integers, if the names are integers, or strings; otherwise it
 * has one line per point, and a name with a line break is refused (IMP_EINVAL). */
imp_status imp_labels_save(const char *path, const int32_t *label, size_t count,
                           const imp_labels *names, imp_error *error);

/* The same some at a time, of which there will be `count` in all. `names` has to stay. After a
 * failure, and after commit, there is nothing left; abandon is harmless then, and on a zeroed one.
 */
typedef struct imp_labels_writer {
    imp_writer file;
    const imp_labels *names;
    bool npy;
    uint32_t *wide; /* room for a text of `width` characters, where texts go to a .npy file */
    size_t width;
} imp_labels_writer;

imp_status imp_labels_begin(imp_labels_writer *writer, const char *path, size_t count,
                            const imp_labels *names, imp_error *error);
imp_status imp_labels_append(imp_labels_writer *writer, const int32_t *label, size_t count,
                             imp_error *error);
imp_status imp_labels_commit(imp_labels_writer *writer, imp_error *error);
void imp_labels_abandon(imp_labels_writer *writer);

/* Whether the names are just the numbers of the classes: "0", "1", ... */
bool imp_names_are_numbers(const char *const *names, size_t count);

/* The number of the class called `name`, or -1. */
int32_t imp_name_find(const char *const *names, size_t count, const char *name);

#endif
