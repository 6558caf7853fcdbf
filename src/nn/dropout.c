/*
 * dropout.c - sets values, or whole channels of an image, to zero in training (Srivastava et al.
 * 2014, Tompson et al. 2015) and scales up the rest to keep the mean.
 *
 * What is dropped depends only on the network's seed, the step and the layer. Random numbers are
 * counter-based, so every block of images can compute its own, and a resumed run drops the same
 * values. Evaluation drops nothing.
 */
#include <string.h>

#include "base/random.h"
#include "nn/plan.h"

static imp_status plan(imp_plan *plan, imp_layer *layer)
{
    if (!imp_take(plan, ":") || !imp_take_fraction(plan, &layer->rate))
        return imp_misspelt(plan);
    layer->whole_channels = imp_take(plan, ":channels");
    layer->number = plan->dropouts++;
    return imp_take_end(plan);
}

/* One byte per draw: whether the value is kept. */
static size_t draws_per_image(const imp_layer *layer)
{
    return layer->whole_channels ? layer->in.channels : imp_shape_floats(layer->in);
}

static size_t kept(const imp_layer *layer, const imp_pass *pass)
{
    return (pass->images * draws_per_image(layer) + sizeof(float) - 1) / sizeof(float);
}

/* Draws begin .. end-1 of the batch. */
static void draw(const imp_job *job, size_t begin, size_t end, uint8_t *stays)
{
    const imp_pass *pass = job->pass;
    uint32_t bound = (uint32_t)((double)job->layer->rate * 0x1p32);
    imp_random random = imp_random_start(
        pass->seed, IMP_STREAM_DROPOUT + ((uint32_t)job->layer->number << 16), pass->step);
    for (size_t i = begin; i < end;) {
        uint32_t four[4];
        random.counter[0] = (uint32_t)(i / 4);
        imp_philox(random.counter, random.key, four);
        for (size_t j = i % 4; j < 4 && i < end; j++, i++)
            stays[i] = four[j] >= bound;
    }
}

/* to = from, scaled up, where a value is kept, else 0 */
static void apply(const imp_job *job, imp_images images, const float *from, float *to)
{
    const imp_layer *layer = job->layer;
    const uint8_t *stays = (const uint8_t *)job->kept;
    size_t size = imp_shape_floats(layer->in), channels = layer->in.channels;
    float factor = 1 / (1 - layer->rate);
    if (!job->pass->drops) {
        memcpy(to + images.begin * size, from + images.begin * size,
               (images.end - images.begin) * size * sizeof *to);
        return;
    }
    for (size_t n = images.begin; n < images.end; n++)
        for (size_t i = 0; i < size; i++) {
            size_t at = layer->whole_channels ? n * channels + i % channels : n * size + i;
            to[n * size + i] = stays[at] ? factor * from[n * size + i] : 0;
        }
}

static void forward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    imp_images images = imp_images_of(job->pass, block);
    size_t draws = draws_per_image(job->layer);
    if (job->pass->drops)
        draw(job, images.begin * draws, images.end * draws, (uint8_t *)job->kept);
    apply(job, images, job->in[0], job->out);
}

static void forward(const imp_job *job)
{
    imp_each_block(job, forward_block);
}

static void backward_block(size_t block, int worker, void *context)
{
    (void)worker;
    const imp_job *job = context;
    apply(job, imp_images_of(job->pass, block), job->dout, job->din[0]);
}

static void backward(const imp_job *job)
{
    if (job->din[0])
        imp_each_block(job, backward_block);
}

const imp_layer_kind imp_layer_dropout = {
    .word = "dropout",
    .usage = "'dropout:P' with P from 0 on and below 1, as in 'dropout:0.4', or "
             "'dropout:P:channels' to drop whole channels",
    .plan = plan,
    .kept = kept,
    .forward = forward,
    .backward = backward,
    .forward_tangent = imp_tangent_by_slopes,
    .backward_tangent = imp_tangent_by_backward,
};
