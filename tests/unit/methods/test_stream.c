/*
 * test_stream.c - mixtures of points that are read on demand: the same bits as of points in memory,
 * whatever is chosen, wherever the labels are; sources made of others; and reading that fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"
#include "failing_allocator.h"
#include "methods/arrange.h"
#include "methods/held_out.h"
#include "methods/mixture.h"

enum { WAY = 3, LABELED = 30, UNLABELED = 5000, N = LABELED + UNLABELED, D = 6 };

typedef struct points {
    float x[N * D];
    int32_t y[N];
} points;

/* Classes with two modes each; of the unlabelled points some are of a class that nobody knows. */
static points *make(bool positive)
{
    points *all = malloc(sizeof *all);
    imp_random random = imp_random_start(8, IMP_STREAM_TEST, 0);
    for (size_t i = 0; i < N; i++) {
        size_t kind = i < LABELED ? i % WAY : i % (WAY + (i % 7 == 0));
        for (size_t j = 0; j < D; j++)
            all->x[i * D + j] = (float)(imp_random_normal(&random) + (j == kind ? 6 : 0) +
                                        (j == 5 && i % 2 ? 3 : 0));
        all->y[i] = i < LABELED ? (int32_t)kind : IMP_UNLABELED;
    }
    for (size_t v = 0; v < (size_t)N * D && positive; v++)
        all->x[v] = fabsf(all->x[v]);
    return all;
}

/* Rows that lie nowhere: every block is written where the caller wants it. */
typedef struct distant {
    const float *rows;
    size_t reads, fail_at; /* the read that fails, from 1; 0: none */
    size_t most;           /* points that were read together */
} distant;

static imp_status read_distant(const imp_point_source *source, size_t begin, size_t count,
                               float *room, const float **rows, imp_error *error)
{
    distant *from = (distant *)source->where;
    if (++from->reads == from->fail_at)
        return imp_fail(error, IMP_EIO, "the disk is gone");
    from->most = count > from->most ? count : from->most;
    assert_true(begin + count <= source->count);
    memcpy(room, from->rows + begin * source->dimensions,
           count * source->dimensions * sizeof *room);
    *rows = room;
    return IMP_OK;
}

static imp_point_source source_of(distant *from, const points *all, size_t labels)
{
    *from = (distant){.rows = all->x};
    return (imp_point_source){.dimensions = D,
                              .count = N,
                              .label = all->y,
                              .label_count = labels,
                              .read = read_distant,
                              .where = from};
}

static const imp_spill_place nothing_kept = {.folder = "/tmp", .memory = 0};

/* Fails unless both ways give the same file. */
static void compare(const points *all, const imp_mixture_options *options, size_t labels)
{
    imp_mixture *near, *far;
    imp_error error;
    unsigned char *a, *b;
    size_t a_size, b_size;
    distant from;
    imp_point_source source = source_of(&from, all, labels);
    assert_int_equal(imp_mixture_fit(all->x, all->y, N, D, options, &near, &error), IMP_OK);
    assert_int_equal(
        imp_mixture_fit_source(&source, options, &(imp_crew){.place = &nothing_kept}, &far, &error),
        IMP_OK);
    assert_int_equal(imp_mixture_to_bytes(near, &a, &a_size, &error), IMP_OK);
    assert_int_equal(imp_mixture_to_bytes(far, &b, &b_size, &error), IMP_OK);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a, b, a_size);
    imp_mixture_bytes_free(a);
    imp_mixture_bytes_free(b);
    imp_mixture_free(near);
    imp_mixture_free(far);
}

/* Unlabelled points that count, that get labels, that start clusters, in every kind of metric. */
static void gives_the_same_bits(void **state)
{
    (void)state;
    static const size_t views[] = {2, 4};
    const imp_mixture_options defaults = imp_mixture_defaults();
    imp_mixture_options cases[] = {defaults, defaults, defaults, defaults,
                                   defaults, defaults, defaults, defaults};
    cases[1].unlabeled_weight = 0.3;
    cases[2].metric = IMP_METRIC_UNIT;
    cases[2].whitening = IMP_WHITEN_YES;
    cases[2].unlabeled_weight = 1;
    cases[3].preset = IMP_PRESET_PAPER;
    cases[4].rule.lambda = 20;
    cases[5].rule.alpha = 0.01;
    cases[5].rule.steps = 3;
    cases[6].view_count = 2;
    cases[6].view_dimensions = views;
    cases[7].metric = IMP_METRIC_AS_IS;
    cases[7].rule.sigma_l = 1;
    points *all = make(false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare(all, &cases[i], i % 2 ? LABELED : N);
    free(all);
    all = make(true); /* roots are tried, too */
    compare(all, &cases[0], LABELED);
    free(all);
}

static void takes_labels_from_anywhere(void **state)
{
    (void)state;
    points *all = make(false);
    for (size_t i = 0; i < LABELED; i++) { /* among the first 3000 */
        size_t to = i * 100 + 50;
        all->y[i] = IMP_UNLABELED;
        all->y[to] = (int32_t)(i % WAY);
        for (size_t j = 0; j < D; j++)
            all->x[to * D + j] += j == i % WAY ? 6 : 0;
    }
    imp_mixture_options options = imp_mixture_defaults();
    compare(all, &options, 3000);
    options.unlabeled_weight = 0.5;
    compare(all, &options, 3000);
    options = imp_mixture_defaults();
    options.preset = IMP_PRESET_PAPER;
    compare(all, &options, 3000);
    free(all);
}

/* What is read at once must not grow with the points. */
static void reads_blocks(void **state)
{
    (void)state;
    points *all = make(false);
    distant from;
    imp_point_source source = source_of(&from, all, LABELED);
    size_t times = 40; /* as many points, the same ones again and again */
    float *x = malloc(times * sizeof all->x);
    for (size_t t = 0; t < times; t++)
        memcpy(x + t * N * D, all->x, sizeof all->x);
    from.rows = x;
    source.count = times * N;
    imp_mixture *mixture;
    imp_mixture_options options = imp_mixture_defaults();
    options.unlabeled_weight = 0.5;
    assert_int_equal(imp_mixture_fit_source(&source, &options, &(imp_crew){.place = &nothing_kept},
                                            &mixture, NULL),
                     IMP_OK);
    assert_true(from.most <= imp_source_block(&source));
    assert_true(from.most < source.count / 4);
    imp_mixture_free(mixture);
    free(x);
    free(all);
}

/* The order as a list of all points would have it. */
static void arranges_points(void **state)
{
    (void)state;
    points *all = make(false);
    for (size_t i = 100; i < 200; i++)
        all->y[i] = (int32_t)(i % WAY);
    static const size_t labels[] = {200, 1000, N};
    static const size_t most[] = {0, 1, 7, 2000, 2600, N};
    for (size_t l = 0; l < sizeof labels / sizeof *labels; l++)
        for (size_t m = 0; m < sizeof most / sizeof *most; m++) {
            distant from;
            imp_point_source source = source_of(&from, all, labels[l]);
            uint32_t *order = malloc(N * sizeof *order);
            imp_order_labeled_first(all->y, N, 0, order);
            size_t labeled = N - imp_source_unlabeled(&source), unlabeled = N - labeled;
            size_t some = unlabeled < most[m] ? unlabeled : most[m];
            for (size_t i = 0; i < some; i++) {
                uint32_t *a = order + labeled + i;
                uint32_t *b = order + labeled + imp_block_begin(unlabeled, some, i);
                uint32_t taken = *b;
                *b = *a;
                *a = taken;
            }
            imp_arranged in;
            const imp_metric plain = {.kind = IMP_METRIC_AS_IS, .dimensions = D, .scale = 1};
            const imp_point_source *rest;
            assert_int_equal(imp_arrange(&in, &source, most[m], NULL), IMP_OK);
            assert_int_equal(imp_arranged_map(&in, &plain, NULL), IMP_OK);
            assert_int_equal(in.labeled, labeled);
            assert_int_equal(in.near, some);
            for (size_t i = 0; i < N; i++)
                assert_int_equal(imp_arranged_at(&in, i), order[i]);
            for (size_t i = 0; i < labeled + some; i++)
                assert_memory_equal(in.rows + i * D, all->x + order[i] * D, D * sizeof *in.rows);
            size_t begin = labeled + some / 2;
            assert_int_equal(imp_arranged_rest(&in, begin, 0, &rest, NULL), IMP_OK);
            assert_int_equal(rest->count, N - begin);
            imp_reader reader;
            assert_int_equal(imp_reader_create(&reader, rest, NULL, 700, NULL), IMP_OK);
            for (size_t first = 0; first < rest->count; first += 700) {
                size_t count = rest->count - first < 700 ? rest->count - first : 700;
                const float *rows;
                assert_int_equal(imp_reader_read(&reader, first, count, &rows, NULL), IMP_OK);
                for (size_t i = 0; i < count; i++)
                    assert_memory_equal(rows + i * D, all->x + order[begin + first + i] * D,
                                        D * sizeof *rows);
            }
            imp_reader_release(&reader);
            imp_arranged_release(&in);
            free(order);
        }
    free(all);
}

/* Points after the last label are the same as points whose label is -1. */
static void holds_out_the_same_points(void **state)
{
    (void)state;
    points *all = make(false);
    static const size_t labels[] = {LABELED, LABELED + 1, 700, N};
    imp_trial_points first;
    distant from;
    imp_point_source source = source_of(&from, all, N);
    assert_int_equal(imp_trial_points_take(&first, &source, WAY, NULL), IMP_OK);
    assert_int_equal(first.unlabeled_count, 500);
    for (size_t l = 0; l < sizeof labels / sizeof *labels; l++) {
        imp_trial_points taken;
        source.label_count = labels[l];
        assert_int_equal(imp_trial_points_take(&taken, &source, WAY, NULL), IMP_OK);
        assert_int_equal(taken.count, first.count);
        assert_int_equal(taken.unlabeled_count, first.unlabeled_count);
        assert_memory_equal(taken.number, first.number,
                            (first.count + first.unlabeled_count) * sizeof *first.number);
        imp_trial_points_release(&taken);
    }
    imp_trial_points_release(&first);
    free(all);
}

static imp_status twice(const void *context, const float *rows, size_t begin, size_t count,
                        float *out, imp_error *error)
{
    (void)begin, (void)error;
    const size_t *d = context;
    for (size_t i = 0; i < count * *d; i++)
        out[i] = 2 * rows[i];
    return IMP_OK;
}

static void derives_sources(void **state)
{
    (void)state;
    points *all = make(false);
    distant from;
    const size_t d = D;
    imp_point_source far = source_of(&from, all, 0);
    imp_point_source near = imp_source_of_labeled(all->x, all->y, LABELED, D);
    imp_source_pair pair = {&near, &far};
    imp_point_source both = imp_source_of_pair(&pair);
    assert_int_equal(both.count, LABELED + N);
    assert_int_equal(imp_source_unlabeled(&both), N);
    for (size_t keep = 0; keep <= SIZE_MAX / 2; keep += SIZE_MAX / 2) {
        imp_mapped_source mapped;
        imp_beside_source beside;
        assert_int_equal(imp_mapped_source_create(&mapped, &both, D, twice, &d, keep, NULL),
                         IMP_OK);
        assert_int_equal(mapped.source.in_place, keep > 0);
        const imp_point_source *views[] = {&both, &mapped.source};
        assert_int_equal(imp_beside_source_create(&beside, views, 2, NULL), IMP_OK);
        assert_int_equal(beside.source.dimensions, 2 * D);
        float *room = malloc((LABELED + N) * 2 * D * sizeof *room);
        const float *rows;
        for (size_t begin = 0, count; begin < both.count; begin += count) {
            count = both.count - begin < 17 + begin ? both.count - begin : 17 + begin;
            assert_int_equal(beside.source.read(&beside.source, begin, count, room, &rows, NULL),
                             IMP_OK);
            for (size_t i = 0; i < count; i++) {
                size_t point = begin + i < LABELED ? begin + i : begin + i - LABELED;
                for (size_t j = 0; j < D; j++) {
                    assert_true(rows[i * 2 * D + j] == all->x[point * D + j]);
                    assert_true(rows[i * 2 * D + D + j] == 2 * all->x[point * D + j]);
                }
            }
        }
        free(room);
        imp_beside_source_release(&beside);
        imp_mapped_source_release(&mapped);
    }
    free(all);
}

static imp_status stop(size_t begin, size_t end, void *context, imp_error *error)
{
    (void)begin, (void)end;
    size_t *left = context;
    return --*left == 0 ? imp_fail(error, IMP_EIO, "enough") : IMP_OK;
}

/* Every way in which reading or the crew can end a fit. */
static void fails_as_reading_does(void **state)
{
    (void)state;
    points *all = make(true);
    imp_mixture_options options[] = {imp_mixture_defaults(), imp_mixture_defaults()};
    options[0].unlabeled_weight = 0.5;
    options[1].preset = IMP_PRESET_PAPER;
    for (size_t o = 0; o < 2; o++) {
        imp_mixture *mixture = NULL;
        imp_error error;
        distant from;
        imp_point_source source = source_of(&from, all, LABELED);
        const imp_crew crew = {.place = &nothing_kept};
        assert_int_equal(imp_mixture_fit_source(&source, &options[o], &crew, &mixture, &error),
                         IMP_OK);
        imp_mixture_free(mixture);
        size_t reads = from.reads, step = reads / 6 + 1;
        for (size_t at = 1; at <= reads; at += at + step + 4 < reads ? step
                                               : at + 4 < reads      ? reads - 4 - at
                                                                     : 1) {
            source = source_of(&from, all, LABELED);
            from.fail_at = at;
            assert_int_equal(imp_mixture_fit_source(&source, &options[o], &crew, &mixture, &error),
                             IMP_EIO);
            assert_string_equal(error.message, "the disk is gone");
            assert_null(mixture);
        }
        source = source_of(&from, all, LABELED);
        size_t left = 2;
        const imp_crew impatient = {.place = &nothing_kept, .done = stop, .context = &left};
        assert_int_equal(imp_mixture_fit_source(&source, &options[o], &impatient, &mixture, &error),
                         IMP_EIO);
        assert_string_equal(error.message, "enough");
    }
    free(all);
}

static void runs_out_of_memory(void **state)
{
    (void)state;
    points *all = make(false);
    static const size_t views[] = {2, 4};
    imp_mixture_options options = imp_mixture_defaults();
    options.view_count = 2;
    options.view_dimensions = views;
    options.metric = IMP_METRIC_SCALED;
    options.unlabeled_weight = 0.5;
    options.rule.steps = 1;
    distant from;
    imp_point_source source = source_of(&from, all, WAY); /* of each class one: nothing is tried */
    source.count = 2100;
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_mixture *mixture;
        imp_status status = imp_mixture_fit_source(
            &source, &options, &(imp_crew){.place = &nothing_kept}, &mixture, NULL);
        imp_mixture_free(mixture);
        failing_allocator_expect(&memory, status);
    }
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_same_bits),
        cmocka_unit_test(takes_labels_from_anywhere),
        cmocka_unit_test(reads_blocks),
        cmocka_unit_test(arranges_points),
        cmocka_unit_test(holds_out_the_same_points),
        cmocka_unit_test(derives_sources),
        cmocka_unit_test(fails_as_reading_does),
        cmocka_unit_test(runs_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
