/*
 * onnx.h - exports a network as an ONNX file, for other programs to run.
 *
 * Input "images": float (N, C, H, W), scaled as the model's preprocessing says. Output
 * "embeddings": float (N, D). Evaluation mode: a batch norm after a convolution is folded into it.
 * Opset 13.
 */
#ifndef IMP_NN_ONNX_H
#define IMP_NN_ONNX_H

#include <imp/network.h>

/* Writes atomically. IMP_EUNSUPPORTED beyond 2 GB, the limit of the format. */
imp_status imp_onnx_save(imp_network *network, const char *path, imp_error *error);

#endif
