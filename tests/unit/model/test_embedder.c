/*
 * test_embedder.c - a program as a model: what the library tells of it, and a cache that stays
 * within its limit. tests/cli/embedder.bats has what a program may do wrong.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <imp/model.h>

#include "failing_allocator.h"
#include "model/built_in_model.h"
#include "model/embedding_cache.h"
#include "pictures.h"
#include "scratch.h"

/* In the shell's own words: greets and answers one question for one file with (3, 4). */
#define GREETING                                                            \
    "printf '{\"imp-embedder\": 1, \"name\": \"two\", \"version\": \"7\", " \
    "\"dimensions\": 2, \"batch\": 1}\\n'; "
static const char two[] = GREETING "while read -r question; do head -z -n 1 >/dev/null; "
                                   "printf 'v\\010\\000\\000\\000\\000\\000\\100\\100\\000\\000"
                                   "\\200\\100'; done";

static void a_program_is_a_model(void **state)
{
    scratch_path file = scratch_file(state, "file"), folder = scratch_file(state, "cache");
    scratch_write(file.text, "anything", 8);
    imp_model_options options = imp_model_defaults();
    options.embedder = "exec head -c 0"; /* no greeting */
    imp_model *model;
    imp_error error;
    assert_int_equal(imp_model_open(NULL, &options, &model, &error), IMP_EIO);
    assert_null(model);
    assert_non_null(strstr(error.message, "the embedder 'exec head -c 0': it exited with status "));

    options.embedder = two;
    options.cache = folder.text;
    if (imp_model_open(NULL, &options, &model, &error) != IMP_OK)
        fail_msg("%s", error.message);
    const imp_model_info *info = imp_model_info_of(model);
    assert_string_equal(info->embedder, "two");
    assert_string_equal(info->embedder_version, "7");
    assert_int_equal(info->dimensions, 2);
    assert_int_equal(info->channels, 0);
    assert_null(imp_model_encoder(model));
    const char *paths[] = {file.text};
    float row[2];
    if (imp_model_embed_files(model, paths, 1, 1, NULL, NULL, row, &error) != IMP_OK)
        fail_msg("%s", error.message);
    assert_true(fabsf(row[0] - 0.6f) < 1e-6f && fabsf(row[1] - 0.8f) < 1e-6f);

    /* It takes files alone. */
    float pixels[4] = {0};
    uint8_t bytes[1] = {0};
    imp_picture picture = {1, 1, 1, bytes};
    assert_int_equal(imp_model_embed(model, pixels, 1, 1, row, &error), IMP_EUNSUPPORTED);
    assert_int_equal(imp_model_embed_pictures(model, &picture, 1, 1, row, &error),
                     IMP_EUNSUPPORTED);
    imp_model_free(model);

    /* A model of pictures needs none. */
    assert_int_equal(imp_model_open_bytes(imp_built_in_model, imp_built_in_model_size, "built in",
                                          &options, &model, &error),
                     IMP_EINVAL);
    assert_non_null(strstr(error.message, "give one of them"));
    options.patience = -1;
    assert_int_equal(imp_model_open(NULL, &options, &model, &error), IMP_EINVAL);
}

static void memory_may_run_out_anywhere(void **state)
{
    scratch_path file = scratch_file(state, "file"), folder = scratch_file(state, "cache");
    scratch_write(file.text, "anything", 8);
    const char *paths[] = {file.text};
    failing_allocator memory = {.spare_jansson = true};
    imp_model_options options = imp_model_defaults();
    options.embedder = two;
    options.cache = folder.text;
    while (failing_allocator_next(&memory)) {
        imp_model *model;
        float row[2];
        imp_status status = imp_model_open(NULL, &options, &model, NULL);
        if (!status)
            status = imp_model_embed_files(model, paths, 1, 1, NULL, NULL, row, NULL);
        imp_model_free(model);
        /* What the cache cannot do without memory is no failure. */
        bool failed = failing_allocator_end(&memory);
        assert_true(status == IMP_OK || (status == IMP_ENOMEM && failed));
    }
}

/* ---- the cache ---- */

enum { DIMENSIONS = 1000, RECORD = 32 + 4 * DIMENSIONS + 8 };

static imp_embedder_hello embedder(const char *version)
{
    return (imp_embedder_hello){.name = "e", .version = version, .dimensions = DIMENSIONS};
}

static imp_embedding_cache *open_cache(void **state, size_t limit, const char *version)
{
    imp_embedding_cache *cache;
    imp_embedder_hello hello = embedder(version);
    assert_int_equal(
        imp_embedding_cache_open(scratch_file(state, "cache").text, limit, &hello, &cache, NULL),
        IMP_OK);
    return cache;
}

static void digest_of(size_t number, uint8_t *digest)
{
    memset(digest, 0, IMP_CONTENT_BYTES);
    memcpy(digest, &number, sizeof number);
}

static void add(imp_embedding_cache *cache, size_t number)
{
    uint8_t digest[IMP_CONTENT_BYTES];
    float row[DIMENSIONS];
    digest_of(number, digest);
    for (size_t j = 0; j < DIMENSIONS; j++)
        row[j] = (float)(number + j);
    const float *rows[] = {row};
    imp_embedding_cache_add(cache, digest, rows, 1);
}

static bool has(const imp_embedding_cache *cache, size_t number)
{
    uint8_t digest[IMP_CONTENT_BYTES];
    float row[DIMENSIONS];
    digest_of(number, digest);
    if (!imp_embedding_cache_find(cache, digest, row))
        return false;
    for (size_t j = 0; j < DIMENSIONS; j++)
        assert_true(row[j] == (float)(number + j));
    return true;
}

static void what_is_added_is_found(void **state)
{
    imp_embedding_cache *cache = open_cache(state, IMP_CACHE_LIMIT, "1");
    assert_false(has(cache, 3));
    for (size_t i = 0; i < 100; i++)
        add(cache, i);
    imp_embedding_cache_free(cache);
    cache = open_cache(state, IMP_CACHE_LIMIT, "1");
    for (size_t i = 0; i < 100; i++)
        assert_true(has(cache, i));
    assert_false(has(cache, 100));
    imp_embedding_cache_free(cache);
    cache = open_cache(state, IMP_CACHE_LIMIT, "2");
    assert_false(has(cache, 3));
    imp_embedding_cache_free(cache);
}

static void it_stays_within_its_limit(void **state)
{
    enum { LIMIT = 100 * RECORD };
    imp_embedding_cache *cache = open_cache(state, LIMIT, "1");
    for (size_t i = 0; i < 300; i++)
        add(cache, i);
    imp_embedding_cache_free(cache);
    cache = open_cache(state, LIMIT, "1");
    size_t found = 0;
    for (size_t i = 0; i < 300; i++)
        found += has(cache, i);
    assert_true(found >= 20 && found <= 50);
    assert_true(has(cache, 299) && !has(cache, 0));
    imp_embedding_cache_free(cache);

    /* Of many embedders those that were not used for longest go. */
    for (size_t version = 2; version < 8; version++) {
        char text[2] = {(char)('0' + version), 0};
        cache = open_cache(state, LIMIT, text);
        for (size_t i = 0; i < 30; i++)
            add(cache, i);
        imp_embedding_cache_free(cache);
    }
    cache = open_cache(state, LIMIT, "7");
    assert_true(has(cache, 29));
    imp_embedding_cache_free(cache);
    cache = open_cache(state, LIMIT, "1");
    assert_false(has(cache, 299));
    imp_embedding_cache_free(cache);
}

static void only_its_owner_can_read_it(void **state)
{
    imp_embedding_cache *cache = open_cache(state, IMP_CACHE_LIMIT, "1");
    add(cache, 1);
    imp_embedding_cache_free(cache);
    struct stat about;
    assert_int_equal(stat(scratch_file(state, "cache").text, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, tree_teardown)
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(a_program_is_a_model),       IN_A_FOLDER(memory_may_run_out_anywhere),
        IN_A_FOLDER(what_is_added_is_found),     IN_A_FOLDER(it_stays_within_its_limit),
        IN_A_FOLDER(only_its_owner_can_read_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
