/* episodes.c - see episodes.h. */
#include "episodes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/npy.h"
#include "base/random.h"

static void *need(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    assert_non_null(memory);
    return memory;
}

/* ---- generated ---- */

static void draw_point(imp_random *random, const double *center, size_t dimensions, float *point)
{
    for (size_t j = 0; j < dimensions; j++)
        point[j] = (float)(center[j] + imp_random_normal(random));
}

test_episode episode_generate(const test_shape *shape)
{
    imp_random random = imp_random_start(shape->seed, IMP_STREAM_DEMO, 0);
    size_t d = shape->dimensions, modes = shape->way * shape->modes;
    double *center = need((modes + 1) * d, sizeof *center);
    for (size_t i = 0; i < (modes + 1) * d; i++)
        center[i] = sqrt(shape->spread) * imp_random_normal(&random);

    test_episode episode = {
        .view = {.dimensions = d,
                 .way = shape->way,
                 .support_count = modes * shape->shot,
                 .unlabeled_count = modes * shape->unlabeled + shape->distractors,
                 .query_count = modes * shape->queries},
    };
    imp_episode_view *view = &episode.view;
    view->support = episode.support = need(view->support_count * d, sizeof(float));
    view->unlabeled = episode.unlabeled = need(view->unlabeled_count * d, sizeof(float));
    view->query = episode.query = need(view->query_count * d, sizeof(float));
    view->support_label = episode.support_label = need(view->support_count, sizeof(int32_t));
    view->query_label = episode.query_label = need(view->query_count, sizeof(int32_t));

    size_t supports = 0, unlabeled = 0, queries = 0;
    for (size_t m = 0; m < modes; m++) {
        for (size_t i = 0; i < shape->shot; i++, supports++) {
            episode.support_label[supports] = (int32_t)(m / shape->modes);
            draw_point(&random, center + m * d, d, episode.support + supports * d);
        }
        for (size_t i = 0; i < shape->queries; i++, queries++) {
            episode.query_label[queries] = (int32_t)(m / shape->modes);
            draw_point(&random, center + m * d, d, episode.query + queries * d);
        }
        for (size_t i = 0; i < shape->unlabeled; i++, unlabeled++)
            draw_point(&random, center + m * d, d, episode.unlabeled + unlabeled * d);
    }
    for (size_t i = 0; i < shape->distractors; i++, unlabeled++)
        draw_point(&random, center + modes * d, d, episode.unlabeled + unlabeled * d);
    free(center);
    return episode;
}

/* ---- from files ---- */

size_t reference_folders(const char *folders[MOST_REFERENCE_FOLDERS])
{
    size_t count = 0;
    folders[count++] = IMP_TEST_DATA "/golden";
    const char *shared = getenv("IMP_SHARED");
    static char golden[1000];
    snprintf(golden, sizeof golden, "%s/golden", shared ? shared : "../shared");
    struct stat found;
    if (stat(golden, &found) == 0)
        folders[count++] = golden;
    return count;
}

static imp_array load(const char *folder, const char *name)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    imp_array array;
    imp_error error;
    if (imp_npy_load(path, &array, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return array;
}

float *reference_floats(const char *folder, const char *name, size_t *rows, size_t *columns)
{
    imp_array array = load(folder, name);
    assert_int_equal(array.dtype, IMP_FLOAT32);
    *rows = array.rank > 0 ? array.shape[0] : 1;
    *columns = array.rank > 1 ? array.shape[1] : 1;
    float *values = need(array.count, sizeof *values);
    for (size_t i = 0; i < array.count; i++)
        values[i] = ((const float *)array.data)[i];
    imp_array_clear(&array);
    return values;
}

int32_t *reference_labels(const char *folder, const char *name, size_t *count)
{
    imp_array array = load(folder, name);
    assert_int_equal(array.dtype, IMP_INT64);
    *count = array.count;
    int32_t *labels = need(array.count, sizeof *labels);
    for (size_t i = 0; i < array.count; i++)
        labels[i] = (int32_t)((const int64_t *)array.data)[i];
    imp_array_clear(&array);
    return labels;
}

test_episode episode_load(const char *folder)
{
    test_episode episode = {0};
    imp_episode_view *view = &episode.view;
    char path[1200];
    snprintf(path, sizeof path, "%s/expected.json", folder);
    episode.expected = json_load_file(path, 0, NULL);
    assert_non_null(episode.expected);
    view->way = (size_t)json_integer_value(json_object_get(episode.expected, "way"));

    size_t columns, count;
    view->support = episode.support =
        reference_floats(folder, "support", &view->support_count, &view->dimensions);
    view->support_label = episode.support_label = reference_labels(folder, "labels", &count);
    assert_int_equal(count, view->support_count);
    view->query = episode.query = reference_floats(folder, "query", &view->query_count, &columns);
    view->query_label = episode.query_label = reference_labels(folder, "query_labels", &count);
    assert_int_equal(count, view->query_count);
    assert_int_equal(columns, view->dimensions);

    struct stat found;
    snprintf(path, sizeof path, "%s/unlabeled.npy", folder);
    if (stat(path, &found) == 0) {
        view->unlabeled = episode.unlabeled =
            reference_floats(folder, "unlabeled", &view->unlabeled_count, &columns);
        assert_int_equal(columns, view->dimensions);
    }
    return episode;
}

void episode_free(test_episode *episode)
{
    free(episode->support);
    free(episode->unlabeled);
    free(episode->query);
    free(episode->support_label);
    free(episode->query_label);
    json_decref(episode->expected);
    *episode = (test_episode){0};
}

imp_method *method_create(const char *name, const imp_method_options *options)
{
    imp_method *method;
    imp_error error;
    if (imp_method_create(name, options, &method, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return method;
}

imp_method_result method_run(imp_method *method, const imp_episode_view *episode, bool gradients)
{
    imp_method_result result;
    imp_error error;
    if (imp_method_run(method, episode, gradients, &result, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return result;
}
