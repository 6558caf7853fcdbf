/*
 * encoder.c - a network frozen for evaluation, and its run over images in chunks.
 *
 * Every thread takes a chunk of images through all layers before the next chunk, so that
 * activations stay in its cache and no layer waits for another. The chunks' memory is kept between
 * calls in a list that threads borrow from.
 */
#include <imp/encoder.h>

#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "nn/network.h"

/* Memory of one chunk in flight. */
typedef struct desk {
    struct desk *next;
    float *memory; /* two activations, then scratch */
} desk;

struct imp_encoder {
    const imp_kernels *kernels;
    imp_layer *layers; /* copies; only kind and shapes are used */
    float **frozen;    /* each layer's weights, in `weights` */
    size_t layer_count;
    float *weights;
    size_t chunk;             /* images per chunk */
    size_t activation_floats; /* of the largest layer, for a chunk */
    size_t scratch_floats;
    pthread_mutex_t lock; /* guards idle */
    desk *idle;
};

/* Images per chunk: whole register blocks of tiles even on maps of one tile, but no more
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
    size_t largest = 1;
    for (size_t i = 0; i < encoder->layer_count; i++) {
        size_t out = imp_shape_floats(encoder->layers[i].out);
        largest = out > largest ? out : largest;
    }
    encoder->chunk = chunk_for(largest);
    encoder->activation_floats = imp_lines(encoder->chunk * largest);
    for (size_t i = 0; i < encoder->layer_count; i++) {
        const imp_layer *layer = &encoder->layers[i];
        size_t scratch = layer->kind->infer_scratch
                             ? layer->kind->infer_scratch(layer, encoder->kernels, encoder->chunk)
                             : 0;
        if (scratch > encoder->scratch_floats)
            encoder->scratch_floats = scratch;
    }
}

imp_status imp_encoder_create(const imp_network *network, imp_encoder **out, imp_error *error)
{
    *out = NULL;
    size_t count = network->layer_count, floats = 0;
    for (size_t i = 0; i < count; i++)
        floats += frozen_floats(&network->layers[i]);
    imp_encoder *encoder = imp_allocate_zeroed(1, sizeof *encoder);
    if (!encoder)
        return imp_fail_memory(error, "the encoder");
    pthread_mutex_init(&encoder->lock, NULL);
    encoder->kernels = network->kernels;
    encoder->layer_count = count;
    encoder->layers = imp_allocate(count, sizeof *encoder->layers);
    encoder->frozen = imp_allocate(count, sizeof *encoder->frozen);
    encoder->weights = imp_allocate(floats, sizeof *encoder->weights);
    if (!encoder->layers || !encoder->frozen || !encoder->weights) {
        imp_encoder_free(encoder);
        return imp_fail_memory(error, "the encoder's weights");
    }
    float *next = encoder->weights;
    for (size_t i = 0; i < count; i++) {
        const imp_layer *layer = &network->layers[i];
        if (layer->kind->freeze)
            layer->kind->freeze(layer, network->kernels, next);
        encoder->frozen[i] = next;
        encoder->layers[i] = (imp_layer){
            .kind = layer->kind, .in = layer->in, .out = layer->out, .inputs = layer->inputs};
        next += frozen_floats(layer);
    }
    measure(encoder);
    *out = encoder;
    return IMP_OK;
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
    imp_release(encoder->layers);
    imp_release(encoder->frozen);
    imp_release(encoder->weights);
    imp_release(encoder);
}

size_t imp_encoder_output_size(const imp_encoder *encoder)
{
    return imp_shape_floats(encoder->layers[encoder->layer_count - 1].out);
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
        imp_allocate(2 * encoder->activation_floats + encoder->scratch_floats, sizeof *memory);
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
    float *scratch = d->memory + 2 * encoder->activation_floats;
    const float *in = job->images + begin * imp_shape_floats(encoder->layers[0].in);
    for (size_t i = 0; i < encoder->layer_count; i++) {
        const imp_layer *layer = &encoder->layers[i];
        bool last = i + 1 == encoder->layer_count;
        float *out = last ? job->embeddings + begin * imp_shape_floats(layer->out)
                          : d->memory + i % 2 * encoder->activation_floats;
        layer->kind->infer(layer, encoder->kernels, encoder->frozen[i], images, in, out, scratch);
        in = out;
    }
    give_back(encoder, d);
}

imp_status imp_encoder_encode(const imp_encoder *encoder, const float *images, size_t count,
                              int threads, float *embeddings, imp_error *error)
{
    bool failed = false;
    int workers = imp_parallel_threads(threads);
    size_t share =
        (count + (size_t)workers - 1) / (size_t)workers; /* few images: all threads help */
    /* the list of idle desks is all that changes, under its lock */
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
