/* pool.h - what the two kinds of 2x2 pooling share. */
#ifndef IMP_NN_POOL_H
#define IMP_NN_POOL_H

#include "nn/plan.h"

/* Halves the map; an odd last row or column is dropped. */
imp_status imp_pool_plan(imp_plan *plan, imp_layer *layer);

/* Writes the ONNX node of that operator, with windows of 2x2. */
void imp_pool_write_onnx(const imp_layer *layer, imp_onnx *onnx, const char *operator);

/* The upper left input of the window of output pixel (row, column) of image n. */
static inline size_t imp_window_at(const imp_layer *layer, size_t n, size_t row, size_t column)
{
    return ((n * layer->in.height + 2 * row) * layer->in.width + 2 * column) * layer->in.channels;
}

#endif
