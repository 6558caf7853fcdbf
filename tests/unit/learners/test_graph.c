/*
 * test_graph.c - the graph network against a plain version of itself in double precision: loss,
 * gradients by finite differences, running statistics, predictions; threads; what is asked of it
 * wrongly; and when memory runs out.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "learners/learner.h"
#include "reference.h"

enum { WAY = 3, SHOT = 2, QUERIES = 2, SUPPORTS = WAY * SHOT, IMAGES = WAY * (SHOT + QUERIES) };
enum { INPUTS = 5, D = 4, NODES = SUPPORTS + 1, GRAPHS = WAY * QUERIES };
enum { ADDED = 3, MOST_LAYERS = 3, MOST_WIDTH = D + WAY + MOST_LAYERS * ADDED };

typedef struct test_form {
    size_t layers; /* with the last */
    double edge_width, edge_dropout;
    bool final_norm;
} test_form;

static const test_form forms[] = {
    {1, 4, 0, false}, {3, 3, 0, false}, {2, 0, 0, true}, {2, 4, 0.3, true}};

static const imp_learner_options *options_of(const test_form *form)
{
    static imp_learner_options options;
    options = imp_learner_defaults();
    options.way = WAY;
    options.own[0] = (imp_named_value){"graph-layers", (double)form->layers - 1};
    options.own[1] = (imp_named_value){"node-features", ADDED};
    options.own[2] = (imp_named_value){"edge-width", form->edge_width};
    options.own[3] = (imp_named_value){"edge-dropout", form->edge_dropout};
    options.own[4] = (imp_named_value){"final-norm", form->final_norm};
    return &options;
}

static imp_network *network_of(const char *layers, size_t inputs, int threads)
{
    imp_network_options options = {.size = sizeof options,
                                   .channels = inputs,
                                   .height = 1,
                                   .width = 1,
                                   .seed = 3,
                                   .threads = threads};
    imp_network *network;
    return imp_network_create(layers, &options, &network, NULL) ? NULL : network;
}

#define EMBEDDING "linear:6,leaky:0.1,linear:4,bn"

static imp_task task_of(uint64_t index)
{
    imp_task task = {
        .episode = {.index = index, .way = WAY, .supports = SUPPORTS, .queries = GRAPHS}};
    task.episode.labels = malloc(IMAGES * sizeof *task.episode.labels);
    task.pixels = malloc(IMAGES * INPUTS * sizeof *task.pixels);
    imp_random random = imp_random_start(9, 0, index);
    for (size_t i = 0; i < IMAGES; i++) {
        size_t label = i < SUPPORTS ? i % WAY : (i - SUPPORTS) % WAY;
        task.episode.labels[i] = (int32_t)label;
        for (size_t p = 0; p < INPUTS; p++)
            task.pixels[i * INPUTS + p] = (float)(imp_random_normal(&random) + (p == label));
    }
    return task;
}

static void free_task(imp_task *task)
{
    free(task->episode.labels);
    free(task->pixels);
}

/* ---- the plain version ---- */

typedef struct plain {
    const imp_learner *learner; /* whose parameters say by their names what there is */
    size_t layers;
    const double *values;
    bool training;
    double logits[GRAPHS][WAY];
    double *state; /* as values: what running statistics become; NULL: not wanted */
} plain;

/* A tensor of a part's block, or NULL. */
static const imp_learner_parameter *find(const plain *p, const char *part, size_t layer,
                                         size_t block, const char *tensor)
{
    char name[80];
    snprintf(name, sizeof name, "%s.%zu.blocks.%zu.%s", part, layer, block, tensor);
    return imp_learner_parameter_of(p->learner, name);
}

static void normalise(plain *p, const char *part, size_t layer, size_t block, double *x,
                      size_t rows, size_t width)
{
    const imp_learner_parameter *gamma = find(p, part, layer, block, "bn.weight");
    const imp_learner_parameter *beta = find(p, part, layer, block, "bn.bias");
    const imp_learner_parameter *means = find(p, part, layer, block, "bn.running_mean");
    const imp_learner_parameter *vars = find(p, part, layer, block, "bn.running_var");
    for (size_t c = 0; c < width; c++) {
        double mean = 0, var = 0;
        for (size_t r = 0; r < rows; r++)
            mean += x[r * width + c] / (double)rows;
        for (size_t r = 0; r < rows; r++)
            var += pow(x[r * width + c] - mean, 2) / (double)rows;
        if (p->state) {
            double unbiased = var * (double)rows / (double)(rows - 1);
            p->state[means->offset + c] = 0.9 * p->values[means->offset + c] + 0.1 * mean;
            p->state[vars->offset + c] = 0.9 * p->values[vars->offset + c] + 0.1 * unbiased;
        }
        if (!p->training) {
            mean = p->values[means->offset + c];
            var = p->values[vars->offset + c];
        }
        for (size_t r = 0; r < rows; r++)
            x[r * width + c] =
                p->values[gamma->offset + c] * (x[r * width + c] - mean) / sqrt(var + 1e-5) +
                p->values[beta->offset + c];
    }
}

/* What a part makes of rows, which it frees. */
static double *pass(plain *p, const char *part, size_t layer, double *x, size_t rows)
{
    const imp_learner_parameter *weight;
    for (size_t b = 0; (weight = find(p, part, layer, b, "linear.weight")) != NULL; b++) {
        const imp_learner_parameter *bias = find(p, part, layer, b, "linear.bias");
        size_t outputs = weight->shape[0], inputs = weight->shape[1];
        double *y = calloc(rows * outputs, sizeof *y);
        for (size_t r = 0; r < rows; r++)
            for (size_t o = 0; o < outputs; o++) {
                y[r * outputs + o] = bias ? p->values[bias->offset + o] : 0;
                for (size_t i = 0; i < inputs; i++)
                    y[r * outputs + o] +=
                        p->values[weight->offset + o * inputs + i] * x[r * inputs + i];
            }
        if (find(p, part, layer, b, "bn.weight"))
            normalise(p, part, layer, b, y, rows, outputs);
        for (size_t i = 0; i < rows * outputs && !bias; i++)
            y[i] = y[i] > 0 ? y[i] : 0.01 * y[i];
        free(x);
        x = y;
    }
    return x;
}

typedef double node_rows[GRAPHS][NODES][MOST_WIDTH];

/* Nodes and the weighted sums of their neighbours. */
static double *join(plain *p, size_t layer, node_rows x, size_t width)
{
    size_t pairs = NODES * (NODES - 1) / 2, at = 0;
    double *rows = malloc(GRAPHS * pairs * width * sizeof *rows);
    for (size_t g = 0; g < GRAPHS; g++)
        for (size_t i = 0; i < NODES; i++)
            for (size_t j = i + 1; j < NODES; j++)
                for (size_t f = 0; f < width; f++)
                    rows[at++] = fabs(x[g][i][f] - x[g][j][f]);
    double *strength = pass(p, "edges", layer, rows, GRAPHS * pairs);
    double *joined = calloc(GRAPHS * NODES * 2 * width, sizeof *joined);
    for (size_t g = 0; g < GRAPHS; g++) {
        double a[NODES][NODES] = {0};
        size_t pair = g * pairs;
        for (size_t i = 0; i < NODES; i++)
            for (size_t j = i + 1; j < NODES; j++)
                a[i][j] = a[j][i] = exp(strength[pair++]);
        for (size_t i = 0; i < NODES; i++) {
            double sum = 0, *to = joined + (g * NODES + i) * 2 * width;
            for (size_t j = 0; j < NODES; j++)
                sum += a[i][j];
            for (size_t f = 0; f < width; f++) {
                to[f] = x[g][i][f];
                for (size_t j = 0; j < NODES; j++)
                    to[width + f] += a[i][j] / sum * x[g][j][f];
            }
        }
    }
    free(strength);
    return joined;
}

/* Loss of a task whose embeddings are given; logits. */
static double plain_loss(plain *p, const imp_episode *episode, const double *embeddings)
{
    static node_rows x;
    memset(x, 0, sizeof x);
    for (size_t g = 0; g < GRAPHS; g++)
        for (size_t i = 0; i < NODES; i++) {
            size_t image = i == 0 ? SUPPORTS + g : i - 1;
            memcpy(x[g][i], embeddings + image * D, D * sizeof(double));
            if (i > 0)
                x[g][i][D + episode->labels[image]] = 1;
        }
    size_t width = D + WAY;
    for (size_t l = 0; l < p->layers; l++) {
        double *made = pass(p, "nodes", l, join(p, l, x, width), GRAPHS * NODES);
        bool last = l + 1 == p->layers;
        for (size_t g = 0; g < GRAPHS; g++)
            for (size_t i = 0; i < NODES; i++)
                for (size_t f = 0; f < (last ? WAY : ADDED); f++) {
                    if (!last)
                        x[g][i][width + f] = made[(g * NODES + i) * ADDED + f];
                    else if (i == 0)
                        p->logits[g][f] = made[g * NODES * WAY + f];
                }
        free(made);
        width += ADDED;
    }
    double loss = 0;
    for (size_t g = 0; g < GRAPHS; g++) {
        double sum = 0;
        for (size_t c = 0; c < WAY; c++)
            sum += exp(p->logits[g][c]);
        loss += (log(sum) - p->logits[g][episode->labels[SUPPORTS + g]]) / GRAPHS;
    }
    return loss;
}

/* A learner, its task and all numbers that it learns: the network's, then its values. */
typedef struct setup {
    imp_network *network;
    imp_learner *learner;
    imp_task task;
    size_t body, count;
    double *theta;
} setup;

static setup setup_of(const test_form *form, int threads)
{
    setup s = {.network = network_of(EMBEDDING, INPUTS, threads), .task = task_of(1)};
    imp_error error;
    if (imp_learner_create("graph", options_of(form), s.network, 0, &s.learner, &error))
        fail_msg("%s", error.message);
    s.body = imp_network_parameter_count(s.network);
    s.count = s.body + s.learner->value_count;
    s.theta = malloc(s.count * sizeof *s.theta);
    for (size_t i = 0; i < s.body; i++)
        s.theta[i] = imp_network_parameters(s.network)[i];
    memcpy(s.theta + s.body, s.learner->values, s.learner->value_count * sizeof *s.theta);
    return s;
}

static void free_setup(setup *s)
{
    imp_learner_free(s->learner);
    imp_network_free(s->network);
    free_task(&s->task);
    free(s->theta);
}

static double loss_at(setup *s, const double *theta, plain *p)
{
    reference *r = reference_create(s->network);
    memcpy(reference_parameters(r), theta, s->body * sizeof *theta);
    p->values = theta + s->body;
    double loss =
        plain_loss(p, &s->task.episode, reference_forward(r, s->task.pixels, IMAGES, true));
    reference_free(r);
    return loss;
}

static double *join_gradient(const setup *s, const imp_step *step)
{
    double *gradient = malloc(s->count * sizeof *gradient);
    for (size_t i = 0; i < s->count; i++)
        gradient[i] =
            i < s->body ? (double)step->network_gradient[i] : step->value_gradient[i - s->body];
    return gradient;
}

/* ---- tests ---- */

static void assert_slopes(setup *s, plain *p, const double *gradient)
{
    double most = 0, step = 1e-6;
    for (size_t i = 0; i < s->count; i++)
        most = fmax(most, fabs(gradient[i]));
    assert_true(most > 1e-3);
    for (size_t i = 0; i < s->count; i++) {
        double kept = s->theta[i];
        s->theta[i] = kept + step;
        double above = loss_at(s, s->theta, p);
        s->theta[i] = kept - step;
        double slope = (above - loss_at(s, s->theta, p)) / (2 * step);
        s->theta[i] = kept;
        if (!(fabs(slope - gradient[i]) < 2e-3 * most))
            fail_msg("number %zu of %zu and %zu: the loss rises by %g, the step says %g", i,
                     s->body, s->count - s->body, slope, gradient[i]);
    }
}

static void test_steps(void **state)
{
    (void)state;
    for (size_t f = 0; f < 3; f++) {
        setup s = setup_of(&forms[f], 2);
        double *moved = malloc((s.count - s.body) * sizeof *moved);
        memcpy(moved, s.learner->values, (s.count - s.body) * sizeof *moved);
        plain p = {
            .learner = s.learner, .layers = forms[f].layers, .training = true, .state = moved};
        imp_step found;
        imp_error error;
        double loss = loss_at(&s, s.theta, &p);
        p.state = NULL;
        if (imp_learner_step(s.learner, &s.task, &found, &error))
            fail_msg("%s", error.message);
        if (!(fabs(found.outcome.loss - loss) < 1e-4))
            fail_msg("the loss is %g, not %g", found.outcome.loss, loss);
        for (size_t v = 0; v < s.count - s.body; v++)
            if (!(fabs(s.learner->values[v] - moved[v]) < 1e-4))
                fail_msg("value %zu became %g, not %g", v, s.learner->values[v], moved[v]);
        double *gradient = join_gradient(&s, &found);
        assert_slopes(&s, &p, gradient);
        free(gradient);
        free(moved);
        free_setup(&s);
    }
}

static void test_predictions(void **state)
{
    (void)state;
    size_t right = 0;
    for (size_t f = 0; f < 4; f++) {
        setup s = setup_of(&forms[f], 1);
        imp_step found;
        for (size_t i = 0; i < 20; i++) /* running statistics that are worth the name */
            assert_int_equal(imp_learner_step(s.learner, &s.task, &found, NULL), IMP_OK);
        imp_learner *other; /* that only predicts, and is told the values */
        assert_int_equal(imp_learner_create("graph", options_of(&forms[f]), NULL, D, &other, NULL),
                         IMP_OK);
        assert_int_equal(other->value_count, s.learner->value_count);
        imp_learner_set(other, s.learner->values);
        reference *r = reference_create(s.network);
        const double *out = reference_forward(r, s.task.pixels, IMAGES, true);
        float embeddings[IMAGES * D];
        for (size_t i = 0; i < IMAGES * D; i++)
            embeddings[i] = (float)out[i];
        plain p = {.learner = other, .layers = forms[f].layers, .values = other->values};
        double loss = plain_loss(&p, &s.task.episode, out);
        imp_solution answer;
        assert_int_equal(imp_learner_predict(other, &s.task, embeddings, &answer, NULL), IMP_OK);
        if (!(fabs(answer.loss - loss) < 1e-4))
            fail_msg("the loss is %g, not %g", answer.loss, loss);
        for (size_t g = 0; g < GRAPHS; g++) {
            size_t best = 0;
            for (size_t c = 1; c < WAY; c++)
                best = p.logits[g][c] > p.logits[g][best] ? c : best;
            assert_int_equal(answer.predictions[g], best);
            right += (int32_t)best == s.task.episode.labels[SUPPORTS + g];
        }
        reference_free(r);
        imp_learner_free(other);
        free_setup(&s);
    }
    assert_in_range(right, 1, 4 * GRAPHS - 1); /* no constant is the answer */
}

static void test_same_bits_on_any_number_of_threads(void **state)
{
    (void)state;
    double *one = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        setup s = setup_of(&forms[3], threads);
        imp_step found;
        assert_int_equal(imp_learner_step(s.learner, &s.task, &found, NULL), IMP_OK);
        double *gradient = join_gradient(&s, &found);
        if (one)
            assert_memory_equal(gradient, one, s.count * sizeof *one);
        free(threads == 1 ? NULL : gradient);
        one = threads == 1 ? gradient : one;
        free_setup(&s);
    }
    free(one);
}

static void test_mistakes_are_told(void **state)
{
    (void)state;
    setup s = setup_of(&forms[0], 1);
    imp_error error;
    imp_step found;
    imp_solution answer;
    static const float embeddings[IMAGES * D];
    s.task.episode.way = WAY + 1;
    assert_int_equal(imp_learner_predict(s.learner, &s.task, embeddings, &answer, &error),
                     IMP_EINVAL);
    assert_non_null(strstr(error.message, "tells 3 classes apart"));
    s.task.episode.way = WAY;
    s.task.pixels[0] = NAN;
    assert_int_equal(imp_learner_step(s.learner, &s.task, &found, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "the loss is"));
    free_setup(&s);
}

/* A smaller task after a larger one, and classes that take no part. */
static void test_smaller_tasks(void **state)
{
    (void)state;
    setup s = setup_of(&forms[1], 1);
    float embeddings[IMAGES * D];
    imp_solution answer;
    for (size_t i = 0; i < IMAGES * D; i++)
        embeddings[i] = s.task.pixels[i];
    assert_int_equal(imp_learner_predict(s.learner, &s.task, embeddings, &answer, NULL), IMP_OK);
    double whole = answer.loss;
    imp_task part = s.task;
    int32_t labels[] = {0, 1, 0, 1};
    part.episode.labels = labels;
    part.episode.way = 2;
    part.episode.supports = 2;
    part.episode.queries = 2;
    assert_int_equal(imp_learner_predict(s.learner, &part, embeddings, &answer, NULL), IMP_OK);
    assert_in_range(answer.predictions[0], 0, 1);
    assert_int_equal(imp_learner_predict(s.learner, &s.task, embeddings, &answer, NULL), IMP_OK);
    assert_true(answer.loss == whole);
    free_setup(&s);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    imp_task task = task_of(1);
    static const float embeddings[IMAGES * D];
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_network *network = network_of(EMBEDDING, INPUTS, 1);
        imp_learner *learner = NULL;
        imp_step found;
        imp_solution answer;
        imp_status status = network ? IMP_OK : IMP_ENOMEM;
        if (!status)
            status = imp_learner_create("graph", options_of(&forms[0]), network, 0, &learner, NULL);
        if (!status)
            status = imp_learner_step(learner, &task, &found, NULL);
        if (!status)
            status = imp_learner_predict(learner, &task, embeddings, &answer, NULL);
        imp_learner_free(learner);
        imp_network_free(network);
        failing_allocator_expect(&memory, status);
    }
    free_task(&task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_mistakes_are_told),
        cmocka_unit_test(test_smaller_tasks),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
