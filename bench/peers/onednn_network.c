/*
 * onednn_network.c - Conv4 on oneDNN's C API, built the way the library's documentation asks for:
 * layouts chosen by the library (format_tag any), reorders only where two layouts differ, batch
 * norm with fused ReLU, pooling with workspace, every primitive and every byte of memory made once.
 */
#include "onednn_network.h"

#include "peer.h"

#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <sys/mman.h>

_Noreturn void die(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("onednn_conv4: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(1);
}

void check_at(dnnl_status_t status, const char *file, int line)
{
    if (status != dnnl_success)
        die("%s:%d: oneDNN returned status %d", file, line, (int)status);
}

/* ---- memory: mapped once, on huge pages where the system grants them ---- */

static void *allocate(network *net, size_t size)
{
    size_t huge = (size_t)2 << 20;
    size = (size + 4095) / 4096 * 4096;
    if (size >= huge)
        size = (size + huge - 1) / huge * huge;
    if (net->block_count == MOST)
        die("more than %d blocks of memory", MOST);
    /* A little more than needed, so that large blocks can start on a huge page. */
    size_t mapped = size >= huge ? size + huge : size;
    char *start = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        die("out of memory for %zu bytes", mapped);
    net->blocks[net->block_count].start = start;
    net->blocks[net->block_count++].size = mapped;
    if (size >= huge) {
        start += (huge - (uintptr_t)start % huge) % huge;
        madvise(start, size, MADV_HUGEPAGE);
    }
    memset(start, 0, size);
    return start;
}

static float *floats(network *net, size_t count)
{
    return allocate(net, count * sizeof(float));
}

static dnnl_memory_t memory_at(network *net, const dnnl_memory_desc_t *desc, void *where)
{
    if (net->memory_count == MOST)
        die("more than %d tensors", MOST);
    dnnl_memory_t *memory = &net->memories[net->memory_count++];
    CHECK(dnnl_memory_create(memory, desc, engine, where));
    return *memory;
}

static dnnl_memory_t memory_new(network *net, const dnnl_memory_desc_t *desc)
{
    return memory_at(net, desc, allocate(net, dnnl_memory_desc_get_size(desc)));
}

static dnnl_memory_desc_t desc4(int a, int b, int c, int d, dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t desc;
    dnnl_dims_t dims = {a, b, c, d};
    CHECK(dnnl_memory_desc_init_by_tag(&desc, 4, dims, dnnl_f32, tag));
    return desc;
}

static dnnl_memory_desc_t desc1(int a)
{
    dnnl_memory_desc_t desc;
    dnnl_dims_t dims = {a};
    CHECK(dnnl_memory_desc_init_by_tag(&desc, 1, dims, dnnl_f32, dnnl_a));
    return desc;
}

static dnnl_memory_desc_t desc_of(dnnl_memory_t memory)
{
    const dnnl_memory_desc_t *desc;
    CHECK(dnnl_memory_get_memory_desc(memory, &desc));
    return *desc;
}

/* oneDNN's name of the implementation behind a descriptor; lives as long as the descriptor. */
static const char *implementation(dnnl_primitive_desc_t pd)
{
    const char *name = "";
    CHECK(dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name));
    return name;
}

static const dnnl_memory_desc_t *wants(dnnl_primitive_desc_t pd, dnnl_query_t what)
{
    const dnnl_memory_desc_t *desc = dnnl_primitive_desc_query_md(pd, what, 0);
    if (!desc)
        die("a primitive has no memory descriptor of kind %d", (int)what);
    return desc;
}

/* ---- the list of primitives ---- */

/* Append `pd` to the step and drop it. `count` pairs of argument index and memory follow. */
static void append(network *net, int slot, dnnl_primitive_desc_t pd, int count, ...)
{
    if (net->op_count == MOST)
        die("more than %d primitives", MOST);
    step_op *op = &net->ops[net->op_count++];
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count; i++) {
        op->args[i].arg = va_arg(list, int);
        op->args[i].memory = va_arg(list, dnnl_memory_t);
    }
    va_end(list);
    op->count = count;
    op->slot = slot;
    CHECK(dnnl_primitive_create(&op->primitive, pd));
    CHECK(dnnl_primitive_desc_destroy(pd));
}

static void append_reorder(network *net, int slot, dnnl_memory_t from, dnnl_memory_t to)
{
    dnnl_primitive_desc_t pd;
    dnnl_memory_desc_t from_desc = desc_of(from), to_desc = desc_of(to);
    CHECK(dnnl_reorder_primitive_desc_create(&pd, &from_desc, engine, &to_desc, engine, NULL));
    append(net, slot, pd, 2, DNNL_ARG_FROM, from, DNNL_ARG_TO, to);
}

/* `memory` itself where it has the layout wanted, else a copy that the step makes each time. */
static dnnl_memory_t in_layout(network *net, int slot, dnnl_memory_t memory,
                               const dnnl_memory_desc_t *wanted)
{
    dnnl_memory_desc_t have = desc_of(memory);
    if (dnnl_memory_desc_equal(&have, wanted))
        return memory;
    dnnl_memory_t copy = memory_new(net, wanted);
    append_reorder(net, slot, memory, copy);
    return copy;
}

void network_step(const network *net)
{
    for (int i = 0; i < net->op_count; i++)
        CHECK(dnnl_primitive_execute(net->ops[i].primitive, net->stream, net->ops[i].count,
                                     net->ops[i].args));
    CHECK(dnnl_stream_wait(net->stream));
    if (!net->shape.train)
        return;
    int h = net->shape.h, w = net->shape.w;
    for (int l = 0; l < LAYERS; l++, h /= 2, w /= 2) {
        float count = (float)net->shape.n * (float)h * (float)w, unbiased = count / (count - 1);
        for (int f = 0; f < FILTERS; f++) {
            net->layer[l].mean[f] += MOMENTUM * (net->batch_mean[l][f] - net->layer[l].mean[f]);
            net->layer[l].variance[f] +=
                MOMENTUM * (unbiased * net->batch_variance[l][f] - net->layer[l].variance[f]);
        }
    }
}

/* ---- Conv4 ---- */

static const dnnl_dims_t one = {1, 1}, two = {2, 2}, none = {0, 0};

/* The descriptor of layer l's convolution in one direction, all layouts open, or fixed to the
 * plan's for the activations between the layers. Falls back to the direct algorithm where oneDNN
 * has no other. */
static dnnl_primitive_desc_t convolution(network *net, int slot, int c, int h, int w,
                                         const_dnnl_primitive_attr_t attr,
                                         dnnl_primitive_desc_t forward)
{
    const int l = slot % LAYERS, direction = slot / LAYERS;
    const dnnl_format_tag_t layout = net->plan.layout;
    dnnl_memory_desc_t x = desc4(net->shape.n, c, h, w, layout);
    dnnl_memory_desc_t y = desc4(net->shape.n, FILTERS, h, w, layout);
    dnnl_memory_desc_t weight = desc4(FILTERS, c, 3, 3, dnnl_format_tag_any), bias = desc1(FILTERS);
    dnnl_alg_kind_t algorithm = net->plan.algorithm[slot];
    for (;;) {
        dnnl_convolution_desc_t d;
        dnnl_primitive_desc_t pd;
        dnnl_status_t status;
        if (direction == FORWARD)
            status = dnnl_convolution_forward_desc_init(
                &d, net->shape.train ? dnnl_forward_training : dnnl_forward_inference, algorithm,
                &x, &weight, net->shape.train ? NULL : &bias, &y, one, one, one);
        else if (direction == BACKWARD_DATA)
            status = dnnl_convolution_backward_data_desc_init(&d, algorithm, &x, &weight, &y, one,
                                                              one, one);
        else
            status = dnnl_convolution_backward_weights_desc_init(&d, algorithm, &x, &weight, NULL,
                                                                 &y, one, one, one);
        if (status == dnnl_success)
            status = dnnl_primitive_desc_create(&pd, &d, attr, engine, forward);
        if (status == dnnl_success) {
            const char *name = implementation(pd);
            size_t used = strlen(net->implementations);
            snprintf(net->implementations + used, sizeof net->implementations - used, "%s%s%d %s",
                     used ? ", " : "",
                     direction == FORWARD         ? "forward"
                     : direction == BACKWARD_DATA ? "data"
                                                  : "weights",
                     l + 1, name);
            net->winograd_slots += strstr(name, "wino") != NULL;
            return pd;
        }
        if (algorithm == dnnl_convolution_direct)
            die("no convolution for layer %d, direction %d", l + 1, direction);
        algorithm = dnnl_convolution_direct;
    }
}

/* Forward pooling by the implementation that the plan names, or else oneDNN's first choice. */
static dnnl_primitive_desc_t pooling(const network *net, dnnl_memory_t y, int h, int w)
{
    dnnl_pooling_desc_t d;
    dnnl_primitive_desc_t pd;
    dnnl_primitive_desc_iterator_t iterator;
    dnnl_memory_desc_t in = desc_of(y);
    dnnl_memory_desc_t out = desc4(net->shape.n, FILTERS, h / 2, w / 2, dnnl_format_tag_any);
    CHECK(dnnl_pooling_forward_desc_init(
        &d, net->shape.train ? dnnl_forward_training : dnnl_forward_inference, dnnl_pooling_max,
        &in, &out, two, two, none, none));
    CHECK(dnnl_primitive_desc_iterator_create(&iterator, &d, NULL, engine, NULL));
    do {
        pd = dnnl_primitive_desc_iterator_fetch(iterator);
        if (!net->plan.pooling || strcmp(implementation(pd), net->plan.pooling) == 0)
            break;
        CHECK(dnnl_primitive_desc_destroy(pd));
        pd = NULL;
    } while (dnnl_primitive_desc_iterator_next(iterator) == dnnl_success);
    CHECK(dnnl_primitive_desc_iterator_destroy(iterator));
    if (!pd)
        CHECK(dnnl_primitive_desc_create(&pd, &d, NULL, engine, NULL));
    return pd;
}

/* The bytes of the largest full-size activation: those that live only from one primitive to the
 * next share one block of this size. Blocked layouts of 64 channels need no padding. */
static size_t largest_activation(const shape *s)
{
    return (size_t)s->n * FILTERS * (size_t)s->h * (size_t)s->w * sizeof(float);
}

static void build_training(network *net, dnnl_memory_t x, dnnl_memory_t grad, dnnl_memory_t output)
{
    const unsigned flags = dnnl_use_scaleshift | dnnl_fuse_norm_relu;
    const shape s = net->shape;
    int c = s.c, h = s.h, w = s.w;
    float *normalized = allocate(net, largest_activation(&s)); /* batch norm + ReLU -> pooling */
    float *gradient = allocate(net, largest_activation(&s));   /* pooling -> batch norm -> conv */
    struct {
        int c, h, w;
        dnnl_memory_t x, weight, y, scale_shift, mean, variance, relu, winner;
        dnnl_primitive_desc_t convolution, norm, pool;
    } layers[LAYERS], *layer;
    dnnl_memory_desc_t two_rows, channels = desc1(FILTERS);
    dnnl_dims_t two_rows_dims = {2, FILTERS};
    CHECK(dnnl_memory_desc_init_by_tag(&two_rows, 2, two_rows_dims, dnnl_f32, dnnl_ab));

    for (int l = 0; l < LAYERS; l++, c = FILTERS, h /= 2, w /= 2) {
        const int slot = FORWARD * LAYERS + l;
        dnnl_primitive_desc_t pd;
        layer = &layers[l];
        layer->c = c, layer->h = h, layer->w = w;

        pd = convolution(net, slot, c, h, w, NULL, NULL);
        dnnl_memory_desc_t plain = desc4(FILTERS, c, 3, 3, dnnl_oihw);
        layer->weight = memory_at(net, &plain, net->layer[l].weight);
        layer->x = in_layout(net, slot, x, wants(pd, dnnl_query_src_md));
        layer->y = memory_new(net, wants(pd, dnnl_query_dst_md));
        dnnl_memory_t weight =
            in_layout(net, slot, layer->weight, wants(pd, dnnl_query_weights_md));
        CHECK(dnnl_primitive_desc_clone(&layer->convolution, pd));
        append(net, slot, pd, 3, DNNL_ARG_SRC, layer->x, DNNL_ARG_WEIGHTS, weight, DNNL_ARG_DST,
               layer->y);

        dnnl_batch_normalization_desc_t norm;
        dnnl_memory_desc_t y = desc_of(layer->y);
        CHECK(dnnl_batch_normalization_forward_desc_init(&norm, dnnl_forward_training, &y, EPSILON,
                                                         flags));
        CHECK(dnnl_primitive_desc_create(&pd, &norm, NULL, engine, NULL));
        CHECK(dnnl_primitive_desc_clone(&layer->norm, pd));
        layer->scale_shift = memory_at(net, &two_rows, net->layer[l].scale_shift);
        layer->mean = memory_at(net, &channels, net->batch_mean[l]);
        layer->variance = memory_at(net, &channels, net->batch_variance[l]);
        layer->relu = memory_new(net, wants(pd, dnnl_query_workspace_md));
        dnnl_memory_t z = memory_at(net, &y, normalized);
        append(net, NO_SLOT, pd, 6, DNNL_ARG_SRC, layer->y, DNNL_ARG_SCALE_SHIFT,
               layer->scale_shift, DNNL_ARG_DST, z, DNNL_ARG_MEAN, layer->mean, DNNL_ARG_VARIANCE,
               layer->variance, DNNL_ARG_WORKSPACE, layer->relu);

        pd = pooling(net, z, h, w);
        CHECK(dnnl_primitive_desc_clone(&layer->pool, pd));
        layer->winner = memory_new(net, wants(pd, dnnl_query_workspace_md));
        x = memory_new(net, wants(pd, dnnl_query_dst_md));
        append(net, NO_SLOT, pd, 3, DNNL_ARG_SRC, z, DNNL_ARG_DST, x, DNNL_ARG_WORKSPACE,
               layer->winner);
    }
    append_reorder(net, NO_SLOT, x, output);

    dnnl_memory_desc_t pooled = desc_of(x);
    dnnl_memory_t dx = in_layout(net, NO_SLOT, grad, &pooled);
    for (int l = LAYERS - 1; l >= 0; l--) {
        dnnl_primitive_desc_t pd;
        layer = &layers[l];

        dnnl_pooling_desc_t pool;
        dnnl_memory_desc_t y = desc_of(layer->y), out = *wants(layer->pool, dnnl_query_dst_md);
        CHECK(dnnl_pooling_backward_desc_init(&pool, dnnl_pooling_max, &y, &out, two, two, none,
                                              none));
        CHECK(dnnl_primitive_desc_create(&pd, &pool, NULL, engine, layer->pool));
        dx = in_layout(net, NO_SLOT, dx, &out);
        dnnl_memory_t dy = memory_at(net, &y, gradient);
        append(net, NO_SLOT, pd, 3, DNNL_ARG_DIFF_DST, dx, DNNL_ARG_DIFF_SRC, dy,
               DNNL_ARG_WORKSPACE, layer->winner);

        dnnl_batch_normalization_desc_t norm;
        CHECK(dnnl_batch_normalization_backward_desc_init(&norm, dnnl_backward, &y, &y, EPSILON,
                                                          flags));
        CHECK(dnnl_primitive_desc_create(&pd, &norm, NULL, engine, layer->norm));
        dnnl_memory_t grad_scale_shift = memory_at(net, &two_rows, net->grad_scale_shift[l]);
        append(net, NO_SLOT, pd, 8, DNNL_ARG_SRC, layer->y, DNNL_ARG_MEAN, layer->mean,
               DNNL_ARG_VARIANCE, layer->variance, DNNL_ARG_SCALE_SHIFT, layer->scale_shift,
               DNNL_ARG_WORKSPACE, layer->relu, DNNL_ARG_DIFF_DST, dy, DNNL_ARG_DIFF_SRC, dy,
               DNNL_ARG_DIFF_SCALE_SHIFT, grad_scale_shift);

        int slot = BACKWARD_WEIGHTS * LAYERS + l;
        pd = convolution(net, slot, layer->c, layer->h, layer->w, NULL, layer->convolution);
        dnnl_memory_desc_t plain = desc_of(layer->weight);
        dnnl_memory_t grad_weight = memory_at(net, &plain, net->grad_weight[l]);
        dnnl_memory_t dw = grad_weight;
        if (!dnnl_memory_desc_equal(&plain, wants(pd, dnnl_query_diff_weights_md)))
            dw = memory_new(net, wants(pd, dnnl_query_diff_weights_md));
        dnnl_memory_t src = in_layout(net, slot, layer->x, wants(pd, dnnl_query_src_md));
        dnnl_memory_t dst = in_layout(net, slot, dy, wants(pd, dnnl_query_diff_dst_md));
        append(net, slot, pd, 3, DNNL_ARG_SRC, src, DNNL_ARG_DIFF_DST, dst, DNNL_ARG_DIFF_WEIGHTS,
               dw);
        if (dw != grad_weight)
            append_reorder(net, slot, dw, grad_weight);

        if (l > 0) { /* nobody needs the gradient of the images */
            slot = BACKWARD_DATA * LAYERS + l;
            pd = convolution(net, slot, layer->c, layer->h, layer->w, NULL, layer->convolution);
            dnnl_memory_t weight =
                in_layout(net, slot, layer->weight, wants(pd, dnnl_query_weights_md));
            dst = in_layout(net, slot, dy, wants(pd, dnnl_query_diff_dst_md));
            dx = memory_new(net, wants(pd, dnnl_query_diff_src_md));
            append(net, slot, pd, 3, DNNL_ARG_DIFF_DST, dst, DNNL_ARG_WEIGHTS, weight,
                   DNNL_ARG_DIFF_SRC, dx);
        }
        CHECK(dnnl_primitive_desc_destroy(layer->convolution));
        CHECK(dnnl_primitive_desc_destroy(layer->norm));
        CHECK(dnnl_primitive_desc_destroy(layer->pool));
    }
}

/* Evaluation: batch norm lies in weights and biases, which are folded and laid out here, before the
 * first step; ReLU is a post-operation of the convolution. */
static void build_evaluation(network *net, dnnl_memory_t x, dnnl_memory_t output)
{
    int c = net->shape.c, h = net->shape.h, w = net->shape.w;
    float *convolved = allocate(net, largest_activation(&net->shape));
    dnnl_primitive_attr_t relu;
    dnnl_post_ops_t post;
    dnnl_memory_desc_t channels = desc1(FILTERS);
    CHECK(dnnl_post_ops_create(&post));
    CHECK(dnnl_post_ops_append_eltwise(post, 1.0f, dnnl_eltwise_relu, 0.0f, 0.0f));
    CHECK(dnnl_primitive_attr_create(&relu));
    CHECK(dnnl_primitive_attr_set_post_ops(relu, post));

    for (int l = 0; l < LAYERS; l++, c = FILTERS, h /= 2, w /= 2) {
        const parameters *p = &net->layer[l];
        const int slot = FORWARD * LAYERS + l;
        float *folded = floats(net, (size_t)FILTERS * (size_t)c * 9), *shift = floats(net, FILTERS);
        for (int f = 0; f < FILTERS; f++) {
            float factor = p->scale_shift[f] / sqrtf(p->variance[f] + EPSILON);
            for (int i = 0; i < c * 9; i++)
                folded[f * c * 9 + i] = factor * p->weight[f * c * 9 + i];
            shift[f] = p->scale_shift[FILTERS + f] - factor * p->mean[f];
        }

        dnnl_primitive_desc_t pd = convolution(net, slot, c, h, w, relu, NULL);
        dnnl_memory_desc_t plain = desc4(FILTERS, c, 3, 3, dnnl_oihw);
        dnnl_memory_t from = memory_at(net, &plain, folded);
        dnnl_memory_t weight = memory_new(net, wants(pd, dnnl_query_weights_md));
        append_reorder(net, slot, from, weight); /* done now, and taken off the list again */
        step_op *reorder = &net->ops[--net->op_count];
        CHECK(dnnl_primitive_execute(reorder->primitive, net->stream, 2, reorder->args));
        CHECK(dnnl_stream_wait(net->stream));
        CHECK(dnnl_primitive_destroy(reorder->primitive));

        x = in_layout(net, slot, x, wants(pd, dnnl_query_src_md));
        dnnl_memory_t y = memory_at(net, wants(pd, dnnl_query_dst_md), convolved);
        append(net, slot, pd, 4, DNNL_ARG_SRC, x, DNNL_ARG_WEIGHTS, weight, DNNL_ARG_BIAS,
               memory_at(net, &channels, shift), DNNL_ARG_DST, y);

        pd = pooling(net, y, h, w);
        x = memory_new(net, wants(pd, dnnl_query_dst_md));
        append(net, NO_SLOT, pd, 2, DNNL_ARG_SRC, y, DNNL_ARG_DST, x);
    }
    append_reorder(net, NO_SLOT, x, output);
    CHECK(dnnl_primitive_attr_destroy(relu));
    CHECK(dnnl_post_ops_destroy(post));
}

size_t output_floats(const shape *s)
{
    return (size_t)s->n * FILTERS * (size_t)(s->h / 16) * (size_t)(s->w / 16);
}

size_t weight_floats(const shape *s, int l)
{
    return (size_t)FILTERS * (size_t)(l ? FILTERS : s->c) * 9;
}

/* Give all parameters, the images and the output gradient a value: from `file`, in the order that
 * bench/README.md gives, or at random where it is NULL. */
static void fill(network *net, FILE *file)
{
    const shape *s = &net->shape;
    uint64_t seed = 88172645463325252u;
    struct {
        float *to;
        size_t count;
        float low, high;
    } part[2 + 4 * LAYERS] = {
        {net->x, (size_t)s->n * (size_t)s->c * (size_t)s->h * (size_t)s->w, 0, 1},
        {net->grad, output_floats(s), -1, 1}};
    int parts = 2;
    for (int l = 0; l < LAYERS; l++) {
        parameters *p = &net->layer[l];
        float bound = sqrtf(2.0f) * sqrtf(6.0f / (float)(9 * FILTERS + 9 * (l ? FILTERS : s->c)));
        part[parts].to = p->weight, part[parts].count = weight_floats(s, l);
        part[parts].low = -bound, part[parts++].high = bound;
        part[parts].to = p->scale_shift, part[parts].count = 2 * FILTERS;
        part[parts].low = 0.5f, part[parts++].high = 1.5f;
        part[parts].to = p->mean, part[parts].count = FILTERS;
        part[parts].low = -0.1f, part[parts++].high = 0.1f;
        part[parts].to = p->variance, part[parts].count = FILTERS;
        part[parts].low = 0.5f, part[parts++].high = 1.5f;
    }
    for (int i = 0; i < parts; i++) {
        if (file) {
            if (fread(part[i].to, sizeof(float), part[i].count, file) != part[i].count)
                die("the check's input file is too short");
        } else {
            for (size_t j = 0; j < part[i].count; j++)
                part[i].to[j] = uniform(&seed, part[i].low, part[i].high);
        }
    }
}

void network_free(network *net)
{
    for (int i = 0; i < net->op_count; i++)
        dnnl_primitive_destroy(net->ops[i].primitive);
    for (int i = 0; i < net->memory_count; i++)
        dnnl_memory_destroy(net->memories[i]);
    for (int i = 0; i < net->block_count; i++)
        munmap(net->blocks[i].start, net->blocks[i].size);
    dnnl_stream_destroy(net->stream);
    free(net);
}

network *network_new(const shape *s, const plan *how, FILE *file)
{
    network *net = calloc(1, sizeof *net);
    if (!net)
        die("out of memory");
    net->shape = *s;
    net->plan = *how;
    /* Before the primitives are made: oneDNN cuts the work into pieces for this many threads. */
    omp_set_num_threads(s->threads);
    CHECK(dnnl_stream_create(&net->stream, engine, dnnl_stream_default_flags));
    net->x = floats(net, (size_t)s->n * (size_t)s->c * (size_t)s->h * (size_t)s->w);
    net->grad = floats(net, output_floats(s));
    net->output = floats(net, output_floats(s));
    for (int l = 0; l < LAYERS; l++) {
        parameters *p = &net->layer[l];
        p->weight = floats(net, weight_floats(s, l));
        p->scale_shift = floats(net, 8 * FILTERS);
        p->mean = p->scale_shift + 2 * FILTERS;
        p->variance = p->mean + FILTERS;
        net->batch_mean[l] = p->variance + FILTERS;
        net->batch_variance[l] = net->batch_mean[l] + FILTERS;
        net->grad_scale_shift[l] = net->batch_variance[l] + FILTERS;
        net->grad_weight[l] = floats(net, weight_floats(s, l));
    }
    fill(net, file);
    dnnl_memory_desc_t images = desc4(s->n, s->c, s->h, s->w, dnnl_nchw);
    dnnl_memory_desc_t embeddings = desc4(s->n, FILTERS, s->h / 16, s->w / 16, dnnl_nchw);
    dnnl_memory_t x = memory_at(net, &images, net->x);
    dnnl_memory_t output = memory_at(net, &embeddings, net->output);
    if (s->train)
        build_training(net, x, memory_at(net, &embeddings, net->grad), output);
    else
        build_evaluation(net, x, output);
    return net;
}
