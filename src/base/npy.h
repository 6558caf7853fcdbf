/*
 * npy.h - arrays in NumPy's .npy format: versions 1 and 2, little-endian. Those in Fortran order
 * become C order when they are read.
 */
#ifndef IMP_BASE_NPY_H
#define IMP_BASE_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <imp/status.h>

#include "base/file.h"

/* The first five are also those of safetensors. */
typedef enum imp_dtype {
    IMP_FLOAT32,
    IMP_FLOAT64,
    IMP_INT32,
    IMP_INT64,
    IMP_UINT8,
    IMP_FLOAT16,
    IMP_INT8,
    IMP_INT16,
    IMP_UINT16,
    IMP_BOOL
} imp_dtype;

/* Bytes per element. */
size_t imp_dtype_size(imp_dtype dtype);

/* "float32" and so on. */
const char *imp_dtype_name(imp_dtype dtype);

enum { IMP_MAX_RANK = 8 };

/* A dense array in C order. rank 0 is one scalar. */
typedef struct imp_array {
    imp_dtype dtype;
    size_t rank;
    size_t shape[IMP_MAX_RANK];
    size_t count; /* product of the shape */
    void *data;   /* 64-byte aligned */
} imp_array;

/* The number of elements and of bytes a shape stands for; false when they do not fit in memory.
 * A length of zero anywhere makes both zero, yet the other lengths must still fit together. */
bool imp_shape_size(imp_dtype dtype, size_t rank, const size_t *shape, size_t *count,
                    size_t *bytes);

/* A shape as people write it: "()", "(3,)", "(3, 4)". */
typedef struct imp_shape_text {
    char text[IMP_MAX_RANK * 22 + 4];
} imp_shape_text;
imp_shape_text imp_shape_format(size_t rank, const size_t *shape);

/* A new array of that shape, uninitialised. Release with imp_array_clear(). On failure
 * *array is zeroed: IMP_ENOMEM also for a shape too large for any memory. */
imp_status imp_array_create(imp_array *array, imp_dtype dtype, size_t rank, const size_t *shape,
                            imp_error *error);

/* Releases the data and zeroes the struct; harmless on a zeroed one. */
void imp_array_clear(imp_array *array);

/* Reads the array held in `size` bytes (the whole content of a .npy file). On failure *array is
 * zeroed: IMP_EUNSUPPORTED for a sound file of a kind not read here (version 3, big-endian, another
 * dtype, more than IMP_MAX_RANK dimensions), IMP_EFORMAT for an unsound one. */
imp_status imp_npy_parse(const unsigned char *bytes, size_t size, imp_array *array,
                         imp_error *error);

/* imp_npy_parse() on a file; every sentence names the path. */
imp_status imp_npy_load(const char *path, imp_array *array, imp_error *error);

/* Element i of an array of that type. */
double imp_element(imp_dtype dtype, const void *elements, size_t i);

/* Converts `count` elements of that type. Returns how many: all, or those before the first whose
 * value is no finite float. */
size_t imp_to_floats(imp_dtype dtype, const void *elements, size_t count, float *floats);

/* Says that a value of a file is no finite float. */
imp_status imp_fail_no_float(const char *path, size_t row, size_t column, double value,
                             imp_error *error);

/* A file whose elements are read when they are needed. */
typedef struct imp_npy_file {
    imp_array layout; /* without data */
    char *path;
    size_t begin; /* of the elements, in bytes */
    bool fortran; /* the first index runs fastest */
    int descriptor;
    bool stream;           /* a pipe: elements are read once, from the first to the last */
    size_t position;       /* how many bytes of it were read */
    struct timespec stamp; /* when a file was last written, as it was when opened */
} imp_npy_file;

/* Opens a file or a pipe; failures are those of imp_npy_load(). Close with imp_npy_close(), which
 * is harmless on a zeroed one; on failure *file is that. */
imp_status imp_npy_open(const char *path, imp_npy_file *file, imp_error *error);
void imp_npy_close(imp_npy_file *file);

/* Gives the descriptor back, which a file can do without while it is not read, and takes one again:
 * IMP_EIO when it is not the file any more that it was. A pipe stays as it is. */
void imp_npy_rest(imp_npy_file *file);
imp_status imp_npy_wake(imp_npy_file *file, imp_error *error);

/* Reads rows begin .. begin + count - 1 of a file of two dimensions as floats. IMP_EINVAL for a
 * value that is no finite float, named by its row and column; IMP_EIO, also for a file that was cut
 * short since; IMP_EFORMAT for a pipe that goes on behind its last row. */
imp_status imp_npy_read_rows(imp_npy_file *file, size_t begin, size_t count, float *rows,
                             imp_error *error);

/* What a file says of itself before its elements. */
typedef struct imp_npy_header {
    char descr[40]; /* the dtype as NumPy writes it, cut to fit */
    bool fortran;   /* the first index runs fastest */
    size_t rank;
    size_t shape[IMP_MAX_RANK];
    size_t begin; /* of the elements, in bytes */
} imp_npy_header;

/* From the first `known` bytes of a file. IMP_EFORMAT if the header does not end within them. */
imp_status imp_npy_parse_header(const unsigned char *bytes, size_t known, imp_npy_header *header,
                                imp_error *error);

/* A size that is not known before all was read. */
#define IMP_NPY_ANY_SIZE SIZE_MAX

/* The array's type and shape from that and the `size` bytes that the file has. */
imp_status imp_npy_layout(const imp_npy_header *header, size_t size, imp_array *layout,
                          imp_error *error);

/* Writes what stands before the elements of such an array, of version 1, whose elements follow by
 * imp_writer_write(). After a failure the writer has abandoned itself. */
imp_status imp_npy_begin(imp_writer *writer, imp_dtype dtype, size_t rank, const size_t *shape,
                         imp_error *error);

/* Writes the array as version 1, whose header holds any shape of IMP_MAX_RANK dimensions, into a
 * file that is open. After a failure the writer has abandoned itself. */
imp_status imp_npy_write(imp_writer *writer, const imp_array *array, imp_error *error);

/* What comes before the elements of an array in C order, of any type that NumPy has a name for. */
imp_status imp_npy_write_header(imp_writer *writer, const char *descr, size_t rank,
                                const size_t *shape, imp_error *error);

/* The same as a whole file, atomically. */
imp_status imp_npy_save(const char *path, const imp_array *array, imp_error *error);

#endif
