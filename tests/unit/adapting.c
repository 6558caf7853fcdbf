/* adapting.c - see adapting.h. */
#include "adapting.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocator.h"

#define LAYERS "conv3x3:4,bn,relu,pool,conv3x3:3,bn,relu"
enum { SIDE = 6, SHOT = 3, QUERIES = 4, WAY = ADAPTING_WAY, IMAGES = WAY * (SHOT + QUERIES) };

static imp_network *network_of(const char *layers, int threads)
{
    imp_network_options options = {.size = sizeof options,
                                   .channels = 1,
                                   .height = SIDE,
                                   .width = SIDE,
                                   .seed = 7,
                                   .threads = threads};
    imp_network *network;
    assert_int_equal(imp_network_create(layers, &options, &network, NULL), IMP_OK);
    return network;
}

/* Pictures of a class have something in common. */
static imp_task task_of(void)
{
    imp_task task = {.episode = {.index = 5,
                                 .way = WAY,
                                 .supports = WAY * SHOT,
                                 .queries = WAY * QUERIES,
                                 .groups = WAY}};
    task.episode.labels = malloc(IMAGES * sizeof *task.episode.labels);
    task.pixels = malloc(IMAGES * SIDE * SIDE * sizeof *task.pixels);
    imp_random random = imp_random_start(5, 0, 0);
    for (size_t i = 0; i < IMAGES; i++) {
        size_t label = i < WAY * SHOT ? i / SHOT : (i - WAY * SHOT) / QUERIES;
        task.episode.labels[i] = (int32_t)label;
        for (size_t p = 0; p < SIDE * SIDE; p++)
            task.pixels[i * SIDE * SIDE + p] =
                (float)(imp_random_uniform(&random) + 0.7 * (double)(p % WAY == label));
    }
    return task;
}

adapting adapting_begin(const char *learner, const imp_learner_options *options, int threads)
{
    adapting a = {.network = network_of(LAYERS, threads),
                  .task = task_of(),
                  .support_count = WAY * SHOT,
                  .query_count = WAY * QUERIES,
                  .whole = network_of(LAYERS ",flatten,linear:3", 1)};
    imp_error error;
    if (imp_learner_create(learner, options, a.network, 0, &a.learner, &error))
        fail_msg("%s", error.message);
    a.supports = a.task.pixels;
    a.queries = a.task.pixels + a.support_count * SIDE * SIDE;
    a.body = imp_network_parameter_count(a.network);
    a.count = imp_network_parameter_count(a.whole);
    assert_int_equal(a.learner->value_count, a.count - a.body);
    a.theta = malloc(a.count * sizeof *a.theta);
    a.predictions = malloc(a.query_count * sizeof *a.predictions);
    for (size_t i = 0; i < a.body; i++)
        a.theta[i] = imp_network_parameters(a.network)[i];
    for (size_t i = a.body; i < a.count; i++)
        a.theta[i] = a.learner->values[i - a.body];
    return a;
}

void adapting_end(adapting *a)
{
    imp_learner_free(a->learner);
    imp_network_free(a->network);
    imp_network_free(a->whole);
    free(a->task.episode.labels);
    free(a->task.pixels);
    free(a->theta);
    free(a->predictions);
}

double adapting_loss(adapting *a, const double *theta, const float *pixels, size_t images,
                     double *gradient, int32_t *predictions)
{
    const int32_t *labels = a->task.episode.labels + (pixels == a->supports ? 0 : a->support_count);
    reference *r = reference_create(a->whole);
    memcpy(reference_parameters(r), theta, a->count * sizeof *theta);
    const double *logits = reference_forward(r, pixels, images, true);
    float *slope = malloc(images * WAY * sizeof *slope);
    double loss = 0;
    for (size_t i = 0; i < images; i++) {
        double sum = 0;
        size_t best = 0;
        for (size_t c = 0; c < WAY; c++) {
            sum += exp(logits[i * WAY + c]);
            best = logits[i * WAY + c] > logits[i * WAY + best] ? c : best;
        }
        for (size_t c = 0; c < WAY; c++)
            slope[i * WAY + c] =
                (float)((exp(logits[i * WAY + c]) / sum - ((size_t)labels[i] == c)) /
                        (double)images);
        loss += (log(sum) - logits[i * WAY + (size_t)labels[i]]) / (double)images;
        if (predictions)
            predictions[i] = (int32_t)best;
    }
    reference_backward(r, slope);
    memcpy(gradient, reference_gradients(r), a->count * sizeof *gradient);
    free(slope);
    reference_free(r);
    return loss;
}

double *adapting_join(const adapting *a, const imp_step *step)
{
    double *gradient = malloc(a->count * sizeof *gradient);
    for (size_t i = 0; i < a->count; i++)
        gradient[i] =
            i < a->body ? (double)step->network_gradient[i] : step->value_gradient[i - a->body];
    return gradient;
}

static imp_status use(imp_learner *learner, const imp_task *task)
{
    imp_step step;
    imp_solution answer;
    imp_status status = imp_learner_step(learner, task, &step, NULL);
    return status ? status : imp_learner_predict(learner, task, NULL, &answer, NULL);
}

/* What a step on the task of that index leads to, to be freed. */
static double *step_on(adapting *a, uint64_t index)
{
    imp_step found;
    a->task.episode.index = index;
    assert_int_equal(imp_learner_step(a->learner, &a->task, &found, NULL), IMP_OK);
    return adapting_join(a, &found);
}

void adapting_same_bits(const char *name, const imp_learner_options *options, bool others)
{
    double *one = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        adapting a = adapting_begin(name, options, threads);
        double *found = step_on(&a, 0), *other = step_on(&a, 1), *again = step_on(&a, 0);
        if (one)
            assert_memory_equal(found, one, a.count * sizeof *one);
        assert_memory_equal(again, found, a.count * sizeof *found);
        if (others)
            assert_memory_not_equal(other, found, a.count * sizeof *found);
        free(other);
        free(again);
        free(one);
        one = found;
        adapting_end(&a);
    }
    free(one);
}

void adapting_memory(const char *name, const imp_learner_options *options)
{
    imp_task task = task_of();
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_network_options shape = {
            .size = sizeof shape, .channels = 1, .height = SIDE, .width = SIDE, .threads = 1};
        imp_network *network;
        imp_learner *learner = NULL;
        imp_status status = imp_network_create(LAYERS, &shape, &network, NULL);
        if (!status)
            status = imp_learner_create(name, options, network, 0, &learner, NULL);
        if (!status)
            status = use(learner, &task);
        imp_learner_free(learner);
        imp_network_free(network);
        failing_allocator_expect(&memory, status);
    }
    free(task.episode.labels);
    free(task.pixels);
}
