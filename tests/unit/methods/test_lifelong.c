/*
 * test_lifelong.c - mixtures that learn on: what a first batch could not know is chosen again, to
 * the same bits in one call or many; the sample that is kept; clusters of strangers that are named;
 * forgetting; merging mixtures that chose for themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <imp/mixture.h>

#include "base/random.h"
#include "failing_allocator.h"
#include "methods/sample.h"
#include "scratch.h"

enum { D = 4, CLASSES = 5, MANY = 1500, TESTS = 500 };

/* Points of classes 6 deviations apart, one class after the other or in turn. */
static void draw(size_t n, size_t classes, bool in_turn, uint64_t seed, float *x, int32_t *y)
{
    imp_random random = imp_random_start(seed, IMP_STREAM_TEST, 0);
    for (size_t i = 0; i < n; i++) {
        y[i] = (int32_t)(in_turn ? i % classes : i * classes / n);
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)(imp_random_normal(&random) +
                                   (j == (size_t)y[i] % D ? y[i] < D ? 5 : -5 : 0));
    }
}

static imp_mixture *fit(const float *x, const int32_t *y, size_t n)
{
    imp_mixture *mixture;
    imp_error error;
    if (imp_mixture_fit(x, y, n, D, NULL, &mixture, &error))
        fail_msg("%s", error.message);
    return mixture;
}

/* Adds, and frees what was added to. */
static imp_mixture *grow(imp_mixture *mixture, const float *x, const int32_t *y, size_t n)
{
    imp_mixture *grown;
    imp_error error;
    if (imp_mixture_add(mixture, x, y, n, D, &grown, &error))
        fail_msg("%s", error.message);
    imp_mixture_free(mixture);
    return grown;
}

static double accuracy(const imp_mixture *mixture, size_t classes)
{
    static float x[TESTS * D];
    static int32_t y[TESTS], found[TESTS];
    draw(TESTS, classes, true, 99, x, y);
    const imp_mixture_predictions out = {.label = found};
    assert_int_equal(imp_mixture_predict(mixture, x, TESTS, D, false, &out, NULL), IMP_OK);
    size_t right = 0;
    for (size_t i = 0; i < TESTS; i++)
        right += found[i] == y[i];
    return (double)right / TESTS;
}

static void assert_same(const imp_mixture *a, const imp_mixture *b)
{
    unsigned char *left, *right;
    size_t size, other;
    assert_int_equal(imp_mixture_to_bytes(a, &left, &size, NULL), IMP_OK);
    assert_int_equal(imp_mixture_to_bytes(b, &right, &other, NULL), IMP_OK);
    assert_int_equal(size, other);
    assert_memory_equal(left, right, size);
    imp_mixture_bytes_free(left);
    imp_mixture_bytes_free(right);
}

/* ---- choosing again ---- */

/* One class comes first, then the others, one after the other. Class 0 alone says nothing of metric
 * and variance. As good as fitting to everything at once, and no cluster for every point. */
static void one_class_first(void **state)
{
    (void)state;
    static float x[MANY * D];
    static int32_t y[MANY];
    draw(MANY, CLASSES, false, 1, x, y);
    size_t first = MANY / CLASSES;
    imp_mixture *at_once = fit(x, y, MANY);
    imp_mixture *mixture = grow(fit(x, y, first), x + first * D, y + first, MANY - first);
    assert_true(accuracy(mixture, CLASSES) >= accuracy(at_once, CLASSES) - 0.01);
    assert_true(imp_mixture_summarize(mixture).clusters < MANY / 4);
    imp_mixture_choice choice;
    imp_mixture_choice_of(mixture, &choice, sizeof choice);
    assert_true(choice.held_out > 0 && !choice.little);
    imp_mixture_free(at_once);
    imp_mixture_free(mixture);
}

/* A narrow class first, wide ones later: once, nearly every later point began a cluster. */
static void later_classes_may_be_wider(void **state)
{
    (void)state;
    enum { FIRST = 100, LATER = 1500 };
    static float first[FIRST * D], later[LATER * D];
    static int32_t zeros[FIRST], label[LATER], found[LATER];
    imp_random random = imp_random_start(21, IMP_STREAM_DEMO, 0);
    for (size_t i = 0; i < FIRST * D; i++)
        first[i] = (float)(0.01 * imp_random_normal(&random));
    for (size_t i = 0; i < LATER; i++) {
        label[i] = (int32_t)(i % 2 + 1);
        for (size_t j = 0; j < D; j++)
            later[i * D + j] = (float)(20 * label[i] + imp_random_normal(&random));
    }
    imp_mixture *mixture = grow(fit(first, zeros, FIRST), later, label, LATER);
    assert_true(imp_mixture_summarize(mixture).clusters < 300);
    const imp_mixture_predictions wanted = {.label = found};
    assert_int_equal(imp_mixture_predict(mixture, later, LATER, D, false, &wanted, NULL), IMP_OK);
    assert_memory_equal(found, label, sizeof label);
    imp_mixture_free(mixture);
}

/* In one call, or in parts through files, labelled and unlabelled: the same bits. */
static void parts_give_the_same_bits(void **state)
{
    enum { N = 400, FIRST = 30 };
    static float x[N * D];
    static int32_t y[N];
    draw(N, CLASSES, true, 3, x, y);
    for (size_t i = FIRST; i < N; i++)
        y[i] = i % 3 == 0 ? IMP_UNLABELED : y[i];
    imp_mixture *once = grow(fit(x, y, FIRST), x + FIRST * D, y + FIRST, N - FIRST);
    imp_mixture *mixture = fit(x, y, FIRST), *loaded;
    scratch_path path = scratch_file(state, "m.safetensors");
    for (size_t begin = FIRST, size = 1; begin < N; begin += size, size = size * 2 + 1) {
        size_t end = begin + size < N ? begin + size : N;
        mixture = grow(mixture, x + begin * D, y + begin, end - begin);
        assert_int_equal(imp_mixture_save(mixture, path.text, NULL), IMP_OK);
        assert_int_equal(imp_mixture_load(path.text, &loaded, NULL), IMP_OK);
        imp_mixture_free(mixture);
        mixture = loaded;
    }
    assert_same(mixture, once);
    imp_mixture_free(mixture);
    imp_mixture_free(once);
}

/* As long as all points are in the sample, choosing again by it is fitting to everything. */
static void what_is_kept_whole_is_fitted_whole(void **state)
{
    (void)state;
    enum { N = 300 };
    static float x[N * D];
    static int32_t y[N];
    draw(N, CLASSES, true, 4, x, y);
    imp_mixture *at_once = fit(x, y, N), *mixture = grow(fit(x, y, 50), x + 50 * D, y + 50, N - 50);
    imp_mixture *renewed;
    assert_int_equal(imp_mixture_keep_newest(mixture, N, &renewed, NULL), IMP_OK);
    assert_same(renewed, at_once);
    imp_mixture_free(renewed);
    imp_mixture_free(mixture);
    imp_mixture_free(at_once);
}

/* ---- the sample ---- */

static void the_sample_is_fair(void **state)
{
    (void)state;
    enum { N = 60000 };
    imp_sample sample = {.dimensions = 1};
    assert_int_equal(imp_sample_make_room(&sample, 3, 0, NULL), IMP_OK);
    size_t came[4] = {0}, kept[4] = {0};
    double when[4] = {0};
    for (size_t i = 0; i < N; i++) {
        /* Class 2 comes last and seldom; every second point has no label. */
        int32_t label = i % 2 ? IMP_UNLABELED : i > N / 2 && i % 100 == 0 ? 2 : i % 10 == 0;
        float x = (float)i;
        came[label + 1]++;
        assert_int_equal(imp_sample_add(&sample, &x, label, 1, NULL), IMP_OK);
    }
    for (size_t i = 0; i < sample.count; i++) {
        assert_true(sample.rows[i] == (float)sample.arrival[i]);
        kept[sample.label[i] + 1]++;
        when[sample.label[i] + 1] += sample.rows[i] / N;
    }
    assert_int_equal(kept[0], IMP_MOST_FREE);
    assert_int_equal(kept[3], came[3]); /* there were so few that all stay */
    assert_int_equal(kept[1] + kept[2] + kept[3], IMP_MOST_LABELED);
    assert_true(kept[1] - kept[2] + 1 <= 2);
    for (size_t k = 0; k < 3; k++) {
        assert_true(sample.seen[k] == (double)came[k]);
        assert_true(fabs(when[k] / (double)kept[k] - 0.5) < 0.05);
    }
    imp_sample_release(&sample);
}

/* ---- strangers ---- */

enum { KNOWN = 60, STRANGE = 40 };

/* A mixture of three classes that 40 points of a fourth kind and 60 of the known ones came to,
 * without labels. */
static imp_mixture *with_strangers(void)
{
    float x[KNOWN * D], u[(KNOWN + STRANGE) * D];
    int32_t y[KNOWN], truth[KNOWN];
    draw(KNOWN, 3, true, 5, x, y);
    draw(KNOWN, 3, true, 6, u, truth);
    imp_random random = imp_random_start(7, IMP_STREAM_TEST, 0);
    for (size_t i = KNOWN * D; i < (KNOWN + STRANGE) * D; i++)
        u[i] = (float)(-40 + imp_random_normal(&random));
    return grow(fit(x, y, KNOWN), u, NULL, KNOWN + STRANGE);
}

static size_t strange_cluster(const imp_mixture *mixture)
{
    size_t found = 0, count = imp_mixture_summarize(mixture).clusters;
    for (size_t c = 0; c < count; c++)
        if (imp_mixture_cluster_at(mixture, c).label < 0 &&
            (imp_mixture_cluster_at(mixture, found).label >= 0 ||
             imp_mixture_cluster_at(mixture, c).weight >
                 imp_mixture_cluster_at(mixture, found).weight))
            found = c;
    assert_int_equal(imp_mixture_cluster_at(mixture, found).label, IMP_UNLABELED);
    return found;
}

static int32_t class_of(const imp_mixture *mixture, float at)
{
    const float x[D] = {at, at, at, at};
    int32_t label;
    const imp_mixture_predictions out = {.label = &label};
    assert_int_equal(imp_mixture_predict(mixture, x, 1, D, false, &out, NULL), IMP_OK);
    return label;
}

static void strangers_can_be_named(void **state)
{
    (void)state;
    imp_mixture *mixture = with_strangers(), *named, *wrong;
    imp_error error;
    assert_true(class_of(mixture, -40) < 3);
    size_t cluster = strange_cluster(mixture);
    assert_int_equal(imp_mixture_name_cluster(mixture, cluster, 3, &named, NULL), IMP_OK);
    assert_int_equal(imp_mixture_summarize(named).classes, 4);
    assert_int_equal(class_of(named, -40), 3);
    /* The name outlives that everything is chosen again. */
    static float x[MANY * D];
    static int32_t y[MANY];
    draw(MANY, 3, true, 8, x, y);
    named = grow(named, x, y, MANY);
    assert_int_equal(class_of(named, -40), 3);
    assert_true(accuracy(named, 3) > 0.95);
    assert_int_equal(imp_mixture_name_cluster(mixture, 0, 3, &wrong, &error), IMP_EINVAL);
    assert_string_equal(error.message,
                        "cluster 0 is of class 0; only clusters without a label can be named");
    assert_int_equal(imp_mixture_name_cluster(mixture, cluster, 4, &wrong, &error), IMP_EINVAL);
    assert_int_equal(imp_mixture_name_cluster(mixture, 9999, 3, &wrong, &error), IMP_EINVAL);
    imp_mixture_free(named);
    imp_mixture_free(mixture);
}

/* ---- forgetting ---- */

static void a_class_is_forgotten(void **state)
{
    (void)state;
    static float x[200 * D];
    static int32_t y[200];
    draw(200, 4, true, 9, x, y);
    imp_mixture *mixture = fit(x, y, 200), *fewer, *wrong;
    imp_error error;
    assert_int_equal(imp_mixture_forget_class(mixture, 1, &fewer, NULL), IMP_OK);
    assert_int_equal(imp_mixture_summarize(fewer).classes, 3);
    /* Classes 2 and 3 are 1 and 2 now, also after everything is chosen again. */
    for (int round = 0; round < 2; round++) {
        const float third[D] = {0, 0, 5, 0};
        int32_t label;
        const imp_mixture_predictions out = {.label = &label};
        assert_int_equal(imp_mixture_predict(fewer, third, 1, D, false, &out, NULL), IMP_OK);
        assert_int_equal(label, 1);
        for (size_t i = 0; i < 200; i++)
            y[i] = (int32_t)(i % 4) == 1 ? IMP_UNLABELED : y[i] - (y[i] > 1 && round == 0);
        fewer = grow(fewer, x, y, 200);
    }
    assert_int_equal(imp_mixture_forget_class(mixture, 4, &wrong, &error), IMP_EINVAL);
    assert_string_equal(error.message, "there is no class 4; classes are 0 to 3");
    imp_mixture_free(fewer);
    imp_mixture_free(mixture);
}

static void clusters_are_forgotten(void **state)
{
    (void)state;
    imp_mixture *mixture = with_strangers(), *fewer;
    imp_error error;
    size_t cluster = strange_cluster(mixture), count = imp_mixture_summarize(mixture).clusters;
    assert_int_equal(imp_mixture_forget_clusters(mixture, &cluster, 1, &fewer, NULL), IMP_OK);
    assert_int_equal(imp_mixture_summarize(fewer).clusters, count - 1);
    imp_mixture_free(fewer);
    size_t all[100];
    assert_true(count <= 100);
    for (size_t c = 0; c < count; c++)
        all[c] = c;
    assert_int_equal(imp_mixture_forget_clusters(mixture, all, count, &fewer, &error), IMP_EINVAL);
    assert_int_equal(imp_mixture_forget_clusters(mixture, &count, 1, &fewer, &error), IMP_EINVAL);
    imp_mixture_free(mixture);
}

/* Classes change places; what came before that is forgotten. */
static void the_oldest_is_forgotten(void **state)
{
    (void)state;
    static float x[400 * D];
    static int32_t y[400];
    draw(400, 3, true, 10, x, y);
    for (size_t i = 0; i < 200; i++)
        y[i] = (y[i] + 1) % 3;
    imp_mixture *mixture = fit(x, y, 400), *newer, *wrong;
    imp_error error;
    assert_int_equal(imp_mixture_keep_newest(mixture, 200, &newer, NULL), IMP_OK);
    assert_true(accuracy(mixture, 3) < 0.9 && accuracy(newer, 3) > 0.95);
    assert_int_equal(imp_mixture_keep_newest(mixture, 1, &wrong, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "has no point among the newest 1"));
    imp_mixture_free(newer);
    imp_mixture_free(mixture);
    imp_mixture_options options = imp_mixture_defaults();
    options.preset = IMP_PRESET_PAPER;
    assert_int_equal(imp_mixture_fit(x, y, 400, D, &options, &mixture, NULL), IMP_OK);
    assert_int_equal(imp_mixture_keep_newest(mixture, 100, &wrong, &error), IMP_EINVAL);
    imp_mixture_free(mixture);
}

/* ---- merging ---- */

/* Two that saw different classes and chose different metrics, the second with other numbers. */
static void mixtures_that_chose_are_merged(void **state)
{
    (void)state;
    static float x[300 * D];
    static int32_t y[300], swapped[200];
    draw(300, 3, false, 11, x, y);
    for (size_t i = 0; i < 200; i++)
        swapped[i] = 2 - y[100 + i]; /* class 2 first, then class 1 */
    imp_mixture *a = fit(x, y, 200), *b = fit(x + 100 * D, swapped, 200), *merged;
    imp_error error;
    assert_int_equal(imp_mixture_merge_as(a, b, (const int32_t[]){2, 1}, &merged, &error), IMP_OK);
    assert_int_equal(imp_mixture_summarize(merged).classes, 3);
    assert_true(accuracy(merged, 3) > 0.95);
    assert_true(fabs(imp_mixture_summarize(merged).weight - 400) < 1);
    imp_mixture_free(merged);
    assert_int_equal(imp_mixture_merge_as(a, b, (const int32_t[]){1, 1}, &merged, &error),
                     IMP_EINVAL);
    assert_int_equal(imp_mixture_merge_as(a, b, (const int32_t[]){3, 1}, &merged, &error),
                     IMP_EINVAL);
    assert_string_equal(
        error.message,
        "no class becomes class 2; new classes continue the numbering without a gap");
    imp_mixture_options options = imp_mixture_defaults();
    options.preset = IMP_PRESET_PAPER;
    imp_mixture *paper;
    assert_int_equal(imp_mixture_fit(x, y, 300, D, &options, &paper, NULL), IMP_OK);
    assert_int_equal(imp_mixture_merge(a, paper, &merged, &error), IMP_EINVAL);
    imp_mixture_free(paper);
    imp_mixture_free(a);
    imp_mixture_free(b);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    imp_mixture *mixture = with_strangers();
    size_t cluster = strange_cluster(mixture), size;
    unsigned char *bytes;
    assert_int_equal(imp_mixture_to_bytes(mixture, &bytes, &size, NULL), IMP_OK);
    unsigned char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    imp_mixture_bytes_free(bytes);
    imp_mixture_free(mixture);
    const float x[D] = {1, 2, 3, 4};
    for (int what = 0; what < 4; what++) {
        failing_allocator memory = {.spare_jansson = true};
        while (failing_allocator_next(&memory)) {
            imp_mixture *out = NULL;
            imp_status status = imp_mixture_from_bytes(copy, size, &mixture, NULL);
            if (!status)
                status = what == 0   ? imp_mixture_add(mixture, x, NULL, 1, D, &out, NULL)
                         : what == 1 ? imp_mixture_name_cluster(mixture, cluster, 3, &out, NULL)
                         : what == 2
                             ? imp_mixture_forget_class(mixture, 0, &out, NULL)
                             : imp_mixture_forget_clusters(mixture, &cluster, 1, &out, NULL);
            imp_mixture_free(out);
            imp_mixture_free(mixture);
            failing_allocator_expect(&memory, status);
        }
    }
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_class_first),
        cmocka_unit_test(later_classes_may_be_wider),
        cmocka_unit_test_setup_teardown(parts_give_the_same_bits, scratch_setup, scratch_teardown),
        cmocka_unit_test(what_is_kept_whole_is_fitted_whole),
        cmocka_unit_test(the_sample_is_fair),
        cmocka_unit_test(strangers_can_be_named),
        cmocka_unit_test(a_class_is_forgotten),
        cmocka_unit_test(clusters_are_forgotten),
        cmocka_unit_test(the_oldest_is_forgotten),
        cmocka_unit_test(mixtures_that_chose_are_merged),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
