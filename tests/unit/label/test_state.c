/*
 * test_state.c - answers and what follows from them: against plain loops, whatever the threads,
 * back again after they are taken back; and whether the estimate keeps its promise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "label/simulate.h"

enum { D = 6 };

/* Kinds of several blobs each, some of them close to those of others. */
static void make_pile(size_t count, size_t blobs, uint64_t seed, double spread, float *points,
                      int32_t *truth)
{
    imp_random random = imp_random_start(seed, IMP_STREAM_DEMO, 0);
    float *center = malloc(blobs * D * sizeof *center);
    for (size_t k = 0; k < blobs * D; k++)
        center[k] = (float)(2 * imp_random_normal(&random));
    for (size_t i = 0; i < count; i++) {
        size_t blob = imp_random_below(&random, (uint32_t)blobs);
        truth[i] = (int32_t)(blob % 4);
        for (size_t j = 0; j < D; j++)
            points[i * D + j] = center[blob * D + j] + (float)(spread * imp_random_normal(&random));
    }
    free(center);
}

static void answer_one(imp_label_state *state, uint32_t item, int32_t class)
{
    imp_error error;
    assert_int_equal(imp_label_state_answer(state, &item, 1, class, false, &error), IMP_OK);
}

/* The nearest answer of each class, by comparing with all of them. */
static void check_guesses(const imp_labelling *all)
{
    for (size_t i = 0; i < all->count; i++) {
        float nearest = INFINITY;
        int32_t class = IMP_UNKNOWN;
        for (size_t k = 0; k < all->count; k++) {
            if (k == i || all->class[k] == IMP_UNKNOWN)
                continue;
            float sum = 0;
            for (size_t j = 0; j < D; j++) {
                float apart = all->points[i * D + j] - all->points[k * D + j];
                sum += apart * apart;
            }
            if (sum < nearest) {
                nearest = sum;
                class = all->class[k];
            }
        }
        assert_int_equal(all->guess[i].class, class);
        assert_float_equal(all->guess[i].distance, nearest, 1e-3f * nearest);
        float probability[8], sum = 0;
        imp_labelling_probabilities(all, i, probability);
        for (size_t c = 0; c < all->class_count; c++)
            sum += probability[c];
        assert_float_equal(sum, 1, 1e-5);
        assert_float_equal(probability[class], all->guess[i].probability, 1e-5);
    }
}

static void guesses_are_those_of_the_nearest_answers(void **unused)
{
    (void)unused;
    enum { N = 300 };
    static float points[N * D];
    static int32_t truth[N];
    make_pile(N, 12, 1, 0.5, points, truth);
    imp_label_state state;
    imp_error error;
    assert_int_equal(imp_label_state_create(&state, points, N, D, 1, 2, &error), IMP_OK);
    for (uint32_t i = 0; i < 40; i++)
        answer_one(&state, 7 * i, truth[7 * i] + 1);
    imp_label_state_look(&state);
    check_guesses(&state.all);
    assert_int_equal(state.all.answered, 40);
    answer_one(&state, 14, 1);
    answer_one(&state, 21, IMP_UNKNOWN);
    imp_label_state_look(&state);
    check_guesses(&state.all);
    assert_int_equal(state.all.answered, 39);
    uint32_t stranger = N;
    assert_int_equal(imp_label_state_answer(&state, &stranger, 1, 1, false, &error), IMP_EINVAL);
    imp_label_state_release(&state);
}

/* Many named at once become few clusters, and the same guesses. */
static void many_at_once_are_few_clusters(void **unused)
{
    (void)unused;
    enum { N = 400 };
    static float points[N * D];
    static int32_t truth[N];
    make_pile(N, 4, 3, 0.2, points, truth);
    imp_label_state state;
    imp_error error;
    assert_int_equal(imp_label_state_create(&state, points, N, D, 1, 1, &error), IMP_OK);
    for (int32_t class = 0; class < 4; class ++) {
        uint32_t items[N];
        size_t count = 0;
        for (uint32_t i = 0; i < N; i += 2)
            if (truth[i] == class)
                items[count++] = i;
        assert_int_equal(imp_label_state_answer(&state, items, count, class + 1, false, &error),
                         IMP_OK);
    }
    imp_label_state_look(&state);
    assert_true(state.all.cluster_count < N / 2);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(imp_labelling_class(&state.all, i), truth[i] + 1);
    imp_label_state_release(&state);
}

typedef struct record {
    double right[600], least[600], most[600];
    size_t count;
} record;

static imp_status note(const imp_simulated_step *step, imp_error *error, void *context)
{
    (void)error;
    record *own = context;
    own->right[own->count] = step->right;
    own->least[own->count] = step->estimate.least;
    own->most[own->count++] = step->estimate.most;
    return IMP_OK;
}

static record simulate(size_t count, uint64_t seed, bool shuffled, size_t answers, int threads,
                       double spread)
{
    float *points = malloc(count * D * sizeof *points);
    int32_t *truth = malloc(count * sizeof *truth);
    make_pile(count, 40, seed, spread, points, truth);
    record own = {.count = 0};
    imp_error error;
    imp_simulation simulation = {points,  count, D,       truth, shuffled,
                                 answers, seed,  threads, note,  &own};
    assert_int_equal(imp_simulate(&simulation, &error), IMP_OK);
    free(points);
    free(truth);
    return own;
}

static void threads_change_nothing(void **unused)
{
    (void)unused;
    record one = simulate(3000, 5, false, 60, 1, 0.6), three = simulate(3000, 5, false, 60, 3, 0.6);
    assert_memory_equal(one.right, three.right, 60 * sizeof *one.right);
    assert_memory_equal(one.least + 59, three.least + 59, sizeof *one.least);
}

/* The page and imp suggest ask in one order. */
static void questions_are_those_of_a_suggester(void **unused)
{
    (void)unused;
    enum { N = 500, ANSWERS = 120 };
    static float points[N * D], rows[N * D];
    static int32_t truth[N];
    make_pile(N, 12, 4, 0.5, points, truth);
    for (size_t j = 0; j < D; j++)
        points[7 * D + j] = NAN; /* item 7 is gone */
    size_t count = 0, compared = 0, kinds[IMP_ASK_UNLIKE + 1] = {0};
    uint32_t item[N], number[N];
    for (uint32_t i = 0; i < N; i++)
        if (i != 7) {
            memcpy(rows + count * D, points + i * D, D * sizeof *rows);
            number[i] = (uint32_t)count;
            item[count++] = i;
        }
    imp_label_state state;
    imp_suggester *suggester;
    assert_int_equal(imp_label_state_create(&state, points, N, D, 1, 1, NULL), IMP_OK);
    assert_int_equal(imp_suggester_create(rows, count, D, NULL, &suggester, NULL), IMP_OK);
    state.closed[7] = true;
    for (; state.asked < ANSWERS; state.asked++) {
        imp_question question = imp_label_state_question(&state);
        bool drawn = question.kind == IMP_ASK_DRAWN;
        uint32_t asked = (uint32_t)question.item;
        kinds[question.kind]++;
        if (!drawn) {
            imp_suggestion next;
            size_t found;
            assert_int_equal(imp_suggester_next(suggester, 1, &next, &found, NULL), IMP_OK);
            assert_int_equal(asked, item[next.point]);
            assert_int_equal(question.kind == IMP_ASK_TYPICAL, next.reason == IMP_SUGGEST_TYPICAL);
            compared++;
        }
        /* Items drawn at random teach nothing; every tenth question is skipped. */
        bool skipped = !drawn && state.asked % 10 == 3;
        state.closed[asked] = skipped;
        if (!skipped)
            assert_int_equal(
                imp_label_state_answer(&state, &asked, 1, truth[asked] + 1, drawn, NULL), IMP_OK);
        imp_label_state_look(&state);
        assert_int_equal(imp_suggester_answer(suggester, number[asked],
                                              drawn || skipped ? IMP_SKIPPED : truth[asked] + 1,
                                              NULL),
                         IMP_OK);
    }
    assert_int_equal(compared, ANSWERS - ANSWERS / IMP_DRAW_EVERY);
    assert_true(kinds[IMP_ASK_TYPICAL] > 10 && kinds[IMP_ASK_UNSURE] > 10);
    imp_suggester_free(suggester);
    imp_label_state_release(&state);
}

static void questions_beat_a_random_order(void **unused)
{
    (void)unused;
    double asked = 0, random = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        asked += 1 - simulate(800, seed, false, 160, 2, 0.5).right[159];
        random += 1 - simulate(800, seed, true, 160, 2, 0.5).right[159];
    }
    assert_true(asked < 0.6 * random);
}

/* "Between 92 and 96" is to be right 95 times in 100. */
static void the_estimate_keeps_its_promise(void **unused)
{
    (void)unused;
    enum { PILES = 100, ANSWERS = 150 };
    size_t kept = 0;
    for (uint64_t seed = 1; seed <= PILES; seed++) {
        record own = simulate(500, 1000 + seed, false, ANSWERS, 2, 0.9);
        double right = own.right[ANSWERS - 1];
        kept += own.least[ANSWERS - 1] <= right && right <= own.most[ANSWERS - 1];
        assert_true(isnan(own.least[5]) && own.most[ANSWERS - 1] - own.least[ANSWERS - 1] < 0.5);
    }
    print_message("the interval held the truth %zu times in %d\n", kept, PILES);
    assert_true(kept >= 92);
}

static void lack_of_memory_is_told(void **unused)
{
    (void)unused;
    enum { N = 40 };
    static float points[N * D];
    static int32_t truth[N];
    make_pile(N, 4, 9, 0.3, points, truth);
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_label_state state;
        imp_error error;
        imp_status status = imp_label_state_create(&state, points, N, D, 1, 1, &error);
        if (!status) {
            uint32_t item = 3;
            status = imp_label_state_answer(&state, &item, 1, 9, false, &error);
            assert_int_equal(state.all.class[3], status ? IMP_UNKNOWN : 9);
            imp_label_state_release(&state);
        }
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guesses_are_those_of_the_nearest_answers),
        cmocka_unit_test(many_at_once_are_few_clusters),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(questions_are_those_of_a_suggester),
        cmocka_unit_test(questions_beat_a_random_order),
        cmocka_unit_test(the_estimate_keeps_its_promise),
        cmocka_unit_test(lack_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
