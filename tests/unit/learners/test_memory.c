/*
 * test_memory.c - the memory against a plain version of itself in double precision: what it answers
 * and keeps, the loss and its gradient by finite differences with the keys held still; small
 * memories; and when the machine's runs out.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "learners/learner.h"
#include "reference.h"

enum { WAY = 3, SHOT = 2, QUERIES = 3, SUPPORTS = WAY * SHOT, IMAGES = WAY * (SHOT + QUERIES) };
enum { INPUTS = 5, D = 4 };

static const imp_learner_options *memory_of(double size, double margin)
{
    static imp_learner_options options;
    options = imp_learner_defaults();
    options.own[0] = (imp_named_value){"memory-size", size};
    options.own[1] = (imp_named_value){"margin", margin};
    options.own[2] = (imp_named_value){"age-noise", 0};
    return &options;
}

static imp_network *network_of(void)
{
    imp_network_options options = {.size = sizeof options,
                                   .channels = INPUTS,
                                   .height = 1,
                                   .width = 1,
                                   .seed = 3,
                                   .threads = 1};
    imp_network *network;
    if (imp_network_create("linear:6,leaky:0.1,linear:4", &options, &network, NULL))
        return NULL;
    return network;
}

static imp_task task_of(uint64_t index, double noise)
{
    imp_task task = {
        .episode = {
            .index = index, .way = WAY, .supports = SUPPORTS, .queries = IMAGES - SUPPORTS}};
    task.episode.labels = malloc(IMAGES * sizeof *task.episode.labels);
    task.pixels = malloc(IMAGES * INPUTS * sizeof *task.pixels);
    imp_random random = imp_random_start(9, 0, index);
    for (size_t i = 0; i < IMAGES; i++) {
        size_t label = i < SUPPORTS ? i / SHOT : (i - SUPPORTS) / QUERIES;
        task.episode.labels[i] = (int32_t)label;
        for (size_t p = 0; p < INPUTS; p++)
            task.pixels[i * INPUTS + p] =
                (float)(noise * imp_random_normal(&random) + (p == label));
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
    double q[IMAGES][D];
    double keys[IMAGES][D];
    int32_t labels[IMAGES];
    size_t age[IMAGES], count, most;
    /* of each image at its turn */
    double right[IMAGES][D], wrong[IMAGES][D];
    bool counts[IMAGES];
    int32_t answers[IMAGES];
} plain;

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

static void unit(double *v)
{
    double length = sqrt(dot(v, v));
    for (size_t i = 0; i < D; i++)
        v[i] /= length;
}

static void show(plain *m, size_t image, int32_t label, bool writes)
{
    double best = -2, right = -2, wrong = -2;
    size_t at = IMAGES;
    m->answers[image] = -1;
    for (size_t e = 0; e < m->count; e++) {
        double s = dot(m->q[image], m->keys[e]);
        if (s > best) {
            best = s;
            at = e;
            m->answers[image] = m->labels[e];
        }
        if (m->labels[e] == label && s > right) {
            right = s;
            memcpy(m->right[image], m->keys[e], sizeof m->right[image]);
        }
        if (m->labels[e] != label && s > wrong) {
            wrong = s;
            memcpy(m->wrong[image], m->keys[e], sizeof m->wrong[image]);
        }
    }
    m->counts[image] = right > -2 && wrong > -2;
    if (!writes)
        return;
    for (size_t e = 0; e < m->count; e++)
        m->age[e]++;
    if (m->answers[image] == label) {
        for (size_t i = 0; i < D; i++)
            m->keys[at][i] += m->q[image][i];
        unit(m->keys[at]);
    } else {
        at = m->count;
        if (m->count == m->most) {
            at = 0;
            for (size_t e = 0; e < m->count; e++)
                at = m->age[e] > m->age[at] ? e : at;
        } else {
            m->count++;
        }
        memcpy(m->keys[at], m->q[image], sizeof m->keys[at]);
        m->labels[at] = label;
    }
    m->age[at] = 0;
}

/* The second support of every class after the first one of each, and so on. */
static size_t image_at(size_t time)
{
    if (time < SUPPORTS)
        return time % WAY * SHOT + time / WAY;
    size_t later = time - SUPPORTS;
    return SUPPORTS + later % WAY * QUERIES + later / WAY;
}

static void embed(imp_network *network, const imp_task *task, const double *theta, plain *m)
{
    reference *r = reference_create(network);
    if (theta)
        memcpy(reference_parameters(r), theta,
               imp_network_parameter_count(network) * sizeof *theta);
    const double *out = reference_forward(r, task->pixels, IMAGES, true);
    for (size_t i = 0; i < IMAGES; i++) {
        memcpy(m->q[i], out + i * D, sizeof m->q[i]);
        unit(m->q[i]);
    }
    reference_free(r);
}

/* The loss by the keys that were met, which stay where they are. */
static double loss_of(const plain *m, double margin)
{
    double loss = 0;
    for (size_t i = 0; i < IMAGES; i++)
        if (m->counts[i])
            loss +=
                (fmax(dot(m->q[i], m->wrong[i]) - dot(m->q[i], m->right[i]) + margin, 0) - margin) /
                IMAGES;
    return loss;
}

/* ---- tests ---- */

static void test_steps(void **state)
{
    (void)state;
    static const size_t sizes[] = {100, 4};
    static const double margins[] = {0.1, 0.5};
    size_t wrong = 0, losing = 0;
    for (size_t s = 0; s < 2; s++)
        for (uint64_t index = 0; index < 6; index++) {
            double margin = margins[index % 2];
            imp_network *network = network_of();
            imp_task task = task_of(index, 0.6);
            imp_learner *learner;
            imp_step found;
            imp_error error;
            assert_int_equal(imp_learner_create("memory", memory_of((double)sizes[s], margin),
                                                network, 0, &learner, NULL),
                             IMP_OK);
            assert_int_equal(learner->value_count, 0);
            if (imp_learner_step(learner, &task, &found, &error))
                fail_msg("%s", error.message);
            plain m = {.most = sizes[s]};
            embed(network, &task, NULL, &m);
            size_t right = 0;
            for (size_t t = 0; t < IMAGES; t++)
                show(&m, image_at(t), task.episode.labels[image_at(t)], true);
            for (size_t i = SUPPORTS; i < IMAGES; i++)
                right += m.answers[i] == task.episode.labels[i];
            wrong += IMAGES - SUPPORTS - right;
            assert_true(fabs(found.outcome.accuracy * (IMAGES - SUPPORTS) - (double)right) < 1e-9);
            assert_int_equal(found.outcome.clusters, m.count);
            if (!(fabs(found.outcome.loss - loss_of(&m, margin)) < 1e-5))
                fail_msg("task %zu: the loss is %g, not %g", (size_t)index, found.outcome.loss,
                         loss_of(&m, margin));
            losing += loss_of(&m, margin) > -margin;

            size_t parameters = imp_network_parameter_count(network);
            double *theta = malloc(parameters * sizeof *theta), most = 1e-3;
            for (size_t i = 0; i < parameters; i++) {
                theta[i] = imp_network_parameters(network)[i];
                most = fmax(most, fabs(found.network_gradient[i]));
            }
            for (size_t i = 0; i < parameters; i++) {
                double kept = theta[i], step = 1e-6;
                theta[i] = kept + step;
                embed(network, &task, theta, &m);
                double above = loss_of(&m, margin);
                theta[i] = kept - step;
                embed(network, &task, theta, &m);
                double slope = (above - loss_of(&m, margin)) / (2 * step);
                theta[i] = kept;
                if (!(fabs(slope - found.network_gradient[i]) < 1e-3 * most))
                    fail_msg("parameter %zu: the loss rises by %g, the step says %g", i, slope,
                             found.network_gradient[i]);
            }
            free(theta);
            imp_learner_free(learner);
            imp_network_free(network);
            free_task(&task);
        }
    assert_true(wrong > 5 && losing > 5); /* both ways of writing were taken */
}

static void test_predictions(void **state)
{
    (void)state;
    for (uint64_t index = 0; index < 6; index++) {
        imp_network *network = network_of();
        imp_task task = task_of(index, 0.4);
        imp_learner *learner;
        imp_solution answer;
        plain m = {.most = 100};
        float embeddings[IMAGES * D];
        embed(network, &task, NULL, &m);
        for (size_t i = 0; i < IMAGES * D; i++) /* only directions matter */
            embeddings[i] = (float)((double)(1 + i / D) * m.q[i / D][i % D]);
        assert_int_equal(imp_learner_create("memory", memory_of(100, 0.1), NULL, D, &learner, NULL),
                         IMP_OK);
        assert_int_equal(imp_learner_predict(learner, &task, embeddings, &answer, NULL), IMP_OK);
        for (size_t t = 0; t < SUPPORTS; t++)
            show(&m, image_at(t), task.episode.labels[image_at(t)], true);
        for (size_t i = SUPPORTS; i < IMAGES; i++) {
            show(&m, i, task.episode.labels[i], false);
            assert_int_equal(answer.predictions[i - SUPPORTS], m.answers[i]);
        }
        assert_int_equal(answer.clusters, m.count);
        imp_learner_free(learner);
        imp_network_free(network);
        free_task(&task);
    }
}

static void test_poison_is_told(void **state)
{
    (void)state;
    imp_network *network = network_of();
    imp_task task = task_of(1, 0.4);
    imp_learner *learner;
    imp_step found;
    imp_error error;
    task.pixels[3] = NAN;
    assert_int_equal(imp_learner_create("memory", memory_of(100, 0.1), network, 0, &learner, NULL),
                     IMP_OK);
    assert_int_equal(imp_learner_step(learner, &task, &found, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "an embedding has the length"));
    imp_learner_free(learner);
    imp_network_free(network);
    free_task(&task);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    imp_task task = task_of(1, 0.4);
    static const float embeddings[IMAGES * D];
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_network *network = network_of();
        imp_learner *learner = NULL;
        imp_step found;
        imp_solution answer;
        imp_status status = network ? IMP_OK : IMP_ENOMEM;
        if (!status)
            status = imp_learner_create("memory", memory_of(5, 0.1), network, 0, &learner, NULL);
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
        cmocka_unit_test(test_poison_is_told),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
