/* array.h - dense arrays of any type of elements, as .npy and safetensors files hold them. */
#ifndef IMP_BASE_ARRAY_H
#define IMP_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

/* safetensors files have the first five. */
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

/* The numbers of elements and bytes of a shape; false if they do not fit in memory. A length of
 * zero makes both zero, but the product of the other lengths must still fit. */
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

#endif
