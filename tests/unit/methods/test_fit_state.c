/*
 * test_fit_state.c - a fit that is stopped after every block and goes on from the file it left ends
 * in the bits of one that was not, on any number of threads; other points, labels, options and
 * files are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "methods/fit_state.h"
#include "scratch.h"

enum { POINTS = 70000, LABELED = 30, DIMENSIONS = 4, CENTERS = 7, CLASSES = 5 };

/* Labelled points of some centers, then unlabelled ones of all. */
typedef struct data {
    float *x;
    int32_t label[LABELED];
} data;

static data draw_points(uint64_t seed)
{
    imp_random random = imp_random_start(seed, IMP_STREAM_DEMO, 0);
    float center[CENTERS][DIMENSIONS];
    data made = {.x = malloc((size_t)POINTS * DIMENSIONS * sizeof(float))};
    for (size_t c = 0; c < CENTERS; c++)
        for (size_t j = 0; j < DIMENSIONS; j++)
            center[c][j] = 9 * (float)imp_random_normal(&random);
    for (size_t i = 0; i < POINTS; i++) {
        size_t c = i < LABELED ? i % CLASSES : imp_random_below(&random, CENTERS);
        if (i < LABELED)
            made.label[i] = (int32_t)c;
        for (size_t j = 0; j < DIMENSIONS; j++)
            made.x[i * DIMENSIONS + j] = center[c][j] + (float)imp_random_normal(&random);
    }
    return made;
}

/* The source is not in place, as those of files. */
static imp_status read_rows(const imp_point_source *source, size_t begin, size_t count, float *room,
                            const float **rows, imp_error *error)
{
    (void)error;
    const data *from = source->where;
    memcpy(room, from->x + begin * DIMENSIONS, count * DIMENSIONS * sizeof *room);
    *rows = room;
    return IMP_OK;
}

static imp_point_source source_of(const data *from)
{
    return (imp_point_source){.dimensions = DIMENSIONS,
                              .count = POINTS,
                              .label = from->label,
                              .label_count = LABELED,
                              .read = read_rows,
                              .where = from};
}

static imp_mixture_options options_of(size_t variant)
{
    static const size_t views[] = {1, 3};
    imp_mixture_options options = imp_mixture_defaults();
    if (variant == 1)
        options.unlabeled_weight = 0.5;
    if (variant == 2)
        options.preset = IMP_PRESET_PAPER;
    if (variant == 3) {
        options.view_count = 2;
        options.view_dimensions = views;
    }
    return options;
}

enum { VARIANTS = 4 };

typedef struct watch {
    imp_fit_state fit;
    size_t left; /* blocks until it is stopped; 0: never */
} watch;

static imp_status count_down(size_t begin, size_t end, void *context, imp_error *error)
{
    (void)begin, (void)end;
    watch *own = context;
    own->fit.stopped = own->left > 0 && --own->left == 0;
    return own->fit.stopped ? imp_fail(error, IMP_EIO, "enough") : IMP_OK;
}

static imp_status fit(const data *points, const imp_mixture_options *options, int threads,
                      watch *own, imp_mixture **mixture, imp_error *error)
{
    const imp_point_source source = source_of(points);
    const imp_spill_place nowhere = {.memory = 0, .folder = "."}; /* nothing is kept */
    const imp_crew crew = {.threads = threads,
                           .place = own->fit.path ? &nowhere : NULL,
                           .done = count_down,
                           .context = own,
                           .fit = own->fit.path ? &own->fit : NULL};
    return imp_mixture_fit_source(&source, options, &crew, mixture, error);
}

static void save(imp_mixture *mixture, const char *path)
{
    imp_error error;
    if (imp_mixture_save(mixture, path, &error) != IMP_OK)
        fail_msg("%s", error.message);
    imp_mixture_free(mixture);
}

static void assert_same_files(const char *a, const char *b)
{
    FILE *one = fopen(a, "rb"), *two = fopen(b, "rb");
    assert_non_null(one);
    assert_non_null(two);
    int from_one, from_two;
    do {
        from_one = getc(one);
        from_two = getc(two);
        assert_int_equal(from_one, from_two);
    } while (from_one != EOF);
    fclose(one);
    fclose(two);
}

/* Stops it after every block; returns how often. */
static size_t fit_in_pieces(const data *points, const imp_mixture_options *options,
                            const char *state, imp_mixture **mixture)
{
    watch own = {.fit = {.path = state}};
    imp_error error;
    imp_status status;
    size_t stops = 0;
    do {
        own.left = 1;
        status = fit(points, options, 1 + (int)(stops % 3), &own, mixture, &error);
        own.fit.resume = true;
        stops += status != IMP_OK;
    } while (status == IMP_EIO && strstr(error.message, "resumed") && stops < 1000);
    if (status)
        fail_msg("%s", error.message);
    return stops;
}

static void same_bits(void **state)
{
    data points = draw_points(1);
    scratch_path kept = scratch_file(state, "fit.state"), one = scratch_file(state, "one"),
                 two = scratch_file(state, "two");
    for (size_t v = 0; v < VARIANTS; v++) {
        const imp_mixture_options options = options_of(v);
        imp_mixture *mixture;
        imp_error error;
        watch whole = {.left = 0};
        for (int threads = 1; threads <= 3; threads++) {
            if (fit(&points, &options, threads, &whole, &mixture, &error) != IMP_OK)
                fail_msg("%s", error.message);
            save(mixture, threads == 1 ? one.text : two.text);
            if (threads > 1)
                assert_same_files(one.text, two.text);
        }
        size_t stops = fit_in_pieces(&points, &options, kept.text, &mixture);
        save(mixture, two.text);
        assert_same_files(one.text, two.text);
        assert_true(stops >= (v == 2 ? 5 : 3)); /* in more than the last pass */
        remove(kept.text);
    }
    free(points.x);
}

static void refuse(const data *points, const imp_mixture_options *options, const char *path,
                   imp_status expected)
{
    watch own = {.fit = {.path = path, .resume = true}};
    imp_mixture *mixture;
    imp_error error;
    assert_int_equal(fit(points, options, 2, &own, &mixture, &error), expected);
    assert_non_null(strstr(error.message, path));
    assert_null(mixture);
}

static void others_are_refused(void **state)
{
    data points = draw_points(1), others = draw_points(2);
    scratch_path kept = scratch_file(state, "fit.state");
    imp_mixture_options options = options_of(1), changed = options_of(1);
    watch own = {.fit = {.path = kept.text}, .left = 2};
    imp_mixture *mixture;
    imp_error error;
    refuse(&points, &options, kept.text, IMP_EIO); /* there is none */
    assert_int_equal(fit(&points, &options, 2, &own, &mixture, &error), IMP_EIO);
    changed.unlabeled_weight = 0.25;
    refuse(&points, &changed, kept.text, IMP_EINVAL);
    refuse(&others, &options, kept.text, IMP_EINVAL);
    points.label[LABELED - 1] = 0;
    refuse(&points, &options, kept.text, IMP_EINVAL);
    points.label[LABELED - 1] = CLASSES - 1;

    /* Clusters of a class that is not there, and a sample that was never taken. */
    imp_clusters clusters = {0};
    imp_clusters_restart(&clusters, DIMENSIONS);
    assert_int_equal(imp_clusters_add(&clusters, CLASSES, 1, NULL, NULL), IMP_OK);
    const imp_cluster_state at[] = {{.part = IMP_PART_MEANS, .done = 1},
                                    {.part = IMP_PART_SAMPLE, .done = 1}};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(imp_cluster_state_save(kept.text, &own.fit.print, &at[i], &clusters, NULL,
                                                POINTS, NULL, NULL),
                         IMP_OK);
        own.fit.resume = true;
        own.left = 0;
        imp_status status = fit(&points, &options, 2, &own, &mixture, &error);
        if (status != IMP_EFORMAT)
            fail_msg("%s", error.message);
        clusters.label[0] = 0;
    }
    imp_clusters_release(&clusters);
    free(points.x);
    free(others.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_bits, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(others_are_refused, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
