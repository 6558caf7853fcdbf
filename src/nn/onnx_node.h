/*
 * onnx_node.h - how layers write ONNX: nodes that read the layer's inputs, named tensors,
 * attributes.
 */
#ifndef IMP_NN_ONNX_NODE_H
#define IMP_NN_ONNX_NODE_H

#include "base/protobuf.h"
#include "nn/layer.h"

/* A node being written. */
typedef struct imp_onnx_node {
    imp_onnx *onnx;
    imp_message message;
} imp_onnx_node;

/* A node that reads the layer's inputs or, from a layer's second node on, the output of the one
 * before. */
imp_onnx_node imp_onnx_begin(imp_onnx *onnx, const imp_layer *layer);

/* Adds the layer's weights and, if it has one, its bias to the node's inputs, with the batch norm
 * that follows folded in if `norm` is not NULL; then there always is a bias. */
void imp_onnx_weights(imp_onnx_node *node, const imp_layer *layer, const imp_layer *norm);

/* Adds a tensor of the network unchanged: the parameter or running statistic at that offset. */
void imp_onnx_parameter(imp_onnx_node *node, size_t place);
void imp_onnx_statistic(imp_onnx_node *node, size_t place);

/* Attributes. */
void imp_onnx_integers(imp_onnx_node *node, const char *name, const uint64_t *values, size_t count);
void imp_onnx_integer(imp_onnx_node *node, const char *name, uint64_t value);
void imp_onnx_float(imp_onnx_node *node, const char *name, float value);

/* Ends the node; `operation` is its ONNX name. */
void imp_onnx_end(imp_onnx_node *node, const char *operation);

#endif
