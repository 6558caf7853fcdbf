/*
 * npy_rows.c - reads rows of a .npy file as floats, a few at a time.
 *
 * The file is read, not mapped, so that truncation or a failing disk while it is in use is an error
 * and not a SIGBUS.
 */
#define _POSIX_C_SOURCE 200809L /* pread, posix_fadvise */

#include "base/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- elements as floats ---- */

/* IEEE 754 binary16: a sign bit, 5 bits of exponent and 10 of fraction. */
static double half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -value : value;
}

double imp_element(imp_dtype dtype, const void *elements, size_t i)
{
    switch (dtype) {
    case IMP_FLOAT32:
        return ((const float *)elements)[i];
    case IMP_FLOAT64:
        return ((const double *)elements)[i];
    case IMP_INT32:
        return ((const int32_t *)elements)[i];
    case IMP_INT64:
        return (double)((const int64_t *)elements)[i];
    case IMP_FLOAT16:
        return half(((const uint16_t *)elements)[i]);
    case IMP_INT8:
        return ((const int8_t *)elements)[i];
    case IMP_INT16:
        return ((const int16_t *)elements)[i];
    case IMP_UINT16:
        return ((const uint16_t *)elements)[i];
    case IMP_BOOL:
        return ((const uint8_t *)elements)[i] != 0;
    case IMP_UINT8:
        break;
    }
    return ((const uint8_t *)elements)[i];
}

size_t imp_to_floats(imp_dtype dtype, const void *elements, size_t count, float *floats)
{
    int infinite = 0; /* without a branch per value, so that the loop vectorises */
    if (dtype == IMP_FLOAT32) {
        if (floats != elements)
            memcpy(floats, elements, count * sizeof *floats);
    } else {
        for (size_t i = 0; i < count; i++)
            floats[i] = (float)imp_element(dtype, elements, i);
    }
    for (size_t i = 0; i < count; i++)
        infinite |= !(fabsf(floats[i]) <= FLT_MAX);
    for (size_t i = 0; infinite && i < count; i++)
        if (!isfinite(floats[i]))
            return i;
    return count;
}

imp_status imp_fail_no_float(const char *path, size_t row, size_t column, double value,
                             imp_error *error)
{
    if (isfinite(value))
        return imp_fail(
            error, IMP_EINVAL,
            "%s: row %zu, column %zu is %g; points are kept as 32-bit floats, which go up to %g",
            path, row, column, value, FLT_MAX);
    return imp_fail(error, IMP_EINVAL,
                    "%s: row %zu, column %zu is %s; every value must be a finite number", path, row,
                    column, isnan(value) ? "not a number (NaN)" : "infinite");
}

/* ---- a part of a file ---- */

static imp_status cannot_read(const char *path, const char *why, imp_error *error)
{
    return imp_fail(error, IMP_EIO, "cannot read '%s': %s", path, why);
}

/* Reads `size` bytes at offset `at`, which in a pipe must be the next; *got is less only at the
 * end. */
static imp_status read_at(imp_npy_file *file, size_t at, void *to, size_t size, size_t *got,
                          imp_error *error)
{
    *got = 0;
    if (file->stream && at != file->position)
        return cannot_read(file->path, "a pipe is read once, from its beginning to its end", error);
    while (*got < size) {
        char *next = (char *)to + *got;
        ssize_t part = file->stream
                           ? read(file->descriptor, next, size - *got)
                           : pread(file->descriptor, next, size - *got, (off_t)(at + *got));
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return cannot_read(file->path, strerror(errno), error);
        if (part == 0)
            break;
        *got += (size_t)part;
    }
    file->position = at + *got;
    return IMP_OK;
}

enum {
    LONGEST_HEADER = 1 << 20, /* NumPy's own are a few hundred bytes */
    PREAMBLE = 12             /* bytes after which the length of any header is known */
};

/* Reads a pipe's header and not a byte beyond it; *known is its length. */
static imp_status read_stream_header(imp_npy_file *file, unsigned char *bytes, size_t *known,
                                     imp_error *error)
{
    imp_status status = read_at(file, 0, bytes, PREAMBLE, known, error);
    if (status || *known < PREAMBLE)
        return status;
    bool long_one = bytes[6] > 1;
    size_t length = bytes[8] | (size_t)bytes[9] << 8, more;
    if (long_one)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    size_t end = (long_one ? PREAMBLE : PREAMBLE - 2) + length;
    end = end < LONGEST_HEADER ? end : LONGEST_HEADER;
    if (end <= PREAMBLE)
        return IMP_OK;
    status = read_at(file, PREAMBLE, bytes + PREAMBLE, end - PREAMBLE, &more, error);
    *known += more;
    return status;
}

static imp_status read_layout(imp_npy_file *file, imp_error *error)
{
    struct stat about;
    if (fstat(file->descriptor, &about) != 0)
        return cannot_read(file->path, strerror(errno), error);
    file->stream = S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode);
    if (!S_ISREG(about.st_mode) && !file->stream)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "cannot read '%s': it is neither a file nor a pipe", file->path);
    file->stamp = about.st_mtim;
    size_t size = file->stream ? IMP_NPY_ANY_SIZE : (size_t)about.st_size;
    size_t known = size < LONGEST_HEADER ? size : LONGEST_HEADER;
    unsigned char *bytes = imp_allocate(known, 1);
    if (!bytes)
        return imp_fail(error, IMP_ENOMEM, "out of memory for the header of '%s'", file->path);
    imp_status status = file->stream ? read_stream_header(file, bytes, &known, error)
                                     : read_at(file, 0, bytes, known, &known, error);
    if (!status) {
        imp_npy_header header;
        status = imp_npy_parse_header(bytes, known, &header, error);
        if (!status)
            status = imp_npy_layout(&header, size, &file->layout, error);
        if (!status && file->stream && header.fortran && header.rank > 1)
            status = imp_fail(error, IMP_EUNSUPPORTED,
                              "its rows are in Fortran order, which a pipe cannot give one by one; "
                              "save it in C order, or as a file");
        if (status)
            imp_error_prefix(error, file->path);
        file->begin = header.begin;
        file->fortran = header.fortran;
    }
    imp_release(bytes);
    return status;
}

imp_status imp_npy_open(const char *path, imp_npy_file *file, imp_error *error)
{
    *file = (imp_npy_file){.descriptor = -1, .path = imp_duplicate(path)};
    imp_status status = IMP_OK;
    if (!file->path)
        status = imp_fail(error, IMP_ENOMEM, "out of memory to open '%s'", path);
    else if ((file->descriptor = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        status = cannot_read(path, strerror(errno), error);
    else
        status = read_layout(file, error);
    if (status) {
        imp_npy_close(file);
        return status;
    }
    posix_fadvise(file->descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
    return IMP_OK;
}

void imp_npy_close(imp_npy_file *file)
{
    if (file->path && file->descriptor >= 0)
        close(file->descriptor);
    imp_release(file->path);
    *file = (imp_npy_file){0};
}

void imp_npy_rest(imp_npy_file *file)
{
    if (file->stream || file->descriptor < 0)
        return;
    close(file->descriptor);
    file->descriptor = -1;
}

imp_status imp_npy_wake(imp_npy_file *file, imp_error *error)
{
    if (file->descriptor >= 0)
        return IMP_OK;
    file->descriptor = open(file->path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file->descriptor < 0 || fstat(file->descriptor, &about) != 0)
        return cannot_read(file->path, strerror(errno), error);
    if (about.st_mtim.tv_sec != file->stamp.tv_sec || about.st_mtim.tv_nsec != file->stamp.tv_nsec)
        return cannot_read(file->path, "it was changed while it was in use", error);
    posix_fadvise(file->descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
    return IMP_OK;
}

enum {
    AT_ONCE = 4096,            /* elements converted together */
    CHECKED_TOGETHER = 1 << 16 /* floats that are still in the cache when they are checked */
};

/* Notes whether floats keep anything of these values. */
static void note_kept(imp_npy_file *file, const double *values, const float *floats, size_t count)
{
    for (size_t i = 0; i < count && !file->kept; i++) {
        file->kept = floats[i] != 0;
        file->lost |= !file->kept && values[i] != 0;
    }
}

/* After the last row: fails if floats have kept nothing of the values. */
static imp_status check_kept(const imp_npy_file *file, size_t end, imp_error *error)
{
    if (end < file->layout.shape[0] || file->kept || !file->lost)
        return IMP_OK;
    return imp_fail(error, IMP_EINVAL,
                    "%s: all values are so small that 32-bit floats, as which points are kept, "
                    "lose them; multiply all points by a number",
                    file->path);
}

/* Reads elements first .. first + count - 1 as floats. *good is the number before the first that is
 * not finite, whose value is then in *bad. */
static imp_status read_elements(imp_npy_file *file, size_t first, size_t count, float *floats,
                                size_t *good, double *bad, imp_error *error)
{
    imp_dtype dtype = file->layout.dtype;
    size_t size = imp_dtype_size(dtype), got;
    _Alignas(8) unsigned char buffer[AT_ONCE * 8];
    void *elements = dtype == IMP_FLOAT32 ? (void *)floats : buffer;
    imp_status status =
        read_at(file, file->begin + first * size, elements, count * size, &got, error);
    if (status)
        return status;
    if (got < count * size)
        return cannot_read(file->path, "it was cut short while it was in use", error);
    *good = imp_to_floats(dtype, elements, count, floats);
    *bad = *good < count ? imp_element(dtype, elements, *good) : 0;
    if (dtype == IMP_FLOAT64)
        note_kept(file, elements, floats, *good);
    return IMP_OK;
}

/* Reads rows of a file in Fortran order: a piece of every column at a time. */
static imp_status read_columns(imp_npy_file *file, size_t begin, size_t count, float *rows,
                               imp_error *error)
{
    size_t n = file->layout.shape[0], d = file->layout.shape[1], good;
    float floats[AT_ONCE];
    double bad;
    for (size_t from = 0; from < count; from += AT_ONCE) {
        size_t part = count - from < AT_ONCE ? count - from : AT_ONCE;
        for (size_t column = 0; column < d; column++) {
            imp_status status =
                read_elements(file, column * n + begin + from, part, floats, &good, &bad, error);
            if (status)
                return status;
            if (good < part)
                return imp_fail_no_float(file->path, begin + from + good, column, bad, error);
            for (size_t i = 0; i < part; i++)
                rows[(from + i) * d + column] = floats[i];
        }
    }
    return check_kept(file, begin + count, error);
}

/* A pipe must end after its last row. */
static imp_status check_end(imp_npy_file *file, imp_error *error)
{
    size_t got, end = file->begin + file->layout.count * imp_dtype_size(file->layout.dtype);
    imp_status status = read_at(file, end, &(char){0}, 1, &got, error);
    if (!status && got > 0)
        status = imp_fail(error, IMP_EFORMAT, "%s: it continues after the data of its shape %s",
                          file->path, imp_shape_format(2, file->layout.shape).text);
    return status;
}

imp_status imp_npy_read_rows(imp_npy_file *file, size_t begin, size_t count, float *rows,
                             imp_error *error)
{
    if (file->fortran)
        return read_columns(file, begin, count, rows, error);
    size_t d = file->layout.shape[1], first = begin * d, left = count * d, good;
    size_t most = file->layout.dtype == IMP_FLOAT32 ? CHECKED_TOGETHER : AT_ONCE;
    double bad;
    imp_status status;
    while (left > 0) {
        size_t part = left < most ? left : most;
        status = read_elements(file, first, part, rows, &good, &bad, error);
        if (status)
            return status;
        if (good < part)
            return imp_fail_no_float(file->path, (first + good) / d, (first + good) % d, bad,
                                     error);
        first += part;
        rows += part;
        left -= part;
    }
    status = check_kept(file, begin + count, error);
    if (!status && file->stream && begin + count == file->layout.shape[0])
        status = check_end(file, error);
    return status;
}
