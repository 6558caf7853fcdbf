/*
 * layer.c - helpers for layers: running a serial function block by block, and queries on the graph
 * of layers.
 */
#include "nn/layer.h"

#include <string.h>

#include "nn/network.h"

static void infer_block(size_t block, int worker, void *context)
{
    const imp_job *job = context;
    const imp_layer *layer = job->layer;
    imp_images images = imp_images_of(job->pass, block);
    const float *in[IMP_MAX_INPUTS];
    for (size_t i = 0; i < layer->input_count; i++)
        in[i] = job->in[i] + images.begin * imp_shape_floats(layer->in);
    layer->kind->infer(layer, job->pass->kernels, job->pass->shared, images.end - images.begin, in,
                       job->out + images.begin * imp_shape_floats(layer->out),
                       imp_scratch_of(job->pass, worker));
}

void imp_infer_blocks(const imp_job *job)
{
    const imp_layer_kind *kind = job->layer->kind;
    if (kind->freeze)
        kind->freeze(job->layer, NULL, job->pass, job->pass->shared);
    imp_each_block(job, infer_block);
}

void imp_graph_uses(const imp_graph *graph, size_t *uses)
{
    memset(uses, 0, graph->count * sizeof *uses);
    for (size_t i = 0; i < graph->count; i++)
        for (size_t j = 0; j < graph->layers[i].input_count; j++)
            if (graph->layers[i].input[j] != IMP_NONE)
                uses[graph->layers[i].input[j]]++;
}

const imp_layer *imp_graph_fold(const imp_graph *graph, const size_t *uses, size_t index)
{
    const imp_layer *next = &graph->layers[index + 1];
    bool folds = graph->layers[index].kind->folds && uses[index] == 1 && index + 1 < graph->count &&
                 next->kind == &imp_layer_norm && next->input[0] == index;
    return folds ? next : NULL;
}
