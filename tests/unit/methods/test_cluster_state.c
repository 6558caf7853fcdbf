/*
 * test_cluster_state.c - a clustering that is stopped after every few blocks and goes on from the
 * file it left ends in the bits of one that was not; other points, options and files are refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "methods/cluster.h"
#include "methods/cluster_state.h"
#include "scratch.h"

enum { POINTS = 3000, DIMENSIONS = 5, CENTERS = 40 };

static float *draw_points(uint64_t seed)
{
    imp_random random = imp_random_start(seed, IMP_STREAM_DEMO, 0);
    float center[CENTERS][DIMENSIONS], *x = malloc(POINTS * DIMENSIONS * sizeof *x);
    for (size_t c = 0; c < CENTERS; c++)
        for (size_t j = 0; j < DIMENSIONS; j++)
            center[c][j] = 3 * (float)imp_random_normal(&random);
    for (size_t i = 0; i < POINTS; i++) {
        size_t c = imp_random_below(&random, CENTERS);
        for (size_t j = 0; j < DIMENSIONS; j++)
            x[i * DIMENSIONS + j] = center[c][j] + (float)imp_random_normal(&random);
    }
    return x;
}

static imp_cluster_options options_of(imp_cluster_order order)
{
    imp_cluster_options options = imp_cluster_defaults();
    options.method = "dp-means";
    options.rule.lambda = 20;
    options.order = order;
    options.threads = 2;
    return options;
}

static bool count_down(const imp_cluster_progress *progress, void *context)
{
    (void)progress;
    size_t *left = context;
    return --*left > 0;
}

/* Stops it after so many blocks, time and again. */
static imp_clustering *cluster_in_pieces(const imp_point_source *source,
                                         const imp_cluster_options *options, size_t blocks,
                                         const char *path, size_t *stops)
{
    imp_clustering *found = NULL;
    imp_error error;
    imp_status status;
    size_t left;
    imp_cluster_means means = {.proceed = count_down, .context = &left, .state = path};
    *stops = 0;
    do {
        left = blocks;
        status = imp_cluster_source(source, options, &means, &found, &error);
        means.resume = true;
        *stops += status != IMP_OK;
    } while (status == IMP_EIO && strstr(error.message, "resumed") && *stops < 10000);
    if (status)
        fail_msg("%s", error.message);
    return found;
}

static void same_bits(void **state)
{
    float *x = draw_points(1);
    scratch_path path = scratch_file(state, "clustering.state");
    imp_point_source source = imp_source_of_rows(x, POINTS, DIMENSIONS);
    imp_cluster_options cases[] = {options_of(IMP_ORDER_GIVEN), options_of(IMP_ORDER_RANDOM),
                                   options_of(IMP_ORDER_GIVEN), options_of(IMP_ORDER_RANDOM),
                                   options_of(IMP_ORDER_GIVEN), options_of(IMP_ORDER_GIVEN)};
    for (size_t c = 2; c < sizeof cases / sizeof *cases; c++) {
        cases[c].method = "imp"; /* the soft rule, with clusters that are dropped on the way, */
        cases[c].rule.sigma_u = c == 5 ? NAN : 0.4;
        cases[c].rule.steps = c == 4 ? 1 : 4;
        cases[c].rule.lambda = c == 5 ? NAN : 8; /* and with seeds that are chosen */
    }
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        imp_cluster_options options = cases[c];
        imp_clustering *whole;
        assert_int_equal(imp_cluster(x, POINTS, DIMENSIONS, &options, &whole, NULL), IMP_OK);
        assert_true(whole->steps > 2 || c == 4);
        assert_true(whole->clusters > 10);
        /* choosing seeds again takes time */
        for (size_t blocks = c == 5 ? 5 : 1; blocks < 20; blocks += blocks < 4 ? 1 + c / 2 : 20) {
            size_t stops;
            imp_clustering *pieces =
                cluster_in_pieces(&source, &options, blocks, path.text, &stops);
            assert_true(stops > 0 || blocks > 3);
            assert_int_equal(pieces->clusters, whole->clusters);
            assert_int_equal(pieces->steps, whole->steps);
            assert_true(pieces->converged == whole->converged);
            assert_true(pieces->objective == whole->objective);
            assert_memory_equal(pieces->assignment, whole->assignment,
                                POINTS * sizeof *whole->assignment);
            assert_memory_equal(pieces->mean, whole->mean,
                                whole->clusters * DIMENSIONS * sizeof *whole->mean);
            imp_clustering_free(pieces);
        }
        imp_clustering_free(whole);
    }
    free(x);
}

static void refuse(const imp_point_source *source, const imp_cluster_options *options,
                   const char *path, imp_status expected)
{
    imp_clustering *found;
    imp_error error;
    imp_cluster_means means = {.state = path, .resume = true};
    assert_int_equal(imp_cluster_source(source, options, &means, &found, &error), expected);
    assert_null(found);
    assert_non_null(strstr(error.message, path));
}

static void what_is_not_its_own_is_refused(void **state)
{
    float *x = draw_points(1), *other = draw_points(2);
    scratch_path path = scratch_file(state, "clustering.state");
    imp_point_source source = imp_source_of_rows(x, POINTS, DIMENSIONS),
                     others = imp_source_of_rows(other, POINTS, DIMENSIONS);
    imp_cluster_options options = options_of(IMP_ORDER_GIVEN), another = options;
    another.rule.lambda = 21;
    refuse(&source, &options, path.text, IMP_EIO);
    size_t left = 3;
    imp_clustering *found;
    imp_cluster_means means = {.proceed = count_down, .context = &left, .state = path.text};
    assert_int_equal(imp_cluster_source(&source, &options, &means, &found, NULL), IMP_EIO);
    refuse(&others, &options, path.text, IMP_EINVAL);
    refuse(&source, &another, path.text, IMP_EINVAL);

    FILE *file = fopen(path.text, "r+b"); /* the checksum tells */
    assert_int_equal(fseek(file, -3, SEEK_END), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, -3, SEEK_END), 0);
    fputc(byte ^ 1, file);
    fclose(file);
    refuse(&source, &options, path.text, IMP_EFORMAT);
    free(x);
    free(other);
}

static imp_point_source counted;
static size_t reads;

static imp_status count_reads(const imp_point_source *source, size_t begin, size_t count,
                              float *room, const float **rows, imp_error *error)
{
    (void)source;
    reads += count;
    return counted.read(&counted, begin, count, room, rows, error);
}

/* Choosing the clusters to begin with takes longer than anything else. */
static void nothing_is_chosen_before_a_state_is_refused(void **state)
{
    float *x = draw_points(1);
    scratch_path path = scratch_file(state, "clustering.state");
    counted = imp_source_of_rows(x, POINTS, DIMENSIONS);
    imp_point_source source = counted;
    source.read = count_reads;
    imp_cluster_options options = imp_cluster_defaults();
    reads = 0;
    refuse(&source, &options, path.text, IMP_EIO);
    assert_in_range(reads, 1, POINTS / 10);
    free(x);
}

/* Its checksum is right, but nobody was assigned in a pass that is over. */
static void points_that_were_left_out_are_told(void **state)
{
    float *x = draw_points(1);
    scratch_path path = scratch_file(state, "clustering.state");
    imp_point_source source = imp_source_of_rows(x, POINTS, DIMENSIONS);
    imp_cluster_options options = options_of(IMP_ORDER_GIVEN);
    int32_t assignment[POINTS];
    memset(assignment, -1, sizeof assignment);
    imp_cluster_print print;
    imp_clusters clusters = {0};
    imp_clusters_restart(&clusters, DIMENSIONS);
    assert_int_equal(imp_cluster_print_of(&source, &options, &print, NULL), IMP_OK);
    assert_int_equal(imp_clusters_add(&clusters, -1, 1, NULL, NULL), IMP_OK);
    const imp_cluster_state over[] = {{.done = POINTS}, {.passes = SIZE_MAX}};
    for (size_t i = 0; i < sizeof over / sizeof *over; i++) {
        assert_int_equal(imp_cluster_state_save(path.text, &print, &over[i], &clusters, assignment,
                                                POINTS, NULL, NULL),
                         IMP_OK);
        refuse(&source, &options, path.text, IMP_EFORMAT);
    }
    /* a part that only fits have */
    memset(assignment, 0, sizeof assignment);
    assert_int_equal(imp_cluster_state_save(path.text, &print,
                                            &(imp_cluster_state){.part = IMP_PART_SAMPLE},
                                            &clusters, assignment, POINTS, NULL, NULL),
                     IMP_OK);
    refuse(&source, &options, path.text, IMP_EFORMAT);
    imp_clusters_release(&clusters);
    free(x);
}

/* Its checksum is right, but no points could have such clusters. */
static void clusters_of_no_points_are_refused(void **state)
{
    float *x = draw_points(1);
    scratch_path path = scratch_file(state, "clustering.state");
    imp_point_source source = imp_source_of_rows(x, POINTS, DIMENSIONS);
    imp_cluster_options options = options_of(IMP_ORDER_GIVEN);
    int32_t assignment[POINTS] = {0};
    imp_cluster_print print;
    imp_clusters clusters = {0};
    imp_clusters_restart(&clusters, DIMENSIONS);
    assert_int_equal(imp_cluster_print_of(&source, &options, &print, NULL), IMP_OK);
    assert_int_equal(imp_clusters_add(&clusters, -1, 1, NULL, NULL), IMP_OK);
    clusters.weight[0] = 2;
    const struct {
        double *of, value;
    } bad[] = {{&clusters.mean[1], NAN},  {&clusters.mean[1], -1e39},
               {&clusters.sum[1], 1e39},  {&clusters.sum[1], NAN},
               {&clusters.weight[0], -1}, {&clusters.weight[0], INFINITY},
               {&clusters.sigma[0], NAN}, {&clusters.sigma[0], -1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double good = *bad[i].of;
        *bad[i].of = bad[i].value;
        assert_int_equal(imp_cluster_state_save(path.text, &print, &(imp_cluster_state){0},
                                                &clusters, assignment, POINTS, NULL, NULL),
                         IMP_OK);
        refuse(&source, &options, path.text, IMP_EFORMAT);
        *bad[i].of = good;
    }
    imp_clusters_release(&clusters);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_bits, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_is_not_its_own_is_refused, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(nothing_is_chosen_before_a_state_is_refused, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(points_that_were_left_out_are_told, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(clusters_of_no_points_are_refused, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
