/*
 * tangent.c - tangents shared by several kinds of layers, built from their forward and backward.
 *
 * A linear map is its own tangent. For y = W x the product rule gives dy = W dx + dW x, and
 * backward, which passes W'g to the input and g x' to the weights, is such a product again: so both
 * tangents are two calls of existing functions, each with one factor replaced by its tangent.
 */
#include "nn/layer.h"

void imp_tangent_by_forward(const imp_job *job)
{
    imp_job moved = *job;
    moved.in[0] = job->tangent->in[0];
    moved.out = job->tangent->out;
    job->layer->kind->forward(&moved);
}

void imp_tangent_by_slopes(const imp_job *job)
{
    imp_job moved = *job;
    moved.dout = job->tangent->in[0];
    moved.din[0] = job->tangent->out;
    job->layer->kind->backward(&moved);
}

void imp_tangent_by_backward(const imp_job *job)
{
    imp_job moved = *job;
    moved.dout = job->tangent->dout;
    for (size_t i = 0; i < job->layer->input_count; i++)
        moved.din[i] = job->tangent->din[i];
    job->layer->kind->backward(&moved);
}

/* to += from */
typedef struct sum_job {
    const imp_pass *pass;
    size_t size; /* floats per image */
    const float *from;
    float *to;
} sum_job;

static void add_block(size_t block, int worker, void *context)
{
    (void)worker;
    const sum_job *sum = context;
    imp_images images = imp_images_of(sum->pass, block);
    for (size_t i = images.begin * sum->size; i < images.end * sum->size; i++)
        sum->to[i] += sum->from[i];
}

static void add(const imp_pass *pass, imp_shape shape, const float *from, float *to)
{
    sum_job sum = {pass, imp_shape_floats(shape), from, to};
    imp_parallel(pass->blocks, pass->threads, add_block, &sum);
}

/* The layer with one factor replaced by its tangent: the weights and bias, or the input, where the
 * bias is left out. */
typedef struct moved_factor {
    imp_layer layer;
    imp_pass pass;
    imp_job job;
} moved_factor;

static void move_weights(const imp_job *job, moved_factor *moved)
{
    moved->pass = *job->pass;
    moved->pass.parameters = job->tangent->parameters;
    moved->pass.gradients = job->tangent->gradients;
    moved->job = *job;
    moved->job.pass = &moved->pass;
}

static void move_input(const imp_job *job, moved_factor *moved)
{
    moved->layer = *job->layer;
    moved->layer.bias = IMP_NONE;
    moved->pass = *job->pass;
    moved->pass.gradients = job->tangent->gradients;
    moved->job = *job;
    moved->job.layer = &moved->layer;
    moved->job.pass = &moved->pass;
    moved->job.in[0] = job->tangent->in[0];
}

void imp_tangent_of_product(const imp_job *job)
{
    const imp_tangent *tangent = job->tangent;
    moved_factor moved;
    move_weights(job, &moved);
    moved.job.out = tangent->out;
    job->layer->kind->forward(&moved.job);
    if (!tangent->in[0])
        return;
    move_input(job, &moved);
    moved.job.out = tangent->spare;
    job->layer->kind->forward(&moved.job);
    add(job->pass, job->layer->out, tangent->spare, tangent->out);
}

void imp_tangent_of_product_backward(const imp_job *job)
{
    const imp_tangent *tangent = job->tangent;
    moved_factor moved;
    /* the tangent of the gradient with the input and the weights */
    moved.pass = *job->pass;
    moved.pass.gradients = tangent->gradients;
    moved.job = *job;
    moved.job.pass = &moved.pass;
    moved.job.dout = tangent->dout;
    moved.job.din[0] = tangent->din[0];
    job->layer->kind->backward(&moved.job);
    if (!tangent->in[0])
        return;
    /* the gradient with the tangents of input and weights */
    move_input(job, &moved);
    moved.pass.parameters = tangent->parameters;
    moved.job.din[0] = tangent->din[0] ? tangent->spare : NULL;
    job->layer->kind->backward(&moved.job);
    if (tangent->din[0])
        add(job->pass, job->layer->in, tangent->spare, tangent->din[0]);
}
