/*
 * labels.c - reads and writes labels: .npy files of integers or strings ('<U' and '|S'), and lines
 * of text.
 *
 * Every file becomes one string or one integer per point; sorting them gives the classes.
 */
#include "base/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/npy.h"
#include "base/utf8.h"

/* The labels as read: either integers or strings. */
typedef struct words {
    size_t count;
    int64_t *integers; /* (count), or NULL */
    char *text;        /* the strings, each zero-terminated */
    size_t *begin;     /* (count): where each begins in `text`; or NULL */
} words;

static void words_clear(words *of)
{
    imp_release(of->integers);
    imp_release(of->text);
    imp_release(of->begin);
    *of = (words){0};
}

static imp_status no_memory(imp_error *error)
{
    return imp_fail_memory(error, "labels");
}

/* ---- integers of a .npy file ---- */

/* Takes over the data of an array that has the words' type. */
static imp_status take_integers(imp_array *array, words *out, imp_error *error)
{
    imp_dtype dtype = array->dtype;
    if (dtype == IMP_FLOAT16 || dtype == IMP_FLOAT32 || dtype == IMP_FLOAT64 || array->rank != 1)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "it holds %s of shape %s; labels are integers or texts, one per point",
                        imp_dtype_name(dtype), imp_shape_format(array->rank, array->shape).text);
    out->count = array->count;
    if (dtype == IMP_INT64) {
        out->integers = array->data;
        array->data = NULL;
        return IMP_OK;
    }
    out->integers = imp_allocate(array->count, sizeof *out->integers);
    if (!out->integers)
        return no_memory(error);
    for (size_t i = 0; i < array->count; i++)
        out->integers[i] = (int64_t)imp_element(dtype, array->data, i);
    return IMP_OK;
}

/* ---- texts of a .npy file ---- */

/* The number of characters of "<U12" or "|S12"; 0 if the type is not a string. */
static size_t width_of(const char *descr, bool *wide)
{
    *wide = strncmp(descr, "<U", 2) == 0;
    if (!*wide && strncmp(descr, "|S", 2) != 0)
        return 0;
    char *end;
    unsigned long width = strtoul(descr + 2, &end, 10);
    return descr[2] >= '1' && descr[2] <= '9' && *end == '\0' && width <= INT32_MAX ? width : 0;
}

/* Writes a character as UTF-8; returns 0 if it is not a valid one. */
static size_t encode(uint32_t c, char *out)
{
    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned first[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(first[more] | c >> 6 * more);
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
    return more + 1;
}

/* Copies one string of `width` characters, padded with zeros, to `out` as zero-terminated UTF-8.
 * Returns 0 if it is invalid. */
static size_t take_text(const unsigned char *from, size_t width, bool wide, char *out)
{
    size_t used = 0, unit = wide ? 4 : 1;
    while (width > 0) { /* the padding */
        uint32_t last = 0;
        memcpy(&last, from + (width - 1) * unit, unit);
        if (last != 0)
            break;
        width--;
    }
    for (size_t i = 0; i < width; i++) {
        uint32_t c = 0;
        memcpy(&c, from + i * unit, unit);
        size_t bytes = wide ? encode(c, out + used) : c != 0;
        if (bytes == 0)
            return 0;
        if (!wide)
            out[used] = (char)c;
        used += bytes;
    }
    out[used] = '\0';
    return imp_is_utf8(out) ? used + 1 : 0;
}

static imp_status take_texts(const unsigned char *bytes, size_t size, const imp_npy_header *header,
                             size_t width, bool wide, words *out, imp_error *error)
{
    size_t one, needed, count = header->rank == 1 ? header->shape[0] : 0, room;
    if (header->rank != 1)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "it holds texts of shape %s; labels are one per point",
                        imp_shape_format(header->rank, header->shape).text);
    if (!imp_multiply(width, wide ? 4 : 1, &one) || !imp_multiply(one, count, &needed) ||
        needed != size - header->begin)
        return imp_fail(error, IMP_EFORMAT,
                        "it holds %zu bytes of data, which are not %zu texts of %zu characters",
                        size - header->begin, count, width);
    /* A wide character has 4 bytes and never needs more in UTF-8. */
    if (imp_add(needed, count, &room))
        out->text = imp_allocate(room, 1);
    out->begin = imp_allocate(count, sizeof *out->begin);
    out->count = count;
    if (!out->text || !out->begin)
        return no_memory(error);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        out->begin[i] = used;
        size_t bytes_used =
            take_text(bytes + header->begin + i * one, width, wide, out->text + used);
        if (bytes_used == 0)
            return imp_fail(error, IMP_EFORMAT, "label %zu is not valid %s", i,
                            wide ? "Unicode" : "UTF-8");
        used += bytes_used;
    }
    return IMP_OK;
}

static imp_status take_npy(const unsigned char *bytes, size_t size, words *out, imp_error *error)
{
    imp_npy_header header;
    imp_status status = imp_npy_parse_header(bytes, size, &header, error);
    if (status)
        return status;
    bool wide;
    size_t width = width_of(header.descr, &wide);
    if (width > 0)
        return take_texts(bytes, size, &header, width, wide, out, error);
    imp_array array;
    status = imp_npy_parse(bytes, size, &array, error);
    if (!status)
        status = take_integers(&array, out, error);
    imp_array_clear(&array);
    return status;
}

/* ---- lines ---- */

/* Whether the whole text is an integer. */
static bool is_integer(const char *text, int64_t *value)
{
    char *end;
    const char *digits = text + (*text == '-');
    if (*digits < '0' || *digits > '9' || strlen(digits) > 18)
        return false;
    *value = strtoll(text, &end, 10);
    return *end == '\0';
}

/* If all lines are integers, the labels are integers; an empty line means no label. */
static imp_status lines_as_integers(words *out, imp_error *error)
{
    bool any = false;
    int64_t *values = imp_allocate(out->count, sizeof *values);
    if (!values)
        return no_memory(error);
    for (size_t i = 0; i < out->count; i++) {
        const char *line = out->text + out->begin[i];
        values[i] = -1;
        if (*line == '\0')
            continue;
        if (!is_integer(line, &values[i])) {
            imp_release(values);
            return IMP_OK;
        }
        any = true;
    }
    if (!any) {
        imp_release(values);
        return IMP_OK;
    }
    out->integers = values;
    return IMP_OK;
}

static imp_status take_lines(const unsigned char *bytes, size_t size, words *out, imp_error *error)
{
    out->text = imp_allocate(size + 1, 1);
    size_t lines = size > 0 && bytes[size - 1] != '\n';
    for (size_t i = 0; i < size; i++)
        lines += bytes[i] == '\n';
    out->begin = imp_allocate(lines, sizeof *out->begin);
    if (!out->text || !out->begin)
        return no_memory(error);
    if (size > 0)
        memcpy(out->text, bytes, size);
    out->text[size] = '\0';
    if (memchr(bytes, 0, size) || !imp_is_utf8(out->text))
        return imp_fail(error, IMP_EFORMAT,
                        "it is neither a .npy file nor text in UTF-8, a line for each label");
    char *line = out->text, *end = out->text + size;
    while (line < end) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        out->begin[out->count++] = (size_t)(line - out->text);
        *stop = '\0';
        if (stop > line && stop[-1] == '\r')
            stop[-1] = '\0';
        line = stop + 1;
    }
    return lines_as_integers(out, error);
}

/* ---- classes ---- */

static int compare_integers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static imp_status make_room(imp_labels *labels, size_t classes, imp_error *error)
{
    if (classes > INT32_MAX)
        return imp_fail(error, IMP_EUNSUPPORTED, "there are %zu classes, which are too many",
                        classes);
    labels->names = imp_allocate_zeroed(classes, sizeof *labels->names);
    labels->classes = labels->names ? classes : 0;
    return labels->names ? IMP_OK : no_memory(error);
}

/* Moves the distinct ones of sorted items, `size` bytes each, to the front; returns their number.
 */
static size_t distinct(void *items, size_t count, size_t size,
                       int (*compare)(const void *, const void *))
{
    char *at = items;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare(at + (kept - 1) * size, at + i * size) != 0)
            memmove(at + kept++ * size, at + i * size, size);
    return kept;
}

/* The distinct values found so far, sorted, and some that may be new. */
typedef struct values {
    int64_t *known, *fresh;
    size_t count, fresh_count, room; /* `room`: how many may be new before they are merged */
} values;

static void values_clear(values *of)
{
    imp_release(of->known);
    imp_release(of->fresh);
}

/* Merges the new values into the known ones. From then on as many may be new as are known, so that
 * all merges together cost no more than sorting. */
static bool merge(values *of)
{
    if (of->fresh_count > 0)
        qsort(of->fresh, of->fresh_count, sizeof *of->fresh, compare_integers);
    size_t more = distinct(of->fresh, of->fresh_count, sizeof *of->fresh, compare_integers);
    size_t room = of->count + more > of->room ? of->count + more : of->room, a = 0, b = 0;
    int64_t *merged = imp_allocate(of->count + more, sizeof *merged);
    int64_t *fresh = imp_allocate(room, sizeof *fresh);
    for (size_t i = 0; merged && i < of->count + more; i++)
        merged[i] = b == more || (a < of->count && of->known[a] < of->fresh[b]) ? of->known[a++]
                                                                                : of->fresh[b++];
    size_t count = of->count + more;
    values_clear(of);
    *of = (values){merged, fresh, count, 0, room};
    return merged && fresh;
}

static const int64_t *find_value(const values *of, const int64_t *value)
{
    return of->count > 0 ? bsearch(value, of->known, of->count, sizeof *value, compare_integers)
                         : NULL;
}

static imp_status find_values(const words *from, values *out, imp_error *error)
{
    *out = (values){.room = 1024};
    if (!merge(out))
        return no_memory(error);
    for (size_t i = 0; i < from->count; i++) {
        if (from->integers[i] < -1)
            return imp_fail(error, IMP_EUNSUPPORTED,
                            "label %zu is %" PRId64 "; labels are 0 or more, and -1 means no label",
                            i, from->integers[i]);
        if (from->integers[i] < 0 || find_value(out, &from->integers[i]))
            continue;
        out->fresh[out->fresh_count++] = from->integers[i];
        if (out->fresh_count == out->room && !merge(out))
            return no_memory(error);
    }
    return merge(out) ? IMP_OK : no_memory(error);
}

static imp_status number_integers(const words *from, imp_labels *labels, imp_error *error)
{
    values found;
    imp_status status = find_values(from, &found, error);
    if (!status)
        status = make_room(labels, found.count, error);
    for (size_t c = 0; c < found.count && !status; c++) {
        char name[24];
        snprintf(name, sizeof name, "%" PRId64, found.known[c]);
        labels->names[c] = imp_duplicate(name);
        if (!labels->names[c])
            status = no_memory(error);
    }
    for (size_t i = 0; i < from->count && !status; i++) {
        const int64_t *value =
            from->integers[i] < 0 ? NULL : find_value(&found, &from->integers[i]);
        labels->label[i] = value ? (int32_t)(value - found.known) : -1;
    }
    labels->integers = true;
    values_clear(&found);
    return status;
}

static imp_status number_texts(const words *from, imp_labels *labels, imp_error *error)
{
    const char **sorted = imp_allocate(from->count, sizeof *sorted);
    if (!sorted)
        return no_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < from->count; i++)
        if (from->text[from->begin[i]] != '\0')
            sorted[count++] = from->text + from->begin[i];
    qsort(sorted, count, sizeof *sorted, compare_texts);
    count = distinct(sorted, count, sizeof *sorted, compare_texts);
    imp_status status = make_room(labels, count, error);
    for (size_t c = 0; c < count && !status; c++) {
        labels->names[c] = imp_duplicate(sorted[c]);
        if (!labels->names[c])
            status = no_memory(error);
    }
    for (size_t i = 0; i < from->count && !status; i++) {
        const char *text = from->text + from->begin[i];
        const char **found =
            *text ? bsearch(&text, sorted, count, sizeof *sorted, compare_texts) : NULL;
        labels->label[i] = found ? (int32_t)(found - sorted) : -1;
    }
    imp_release(sorted);
    return status;
}

imp_status imp_labels_parse(const unsigned char *bytes, size_t size, imp_labels *labels,
                            imp_error *error)
{
    *labels = (imp_labels){0};
    words found = {0};
    bool binary = size >= 4 && (bytes[0] == 0x93 || memcmp(bytes, "PK\3\4", 4) == 0);
    imp_status status =
        binary ? take_npy(bytes, size, &found, error) : take_lines(bytes, size, &found, error);
    if (!status) {
        labels->count = found.count;
        labels->label = imp_allocate(found.count, sizeof *labels->label);
        if (!labels->label)
            status = no_memory(error);
        else if (found.integers)
            status = number_integers(&found, labels, error);
        else
            status = number_texts(&found, labels, error);
    }
    words_clear(&found);
    if (status)
        imp_labels_clear(labels);
    return status;
}

/* A .npy file or text. */
static bool begins(const unsigned char *bytes, size_t size)
{
    return bytes[0] == 0x93 || !memchr(bytes, 0, size);
}

imp_status imp_labels_read(const char *path, imp_labels *labels, imp_error *error)
{
    *labels = (imp_labels){0};
    unsigned char *bytes;
    size_t size;
    imp_status status = imp_file_read_if(path, PTRDIFF_MAX, begins, &bytes, &size, error);
    if (status)
        return status;
    status = imp_labels_parse(bytes, size, labels, error);
    if (status)
        imp_error_prefix(error, path);
    imp_release(bytes);
    return status;
}

void imp_labels_clear(imp_labels *labels)
{
    for (size_t c = 0; c < labels->classes; c++)
        imp_release(labels->names[c]);
    imp_release(labels->names);
    imp_release(labels->label);
    *labels = (imp_labels){0};
}

/* ---- names ---- */

int32_t imp_name_find(const char *const *names, size_t count, const char *name)
{
    for (size_t c = 0; c < count; c++)
        if (strcmp(names[c], name) == 0)
            return (int32_t)c;
    return -1;
}

bool imp_names_are_numbers(const char *const *names, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", c);
        if (strcmp(names[c], number) != 0)
            return false;
    }
    return true;
}

imp_status imp_labels_renumber(imp_labels *labels, const char *const *known, size_t count,
                               imp_error *error)
{
    size_t classes = count;
    int32_t *number = imp_allocate(labels->classes, sizeof *number);
    char **names = imp_allocate_zeroed(count + labels->classes, sizeof *names);
    bool enough = number && names;
    for (size_t c = 0; c < count && enough; c++)
        enough = (names[c] = imp_duplicate(known[c])) != NULL;
    for (size_t c = 0; c < labels->classes && enough; c++) {
        number[c] = imp_name_find(known, count, labels->names[c]);
        if (number[c] < 0) {
            number[c] = (int32_t)classes;
            enough = (names[classes++] = imp_duplicate(labels->names[c])) != NULL;
        }
    }
    if (!enough) {
        for (size_t c = 0; names && c < count + labels->classes; c++)
            imp_release(names[c]);
        imp_release(names);
        imp_release(number);
        return no_memory(error);
    }
    for (size_t i = 0; i < labels->count; i++)
        if (labels->label[i] >= 0)
            labels->label[i] = number[labels->label[i]];
    for (size_t c = 0; c < labels->classes; c++)
        imp_release(labels->names[c]);
    imp_release(labels->names);
    imp_release(number);
    labels->names = names;
    labels->classes = classes;
    return IMP_OK;
}
