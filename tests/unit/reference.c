/* reference.c - see reference.h. Maps are (N, C, H, W), every sum is a plain loop. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "nn/network.h"

typedef struct node {
    const imp_layer *layer;
    size_t in_c, in_h, in_w, c, h, w; /* maps are (N, C, H, W) */
    double *out, *dout;
    double *mean, *rstd; /* of a norm */
    double *factor;      /* of a dropout, by which each number is multiplied */
} node;

struct reference {
    imp_network *network;
    size_t count; /* images of the last forward */
    node *nodes;
    double *parameters, *gradients, *state;
};

static void *need(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p)
        abort();
    return p;
}

static size_t out_size(const reference *r, const node *n)
{
    return r->count * n->c * n->h * n->w;
}

static double *copy_of(const float *values, size_t count)
{
    double *copy = need(count, sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = values[i];
    return copy;
}

reference *reference_create(imp_network *network)
{
    reference *r = need(1, sizeof *r);
    r->network = network;
    r->parameters = copy_of(network->parameters, network->parameter_count);
    r->gradients = need(network->parameter_count, sizeof(double));
    r->state = copy_of(network->state, network->state_count);
    r->nodes = need(network->graph.count, sizeof *r->nodes);
    for (size_t i = 0; i < network->graph.count; i++) {
        const imp_layer *l = &network->graph.layers[i];
        r->nodes[i] = (node){.layer = l,
                             .in_c = l->in.channels,
                             .in_h = l->in.height,
                             .in_w = l->in.width,
                             .c = l->out.channels,
                             .h = l->out.height,
                             .w = l->out.width,
                             .mean = need(l->out.channels, sizeof(double)),
                             .rstd = need(l->out.channels, sizeof(double))};
    }
    return r;
}

void reference_free(reference *r)
{
    for (size_t i = 0; i < r->network->graph.count; i++) {
        free(r->nodes[i].out);
        free(r->nodes[i].dout);
        free(r->nodes[i].mean);
        free(r->nodes[i].rstd);
        free(r->nodes[i].factor);
    }
    free(r->nodes);
    free(r->parameters);
    free(r->gradients);
    free(r->state);
    free(r);
}

double *reference_parameters(reference *r)
{
    return r->parameters;
}

double *reference_gradients(reference *r)
{
    return r->gradients;
}

const double *reference_state(const reference *r)
{
    return r->state;
}

static bool is(const node *n, const imp_layer_kind *kind)
{
    return n->layer->kind == kind;
}

static bool is_rectifier(const node *n)
{
    return is(n, &imp_layer_relu) || is(n, &imp_layer_leaky);
}

static size_t close_pools(const node *n, const double *in, size_t windows, double margin)
{
    size_t calls = 0;
    for (size_t i = 0; i < windows; i++) {
        const double *corner =
            in + (i / (n->h * n->w) * n->in_h + 2 * (i / n->w % n->h)) * n->in_w + 2 * (i % n->w);
        double four[4] = {corner[0], corner[1], corner[n->in_w], corner[n->in_w + 1]};
        for (size_t j = 0; j < 4; j++)
            for (size_t k = 0; k < j; k++)
                calls += four[j] > 0 && four[k] > 0 && fabs(four[j] - four[k]) < margin;
    }
    return calls;
}

size_t reference_close_calls(const reference *r, double margin)
{
    enum { SMALL = 100000 };
    size_t calls = 0;
    for (size_t i = 1; i < r->network->graph.count; i++) {
        const node *n = &r->nodes[i];
        const double *in = r->nodes[n->layer->input[0]].out;
        size_t outputs = out_size(r, n);
        if (outputs > SMALL)
            continue;
        if (is(n, &imp_layer_pool))
            calls += close_pools(n, in, outputs, margin);
        for (size_t j = 0; is_rectifier(n) && j < outputs; j++)
            calls += fabs(in[j]) < margin;
    }
    return calls;
}

/* Runs `body` with the positions from, weight, out of every multiplication of a convolution. */
#define FOR_CONV(n, images, body)                                                                 \
    for (size_t k = (n)->layer->kernel, stride = (n)->layer->stride, image = 0; image < (images); \
         image++)                                                                                 \
        for (size_t o = 0; o < (n)->c; o++)                                                       \
            for (size_t y = 0; y < (n)->h; y++)                                                   \
                for (size_t x = 0; x < (n)->w; x++) {                                             \
                    size_t out = ((image * (n)->c + o) * (n)->h + y) * (n)->w + x;                \
                    for (size_t i = 0; i < (n)->in_c; i++)                                        \
                        for (size_t row = 0; row < k; row++) {                                    \
                            size_t iy = y * stride + row - (n)->layer->padding;                   \
                            for (size_t column = 0; iy < (n)->in_h && column < k; column++) {     \
                                size_t ix = x * stride + column - (n)->layer->padding;            \
                                if (ix >= (n)->in_w)                                              \
                                    continue;                                                     \
                                size_t from =                                                     \
                                    ((image * (n)->in_c + i) * (n)->in_h + iy) * (n)->in_w + ix;  \
                                size_t weight = ((o * (n)->in_c + i) * k + row) * k + column;     \
                                body;                                                             \
                            }                                                                     \
                        }                                                                         \
                }

static size_t winner_of(const node *n, const double *in, size_t plane, size_t y, size_t x)
{
    size_t corner = (plane * n->in_h + 2 * y) * n->in_w + 2 * x, best = corner;
    size_t places[4] = {corner, corner + 1, corner + n->in_w, corner + n->in_w + 1};
    for (size_t i = 1; i < 4; i++)
        if (in[places[i]] > in[best])
            best = places[i];
    return best;
}

/* Runs `body` with the positions from and out of every number that goes into a mean. */
#define FOR_MEANS(n, images, body)                                                      \
    for (size_t plane = 0; plane < (images) * (n)->c; plane++)                          \
        for (size_t y = 0; y < (n)->h; y++)                                             \
            for (size_t x = 0; x < (n)->w; x++) {                                       \
                size_t out = (plane * (n)->h + y) * (n)->w + x;                         \
                size_t rows = is(n, &imp_layer_average) ? 2 : (n)->in_h;                \
                size_t columns = is(n, &imp_layer_average) ? 2 : (n)->in_w;             \
                for (size_t i = 0; i < rows * columns; i++) {                           \
                    size_t iy = rows * y + i / columns, ix = columns * x + i % columns; \
                    size_t from = (plane * (n)->in_h + iy) * (n)->in_w + ix;            \
                    double share = 1.0 / (double)(rows * columns);                      \
                    body;                                                               \
                }                                                                       \
            }

static void norm_forward(reference *r, node *n, const double *in, bool training)
{
    size_t plane = n->h * n->w, images = r->count;
    const double *gamma = r->parameters + n->layer->gamma, *beta = r->parameters + n->layer->beta;
    double *running_mean = r->state + n->layer->running_mean;
    double *running_var = r->state + n->layer->running_var;
    double count = (double)(images * plane);
    for (size_t c = 0; c < n->c; c++) {
        double mean = 0, variance = 0;
        for (size_t i = 0; i < images * plane; i++)
            mean += in[(i / plane * n->c + c) * plane + i % plane] / count;
        for (size_t i = 0; i < images * plane; i++) {
            double d = in[(i / plane * n->c + c) * plane + i % plane] - mean;
            variance += d * d / count;
        }
        if (training) {
            double unbiased = variance * count / (count > 1 ? count - 1 : 1);
            running_mean[c] = 0.9 * running_mean[c] + 0.1 * mean;
            running_var[c] = 0.9 * running_var[c] + 0.1 * unbiased;
        } else {
            mean = running_mean[c];
            variance = running_var[c];
        }
        n->mean[c] = mean;
        n->rstd[c] = 1 / sqrt(variance + 1e-5);
        for (size_t i = 0; i < images * plane; i++) {
            size_t at = (i / plane * n->c + c) * plane + i % plane;
            n->out[at] = gamma[c] * (in[at] - mean) * n->rstd[c] + beta[c];
        }
    }
}

/* Draws one by one, in the order (N, H, W, C) or (N, C), from the sequence of step 0. */
static void draw_dropout(const reference *r, node *n)
{
    const imp_layer *l = n->layer;
    imp_random random = imp_random_start(r->network->options.seed,
                                         IMP_STREAM_DROPOUT + ((uint32_t)l->number << 16), 0);
    free(n->factor);
    n->factor = need(out_size(r, n), sizeof(double));
    for (size_t image = 0; image < r->count; image++)
        for (size_t p = 0; p < (l->whole_channels ? 1 : n->h * n->w); p++)
            for (size_t c = 0; c < n->c; c++) {
                bool stays = imp_random_u32(&random) / 0x1p32 >= l->rate;
                double *plane = n->factor + (image * n->c + c) * n->h * n->w;
                plane[p] = stays ? 1 / (1 - (double)l->rate) : 0;
                for (size_t i = 1; l->whole_channels && i < n->h * n->w; i++)
                    plane[i] = plane[0];
            }
}

static void forward_node(reference *r, node *n, bool training)
{
    const imp_layer *l = n->layer;
    size_t size = out_size(r, n), images = r->count;
    const double *in = r->nodes[l->input[0]].out, *weights = r->parameters + l->weight;
    const double *bias = l->bias == IMP_NONE ? NULL : r->parameters + l->bias;
    free(n->out);
    n->out = need(size, sizeof(double));
    if (is(n, &imp_layer_conv)) {
        for (size_t i = 0; bias && i < size; i++)
            n->out[i] = bias[i / (n->h * n->w) % n->c];
        FOR_CONV(n, images, n->out[out] += weights[weight] * in[from])
    } else if (is(n, &imp_layer_norm)) {
        norm_forward(r, n, in, training);
    } else if (is_rectifier(n)) {
        for (size_t i = 0; i < size; i++)
            n->out[i] = in[i] > 0 ? in[i] : l->slope * in[i];
    } else if (is(n, &imp_layer_pool)) {
        for (size_t i = 0; i < size; i++)
            n->out[i] = in[winner_of(n, in, i / (n->h * n->w), i / n->w % n->h, i % n->w)];
    } else if (is(n, &imp_layer_average) || is(n, &imp_layer_global_average)) {
        FOR_MEANS(n, images, n->out[out] += share * in[from])
    } else if (is(n, &imp_layer_add)) {
        for (size_t i = 0; i < size; i++)
            n->out[i] = in[i] + r->nodes[l->input[1]].out[i];
    } else if (is(n, &imp_layer_dropout)) {
        draw_dropout(r, n);
        for (size_t i = 0; i < size; i++)
            n->out[i] = training ? n->factor[i] * in[i] : in[i];
    } else if (is(n, &imp_layer_flatten)) {
        memcpy(n->out, in, size * sizeof(double));
    } else if (is(n, &imp_layer_standard)) {
        for (size_t i = 0; i < size; i++)
            n->out[i] = (in[i] - r->state[l->running_mean + i % n->c]) *
                        r->state[l->running_var + i % n->c];
    } else if (is(n, &imp_layer_linear)) {
        for (size_t image = 0; image < images; image++)
            for (size_t o = 0; o < n->c; o++) {
                double sum = bias ? bias[o] : 0;
                for (size_t i = 0; i < n->in_c; i++)
                    sum += weights[o * n->in_c + i] * in[image * n->in_c + i];
                n->out[image * n->c + o] = sum;
            }
    } else {
        abort();
    }
}

static void norm_backward(reference *r, node *n, const double *in, double *din)
{
    size_t plane = n->h * n->w, images = r->count;
    const double *gamma = r->parameters + n->layer->gamma;
    double count = (double)(images * plane);
    for (size_t c = 0; c < n->c; c++) {
        double sum = 0, product = 0;
        for (size_t i = 0; i < images * plane; i++) {
            size_t at = (i / plane * n->c + c) * plane + i % plane;
            sum += n->dout[at];
            product += n->dout[at] * (in[at] - n->mean[c]) * n->rstd[c];
        }
        r->gradients[n->layer->gamma + c] += product;
        r->gradients[n->layer->beta + c] += sum;
        for (size_t i = 0; i < images * plane; i++) {
            size_t at = (i / plane * n->c + c) * plane + i % plane;
            double xhat = (in[at] - n->mean[c]) * n->rstd[c];
            din[at] += gamma[c] * n->rstd[c] * (n->dout[at] - sum / count - xhat * product / count);
        }
    }
}

/* Adds to the gradients of the node's inputs. */
static void backward_node(reference *r, node *n)
{
    const imp_layer *l = n->layer;
    size_t size = out_size(r, n), images = r->count;
    const double *in = r->nodes[l->input[0]].out, *weights = r->parameters + l->weight;
    double *din = r->nodes[l->input[0]].dout;
    double *dweights = r->gradients + l->weight;
    double *dbias = l->bias == IMP_NONE ? NULL : r->gradients + l->bias;
    if (is(n, &imp_layer_conv)) {
        for (size_t i = 0; dbias && i < size; i++)
            dbias[i / (n->h * n->w) % n->c] += n->dout[i];
        FOR_CONV(n, images, dweights[weight] += n->dout[out] * in[from];
                 din[from] += n->dout[out] * weights[weight])
    } else if (is(n, &imp_layer_norm)) {
        norm_backward(r, n, in, din);
    } else if (is_rectifier(n)) {
        for (size_t i = 0; i < size; i++)
            din[i] += in[i] > 0 ? n->dout[i] : l->slope * n->dout[i];
    } else if (is(n, &imp_layer_pool)) {
        for (size_t i = 0; i < size; i++)
            din[winner_of(n, in, i / (n->h * n->w), i / n->w % n->h, i % n->w)] += n->dout[i];
    } else if (is(n, &imp_layer_average) || is(n, &imp_layer_global_average)) {
        FOR_MEANS(n, images, din[from] += share * n->dout[out])
    } else if (is(n, &imp_layer_add)) {
        for (size_t i = 0; i < size; i++) {
            din[i] += n->dout[i];
            r->nodes[l->input[1]].dout[i] += n->dout[i];
        }
    } else if (is(n, &imp_layer_dropout)) {
        for (size_t i = 0; i < size; i++)
            din[i] += n->factor[i] * n->dout[i];
    } else if (is(n, &imp_layer_flatten)) {
        for (size_t i = 0; i < size; i++)
            din[i] += n->dout[i];
    } else if (is(n, &imp_layer_standard)) {
        for (size_t i = 0; i < size; i++)
            din[i] += n->dout[i] * r->state[l->running_var + i % n->c];
    } else {
        for (size_t image = 0; image < images; image++)
            for (size_t o = 0; o < n->c; o++) {
                double d = n->dout[image * n->c + o];
                if (dbias)
                    dbias[o] += d;
                for (size_t i = 0; i < n->in_c; i++) {
                    dweights[o * n->in_c + i] += d * in[image * n->in_c + i];
                    din[image * n->in_c + i] += d * weights[o * n->in_c + i];
                }
            }
    }
}

const double *reference_forward(reference *r, const float *images, size_t count, bool training)
{
    size_t last = r->network->graph.count - 1;
    r->count = count;
    free(r->nodes[0].out); /* the images as they are: maps are (N, C, H, W) here, too */
    r->nodes[0].out = copy_of(images, out_size(r, &r->nodes[0]));
    for (size_t i = 1; i <= last; i++)
        forward_node(r, &r->nodes[i], training);
    return r->nodes[last].out;
}

void reference_backward(reference *r, const float *gradient)
{
    size_t last = r->network->graph.count - 1;
    for (size_t i = 0; i <= last; i++) {
        free(r->nodes[i].dout);
        r->nodes[i].dout = need(out_size(r, &r->nodes[i]), sizeof(double));
    }
    for (size_t i = 0; i < out_size(r, &r->nodes[last]); i++)
        r->nodes[last].dout[i] = gradient[i];
    for (size_t i = last; i > 0; i--)
        backward_node(r, &r->nodes[i]);
}
