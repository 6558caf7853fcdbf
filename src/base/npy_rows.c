/*
 * npy_rows.c - a .npy file's rows as floats, read from the disk a few at a time.
 *
 * The file is read, not mapped: one that is cut short, or on a disk that fails while it is in use,
 * then is an error with a sentence and not the end of the process.
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

/* IEEE 754's binary16: a sign, 5 bits of exponent and 10 of the fraction. */
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
    int infinite = 0; /* without a branch per value, which compilers turn into vectors */
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
        return imp_fail(error, IMP_EINVAL,
                        "%s: row %zu, column %zu is %g; points are kept as 32-bit floats, which "
                        "end at %g",
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

/* Reads `size` bytes from `at` on; *got is less only at the end of the file. */
static imp_status read_at(const imp_npy_file *file, size_t at, void *to, size_t size, size_t *got,
                          imp_error *error)
{
    *got = 0;
    while (*got < size) {
        ssize_t part = pread(file->descriptor, (char *)to + *got, size - *got, (off_t)(at + *got));
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return cannot_read(file->path, strerror(errno), error);
        if (part == 0)
            break;
        *got += (size_t)part;
    }
    return IMP_OK;
}

enum { LONGEST_HEADER = 1 << 20 }; /* NumPy's own are a few hundred bytes */

static imp_status read_layout(imp_npy_file *file, imp_error *error)
{
    struct stat about;
    if (fstat(file->descriptor, &about) != 0)
        return cannot_read(file->path, strerror(errno), error);
    if (!S_ISREG(about.st_mode))
        return imp_fail(error, IMP_EUNSUPPORTED, "cannot read '%s' in parts: it is no regular file",
                        file->path);
    size_t size = (size_t)about.st_size, known = size < LONGEST_HEADER ? size : LONGEST_HEADER;
    unsigned char *bytes = imp_allocate(known, 1);
    if (!bytes)
        return imp_fail(error, IMP_ENOMEM, "out of memory for the header of '%s'", file->path);
    imp_status status = read_at(file, 0, bytes, known, &known, error);
    if (!status) {
        imp_npy_header header;
        status = imp_npy_parse_header(bytes, known, &header, error);
        if (!status)
            status = imp_npy_layout(&header, size, &file->layout, error);
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

enum { AT_ONCE = 4096 }; /* elements that are converted together */

/* Elements first .. first + count - 1 of the file become floats. *good is how many are finite
 * before the first that is not, whose value *bad is then. */
static imp_status read_elements(const imp_npy_file *file, size_t first, size_t count, float *floats,
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
    return IMP_OK;
}

/* Rows of a file in which columns follow each other: a piece of every column at a time. */
static imp_status read_columns(const imp_npy_file *file, size_t begin, size_t count, float *rows,
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
    return IMP_OK;
}

imp_status imp_npy_read_rows(const imp_npy_file *file, size_t begin, size_t count, float *rows,
                             imp_error *error)
{
    if (file->fortran)
        return read_columns(file, begin, count, rows, error);
    size_t d = file->layout.shape[1], first = begin * d, left = count * d, good;
    size_t most = file->layout.dtype == IMP_FLOAT32 ? left : AT_ONCE;
    double bad;
    while (left > 0) {
        size_t part = left < most ? left : most;
        imp_status status = read_elements(file, first, part, rows, &good, &bad, error);
        if (status)
            return status;
        if (good < part)
            return imp_fail_no_float(file->path, (first + good) / d, (first + good) % d, bad,
                                     error);
        first += part;
        rows += part;
        left -= part;
    }
    return IMP_OK;
}
