/*
 * onnx.c - writes the ONNX graph of a network, layer by layer.
 *
 * Field numbers are those of onnx.proto (version 1.8 and later); each stands beside its name.
 */
#include "train/onnx.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <imp/version.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "nn/description.h"
#include "train/protobuf.h"

enum { IR_VERSION = 7, OPSET = 13, FLOAT_TYPE = 1 };

/* What is being written, and where in the network's tensors it is. */
typedef struct writer {
    imp_network *network;
    imp_message graph;
    size_t tensor;  /* next of the network's */
    size_t layer;   /* number of the next value */
    char value[32]; /* the newest output */
    bool flat;
    bool failed; /* out of memory */
} writer;

/* ---- pieces ---- */

static void write_initializer(writer *w, const char *name, const imp_network_tensor *tensor,
                              const float *values)
{
    imp_message message = {0};
    for (size_t i = 0; i < tensor->rank; i++)
        imp_message_integer(&message, 1 /* dims */, tensor->shape[i]);
    imp_message_integer(&message, 2 /* data_type */, FLOAT_TYPE);
    imp_message_text(&message, 8 /* name */, name);
    imp_message_bytes(&message, 9 /* raw_data */, values, tensor->count * sizeof *values);
    imp_message_nest(&w->graph, 5 /* initializer */, &message);
}

static void add_integers(imp_message *node, const char *name, const uint64_t *values, size_t count)
{
    imp_message attribute = {0};
    imp_message_text(&attribute, 1 /* name */, name);
    for (size_t i = 0; i < count; i++)
        imp_message_integer(&attribute, 8 /* ints */, values[i]);
    imp_message_integer(&attribute, 20 /* type */, 7 /* INTS */);
    imp_message_nest(node, 5 /* attribute */, &attribute);
}

static void add_integer(imp_message *node, const char *name, uint64_t value)
{
    imp_message attribute = {0};
    imp_message_text(&attribute, 1 /* name */, name);
    imp_message_integer(&attribute, 3 /* i */, value);
    imp_message_integer(&attribute, 20 /* type */, 2 /* INT */);
    imp_message_nest(node, 5 /* attribute */, &attribute);
}

static void add_float(imp_message *node, const char *name, float value)
{
    imp_message attribute = {0};
    imp_message_text(&attribute, 1 /* name */, name);
    imp_message_float(&attribute, 2 /* f */, value);
    imp_message_integer(&attribute, 20 /* type */, 1 /* FLOAT */);
    imp_message_nest(node, 5 /* attribute */, &attribute);
}

/* A node from the newest value (and initializers) to a new one. */
static imp_message begin_node(writer *w, const char *const *initializers, size_t count)
{
    imp_message node = {0};
    imp_message_text(&node, 1 /* input */, w->value);
    for (size_t i = 0; i < count; i++)
        imp_message_text(&node, 1 /* input */, initializers[i]);
    return node;
}

static void end_node(writer *w, imp_message *node, const char *operation, bool last)
{
    if (last)
        snprintf(w->value, sizeof w->value, "embeddings");
    else
        snprintf(w->value, sizeof w->value, "value%zu", ++w->layer);
    imp_message_text(node, 2 /* output */, w->value);
    imp_message_text(node, 3 /* name */, w->value);
    imp_message_text(node, 4 /* op_type */, operation);
    imp_message_nest(&w->graph, 1 /* node */, node);
}

/* ---- layers ---- */

static imp_network_tensor next_tensor(writer *w)
{
    return imp_network_tensor_at(w->network, w->tensor++);
}

/* Batch norm in evaluation mode is scale * x + shift: folded into the convolution before it. */
static void fold(const imp_network_tensor norm[4], size_t channels, float *weight, float *bias,
                 size_t per_channel)
{
    for (size_t c = 0; c < channels; c++) {
        double scale = norm[0].values[c] / sqrt(norm[3].values[c] + 1e-5);
        for (size_t i = 0; i < per_channel; i++)
            weight[c * per_channel + i] = (float)(weight[c * per_channel + i] * scale);
        bias[c] = (float)((bias[c] - norm[2].values[c]) * scale + norm[1].values[c]);
    }
}

static void write_convolution(writer *w, bool folds)
{
    imp_network_tensor weight = next_tensor(w), bias = next_tensor(w), norm[4];
    float *weights = imp_allocate(weight.count, sizeof *weights);
    float *biases = imp_allocate(bias.count, sizeof *biases);
    for (size_t i = 0; folds && i < 4; i++)
        norm[i] = next_tensor(w);
    if (weights && biases) {
        memcpy(weights, weight.values, weight.count * sizeof *weights);
        memcpy(biases, bias.values, bias.count * sizeof *biases);
        if (folds)
            fold(norm, bias.count, weights, biases, weight.count / bias.count);
        write_initializer(w, weight.name, &weight, weights);
        write_initializer(w, bias.name, &bias, biases);
        imp_message node = begin_node(w, (const char *const[]){weight.name, bias.name}, 2);
        add_integers(&node, "kernel_shape", (const uint64_t[]){3, 3}, 2);
        add_integers(&node, "pads", (const uint64_t[]){1, 1, 1, 1}, 4);
        end_node(w, &node, "Conv", false);
    } else {
        w->failed = true;
    }
    imp_release(weights);
    imp_release(biases);
}

static void write_norm(writer *w)
{
    const char *names[4];
    imp_network_tensor tensors[4];
    for (size_t i = 0; i < 4; i++) {
        tensors[i] = next_tensor(w);
        names[i] = tensors[i].name;
        write_initializer(w, names[i], &tensors[i], tensors[i].values);
    }
    imp_message node = begin_node(w, names, 4);
    add_float(&node, "epsilon", 1e-5f);
    end_node(w, &node, "BatchNormalization", false);
}

static void write_flatten(writer *w, bool last)
{
    imp_message node = begin_node(w, NULL, 0);
    add_integer(&node, "axis", 1);
    end_node(w, &node, "Flatten", last);
    w->flat = true;
}

static void write_linear(writer *w)
{
    if (!w->flat)
        write_flatten(w, false);
    imp_network_tensor weight = next_tensor(w), bias = next_tensor(w);
    write_initializer(w, weight.name, &weight, weight.values);
    write_initializer(w, bias.name, &bias, bias.values);
    imp_message node = begin_node(w, (const char *const[]){weight.name, bias.name}, 2);
    add_integer(&node, "transB", 1);
    end_node(w, &node, "Gemm", false);
}

static void write_pool(writer *w)
{
    imp_message node = begin_node(w, NULL, 0);
    add_integers(&node, "kernel_shape", (const uint64_t[]){2, 2}, 2);
    add_integers(&node, "strides", (const uint64_t[]){2, 2}, 2);
    end_node(w, &node, "MaxPool", false);
}

static void write_layers(writer *w, const imp_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool folds =
            steps[i].kind == IMP_STEP_CONV && i + 1 < count && steps[i + 1].kind == IMP_STEP_NORM;
        imp_message node;
        switch (steps[i].kind) {
        case IMP_STEP_CONV:
            write_convolution(w, folds);
            i += folds;
            break;
        case IMP_STEP_NORM:
            write_norm(w);
            break;
        case IMP_STEP_RELU:
            node = begin_node(w, NULL, 0);
            end_node(w, &node, "Relu", false);
            break;
        case IMP_STEP_POOL:
            write_pool(w);
            break;
        case IMP_STEP_FLATTEN:
            write_flatten(w, false);
            break;
        case IMP_STEP_LINEAR:
            write_linear(w);
            break;
        }
    }
    write_flatten(w, true); /* changes nothing where all is flat, and names the output */
}

/* ---- the file ---- */

static void write_port(writer *w, unsigned field, const char *name, const size_t *sizes,
                       size_t count)
{
    imp_message shape = {0}, batch = {0}, tensor = {0}, type = {0}, port = {0};
    imp_message_text(&batch, 2 /* dim_param */, "N");
    imp_message_nest(&shape, 1 /* dim */, &batch);
    for (size_t i = 0; i < count; i++) {
        imp_message dimension = {0};
        imp_message_integer(&dimension, 1 /* dim_value */, sizes[i]);
        imp_message_nest(&shape, 1 /* dim */, &dimension);
    }
    imp_message_integer(&tensor, 1 /* elem_type */, FLOAT_TYPE);
    imp_message_nest(&tensor, 2 /* shape */, &shape);
    imp_message_nest(&type, 1 /* tensor_type */, &tensor);
    imp_message_text(&port, 1 /* name */, name);
    imp_message_nest(&port, 2 /* type */, &type);
    imp_message_nest(&w->graph, field, &port);
}

static imp_message model_of(writer *w, const imp_step *steps, size_t count)
{
    const imp_network_options *o = imp_network_options_of(w->network);
    size_t output = imp_network_output_size(w->network);
    snprintf(w->value, sizeof w->value, "images");
    write_layers(w, steps, count);
    imp_message_text(&w->graph, 2 /* name */, "embedding");
    write_port(w, 11 /* input */, "images", (const size_t[]){o->channels, o->height, o->width}, 3);
    write_port(w, 12 /* output */, "embeddings", &output, 1);

    imp_message model = {0}, opset = {0};
    imp_message_integer(&model, 1 /* ir_version */, IR_VERSION);
    imp_message_text(&model, 2 /* producer_name */, "imp");
    imp_message_text(&model, 3 /* producer_version */, imp_version());
    imp_message_nest(&model, 7 /* graph */, &w->graph);
    imp_message_text(&opset, 1 /* domain */, "");
    imp_message_integer(&opset, 2 /* version */, OPSET);
    imp_message_nest(&model, 8 /* opset_import */, &opset);
    model.failed |= w->failed;
    return model;
}

imp_status imp_onnx_save(imp_network *network, const char *path, imp_error *error)
{
    imp_step steps[IMP_MAX_STEPS];
    size_t count;
    imp_status status =
        imp_description_parse(imp_network_description(network), steps, &count, error);
    if (status)
        return status;
    while (count > 0 && steps[count - 1].kind == IMP_STEP_FLATTEN)
        count--; /* the graph ends with one in any case */
    writer w = {.network = network};
    imp_message model = model_of(&w, steps, count);
    if (model.failed)
        status = imp_fail_memory(error, "the ONNX file");
    else if (model.size > INT32_MAX)
        status = imp_fail(error, IMP_EUNSUPPORTED, "'%s' would have more than 2 GB", path);
    imp_writer file;
    if (!status)
        status = imp_writer_open(&file, path, error);
    if (!status)
        status = imp_writer_write(&file, model.bytes, model.size, error);
    if (!status)
        status = imp_writer_commit(&file, error);
    imp_message_clear(&model);
    return status;
}
