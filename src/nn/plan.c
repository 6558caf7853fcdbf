/*
 * plan.c - turns a description and an image size into a graph of layers, each of which plans
 * itself.
 *
 * The layers are in topological order. This file has the list of kinds and handles the brackets of
 * residuals.
 */
#include "nn/plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

static const imp_layer_kind *const kinds[] = {
    &imp_layer_conv,    &imp_layer_norm,    &imp_layer_relu,           &imp_layer_leaky,
    &imp_layer_pool,    &imp_layer_average, &imp_layer_global_average, &imp_layer_dropout,
    &imp_layer_flatten, &imp_layer_linear,  &imp_layer_standard,
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- parsing a layer ---- */

static const char *end_of(const imp_plan *plan)
{
    return plan->step->text + plan->step->length;
}

bool imp_take(imp_plan *plan, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(end_of(plan) - plan->at) < length || memcmp(plan->at, text, length) != 0)
        return false;
    plan->at += length;
    return true;
}

bool imp_take_count(imp_plan *plan, size_t *count)
{
    size_t value = 0;
    const char *begin = plan->at;
    for (; plan->at < end_of(plan) && *plan->at >= '0' && *plan->at <= '9'; plan->at++) {
        value = value * 10 + (size_t)(*plan->at - '0');
        if (value > IMP_MAX_WIDTH)
            return false;
    }
    *count = value;
    return plan->at > begin && value > 0;
}

bool imp_take_fraction(imp_plan *plan, float *fraction)
{
    char text[32];
    size_t length = 0;
    while (plan->at < end_of(plan) && *plan->at && strchr("0123456789.", *plan->at) &&
           length + 1 < sizeof text)
        text[length++] = *plan->at++;
    text[length] = '\0';
    char *end;
    errno = 0;
    double value = imp_number_read(text, &end);
    *fraction = (float)value;
    return end != text && !*end && !errno && *fraction >= 0 && *fraction < 1;
}

imp_status imp_misspelt(const imp_plan *plan)
{
    const imp_network *network = plan->network;
    return imp_fail(plan->error, IMP_EINVAL, "'%.*s' in the network should be %s",
                    (int)plan->step->length, plan->step->text,
                    network->graph.layers[network->graph.count - 1].kind->usage);
}

imp_status imp_take_end(const imp_plan *plan)
{
    return plan->at == end_of(plan) ? IMP_OK : imp_misspelt(plan);
}

imp_start imp_take_start(imp_plan *plan, size_t fan_in, size_t fan_out)
{
    if (imp_take(plan, ":he"))
        return (imp_start){IMP_START_NORMAL, sqrt(2.0 / (double)fan_out)};
    double bound = sqrt(6.0 / (double)(fan_in + fan_out));
    return (imp_start){IMP_START_UNIFORM, imp_take(plan, ":xavier") ? bound : sqrt(2) * bound};
}

/* ---- names ---- */

static imp_scope *scope_of(imp_plan *plan)
{
    return &plan->scopes[plan->depth];
}

void imp_plan_block(imp_plan *plan)
{
    scope_of(plan)->blocks++;
    scope_of(plan)->block_has_norm = false;
}

imp_status imp_plan_norm(imp_plan *plan)
{
    imp_scope *scope = scope_of(plan);
    if (scope->block_has_norm)
        return imp_fail(
            plan->error, IMP_EINVAL,
            "two bn follow one %s; PyTorch's names have room for one per convolution, linear "
            "layer or residual",
            scope->blocks ? "layer" : "input");
    scope->block_has_norm = true;
    return IMP_OK;
}

size_t imp_plan_tensor(imp_plan *plan, const char *name, bool trained, size_t rank,
                       const size_t *shape, imp_start start)
{
    imp_network *network = plan->network;
    const imp_scope *scope = scope_of(plan);
    imp_tensor_place *place = &network->places[network->place_count++];
    size_t *end = trained ? &network->parameter_count : &network->state_count;
    *place = (imp_tensor_place){
        .rank = rank, .count = 1, .offset = *end, .trained = trained, .start = start};
    if (scope->blocks > 0)
        snprintf(place->name, sizeof place->name, "%s%zu.%s", scope->prefix, scope->blocks - 1,
                 name);
    else
        snprintf(place->name, sizeof place->name, "%sinput.%s",
                 plan->depth > 0 ? scope->prefix : "", name);
    for (size_t i = 0; i < rank; i++) {
        place->shape[i] = shape[i];
        place->count *= shape[i];
    }
    *end += place->count;
    network->graph.layers[network->graph.count - 1].trained = true;
    return place->offset;
}

/* ---- the graph ---- */

/* Adds a layer that reads the current value and replaces it. */
static imp_layer *add_layer(imp_plan *plan, const imp_layer_kind *kind)
{
    imp_graph *graph = &plan->network->graph;
    imp_layer *layer = &graph->layers[graph->count];
    imp_scope *scope = scope_of(plan);
    const imp_network_options *o = &plan->network->options;
    imp_shape in =
        graph->count > 0
            ? graph->layers[scope->value].out
            : (imp_shape){.channels = o->channels, .height = o->height, .width = o->width};
    *layer = (imp_layer){.kind = kind,
                         .input = {graph->count > 0 ? scope->value : IMP_NONE, IMP_NONE},
                         .input_count = 1,
                         .in = in,
                         .out = in,
                         .inputs = in.channels,
                         .trained = graph->count > 0 ? graph->layers[scope->value].trained
                                                     : plan->network->reaches_inputs,
                         .slope = 1,
                         .bias = IMP_NONE};
    scope->value = graph->count++;
    return layer;
}

void imp_plan_drop(imp_plan *plan)
{
    imp_graph *graph = &plan->network->graph;
    scope_of(plan)->value = graph->layers[--graph->count].input[0];
}

/* Enters a residual's body or shortcut, which starts from the residual's input. */
static void enter(imp_plan *plan, const char *part, size_t entry, size_t body)
{
    const imp_scope *outer = &plan->scopes[plan->depth - 1];
    imp_scope inner = {.value = entry, .entry = entry, .body = body};
    snprintf(inner.prefix, sizeof inner.prefix, "%s%zu.%s.", outer->prefix, outer->blocks - 1,
             part);
    plan->scopes[plan->depth] = inner;
}

static void begin_residual(imp_plan *plan)
{
    imp_plan_block(plan);
    size_t entry = scope_of(plan)->value;
    plan->depth++;
    enter(plan, "body", entry, IMP_NONE);
}

static void begin_shortcut(imp_plan *plan)
{
    enter(plan, "shortcut", scope_of(plan)->entry, scope_of(plan)->value);
}

static imp_status end_residual(imp_plan *plan)
{
    imp_scope *inner = scope_of(plan);
    bool has_shortcut = inner->body != IMP_NONE;
    size_t body = has_shortcut ? inner->body : inner->value;
    size_t shortcut = has_shortcut ? inner->value : inner->entry;
    imp_shape a = plan->network->graph.layers[body].out;
    imp_shape b = plan->network->graph.layers[shortcut].out;
    if (a.channels != b.channels || a.height != b.height || a.width != b.width || a.flat != b.flat)
        return imp_fail(plan->error, IMP_EINVAL,
                        "a residual adds %zu channels of %zux%zu to %zu of %zux%zu; give it a "
                        "shortcut that makes them alike, as in 'residual(...|conv1x1:%zu)'",
                        a.channels, a.height, a.width, b.channels, b.height, b.width, a.channels);
    plan->depth--;
    scope_of(plan)->value = body;
    add_layer(plan, &imp_layer_add);
    imp_layer *sum = &plan->network->graph.layers[scope_of(plan)->value];
    sum->input[1] = shortcut;
    sum->input_count = 2;
    sum->trained |= plan->network->graph.layers[shortcut].trained;
    return IMP_OK;
}

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static imp_status no_such_layer(const imp_plan *plan)
{
    return imp_fail(
        plan->error, IMP_EINVAL,
        "the network has no layer '%.*s'; there are convKxK:F, bn, relu, leaky:S, "
        "pool, avgpool, gap, dropout:P, flatten, linear:F, standard, residual(...|...), and "
        "conv4 and resnet12, which are whole networks",
        (int)plan->step->length, plan->step->text);
}

static imp_status plan_layer(imp_plan *plan)
{
    const imp_step *step = plan->step;
    size_t letters = 0;
    while (letters < step->length && is_letter(step->text[letters]))
        letters++;
    for (size_t i = 0; i < KINDS; i++) {
        if (strlen(kinds[i]->word) != letters || memcmp(kinds[i]->word, step->text, letters) != 0)
            continue;
        plan->at = step->text + letters;
        return kinds[i]->plan(plan, add_layer(plan, kinds[i]));
    }
    return no_such_layer(plan);
}

static imp_status plan_step(imp_plan *plan)
{
    switch (plan->step->kind) {
    case IMP_STEP_LAYER:
        return plan_layer(plan);
    case IMP_STEP_RESIDUAL:
        begin_residual(plan);
        return IMP_OK;
    case IMP_STEP_SHORTCUT:
        begin_shortcut(plan);
        return IMP_OK;
    case IMP_STEP_END:
        return end_residual(plan);
    }
    return no_such_layer(plan);
}

/* With batches of at most 2^20 images, no size of a workspace can overflow. */
static const size_t MAX_MAP = (size_t)1 << 32;

static imp_status check_input(const imp_network_options *o, imp_error *error)
{
    enum { MAX_SIDE = 4096 };
    if (o->channels < 1 || o->channels > IMP_MAX_WIDTH)
        return imp_fail(error, IMP_EINVAL, "images have %zu channels; a network takes 1 to %d",
                        o->channels, IMP_MAX_WIDTH);
    if (o->height < 1 || o->width < 1 || o->height > MAX_SIDE || o->width > MAX_SIDE)
        return imp_fail(error, IMP_EINVAL, "images are %zux%zu; a network takes 1x1 to %dx%d",
                        o->height, o->width, MAX_SIDE, MAX_SIDE);
    return IMP_OK;
}

static imp_status plan_all(imp_plan *plan, const imp_description *description)
{
    imp_network *network = plan->network;
    /* each step is at most one layer and has at most four tensors; one layer more arranges the
     * images before the first, and one flattens after the last */
    network->graph.layers = imp_allocate_zeroed(description->count + 2, sizeof(imp_layer));
    network->places = imp_allocate_zeroed(4 * description->count, sizeof *network->places);
    if (!network->graph.layers || !network->places)
        return imp_fail_memory(plan->error, "the network's layers");
    add_layer(plan, &imp_layer_arrange);
    for (size_t i = 0; i < description->count; i++) {
        plan->step = &description->steps[i];
        imp_status status = plan_step(plan);
        if (status)
            return status;
        if (imp_shape_floats(network->graph.layers[network->graph.count - 1].out) > MAX_MAP)
            return imp_fail(plan->error, IMP_EINVAL,
                            "layer %zu, '%.*s', would have more than 2^32 outputs per image", i + 1,
                            (int)plan->step->length, plan->step->text);
    }
    /* an embedding is in PyTorch's order, with or without an explicit flatten */
    static const imp_step flatten = {.kind = IMP_STEP_LAYER, .text = "flatten", .length = 7};
    plan->step = &flatten;
    return plan_step(plan);
}

imp_status imp_network_plan(imp_network *network, imp_error *error)
{
    imp_plan plan = {.network = network, .scopes = {{.prefix = "blocks."}}, .error = error};
    imp_status status = check_input(&network->options, error);
    imp_description *description = imp_allocate(1, sizeof *description);
    if (!status && !description)
        status = imp_fail_memory(error, "the network's description");
    if (!status)
        status = imp_description_parse(network->description, description, error);
    if (!status)
        status = plan_all(&plan, description);
    imp_release(description);
    return status;
}
