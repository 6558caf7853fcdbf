/*
 * npy.h - arrays in NumPy's .npy format, versions 1 and 2, little-endian. Arrays in Fortran order
 * are converted to C order when they are read.
 */
#ifndef IMP_BASE_NPY_H
#define IMP_BASE_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <imp/status.h>

#include "base/array.h"
#include "base/file.h"

/* Reads the array held in `size` bytes (the whole content of a .npy file). On failure *array is
 * zeroed: IMP_EUNSUPPORTED for a valid file of a kind not read here (version 3, big-endian, another
 * dtype, more than IMP_MAX_RANK dimensions), IMP_EFORMAT for an invalid one. */
imp_status imp_npy_parse(const unsigned char *bytes, size_t size, imp_array *array,
                         imp_error *error);

/* imp_npy_parse() on a file; errors name the path. */
imp_status imp_npy_load(const char *path, imp_array *array, imp_error *error);

/* Element i of an array of that type. */
double imp_element(imp_dtype dtype, const void *elements, size_t i);

/* Converts `count` elements of that type. Returns the number converted: all, or those before the
 * first that is not a finite float. */
size_t imp_to_floats(imp_dtype dtype, const void *elements, size_t count, float *floats);

/* Fails because a value in a file is not a finite float. */
imp_status imp_fail_no_float(const char *path, size_t row, size_t column, double value,
                             imp_error *error);

/* A file whose elements are read on demand. */
typedef struct imp_npy_file {
    imp_array layout; /* without data */
    char *path;
    size_t begin; /* of the elements, in bytes */
    bool fortran; /* the first index runs fastest */
    int descriptor;
    bool stream;           /* a pipe: elements can be read only once, in order */
    size_t position;       /* bytes of the pipe read so far */
    struct timespec stamp; /* modification time of the file when it was opened */
    bool kept, lost;       /* some values read so far are not 0, and became 0 as floats */
} imp_npy_file;

/* Opens a file or a pipe; failures are those of imp_npy_load(). On failure *file is zeroed. Close
 * with imp_npy_close(), which is harmless on a zeroed one. */
imp_status imp_npy_open(const char *path, imp_npy_file *file, imp_error *error);
void imp_npy_close(imp_npy_file *file);

/* imp_npy_rest() closes the descriptor while the file is not being read, and imp_npy_wake() opens
 * it again: IMP_EIO if the file has changed meanwhile. A pipe stays open. */
void imp_npy_rest(imp_npy_file *file);
imp_status imp_npy_wake(imp_npy_file *file, imp_error *error);

/* Reads rows begin .. begin + count - 1 of a file of two dimensions as floats. IMP_EINVAL for a
 * value that is not a finite float (names its row and column), and with the last row if all values
 * were so small that they became 0; IMP_EIO, also if the file was truncated meanwhile; IMP_EFORMAT
 * for a pipe that continues after its last row. */
imp_status imp_npy_read_rows(imp_npy_file *file, size_t begin, size_t count, float *rows,
                             imp_error *error);

/* The header of a file. */
typedef struct imp_npy_header {
    char descr[40]; /* the dtype as NumPy writes it, cut to fit */
    bool fortran;   /* the first index runs fastest */
    size_t rank;
    size_t shape[IMP_MAX_RANK];
    size_t begin; /* of the elements, in bytes */
} imp_npy_header;

/* Parses the header in the first `known` bytes of a file. IMP_EFORMAT if it does not end within
 * them. */
imp_status imp_npy_parse_header(const unsigned char *bytes, size_t known, imp_npy_header *header,
                                imp_error *error);

/* The size of a pipe, which is not known in advance. */
#define IMP_NPY_ANY_SIZE SIZE_MAX

/* The array's type and shape, checked against the `size` bytes of the file. */
imp_status imp_npy_layout(const imp_npy_header *header, size_t size, imp_array *layout,
                          imp_error *error);

/* Writes the header, version 1, of an array whose elements follow through imp_writer_write(). After
 * a failure the writer has abandoned itself. */
imp_status imp_npy_begin(imp_writer *writer, imp_dtype dtype, size_t rank, const size_t *shape,
                         imp_error *error);

/* Writes the array to an open file, as version 1. After a failure the writer has abandoned itself.
 */
imp_status imp_npy_write(imp_writer *writer, const imp_array *array, imp_error *error);

/* Writes the header of an array in C order, of any dtype. */
imp_status imp_npy_write_header(imp_writer *writer, const char *descr, size_t rank,
                                const size_t *shape, imp_error *error);

/* Writes the array as a whole file, atomically. */
imp_status imp_npy_save(const char *path, const imp_array *array, imp_error *error);

#endif
