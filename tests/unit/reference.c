/* reference.c - see reference.h. Maps are (N, C, H, W), every sum is a plain loop. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/description.h"

typedef struct node {
    imp_step step;
    size_t in_c, in_h, in_w, c, h, w; /* maps are (N, C, H, W) */
    double *parameters, *gradients;   /* this node's first */
    double *state;
    double *out, *dout;
    double *mean, *rstd;
} node;

struct reference {
    size_t steps, count, channels, height, width;
    node nodes[IMP_MAX_STEPS];
    size_t parameter_count, state_count;
    double *parameters, *gradients, *state;
    double *images;
};

static void *need(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p)
        abort();
    return p;
}

reference *reference_create(imp_network *network)
{
    reference *r = need(1, sizeof *r);
    imp_step steps[IMP_MAX_STEPS];
    imp_error error;
    if (imp_description_parse(imp_network_description(network), steps, &r->steps, &error))
        abort();
    const imp_network_options *o = imp_network_options_of(network);
    r->channels = o->channels, r->height = o->height, r->width = o->width;
    size_t tensors = imp_network_tensor_count(network);
    for (size_t i = 0; i < tensors; i++) {
        imp_network_tensor t = imp_network_tensor_at(network, i);
        *(t.gradients ? &r->parameter_count : &r->state_count) += t.count;
    }
    r->parameters = need(r->parameter_count, sizeof(double));
    r->gradients = need(r->parameter_count, sizeof(double));
    r->state = need(r->state_count, sizeof(double));
    size_t parameter = 0, state = 0;
    for (size_t i = 0; i < tensors; i++) {
        imp_network_tensor t = imp_network_tensor_at(network, i);
        for (size_t j = 0; j < t.count; j++) {
            if (t.gradients)
                r->parameters[parameter++] = t.values[j];
            else
                r->state[state++] = t.values[j];
        }
    }
    size_t c = o->channels, h = o->height, w = o->width;
    parameter = state = 0;
    for (size_t i = 0; i < r->steps; i++) {
        node *n = &r->nodes[i];
        *n = (node){.step = steps[i], .in_c = c, .in_h = h, .in_w = w};
        n->parameters = r->parameters + parameter;
        n->gradients = r->gradients + parameter;
        n->state = r->state + state;
        switch (steps[i].kind) {
        case IMP_STEP_CONV:
            parameter += steps[i].width * (c * 9 + 1);
            c = steps[i].width;
            break;
        case IMP_STEP_LINEAR:
            parameter += steps[i].width * (c + 1);
            c = steps[i].width;
            break;
        case IMP_STEP_NORM:
            parameter += 2 * c;
            state += 2 * c;
            break;
        case IMP_STEP_POOL:
            h /= 2, w /= 2;
            break;
        case IMP_STEP_FLATTEN:
            c *= h * w, h = w = 1;
            break;
        case IMP_STEP_RELU:
            break;
        }
        n->c = c, n->h = h, n->w = w;
        n->mean = need(c, sizeof(double));
        n->rstd = need(c, sizeof(double));
    }
    return r;
}

void reference_free(reference *r)
{
    for (size_t i = 0; i < r->steps; i++) {
        free(r->nodes[i].out);
        free(r->nodes[i].dout);
        free(r->nodes[i].mean);
        free(r->nodes[i].rstd);
    }
    free(r->parameters);
    free(r->gradients);
    free(r->state);
    free(r->images);
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
    for (size_t i = 1; i < r->steps; i++) {
        const node *n = &r->nodes[i];
        const double *in = r->nodes[i - 1].out;
        size_t outputs = r->count * n->c * n->h * n->w;
        if (outputs > SMALL)
            continue;
        if (n->step.kind == IMP_STEP_POOL)
            calls += close_pools(n, in, outputs, margin);
        for (size_t j = 0; n->step.kind == IMP_STEP_RELU && j < outputs; j++)
            calls += fabs(in[j]) < margin;
    }
    return calls;
}

/* Runs `body` with the positions from, weight, out of every multiplication of a convolution. */
#define FOR_CONV(n, images, body)                                                            \
    for (size_t image = 0; image < (images); image++)                                        \
        for (size_t o = 0; o < (n)->c; o++)                                                  \
            for (size_t y = 0; y < (n)->h; y++)                                              \
                for (size_t x = 0; x < (n)->w; x++) {                                        \
                    size_t out = ((image * (n)->c + o) * (n)->h + y) * (n)->w + x;           \
                    for (size_t i = 0; i < (n)->in_c; i++)                                   \
                        for (size_t t = 0; t < 9; t++) {                                     \
                            size_t iy = y + t / 3 - 1, ix = x + t % 3 - 1;                   \
                            if (iy >= (n)->in_h || ix >= (n)->in_w)                          \
                                continue;                                                    \
                            size_t from =                                                    \
                                ((image * (n)->in_c + i) * (n)->in_h + iy) * (n)->in_w + ix; \
                            size_t weight = (o * (n)->in_c + i) * 9 + t;                     \
                            body;                                                            \
                        }                                                                    \
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

static void norm_forward(node *n, const double *in, size_t images, bool training)
{
    size_t plane = n->h * n->w;
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
            n->state[c] = 0.9 * n->state[c] + 0.1 * mean;
            n->state[n->c + c] = 0.9 * n->state[n->c + c] + 0.1 * unbiased;
        } else {
            mean = n->state[c];
            variance = n->state[n->c + c];
        }
        n->mean[c] = mean;
        n->rstd[c] = 1 / sqrt(variance + 1e-5);
        for (size_t i = 0; i < images * plane; i++) {
            size_t at = (i / plane * n->c + c) * plane + i % plane;
            n->out[at] = n->parameters[c] * (in[at] - mean) * n->rstd[c] + n->parameters[n->c + c];
        }
    }
}

static void forward_node(node *n, const double *in, size_t images, bool training)
{
    size_t size = images * n->c * n->h * n->w;
    free(n->out);
    n->out = need(size, sizeof(double));
    switch (n->step.kind) {
    case IMP_STEP_CONV:
        for (size_t i = 0; i < size; i++)
            n->out[i] = n->parameters[n->c * n->in_c * 9 + i / (n->h * n->w) % n->c];
        FOR_CONV(n, images, n->out[out] += n->parameters[weight] * in[from])
        break;
    case IMP_STEP_NORM:
        norm_forward(n, in, images, training);
        break;
    case IMP_STEP_RELU:
        for (size_t i = 0; i < size; i++)
            n->out[i] = in[i] > 0 ? in[i] : 0;
        break;
    case IMP_STEP_POOL:
        for (size_t i = 0; i < size; i++)
            n->out[i] = in[winner_of(n, in, i / (n->h * n->w), i / n->w % n->h, i % n->w)];
        break;
    case IMP_STEP_FLATTEN:
        memcpy(n->out, in, size * sizeof(double));
        break;
    case IMP_STEP_LINEAR:
        for (size_t image = 0; image < images; image++)
            for (size_t o = 0; o < n->c; o++) {
                double sum = n->parameters[n->c * n->in_c + o];
                for (size_t i = 0; i < n->in_c; i++)
                    sum += n->parameters[o * n->in_c + i] * in[image * n->in_c + i];
                n->out[image * n->c + o] = sum;
            }
        break;
    }
}

static void norm_backward(node *n, const double *in, double *din, size_t images)
{
    size_t plane = n->h * n->w;
    double count = (double)(images * plane);
    for (size_t c = 0; c < n->c; c++) {
        double sum = 0, product = 0;
        for (size_t i = 0; i < images * plane; i++) {
            size_t at = (i / plane * n->c + c) * plane + i % plane;
            sum += n->dout[at];
            product += n->dout[at] * (in[at] - n->mean[c]) * n->rstd[c];
        }
        n->gradients[c] += product;
        n->gradients[n->c + c] += sum;
        for (size_t i = 0; i < images * plane; i++) {
            size_t at = (i / plane * n->c + c) * plane + i % plane;
            double xhat = (in[at] - n->mean[c]) * n->rstd[c];
            din[at] = n->parameters[c] * n->rstd[c] *
                      (n->dout[at] - sum / count - xhat * product / count);
        }
    }
}

static void backward_node(node *n, const double *in, double *din, size_t images)
{
    size_t size = images * n->c * n->h * n->w;
    switch (n->step.kind) {
    case IMP_STEP_CONV:
        for (size_t i = 0; i < size; i++)
            n->gradients[n->c * n->in_c * 9 + i / (n->h * n->w) % n->c] += n->dout[i];
        FOR_CONV(n, images, n->gradients[weight] += n->dout[out] * in[from];
                 din[from] += n->dout[out] * n->parameters[weight])
        break;
    case IMP_STEP_NORM:
        norm_backward(n, in, din, images);
        break;
    case IMP_STEP_RELU:
        for (size_t i = 0; i < size; i++)
            din[i] = in[i] > 0 ? n->dout[i] : 0;
        break;
    case IMP_STEP_POOL:
        for (size_t i = 0; i < size; i++)
            din[winner_of(n, in, i / (n->h * n->w), i / n->w % n->h, i % n->w)] += n->dout[i];
        break;
    case IMP_STEP_FLATTEN:
        memcpy(din, n->dout, size * sizeof(double));
        break;
    case IMP_STEP_LINEAR:
        for (size_t image = 0; image < images; image++)
            for (size_t o = 0; o < n->c; o++) {
                double d = n->dout[image * n->c + o];
                n->gradients[n->c * n->in_c + o] += d;
                for (size_t i = 0; i < n->in_c; i++) {
                    n->gradients[o * n->in_c + i] += d * in[image * n->in_c + i];
                    din[image * n->in_c + i] += d * n->parameters[o * n->in_c + i];
                }
            }
        break;
    }
}

const double *reference_forward(reference *r, const float *images, size_t count, bool training)
{
    size_t size = count * r->channels * r->height * r->width;
    free(r->images);
    r->images = need(size, sizeof(double));
    r->count = count;
    for (size_t i = 0; i < size; i++)
        r->images[i] = images[i];
    const double *in = r->images;
    for (size_t i = 0; i < r->steps; i++) {
        forward_node(&r->nodes[i], in, count, training);
        in = r->nodes[i].out;
    }
    return in;
}

void reference_backward(reference *r, const float *gradient)
{
    for (size_t i = r->steps; i-- > 0;) {
        node *n = &r->nodes[i];
        size_t out = r->count * n->c * n->h * n->w, in = r->count * n->in_c * n->in_h * n->in_w;
        if (i + 1 == r->steps) {
            free(n->dout);
            n->dout = need(out, sizeof(double));
            for (size_t j = 0; j < out; j++)
                n->dout[j] = gradient[j];
        }
        double *din = need(in, sizeof(double));
        backward_node(n, i ? r->nodes[i - 1].out : r->images, din, r->count);
        if (i == 0)
            free(din);
        else {
            free(r->nodes[i - 1].dout);
            r->nodes[i - 1].dout = din;
        }
    }
}
