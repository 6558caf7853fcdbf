/*
 * test_task.c - an episode's pixels, drawing ahead, and files of episodes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <imp/episode.h>

#include "failing_allocator.h"
#include "failing_threads.h"
#include "scratch.h"

static imp_dataset *open_glyphs(uint32_t channels, uint64_t seed)
{
    imp_dataset_options options = imp_dataset_defaults();
    options.glyphs = (imp_glyph_options){.seed = seed,
                                         .alphabets = 10,
                                         .fewest_characters = 5,
                                         .most_characters = 5,
                                         .drawings = 12};
    options.size = 10;
    options.channels = channels;
    options.rotations = 4;
    for (uint32_t c = 0; c < channels && channels == 3; c++) {
        options.mean[c] = 0.1f * (float)(c + 1);
        options.deviation[c] = 0.5f + (float)c;
    }
    imp_dataset *dataset;
    imp_error error;
    if (imp_dataset_open("glyphs", &options, &dataset, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return dataset;
}

static imp_episode_options semi_supervised(void)
{
    imp_episode_options options = imp_episode_defaults();
    options.unlabeled = 3;
    options.distractors = 2;
    options.queries = 2;
    return options;
}

static void pixels_are_scaled_turned_and_normalised(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        imp_dataset *dataset = open_glyphs(channels, 0);
        imp_episode_options options = semi_supervised();
        imp_episode episode;
        assert_int_equal(imp_episode_draw(dataset, &options, 5, &episode, NULL), IMP_OK);
        size_t bytes = 100 * channels, size = imp_episode_size(&episode);
        float *pixels = malloc(size * bytes * sizeof *pixels);
        imp_episode_pixels(dataset, &episode, pixels);
        uint8_t expected[300];
        for (size_t i = 0; i < size; i++) {
            imp_dataset_image(dataset, episode.images[i], expected);
            for (size_t p = 0; p < bytes; p++) {
                float value = (float)expected[p] / 255.0f;
                if (channels == 3) {
                    size_t c = p / 100;
                    value = (value - 0.1f * (float)(c + 1)) / (0.5f + (float)c);
                }
                assert_true(pixels[i * bytes + p] - value < 1e-6f &&
                            value - pixels[i * bytes + p] < 1e-6f);
            }
        }
        free(pixels);
        imp_episode_clear(&episode);
        imp_dataset_free(dataset);
    }
}

static void a_feed_gives_what_drawing_gives(void **state)
{
    (void)state;
    imp_dataset *dataset = open_glyphs(1, 0);
    imp_episode_options options = semi_supervised();
    for (size_t ahead = 0; ahead < 4; ahead++) {
        imp_feed *feed;
        if (ahead == 3) /* without a thread, where the system has none to give */
            failing_threads_allow(0);
        assert_int_equal(imp_feed_open(dataset, &options, 40, ahead, &feed, NULL), IMP_OK);
        for (uint64_t index = 40; index < 60; index++) {
            const imp_task *task;
            imp_episode expected;
            assert_int_equal(imp_feed_next(feed, &task, NULL), IMP_OK);
            assert_int_equal(imp_episode_draw(dataset, &options, index, &expected, NULL), IMP_OK);
            size_t size = imp_episode_size(&expected);
            assert_int_equal(task->episode.index, index);
            assert_memory_equal(task->episode.images, expected.images,
                                size * sizeof *expected.images);
            float *pixels = malloc(size * 100 * sizeof *pixels);
            imp_episode_pixels(dataset, &expected, pixels);
            assert_memory_equal(task->pixels, pixels, size * 100 * sizeof *pixels);
            free(pixels);
            imp_episode_clear(&expected);
        }
        imp_feed_close(feed);
    }
    assert_true(failing_threads_allow(SIZE_MAX) > 0);
    options.way = 4000;
    imp_feed *feed;
    imp_error error;
    assert_int_equal(imp_feed_open(dataset, &options, 0, 1, &feed, &error), IMP_EINVAL);
    assert_null(feed);
    imp_feed_close(NULL);
    imp_dataset_free(dataset);
}

static void saved_episodes_replay(void **state)
{
    imp_dataset *dataset = open_glyphs(1, 0);
    scratch_path path = scratch_file(state, "episodes.jsonl");
    for (int kind = IMP_EPISODE_CLASSES; kind <= IMP_EPISODE_UNSUPERVISED; kind++) {
        imp_episode_options options = imp_episode_defaults();
        options.kind = (imp_episode_kind)kind;
        options.way = 3;
        options.modes = kind == IMP_EPISODE_SUPER_CLASSES ? 4 : 0;
        options.unlabeled = 2;
        options.distractors = kind != IMP_EPISODE_UNSUPERVISED;
        imp_error error;
        if (imp_episodes_save(dataset, &options, 7, 25, path.text, &error) != IMP_OK)
            fail_msg("%s", error.message);
        imp_episodes read;
        if (imp_episodes_load(dataset, path.text, &read, &error) != IMP_OK)
            fail_msg("%s", error.message);
        assert_int_equal(read.count, 25);
        for (size_t e = 0; e < 25; e++) {
            imp_episode expected;
            assert_int_equal(imp_episode_draw(dataset, &options, 7 + e, &expected, NULL), IMP_OK);
            const imp_episode *got = &read.episodes[e];
            size_t size = imp_episode_size(&expected);
            assert_int_equal(got->index, 7 + e);
            assert_int_equal(got->kind, kind);
            assert_int_equal(got->way, expected.way);
            assert_int_equal(got->supports, expected.supports);
            assert_int_equal(got->queries, expected.queries);
            assert_int_equal(got->unlabeled, expected.unlabeled);
            assert_memory_equal(got->images, expected.images, size * sizeof *got->images);
            assert_memory_equal(got->labels, expected.labels, size * sizeof *got->labels);
            assert_memory_equal(got->truth, expected.truth, size * sizeof *got->truth);
            assert_memory_equal(got->classes, expected.classes,
                                expected.groups * sizeof *got->classes);
            imp_episode_clear(&expected);
        }
        imp_episodes_clear(&read);
        assert_int_equal(scratch_entries(state), 1);
    }
    imp_dataset_free(dataset);
}

static void refuses(void **state, const imp_dataset *dataset, const char *text,
                    const char *sentence)
{
    scratch_path path = scratch_file(state, "bad.jsonl");
    scratch_write(path.text, text, strlen(text));
    imp_episodes read;
    imp_error error;
    assert_int_not_equal(imp_episodes_load(dataset, path.text, &read, &error), IMP_OK);
    if (strstr(error.message, sentence) == NULL)
        fail_msg("'%s' is not in '%s'", sentence, error.message);
    assert_null(read.episodes);
}

static void bad_files_are_refused(void **state)
{
    imp_dataset *dataset = open_glyphs(1, 0);
    char head[300], text[1500];
    snprintf(head, sizeof head,
             "{\"format\":\"imp-episodes\",\"version\":1,\"fingerprint\":\"%s\",\"episodes\":1}\n",
             imp_dataset_fingerprint(dataset));
    refuses(state, dataset, "", "the file ends");
    refuses(state, dataset, "{}\n", "line 1: the file does not begin");
    refuses(state, dataset, "{\"format\":\"imp-episodes\",\"version\":2}\n", "only version 1");
    refuses(state, dataset,
            "{\"format\":\"imp-episodes\",\"version\":1,\"fingerprint\":\"00\",\"episodes\":1}\n",
            "fingerprint 00, and the dataset's is");
    refuses(state, dataset, head, "the file ends after 0 of 1 episodes");
    const struct {
        const char *episode, *sentence;
    } cases[] = {
        {"[", "line 2: line 1"},
        {"{}", "line 2: an episode needs"},
        {"{\"index\":0,\"kind\":\"x\",\"way\":1,\"classes\":[\"a\"]}", "unknown kind"},
        {"{\"index\":0,\"kind\":\"classes\",\"way\":1,\"classes\":[\"a\"]}",
         "supports needs equally long lists"},
        {"{\"index\":0,\"kind\":\"classes\",\"way\":1,\"classes\":[\"a\"],"
         "\"supports\":{\"images\":[],\"labels\":[]},\"queries\":{\"images\":[],\"labels\":[]},"
         "\"unlabeled\":{\"images\":[],\"truth\":[]}}",
         "the class 'a' has no images"},
        {"{\"index\":0,\"kind\":\"classes\",\"way\":1,\"classes\":[\"alphabet01/character01\"],"
         "\"supports\":{\"images\":[\"alphabet01/character01/77.png\"],\"labels\":[0]},"
         "\"queries\":{\"images\":[],\"labels\":[]},\"unlabeled\":{\"images\":[],\"truth\":[]}}",
         "the dataset has no image 'alphabet01/character01/77.png'"},
        {"{\"index\":0,\"kind\":\"classes\",\"way\":1,\"classes\":[\"alphabet01/character01\"],"
         "\"supports\":{\"images\":[\"alphabet01/character01/01.png\"],\"labels\":[1]},"
         "\"queries\":{\"images\":[],\"labels\":[]},\"unlabeled\":{\"images\":[],\"truth\":[]}}",
         "label 0 of supports must be from 0 to 0"},
        {"{\"index\":0,\"kind\":\"classes\",\"way\":1,\"classes\":[\"alphabet01/character01\"],"
         "\"supports\":{\"images\":[\"alphabet01/character01/01.png\"],\"labels\":[0]},"
         "\"queries\":{\"images\":[\"alphabet01/character01/01.png\"],\"labels\":[0]},"
         "\"unlabeled\":{\"images\":[],\"truth\":[]}}",
         "'alphabet01/character01/01.png' appears twice"},
        {"{\"index\":0,\"kind\":\"classes\",\"way\":1,\"classes\":[\"alphabet01/character0"
         "1\"],\"supports\":{\"images\":[\"alphabet01/character02/01.png\"],\"labels\":[0]"
         "},\"queries\":{\"images\":[\"alphabet01/character01/02.png\"],\"labels\":[0]},\""
         "unlabeled\":{\"images\":[],\"truth\":[]}}",
         "'alphabet01/character02/01.png' belongs to 'alphabet01/character02', but its label 0 "
         "stands for 'alphabet01/character01'"},
        {"{\"index\":0,\"kind\":\"classes\",\"way\":1,\"classes\":[\"alphabet01/character0"
         "1\"],\"supports\":{\"images\":[\"alphabet01/character01/01.png@90\"],\"labels\":"
         "[0]},\"queries\":{\"images\":[\"alphabet01/character01/02.png\"],\"labels\":[0]}"
         ",\"unlabeled\":{\"images\":[],\"truth\":[]}}",
         "belongs to 'alphabet01/character01@90', but its label 0"},
        {"{\"index\":0,\"kind\":\"classes\",\"way\":2,\"classes\":[\"alphabet01/character0"
         "1\",\"alphabet01/character02\"],\"supports\":{\"images\":[\"alphabet01/character"
         "01/01.png\"],\"labels\":[0]},\"queries\":{\"images\":[\"alphabet01/character02/0"
         "2.png\"],\"labels\":[1]},\"unlabeled\":{\"images\":[],\"truth\":[]}}",
         "the class 'alphabet01/character02' has no supports"},
        {"{\"index\":0,\"kind\":\"classes\",\"way\":1,\"classes\":[\"alphabet01/character0"
         "1\",\"alphabet01/character02\"],\"supports\":{\"images\":[\"alphabet01/character"
         "01/01.png\"],\"labels\":[0]},\"queries\":{\"images\":[\"alphabet01/character01/0"
         "2.png\"],\"labels\":[0]},\"unlabeled\":{\"images\":[],\"truth\":[]}}",
         "the class 'alphabet01/character02' has no images"},
        {"{\"index\":0,\"kind\":\"classes\",\"way\":2,\"classes\":[\"alphabet01/character0"
         "1\",\"alphabet01/character01\"],\"supports\":{\"images\":[\"alphabet01/character"
         "01/01.png\",\"alphabet01/character01/03.png\"],\"labels\":[0,1]},\"queries\":{\""
         "images\":[\"alphabet01/character01/02.png\"],\"labels\":[0]},\"unlabeled\":{\"im"
         "ages\":[],\"truth\":[]}}",
         "two labels stand for the same class 'alphabet01/character01'"},
        {"{\"index\":0,\"kind\":\"classes\",\"way\":1,\"classes\":[\"alphabet01/character0"
         "1\"],\"supports\":{\"images\":[\"alphabet01/character01/01.png\"],\"labels\":[0]"
         "},\"queries\":{\"images\":[],\"labels\":[]},\"unlabeled\":{\"images\":[],\"truth"
         "\":[]}}",
         "the episode has no queries"},
        {"{\"index\":0,\"kind\":\"unsupervised\",\"way\":1,\"classes\":[\"alphabet01/chara"
         "cter01\"],\"supports\":{\"images\":[\"alphabet01/character01/01.png\"],\"labels"
         "\":[0]},\"queries\":{\"images\":[],\"labels\":[]},\"unlabeled\":{\"images\":[],"
         "\"truth\":[]}}",
         "an unsupervised episode has no supports"},
        {"{\"index\":0,\"kind\":\"super-classes\",\"way\":1,\"classes\":[\"alphabet02\"],"
         "\"supports\":{\"images\":[\"alphabet01/character01/01.png\"],\"labels\":[0]},\"q"
         "ueries\":{\"images\":[\"alphabet01/character01/02.png\"],\"labels\":[0]},\"unlab"
         "eled\":{\"images\":[],\"truth\":[]}}",
         "belongs to 'alphabet01', but its label 0 stands for 'alphabet02'"},
    };
    const char *boast = "99999999";
    snprintf(text, sizeof text, "%.*s%s}\n{}\n", (int)(strlen(head) - 3), head, boast);
    refuses(state, dataset, text, "line 1: the file is too short for 99999999 episodes");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "%s%s\n", head, cases[i].episode);
        refuses(state, dataset, text, cases[i].sentence);
    }
    imp_dataset_free(dataset);
}

static void memory_may_run_out_anywhere(void **state)
{
    imp_dataset *dataset = open_glyphs(1, 0);
    imp_episode_options options = semi_supervised();
    scratch_path path = scratch_file(state, "episodes.jsonl");
    assert_int_equal(imp_episodes_save(dataset, &options, 0, 2, path.text, NULL), IMP_OK);
    /* The allocator is replaced while the dataset is held: its blocks are not touched meanwhile. */
    for (int what = 0; what < 3; what++) {
        failing_allocator memory = {0};
        while (failing_allocator_next(&memory)) {
            imp_episodes read = {0};
            imp_feed *feed = NULL;
            const imp_task *task;
            imp_status status = what == 0 ? imp_episodes_load(dataset, path.text, &read, NULL)
                                : what == 1
                                    ? imp_episodes_save(dataset, &options, 0, 2, path.text, NULL)
                                    : imp_feed_open(dataset, &options, 0, 2, &feed, NULL);
            if (feed != NULL)
                assert_int_equal(imp_feed_next(feed, &task, NULL), IMP_OK);
            imp_feed_close(feed);
            imp_episodes_clear(&read);
            assert_int_equal(scratch_entries(state), 1);
            assert_int_equal(failing_allocator_end(&memory), status != IMP_OK);
        }
    }
    imp_dataset_free(dataset);
}

/* Closed at any moment, with a task in hand or without, a feed ends. */
static void a_feed_may_be_closed_at_any_moment(void **state)
{
    (void)state;
    imp_dataset *dataset = open_glyphs(1, 0);
    imp_episode_options options = semi_supervised();
    for (int taken = 0; taken < 60; taken++) {
        imp_feed *feed;
        assert_int_equal(imp_feed_open(dataset, &options, 0, (size_t)taken % 3, &feed, NULL),
                         IMP_OK);
        for (int i = 0; i < taken % 5; i++) {
            const imp_task *task;
            assert_int_equal(imp_feed_next(feed, &task, NULL), IMP_OK);
        }
        imp_feed_close(feed);
    }
    imp_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_are_scaled_turned_and_normalised),
        cmocka_unit_test(a_feed_gives_what_drawing_gives),
        cmocka_unit_test_setup_teardown(saved_episodes_replay, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(bad_files_are_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test(a_feed_may_be_closed_at_any_moment),
        cmocka_unit_test_setup_teardown(memory_may_run_out_anywhere, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
