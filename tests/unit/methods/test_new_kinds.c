/*
 * test_new_kinds.c - kinds found among unlabelled points: none among points of the classes, those
 * there are among others, which stay when more points come; the same in one call or many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <imp/mixture.h>

#include "base/random.h"
#include "methods/mixture.h"
#include "methods/new_kinds.h"

enum { D = 16, CLASSES = 4, SHOT = 15, LABELED = CLASSES * SHOT, MOST = 600 };

/* Points around the corner of a cube that the class numbers; the next corners are of new kinds. */
static void draw(size_t n, size_t first, size_t kinds, uint64_t seed, float *x, int32_t *y)
{
    imp_random random = imp_random_start(seed, IMP_STREAM_TEST, 0);
    for (size_t i = 0; i < n; i++) {
        y[i] = (int32_t)(first + i % kinds);
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)imp_random_normal(&random) + (j == (size_t)y[i] ? 7.0F : 0);
    }
}

static imp_mixture *fit(uint64_t seed)
{
    float x[LABELED * D];
    int32_t y[LABELED];
    imp_mixture *mixture;
    draw(LABELED, 0, CLASSES, seed, x, y);
    assert_int_equal(imp_mixture_fit(x, y, LABELED, D, NULL, &mixture, NULL), IMP_OK);
    return mixture;
}

/* Adds points without labels, some at a time, and replaces the mixture. */
static imp_mixture *add(imp_mixture *mixture, const float *x, size_t n, size_t together)
{
    for (size_t i = 0; i < n; i += together) {
        imp_mixture *grown;
        size_t count = n - i < together ? n - i : together;
        assert_int_equal(imp_mixture_add(mixture, x + i * D, NULL, count, D, &grown, NULL), IMP_OK);
        imp_mixture_free(mixture);
        mixture = grown;
    }
    return mixture;
}

static size_t strangers_of(const imp_mixture *mixture)
{
    return imp_mixture_stranger_number(&mixture->clusters, mixture->clusters.count);
}

/* Names the clusters around the corner of that class. */
static imp_mixture *name(imp_mixture *mixture, int32_t class)
{
    for (size_t c = 0; c < mixture->clusters.count; c++) {
        const imp_clusters *clusters = &mixture->clusters;
        imp_mixture *named;
        const double *mean = imp_clusters_mean(clusters, c);
        int32_t corner = 0;
        for (int32_t j = 1; j < CLASSES + 2; j++)
            corner = mean[j] > mean[corner] ? j : corner;
        if (clusters->label[c] >= 0 || corner != class)
            continue;
        assert_int_equal(imp_mixture_name_cluster(mixture, c, class, &named, NULL), IMP_OK);
        imp_mixture_free(mixture);
        mixture = named;
    }
    return mixture;
}

static void points_of_the_classes_are_no_new_kind(void **state)
{
    (void)state;
    static float x[MOST * D];
    static int32_t y[MOST];
    size_t found = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        draw(200, 0, CLASSES, 100 + seed, x, y);
        imp_mixture *mixture = add(fit(seed), x, 200, 200);
        found += strangers_of(mixture) > 0;
        imp_mixture_free(mixture);
    }
    assert_true(found <= 1);
}

static void new_kinds_are_found_and_named(void **state)
{
    (void)state;
    static float x[MOST * D], more[MOST * D];
    static int32_t y[MOST], truth[MOST];
    draw(120, 0, CLASSES + 2, 200, x, y);
    imp_mixture *mixture = add(fit(1), x, 120, 120), *same = add(fit(1), x, 120, 7);
    size_t found = strangers_of(mixture);
    assert_true(found >= 2 && found <= 6);
    assert_int_equal(mixture->clusters.count, same->clusters.count);
    assert_memory_equal(mixture->clusters.mean, same->clusters.mean,
                        mixture->clusters.count * D * sizeof(double));
    imp_mixture_free(same);
    /* They are still there after many points of the classes. */
    draw(MOST, 0, CLASSES, 300, more, truth);
    mixture = add(mixture, more, MOST, MOST);
    assert_true(strangers_of(mixture) >= 2);
    for (int32_t class = CLASSES; class < CLASSES + 2; class ++)
        mixture = name(mixture, class);
    assert_int_equal(mixture->classes, CLASSES + 2);
    int32_t label[120];
    const imp_mixture_predictions out = {.label = label};
    size_t right = 0;
    draw(120, 0, CLASSES + 2, 400, x, y);
    assert_int_equal(imp_mixture_predict(mixture, x, 120, D, true, &out, NULL), IMP_OK);
    for (size_t i = 0; i < 120; i++)
        right += label[i] == y[i];
    assert_true(right >= 108);
    imp_mixture_free(mixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_of_the_classes_are_no_new_kind),
        cmocka_unit_test(new_kinds_are_found_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
