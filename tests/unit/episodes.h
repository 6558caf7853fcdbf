/*
 * episodes.h - embedded episodes for the tests of the methods: generated ones, and reference
 * episodes with the answers of another implementation.
 */
#ifndef EPISODES_H
#define EPISODES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/method.h>

/* An episode that owns its arrays. */
typedef struct test_episode {
    imp_episode_view view;
    float *support, *unlabeled, *query;
    int32_t *support_label, *query_label;
    json_t *expected; /* of a reference episode */
} test_episode;

/* What to generate: classes of `modes` Gaussian modes each, whose centres have the variance
 * `spread` around the origin and whose points have variance 1 around them. */
typedef struct test_shape {
    size_t dimensions, way, modes, shot, unlabeled, distractors, queries;
    double spread;
    uint64_t seed;
} test_shape;

/* `shot` supports and `queries` queries of each mode of each class, `unlabeled` points of each mode
 * and `distractors` of one more mode that belongs to no class. Supports come class by class. */
test_episode episode_generate(const test_shape *shape);

/* The folders of reference data: tests/data/golden, and $IMP_SHARED/golden, which has more, where
 * that is there. Returns how many they are; each holds episodes/ and train-step/. */
enum { MOST_REFERENCE_FOLDERS = 2 };
size_t reference_folders(const char *folders[MOST_REFERENCE_FOLDERS]);

/* Reads an array as floats or as labels; the test fails if it cannot be read. */
float *reference_floats(const char *folder, const char *name, size_t *rows, size_t *columns);
int32_t *reference_labels(const char *folder, const char *name, size_t *count);

/* Reads a folder of episodes/. */
test_episode episode_load(const char *folder);

void episode_free(test_episode *episode);

/* A method, and one run of it; the test fails with the library's sentence if it cannot be had. */
imp_method *method_create(const char *name, const imp_method_options *options);
imp_method_result method_run(imp_method *method, const imp_episode_view *episode, bool gradients);

#endif
