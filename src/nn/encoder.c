/*
 * encoder.c - a network frozen for evaluation, which encodes images in chunks.
 *
 * Every thread takes a chunk of images through all layers before the next chunk, so that
 * activations stay in its cache and threads never synchronise between layers. The memory of chunks
 * is kept between calls in a list that threads borrow from.
 */
#include <imp/encoder.h>

#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "nn/arena.h"
#include "nn/network.h"

/* The memory for one chunk. */
typedef struct desk {
    struct desk *next;
    float *memory; /* activations, then scratch */
} desk;

struct imp_encoder {
    const imp_kernels *kernels;
    imp_graph graph; /* copies of the network's layers, of which only kind and shapes are used */
    float **frozen;  /* each layer's weights, in `weights` */
    imp_span *spans; /* each layer's output for a chunk; the last writes to the caller's array */
    float *weights;
    size_t chunk;             /* images per chunk */
    size_t activation_floats; /* of a chunk: all spans */
    size_t scratch_floats;
    pthread_mutex_t lock; /* guards idle */
    desk *idle;
};

/* Images per chunk: enough for whole register blocks of tiles even on maps of one tile, but no more
 * activations than a cache holds. */
static size_t chunk_for(size_t largest_floats)
{
    enum { MOST = 24, LEAST = 4, CACHE_FLOATS = 1 << 20 };
    size_t chunk = CACHE_FLOATS / largest_floats;
    return chunk > MOST ? MOST : chunk < LEAST ? LEAST : chunk;
}

static size_t frozen_floats(const imp_layer *layer)
{
    return layer->kind->frozen ? imp_lines(layer->kind->frozen(layer)) : 0;
}

static void measure(imp_encoder *encoder)
{
    size_t largest = 1, count = encoder->graph.count;
    for (size_t i = 0; i < count; i++) {
        size_t out = imp_shape_floats(encoder->graph.layers[i].out);
        largest = out > largest ? out : largest;
    }
    encoder->chunk = chunk_for(largest);
    for (size_t i = 0; i < count; i++) {
        const imp_layer *layer = &encoder->graph.layers[i];
        size_t floats = i + 1 < count ? encoder->chunk * imp_shape_floats(layer->out) : 0;
        encoder->spans[i] = (imp_span){.floats = floats, .born = i, .dies = i};
        for (size_t j = 0; j < layer->input_count; j++)
            if (layer->input[j] != IMP_NONE)
                encoder->spans[layer->input[j]].dies = i;
        size_t scratch = layer->kind->infer_scratch
                             ? layer->kind->infer_scratch(layer, encoder->kernels, encoder->chunk)
                             : 0;
        if (scratch > encoder->scratch_floats)
            encoder->scratch_floats = scratch;
    }
    encoder->activation_floats = imp_arena_place(encoder->spans, count);
}

/* Copies the layers that do something in evaluation and freezes their weights. Dropout, and a batch
 * norm that is folded into a layer together with the rectifier after it, disappear: `place` maps
 * each layer's output to its new place. */
static void freeze(imp_encoder *encoder, const imp_network *network, size_t *place)
{
    const imp_graph *run = &network->run;
    imp_pass pass = {.kernels = network->kernels,
                     .parameters = network->used_parameters,
                     .state = network->state};
    float *next = encoder->weights;
    for (size_t i = 0; i < run->count; i++) {
        const imp_layer *layer = &run->layers[i];
        const imp_layer *norm = imp_graph_fold(run, network->uses, i);
        size_t index = encoder->graph.count;
        imp_layer *copy = &encoder->graph.layers[index];
        place[i] = index;
        if (!layer->kind->infer) {
            place[i] = place[layer->input[0]];
            continue;
        }
        *copy = *layer;
        for (size_t j = 0; j < layer->input_count; j++)
            if (layer->input[j] != IMP_NONE)
                copy->input[j] = place[layer->input[j]];
        if (layer->kind->freeze)
            layer->kind->freeze(layer, norm, &pass, next);
        encoder->frozen[index] = next;
        encoder->graph.count++;
        next += frozen_floats(layer);
        if (norm) {
            copy->slope = norm->slope;
            place[++i] = index;
        }
    }
}

imp_status imp_encoder_create(const imp_network *network, imp_encoder **out, imp_error *error)
{
    *out = NULL;
    size_t count = network->run.count, floats = 0;
    for (size_t i = 0; i < count; i++)
        floats += frozen_floats(&network->run.layers[i]);
    imp_encoder *encoder = imp_allocate_zeroed(1, sizeof *encoder);
    if (!encoder)
        return imp_fail_memory(error, "the encoder");
    pthread_mutex_init(&encoder->lock, NULL);
    encoder->kernels = network->kernels;
    encoder->graph.layers = imp_allocate(count, sizeof *encoder->graph.layers);
    encoder->frozen = imp_allocate(count, sizeof *encoder->frozen);
    encoder->spans = imp_allocate(count, sizeof *encoder->spans);
    encoder->weights = imp_allocate(floats, sizeof *encoder->weights);
    size_t *place = imp_allocate(count, sizeof *place);
    bool enough =
        encoder->graph.layers && encoder->frozen && encoder->spans && encoder->weights && place;
    if (enough) {
        freeze(encoder, network, place);
        measure(encoder);
        *out = encoder;
    } else {
        imp_encoder_free(encoder);
    }
    imp_release(place);
    return enough ? IMP_OK : imp_fail_memory(error, "the encoder's weights");
}

void imp_encoder_free(imp_encoder *encoder)
{
    if (!encoder)
        return;
    while (encoder->idle) {
        desk *d = encoder->idle;
        encoder->idle = d->next;
        imp_release(d->memory);
        imp_release(d);
    }
    pthread_mutex_destroy(&encoder->lock);
    imp_release(encoder->graph.layers);
    imp_release(encoder->frozen);
    imp_release(encoder->spans);
    imp_release(encoder->weights);
    imp_release(encoder);
}

size_t imp_encoder_output_size(const imp_encoder *encoder)
{
    return imp_shape_floats(encoder->graph.layers[encoder->graph.count - 1].out);
}

/* An idle desk, or a new one, or NULL without memory. */
static desk *borrow(imp_encoder *encoder)
{
    pthread_mutex_lock(&encoder->lock);
    desk *d = encoder->idle;
    if (d)
        encoder->idle = d->next;
    pthread_mutex_unlock(&encoder->lock);
    if (d)
        return d;
    d = imp_allocate(1, sizeof *d);
    float *memory =
        imp_allocate(encoder->activation_floats + encoder->scratch_floats, sizeof *memory);
    if (!d || !memory) {
        imp_release(d);
        imp_release(memory);
        return NULL;
    }
    d->memory = memory;
    return d;
}

static void give_back(imp_encoder *encoder, desk *d)
{
    pthread_mutex_lock(&encoder->lock);
    d->next = encoder->idle;
    encoder->idle = d;
    pthread_mutex_unlock(&encoder->lock);
}

typedef struct encode_job {
    imp_encoder *encoder;
    const float *images;
    size_t count;
    size_t chunk; /* images per chunk of this call, at most the encoder's */
    float *embeddings;
    bool *failed;
} encode_job;

static void encode_chunk(size_t chunk, int worker, void *context)
{
    (void)worker;
    const encode_job *job = context;
    imp_encoder *encoder = job->encoder;
    size_t begin = chunk * job->chunk;
    size_t images = job->count - begin < job->chunk ? job->count - begin : job->chunk;
    desk *d = borrow(encoder);
    if (!d) {
        __atomic_store_n(job->failed, true, __ATOMIC_RELAXED);
        return;
    }
    const imp_graph *graph = &encoder->graph;
    float *scratch = d->memory + encoder->activation_floats;
    const float *pixels = job->images + begin * imp_shape_floats(graph->layers[0].in);
    for (size_t i = 0; i < graph->count; i++) {
        const imp_layer *layer = &graph->layers[i];
        float *out = i + 1 == graph->count ? job->embeddings + begin * imp_shape_floats(layer->out)
                                           : d->memory + encoder->spans[i].at;
        const float *in[IMP_MAX_INPUTS];
        for (size_t j = 0; j < layer->input_count; j++)
            in[j] = layer->input[j] == IMP_NONE ? pixels
                                                : d->memory + encoder->spans[layer->input[j]].at;
        layer->kind->infer(layer, encoder->kernels, encoder->frozen[i], images, in, out, scratch);
    }
    give_back(encoder, d);
}

imp_status imp_encoder_encode(const imp_encoder *encoder, const float *images, size_t count,
                              int threads, float *embeddings, imp_error *error)
{
    bool failed = false;
    int workers = imp_parallel_threads(threads);
    size_t share = (count + (size_t)workers - 1) /
                   (size_t)workers; /* with few images, smaller chunks keep all threads busy */
    /* only the list of idle desks changes, under its lock */
    encode_job job = {.encoder = (imp_encoder *)encoder,
                      .images = images,
                      .count = count,
                      .chunk = share < encoder->chunk ? share : encoder->chunk,
                      .embeddings = embeddings,
                      .failed = &failed};
    if (count > 0)
        imp_parallel((count + job.chunk - 1) / job.chunk, workers, encode_chunk, &job);
    return failed ? imp_fail_memory(error, "the encoder's activations") : IMP_OK;
}
