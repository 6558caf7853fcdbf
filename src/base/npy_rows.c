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
        status = imp_npy_parse_layout(bytes, known, size, &file->layout, &file->begin, error);
        if (status)
            imp_error_prefix(error, file->path);
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

/* Elements first .. first + count - 1 become floats, or fail by their row and column. */
static imp_status read_elements(const imp_npy_file *file, size_t first, size_t count, float *floats,
                                imp_error *error)
{
    const imp_array *layout = &file->layout;
    size_t size = imp_dtype_size(layout->dtype), got;
    _Alignas(8) unsigned char buffer[AT_ONCE * 8];
    void *elements = layout->dtype == IMP_FLOAT32 ? (void *)floats : buffer;
    imp_status status =
        read_at(file, file->begin + first * size, elements, count * size, &got, error);
    if (status)
        return status;
    if (got < count * size)
        return cannot_read(file->path, "it was cut short while it was in use", error);
    size_t good = imp_to_floats(layout->dtype, elements, count, floats);
    if (good == count)
        return IMP_OK;
    return imp_fail_no_float(file->path, (first + good) / layout->shape[1],
                             (first + good) % layout->shape[1],
                             imp_element(layout->dtype, elements, good), error);
}

imp_status imp_npy_read_rows(const imp_npy_file *file, size_t begin, size_t count, float *rows,
                             imp_error *error)
{
    size_t first = begin * file->layout.shape[1], left = count * file->layout.shape[1];
    size_t most = file->layout.dtype == IMP_FLOAT32 ? left : AT_ONCE;
    imp_status status = IMP_OK;
    while (left > 0 && !status) {
        size_t part = left < most ? left : most;
        status = read_elements(file, first, part, rows, error);
        first += part;
        rows += part;
        left -= part;
    }
    return status;
}
