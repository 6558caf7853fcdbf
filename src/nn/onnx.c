/*
 * onnx.c - writes a network as ONNX; each layer writes its own nodes.
 *
 * Field numbers are those of onnx.proto (version 1.8 and later), with their names beside them.
 */
#include "nn/onnx.h"

#include <stdio.h>
#include <string.h>

#include <imp/version.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/protobuf.h"
#include "nn/batch_norm.h"
#include "nn/network.h"
#include "nn/onnx_node.h"

enum { IR_VERSION = 7, OPSET = 13, FLOAT_TYPE = 1 };

typedef char value_name[24];

/* What is being written. */
struct imp_onnx {
    imp_network *network;
    imp_message graph;
    value_name *values;     /* the name of each layer's output */
    size_t count;           /* values so far */
    const imp_layer *layer; /* the one that writes, */
    value_name value;       /* and its newest value */
    bool failed;            /* out of memory */
};

/* ---- nodes ---- */

static size_t index_of(const imp_onnx *onnx, const imp_layer *layer)
{
    return (size_t)(layer - onnx->network->graph.layers);
}

imp_onnx_node imp_onnx_begin(imp_onnx *onnx, const imp_layer *layer)
{
    imp_onnx_node node = {.onnx = onnx};
    if (onnx->layer == layer)
        imp_message_text(&node.message, 1 /* input */, onnx->value);
    for (size_t i = 0; onnx->layer != layer && i < layer->input_count; i++)
        imp_message_text(&node.message, 1 /* input */, onnx->values[layer->input[i]]);
    onnx->layer = layer;
    return node;
}

void imp_onnx_end(imp_onnx_node *node, const char *operation)
{
    imp_onnx *onnx = node->onnx;
    snprintf(onnx->value, sizeof onnx->value, "value%zu", ++onnx->count);
    memcpy(onnx->values[index_of(onnx, onnx->layer)], onnx->value, sizeof onnx->value);
    imp_message_text(&node->message, 2 /* output */, onnx->value);
    imp_message_text(&node->message, 3 /* name */, onnx->value);
    imp_message_text(&node->message, 4 /* op_type */, operation);
    imp_message_nest(&onnx->graph, 1 /* node */, &node->message);
}

/* An input of the node with these values, of the shape and name given. */
static void add_tensor(imp_onnx_node *node, const char *name, size_t rank, const size_t *shape,
                       const float *values)
{
    imp_message message = {0};
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) {
        imp_message_integer(&message, 1 /* dims */, shape[i]);
        count *= shape[i];
    }
    imp_message_integer(&message, 2 /* data_type */, FLOAT_TYPE);
    imp_message_text(&message, 8 /* name */, name);
    imp_message_bytes(&message, 9 /* raw_data */, values, count * sizeof *values);
    imp_message_nest(&node->onnx->graph, 5 /* initializer */, &message);
    imp_message_text(&node->message, 1 /* input */, name);
}

static const imp_tensor_place *place_at(const imp_onnx *onnx, bool trained, size_t offset)
{
    const imp_network *network = onnx->network;
    size_t i = 0;
    while (network->places[i].trained != trained || network->places[i].offset != offset)
        i++;
    return &network->places[i];
}

void imp_onnx_parameter(imp_onnx_node *node, size_t offset)
{
    const imp_tensor_place *place = place_at(node->onnx, true, offset);
    add_tensor(node, place->name, place->rank, place->shape,
               node->onnx->network->parameters + offset);
}

void imp_onnx_statistic(imp_onnx_node *node, size_t offset)
{
    const imp_tensor_place *place = place_at(node->onnx, false, offset);
    add_tensor(node, place->name, place->rank, place->shape, node->onnx->network->state + offset);
}

void imp_onnx_weights(imp_onnx_node *node, const imp_layer *layer, const imp_layer *norm)
{
    imp_onnx *onnx = node->onnx;
    const imp_network *network = onnx->network;
    const imp_tensor_place *weight = place_at(onnx, true, layer->weight);
    const imp_tensor_place *bias =
        layer->bias == IMP_NONE ? NULL : place_at(onnx, true, layer->bias);
    size_t outputs = weight->shape[0], inputs = weight->count / outputs;
    imp_pass pass = {.parameters = network->parameters, .state = network->state};
    float *weights = imp_allocate(weight->count, sizeof *weights);
    float *shifts = imp_allocate(outputs, sizeof *shifts);
    for (size_t o = 0; weights && shifts && o < outputs; o++) {
        float own = bias ? network->parameters[bias->offset + o] : 0;
        imp_affine f = imp_running_fold(norm, &pass, o, own);
        for (size_t i = 0; i < inputs; i++)
            weights[o * inputs + i] =
                f.scale * network->parameters[weight->offset + o * inputs + i];
        shifts[o] = f.shift;
    }
    if (weights && shifts) {
        char name[sizeof weight->name];
        size_t stem = strlen(weight->name) - strlen("weight");
        snprintf(name, sizeof name, "%.*sbias", (int)stem, weight->name);
        add_tensor(node, weight->name, weight->rank, weight->shape, weights);
        if (bias || norm)
            add_tensor(node, name, 1, &outputs, shifts);
    }
    onnx->failed |= !weights || !shifts;
    imp_release(weights);
    imp_release(shifts);
}

/* ---- attributes ---- */

static void end_attribute(imp_onnx_node *node, imp_message *attribute, uint64_t type)
{
    imp_message_integer(attribute, 20 /* type */, type);
    imp_message_nest(&node->message, 5 /* attribute */, attribute);
}

void imp_onnx_integers(imp_onnx_node *node, const char *name, const uint64_t *values, size_t count)
{
    imp_message attribute = {0};
    imp_message_text(&attribute, 1 /* name */, name);
    for (size_t i = 0; i < count; i++)
        imp_message_integer(&attribute, 8 /* ints */, values[i]);
    end_attribute(node, &attribute, 7 /* INTS */);
}

void imp_onnx_integer(imp_onnx_node *node, const char *name, uint64_t value)
{
    imp_message attribute = {0};
    imp_message_text(&attribute, 1 /* name */, name);
    imp_message_integer(&attribute, 3 /* i */, value);
    end_attribute(node, &attribute, 2 /* INT */);
}

void imp_onnx_float(imp_onnx_node *node, const char *name, float value)
{
    imp_message attribute = {0};
    imp_message_text(&attribute, 1 /* name */, name);
    imp_message_float(&attribute, 2 /* f */, value);
    end_attribute(node, &attribute, 1 /* FLOAT */);
}

/* A layer that writes nothing passes its input on. The last flatten is left to write_end(). */
static void write_layers(imp_onnx *onnx, const size_t *uses)
{
    const imp_graph *graph = &onnx->network->graph;
    bool ends_flat = graph->layers[graph->count - 1].kind == &imp_layer_flatten;
    snprintf(onnx->values[0], sizeof onnx->values[0], "images");
    for (size_t i = 1; i + ends_flat < graph->count; i++) {
        const imp_layer *layer = &graph->layers[i], *norm = imp_graph_fold(graph, uses, i);
        memcpy(onnx->values[i], onnx->values[layer->input[0]], sizeof onnx->values[i]);
        if (layer->kind->write_onnx)
            layer->kind->write_onnx(layer, norm, onnx);
        if (norm) {
            memcpy(onnx->values[i + 1], onnx->values[i], sizeof onnx->values[i]);
            i++;
        }
    }
}

/* Flattens, which changes nothing if the output is flat already, and names the output. */
static void write_end(imp_onnx *onnx)
{
    const imp_graph *graph = &onnx->network->graph;
    const imp_layer *last = &graph->layers[graph->count - 1];
    size_t value = last->kind == &imp_layer_flatten ? last->input[0] : graph->count - 1;
    imp_onnx_node node = {.onnx = onnx};
    imp_message_text(&node.message, 1 /* input */, onnx->values[value]);
    imp_onnx_integer(&node, "axis", 1);
    imp_message_text(&node.message, 2 /* output */, "embeddings");
    imp_message_text(&node.message, 3 /* name */, "embeddings");
    imp_message_text(&node.message, 4 /* op_type */, "Flatten");
    imp_message_nest(&onnx->graph, 1 /* node */, &node.message);
}

/* ---- the file ---- */

static void write_port(imp_onnx *onnx, unsigned field, const char *name, const size_t *sizes,
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
    imp_message_nest(&onnx->graph, field, &port);
}

static imp_message model_of(imp_onnx *onnx, const size_t *uses)
{
    const imp_network_options *o = imp_network_options_of(onnx->network);
    size_t output = imp_network_output_size(onnx->network);
    write_layers(onnx, uses);
    write_end(onnx);
    imp_message_text(&onnx->graph, 2 /* name */, "embedding");
    write_port(onnx, 11 /* input */, "images", (const size_t[]){o->channels, o->height, o->width},
               3);
    write_port(onnx, 12 /* output */, "embeddings", &output, 1);

    imp_message model = {0}, opset = {0};
    imp_message_integer(&model, 1 /* ir_version */, IR_VERSION);
    imp_message_text(&model, 2 /* producer_name */, "imp");
    imp_message_text(&model, 3 /* producer_version */, imp_version());
    imp_message_nest(&model, 7 /* graph */, &onnx->graph);
    imp_message_text(&opset, 1 /* domain */, "");
    imp_message_integer(&opset, 2 /* version */, OPSET);
    imp_message_nest(&model, 8 /* opset_import */, &opset);
    model.failed |= onnx->failed;
    return model;
}

static imp_status write_file(const imp_message *model, const char *path, imp_error *error)
{
    if (model->failed)
        return imp_fail_memory(error, "the ONNX file");
    if (model->size > INT32_MAX)
        return imp_fail(error, IMP_EUNSUPPORTED, "'%s' would have more than 2 GB", path);
    imp_writer file;
    imp_status status = imp_writer_open(&file, path, error);
    if (!status)
        status = imp_writer_write(&file, model->bytes, model->size, error);
    return status ? status : imp_writer_commit(&file, error);
}

imp_status imp_onnx_save(imp_network *network, const char *path, imp_error *error)
{
    imp_onnx onnx = {.network = network,
                     .values = imp_allocate_zeroed(network->graph.count, sizeof *onnx.values)};
    size_t *uses = imp_allocate(network->graph.count, sizeof *uses);
    imp_status status = IMP_OK;
    if (onnx.values && uses) {
        imp_graph_uses(&network->graph, uses);
        imp_message model = model_of(&onnx, uses);
        status = write_file(&model, path, error);
        imp_message_clear(&model);
    } else {
        status = imp_fail_memory(error, "the ONNX file");
    }
    imp_release(onnx.values);
    imp_release(uses);
    return status;
}
