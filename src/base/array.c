/* array.c - types of elements, shapes, and arrays in memory. */
#include "base/array.h"

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [IMP_FLOAT32] = {"float32", 4}, [IMP_FLOAT64] = {"float64", 8}, [IMP_INT32] = {"int32", 4},
    [IMP_INT64] = {"int64", 8},     [IMP_UINT8] = {"uint8", 1},     [IMP_FLOAT16] = {"float16", 2},
    [IMP_INT8] = {"int8", 1},       [IMP_INT16] = {"int16", 2},     [IMP_UINT16] = {"uint16", 2},
    [IMP_BOOL] = {"bool", 1},
};

enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static bool is_dtype(imp_dtype dtype)
{
    return (size_t)dtype < DTYPES;
}

size_t imp_dtype_size(imp_dtype dtype)
{
    return is_dtype(dtype) ? dtypes[dtype].size : 0;
}

const char *imp_dtype_name(imp_dtype dtype)
{
    return is_dtype(dtype) ? dtypes[dtype].name : "unknown dtype";
}

bool imp_shape_size(imp_dtype dtype, size_t rank, const size_t *shape, size_t *count, size_t *bytes)
{
    bool empty = false;
    size_t items = 1, size;
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] == 0)
            empty = true;
        else if (!imp_multiply(items, shape[i], &items))
            return false;
    }
    if (!imp_multiply(items, imp_dtype_size(dtype), &size) || size > PTRDIFF_MAX)
        return false;
    *count = empty ? 0 : items;
    *bytes = empty ? 0 : size;
    return true;
}

imp_shape_text imp_shape_format(size_t rank, const size_t *shape)
{
    imp_shape_text out = {"("};
    size_t used = 1;
    for (size_t i = 0; i < rank && i < IMP_MAX_RANK; i++)
        used += (size_t)snprintf(out.text + used, sizeof out.text - used, i > 0 ? ", %zu" : "%zu",
                                 shape[i]);
    snprintf(out.text + used, sizeof out.text - used, rank == 1 ? ",)" : ")");
    return out;
}

imp_status imp_array_create(imp_array *array, imp_dtype dtype, size_t rank, const size_t *shape,
                            imp_error *error)
{
    *array = (imp_array){0};
    if (!is_dtype(dtype))
        return imp_fail(error, IMP_EINVAL, "%d is not a dtype", (int)dtype);
    if (rank > IMP_MAX_RANK)
        return imp_fail(error, IMP_EINVAL, "an array of %zu dimensions was asked for; at most %d",
                        rank, IMP_MAX_RANK);

    size_t count, bytes;
    void *data = NULL;
    if (imp_shape_size(dtype, rank, shape, &count, &bytes))
        data = imp_allocate(bytes, 1);
    if (data == NULL)
        return imp_fail(error, IMP_ENOMEM, "out of memory for an array %s of %s",
                        imp_shape_format(rank, shape).text, imp_dtype_name(dtype));

    array->dtype = dtype;
    array->rank = rank;
    for (size_t i = 0; i < rank; i++)
        array->shape[i] = shape[i];
    array->count = count;
    array->data = data;
    return IMP_OK;
}

void imp_array_clear(imp_array *array)
{
    imp_release(array->data);
    *array = (imp_array){0};
}
