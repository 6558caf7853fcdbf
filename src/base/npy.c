/*
 * npy.c - NumPy's .npy format, read strictly and written as NumPy itself writes it.
 *
 * A file is a magic string, a version, a Python dict literal (descr, fortran_order, shape) and the
 * elements. The dict is parsed by hand: it has three keys, and any other Python is refused rather
 * than guessed at.
 */
#include "base/npy.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "elements are copied as they lie in the file, which is little-endian"
#endif

static const char *const descrs[] = {
    [IMP_FLOAT32] = "<f4", [IMP_FLOAT64] = "<f8", [IMP_INT32] = "<i4", [IMP_INT64] = "<i8",
    [IMP_UINT8] = "|u1",   [IMP_FLOAT16] = "<f2", [IMP_INT8] = "|i1",  [IMP_INT16] = "<i2",
    [IMP_UINT16] = "<u2",  [IMP_BOOL] = "|b1",
};

enum { DTYPES = sizeof descrs / sizeof *descrs };

#define SUPPORTED                                                                            \
    "float16 ('<f2'), float32 ('<f4'), float64 ('<f8'), int8 ('|i1'), int16 ('<i2'), int32 " \
    "('<i4'), int64 ('<i8'), uint8 ('|u1'), uint16 ('<u2') and bool ('|b1')"

/* ---- the header's dict ---- */

typedef struct cursor {
    const unsigned char *text;
    size_t size, at;
} cursor;

/* A piece of the header's text. */
typedef struct slice {
    const char *text;
    size_t size;
} slice;

typedef struct header {
    slice descr;
    bool fortran;
    size_t rank;
    size_t shape[IMP_MAX_RANK];
} header;

static bool is(slice s, const char *word)
{
    return s.size == strlen(word) && memcmp(s.text, word, s.size) == 0;
}

/* How much of a slice to quote in a message; its characters are known to be printable. */
static int shown(slice s)
{
    return s.size < 40 ? (int)s.size : 40;
}

static bool is_printable(unsigned char c)
{
    return c >= 0x20 && c <= 0x7e;
}

static imp_status malformed(const cursor *c, const char *wanted, imp_error *error)
{
    char found[24];
    if (c->at == c->size)
        snprintf(found, sizeof found, "its end");
    else if (is_printable(c->text[c->at]))
        snprintf(found, sizeof found, "'%c'", c->text[c->at]);
    else
        snprintf(found, sizeof found, "byte 0x%02x", c->text[c->at]);
    return imp_fail(error, IMP_EFORMAT, "the header is malformed at its byte %zu: found %s, not %s",
                    c->at, found, wanted);
}

static void skip_space(cursor *c)
{
    while (c->at < c->size && c->text[c->at] != '\0' && strchr(" \t\r\n", c->text[c->at]) != NULL)
        c->at++;
}

/* Steps over `symbol` if that is what comes next. */
static bool take(cursor *c, unsigned char symbol)
{
    skip_space(c);
    if (c->at == c->size || c->text[c->at] != symbol)
        return false;
    c->at++;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_space(c);
    if (c->size - c->at < length || memcmp(c->text + c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

/* A string in either kind of quotes. NumPy's own need no escapes, so a backslash is refused. */
static imp_status parse_string(cursor *c, const char *wanted, slice *out, imp_error *error)
{
    unsigned char quote = '\'';
    if (!take(c, quote)) {
        quote = '"';
        if (!take(c, quote))
            return malformed(c, wanted, error);
    }
    size_t begin = c->at;
    while (c->at < c->size && c->text[c->at] != quote) {
        if (!is_printable(c->text[c->at]) || c->text[c->at] == '\\')
            return malformed(c, "a plain character of a string", error);
        c->at++;
    }
    if (c->at == c->size)
        return malformed(c, "the closing quote of a string", error);
    *out = (slice){(const char *)c->text + begin, c->at - begin};
    c->at++;
    return IMP_OK;
}

static imp_status parse_descr(cursor *c, slice *descr, imp_error *error)
{
    skip_space(c);
    if (c->at < c->size && c->text[c->at] == '[')
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "it holds records of several fields; save one field, as one of " SUPPORTED);
    return parse_string(c, "the quoted dtype of 'descr'", descr, error);
}

static imp_status parse_boolean(cursor *c, bool *value, imp_error *error)
{
    *value = take_word(c, "True");
    if (!*value && !take_word(c, "False"))
        return malformed(c, "True or False", error);
    return IMP_OK;
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static imp_status parse_length(cursor *c, size_t *value, imp_error *error)
{
    if (take(c, '-'))
        return imp_fail(error, IMP_EFORMAT, "its shape has a negative length; lengths are >= 0");
    size_t begin = c->at;
    size_t number = 0;
    for (; c->at < c->size && is_digit(c->text[c->at]); c->at++)
        if (!imp_multiply(number, 10, &number) ||
            !imp_add(number, (size_t)(c->text[c->at] - '0'), &number))
            return imp_fail(error, IMP_EFORMAT,
                            "its shape has a length of more digits than fit in memory");
    if (c->at == begin)
        return malformed(c, "a length or ')'", error);
    if (c->text[begin] == '0' && c->at > begin + 1) {
        c->at = begin;
        return malformed(c, "a length without leading zeros", error);
    }
    *value = number;
    return IMP_OK;
}

/* A tuple: "()", "(3,)" or "(3, 4)" with or without a last comma. "(3)" is a number in Python. */
static imp_status parse_shape(cursor *c, header *h, imp_error *error)
{
    if (!take(c, '('))
        return malformed(c, "'(' of a shape", error);
    h->rank = 0;
    for (bool comma = true; !take(c, ')');) {
        if (!comma)
            return malformed(c, "',' or ')' in the shape", error);
        if (h->rank == IMP_MAX_RANK)
            return imp_fail(error, IMP_EUNSUPPORTED,
                            "its shape has more than %d dimensions, the most supported",
                            IMP_MAX_RANK);
        imp_status status = parse_length(c, &h->shape[h->rank], error);
        if (status)
            return status;
        h->rank++;
        comma = take(c, ',');
        if (!comma && h->rank == 1)
            return malformed(c, "',' after the first length of the shape", error);
    }
    return IMP_OK;
}

/* The whole dict: the three keys in any order, each exactly once, and nothing after it. */
static imp_status parse_header(cursor *c, header *h, imp_error *error)
{
    enum { DESCR, FORTRAN, SHAPE, KEYS };
    static const char *const keys[KEYS] = {"descr", "fortran_order", "shape"};
    bool seen[KEYS] = {false};

    if (!take(c, '{'))
        return malformed(c, "'{'", error);
    for (bool comma = true; !take(c, '}');) {
        slice key;
        if (!comma)
            return malformed(c, "',' or '}'", error);
        imp_status status = parse_string(c, "a quoted key or '}'", &key, error);
        if (status)
            return status;

        int which = 0;
        while (which < KEYS && !is(key, keys[which]))
            which++;
        if (which == KEYS)
            return imp_fail(error, IMP_EFORMAT,
                            "the header has the unknown key '%.*s'; it must have 'descr', "
                            "'fortran_order' and 'shape'",
                            shown(key), key.text);
        if (seen[which])
            return imp_fail(error, IMP_EFORMAT, "the header has the key '%s' twice", keys[which]);
        seen[which] = true;

        if (!take(c, ':'))
            return malformed(c, "':' after a key", error);
        if (which == DESCR)
            status = parse_descr(c, &h->descr, error);
        else if (which == FORTRAN)
            status = parse_boolean(c, &h->fortran, error);
        else
            status = parse_shape(c, h, error);
        if (status)
            return status;
        comma = take(c, ',');
    }

    skip_space(c);
    if (c->at < c->size)
        return malformed(c, "its end after '}'", error);
    for (int which = 0; which < KEYS; which++)
        if (!seen[which])
            return imp_fail(error, IMP_EFORMAT, "the header lacks the key '%s'", keys[which]);
    return IMP_OK;
}

static imp_status find_dtype(const char *descr, imp_dtype *dtype, imp_error *error)
{
    for (size_t i = 0; i < DTYPES; i++)
        if (strcmp(descr, descrs[i]) == 0) {
            *dtype = (imp_dtype)i;
            return IMP_OK;
        }

    if (descr[0] == '>')
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "its dtype '%s' is big-endian; save it little-endian, as one of %s", descr,
                        SUPPORTED);
    if (descr[0] != '\0' && descr[1] == 'O')
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "its dtype '%s' holds Python objects; save numbers, as one of %s", descr,
                        SUPPORTED);
    return imp_fail(error, IMP_EUNSUPPORTED,
                    "its dtype '%s' is not supported; the supported ones are %s", descr, SUPPORTED);
}

/* ---- reading ---- */

static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

enum {
    VERSION_END = sizeof magic + 2, /* major and minor */
    PREAMBLE_1 = VERSION_END + 2,   /* then the header's length in 2 bytes, */
    PREAMBLE_2 = VERSION_END + 4,   /* or 4 */
};

/* Finds the header's text and where the elements begin. */
static imp_status find_header(const unsigned char *bytes, size_t size, cursor *c, size_t *begin,
                              imp_error *error)
{
    if (size >= 4 && memcmp(bytes, "PK\3\4", 4) == 0)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "it is a zip (.npz) archive; take the .npy file out of it");
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return imp_fail(error, IMP_EFORMAT,
                        "it is not a .npy file, which begins with the byte 0x93 and 'NUMPY'");
    if (size < VERSION_END)
        return imp_fail(error, IMP_EFORMAT, "the file ends before its version, after %zu bytes",
                        size);

    unsigned major = bytes[6], minor = bytes[7];
    if ((major != 1 && major != 2) || minor != 0)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "its format version %u.%u is not supported; 1.0 and 2.0 are", major, minor);

    size_t preamble = major == 1 ? PREAMBLE_1 : PREAMBLE_2;
    if (size < preamble)
        return imp_fail(error, IMP_EFORMAT,
                        "the file ends before the length of its header, after %zu bytes", size);
    size_t length = 0;
    for (size_t i = preamble; i > VERSION_END; i--)
        length = length << 8 | bytes[i - 1];
    if (length > size - preamble)
        return imp_fail(error, IMP_EFORMAT,
                        "the file ends inside its header: %zu bytes of it where %zu are announced",
                        size - preamble, length);

    *c = (cursor){.text = bytes + preamble, .size = length};
    *begin = preamble + length;
    return IMP_OK;
}

imp_status imp_npy_parse_header(const unsigned char *bytes, size_t known, imp_npy_header *out,
                                imp_error *error)
{
    *out = (imp_npy_header){0};
    cursor c = {0};
    header h = {0};
    imp_status status = find_header(bytes, known, &c, &out->begin, error);
    if (!status)
        status = parse_header(&c, &h, error);
    if (status)
        return status;
    snprintf(out->descr, sizeof out->descr, "%.*s", (int)h.descr.size, h.descr.text);
    out->fortran = h.fortran && h.rank > 1;
    out->rank = h.rank;
    memcpy(out->shape, h.shape, h.rank * sizeof *h.shape);
    return IMP_OK;
}

imp_status imp_npy_layout(const imp_npy_header *h, size_t size, imp_array *array, imp_error *error)
{
    *array = (imp_array){0};
    imp_dtype dtype = IMP_FLOAT32;
    imp_status status = find_dtype(h->descr, &dtype, error);
    if (status)
        return status;

    /* Compared before anything is allocated: a small file cannot ask for a large block. */
    size_t count, needed;
    if (!imp_shape_size(dtype, h->rank, h->shape, &count, &needed))
        return imp_fail(error, IMP_EFORMAT, "its shape %s of %s does not fit in any memory",
                        imp_shape_format(h->rank, h->shape).text, imp_dtype_name(dtype));
    if (size != IMP_NPY_ANY_SIZE && size - h->begin != needed)
        return imp_fail(error, IMP_EFORMAT,
                        "it holds %zu bytes of data where its shape %s of %s needs %zu",
                        size - h->begin, imp_shape_format(h->rank, h->shape).text,
                        imp_dtype_name(dtype), needed);

    *array = (imp_array){.dtype = dtype, .rank = h->rank, .count = count};
    memcpy(array->shape, h->shape, h->rank * sizeof *h->shape);
    return IMP_OK;
}

/* Copies elements whose first index runs fastest to where the last one does. */
static void to_c_order(const imp_array *array, const unsigned char *from)
{
    size_t size = imp_dtype_size(array->dtype), rank = array->rank;
    size_t step[IMP_MAX_RANK], index[IMP_MAX_RANK] = {0}, at = 0, product = 1;
    for (size_t i = 0; i < rank; i++) {
        step[i] = product;
        product *= array->shape[i];
    }
    for (size_t i = 0; i < array->count; i++) {
        memcpy((unsigned char *)array->data + i * size, from + at * size, size);
        for (size_t r = rank; r-- > 0;) {
            at += step[r];
            if (++index[r] < array->shape[r])
                break;
            at -= step[r] * array->shape[r];
            index[r] = 0;
        }
    }
}

/* The array of a whole file in memory. */
static imp_status copy_array(const imp_npy_header *h, const unsigned char *bytes,
                             const imp_array *layout, imp_array *array, imp_error *error)
{
    imp_status status = imp_array_create(array, layout->dtype, layout->rank, layout->shape, error);
    if (!status && h->fortran)
        to_c_order(array, bytes + h->begin);
    else if (!status)
        memcpy(array->data, bytes + h->begin, array->count * imp_dtype_size(array->dtype));
    return status;
}

imp_status imp_npy_parse(const unsigned char *bytes, size_t size, imp_array *array,
                         imp_error *error)
{
    imp_npy_header h;
    imp_array layout;
    *array = (imp_array){0};
    imp_status status = imp_npy_parse_header(bytes, size, &h, error);
    if (!status)
        status = imp_npy_layout(&h, size, &layout, error);
    return status ? status : copy_array(&h, bytes, &layout, array, error);
}

static bool begins_right(const unsigned char *bytes, size_t size)
{
    return size < sizeof magic || memcmp(bytes, magic, sizeof magic) == 0;
}

imp_status imp_npy_load(const char *path, imp_array *array, imp_error *error)
{
    *array = (imp_array){0};

    unsigned char *bytes;
    size_t size;
    imp_status status = imp_file_read_if(path, PTRDIFF_MAX, begins_right, &bytes, &size, error);
    if (status)
        return status;
    imp_npy_header h;
    imp_array layout = {0};
    status = imp_npy_parse_header(bytes, size, &h, error);
    if (!status)
        status = imp_npy_layout(&h, size, &layout, error);
    if (!status && h.fortran)
        status = copy_array(&h, bytes, &layout, array, error);
    if (status || h.fortran) {
        if (status)
            imp_error_prefix(error, path);
        imp_release(bytes);
        return status;
    }
    /* The array takes over the file's memory, so that a large one is never held twice. */
    memmove(bytes, bytes + h.begin, size - h.begin);
    *array = layout;
    array->data = bytes;
    return IMP_OK;
}

/* ---- writing ---- */

imp_status imp_npy_write_header(imp_writer *writer, const char *descr, size_t rank,
                                const size_t *shape, imp_error *error)
{
    /* Padded so that the elements begin at a multiple of 64, as the format asks. */
    char text[PREAMBLE_1 + 4 * 64];
    memcpy(text, magic, sizeof magic);
    int used = PREAMBLE_1;
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr,
                     imp_shape_format(rank, shape).text);
    size_t end = ((size_t)used + 1 + 63) / 64 * 64;
    memset(text + used, ' ', end - (size_t)used);
    text[end - 1] = '\n';
    size_t length = end - PREAMBLE_1;
    text[6] = 1;
    text[7] = 0;
    text[8] = (char)(length & 0xff);
    text[9] = (char)(length >> 8);

    return imp_writer_write(writer, text, end, error);
}

imp_status imp_npy_begin(imp_writer *writer, imp_dtype dtype, size_t rank, const size_t *shape,
                         imp_error *error)
{
    return imp_npy_write_header(writer, descrs[dtype], rank, shape, error);
}

imp_status imp_npy_write(imp_writer *writer, const imp_array *array, imp_error *error)
{
    size_t count, bytes;
    if (imp_dtype_size(array->dtype) == 0 || array->rank > IMP_MAX_RANK ||
        !imp_shape_size(array->dtype, array->rank, array->shape, &count, &bytes) ||
        count != array->count || (bytes > 0 && array->data == NULL)) {
        imp_fail(error, IMP_EINVAL,
                 "cannot write '%s': the array's dtype, shape, count and data disagree",
                 writer->path);
        imp_writer_abandon(writer);
        return IMP_EINVAL;
    }

    imp_status status =
        imp_npy_write_header(writer, descrs[array->dtype], array->rank, array->shape, error);
    return status ? status : imp_writer_write(writer, array->data, bytes, error);
}

imp_status imp_npy_save(const char *path, const imp_array *array, imp_error *error)
{
    imp_writer writer;
    imp_status status;
    if ((status = imp_writer_open(&writer, path, error)) != IMP_OK ||
        (status = imp_npy_write(&writer, array, error)) != IMP_OK)
        return status;
    return imp_writer_commit(&writer, error);
}
