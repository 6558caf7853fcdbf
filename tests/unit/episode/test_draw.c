/*
 * test_draw.c - properties of drawn episodes over many random options.
 *
 * No image twice; supports, queries and unlabelled images apart; labels and counts right;
 * distractors outside the support classes; the split respected; every class equally likely.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <imp/episode.h>

#include "base/parallel.h"
#include "base/random.h"
#include "failing_allocator.h"

static imp_dataset *dataset;

static int open_dataset(void **state)
{
    (void)state;
    imp_dataset_options options = imp_dataset_defaults();
    options.glyphs = (imp_glyph_options){
        .alphabets = 15, .fewest_characters = 4, .most_characters = 8, .drawings = 20};
    options.size = 4;
    options.rotations = 4;
    return imp_dataset_open("glyphs", &options, &dataset, NULL) == IMP_OK ? 0 : -1;
}

static int close_dataset(void **state)
{
    (void)state;
    imp_dataset_free(dataset);
    return 0;
}

static imp_episode draw(const imp_episode_options *options, uint64_t index)
{
    imp_episode episode;
    imp_error error;
    if (imp_episode_draw(dataset, options, index, &episode, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return episode;
}

static bool same(const imp_episode *a, const imp_episode *b)
{
    size_t size = imp_episode_size(a);
    return a->way == b->way && a->supports == b->supports && a->queries == b->queries &&
           a->unlabeled == b->unlabeled && a->groups == b->groups &&
           memcmp(a->images, b->images, size * sizeof *a->images) == 0 &&
           memcmp(a->labels, b->labels, size * sizeof *a->labels) == 0 &&
           memcmp(a->truth, b->truth, size * sizeof *a->truth) == 0 &&
           memcmp(a->classes, b->classes, a->groups * sizeof *a->classes) == 0;
}

/* ---- properties ---- */

static uint32_t below(imp_random *random, uint32_t bound)
{
    return imp_random_below(random, bound);
}

/* Options that can be drawn: 15 alphabets (9/3/3), at least 16 classes each, 20 images. */
static imp_episode_options random_options(imp_random *random)
{
    imp_episode_options options = imp_episode_defaults();
    options.kind = (imp_episode_kind)below(random, 3);
    options.purpose = (imp_purpose)below(random, 3);
    options.pool = (imp_pool)below(random, 5);
    options.seed = imp_random_u64(random);
    bool supers = options.kind == IMP_EPISODE_SUPER_CLASSES;
    options.way = 1 + below(random, supers ? 2 : 12);
    options.fewest_way = below(random, 2) ? 1 + below(random, options.way) : 0;
    options.modes = supers ? 1 + below(random, 12) : 0;
    options.unlabeled = below(random, 5);
    if (options.kind == IMP_EPISODE_UNSUPERVISED)
        return options;
    options.shot = 1 + below(random, 5);
    options.fewest_shot = below(random, 2) ? 1 + below(random, options.shot) : 0;
    options.unbalanced = below(random, 2);
    options.queries = below(random, 4); /* 0: what the class has */
    if (options.unlabeled > 0)
        options.distractors = below(random, supers ? 2 : 6);
    if (below(random, 3) == 0) {
        options.labeled_fraction = 0.4 + 0.3 * imp_random_uniform(random);
        options.labeled_seed = below(random, 3);
    }
    return options;
}

static bool in_pool(const imp_episode_options *options, imp_split split)
{
    if (options->pool == IMP_POOL_ALL)
        return split != IMP_SPLIT_NONE;
    unsigned wanted = options->pool == IMP_POOL_OF_PURPOSE
                          ? (unsigned)options->purpose
                          : (unsigned)options->pool - IMP_POOL_TRAIN;
    return (unsigned)split == wanted;
}

static void check_labels(const imp_episode *episode)
{
    size_t size = imp_episode_size(episode), labeled = episode->supports + episode->queries;
    for (size_t i = 0; i < size; i++) {
        imp_class_info about =
            imp_dataset_class(dataset, imp_dataset_class_of(dataset, episode->images[i]));
        size_t truth = (size_t)episode->truth[i];
        assert_true(truth < episode->groups);
        uint32_t group = episode->kind == IMP_EPISODE_SUPER_CLASSES
                             ? (uint32_t)about.super_class
                             : (uint32_t)imp_dataset_class_of(dataset, episode->images[i]);
        assert_int_equal(group, episode->classes[truth]);
        if (i < labeled) {
            assert_int_equal(episode->labels[i], episode->truth[i]);
            assert_true(truth < episode->way); /* distractors have no supports and queries */
        } else {
            assert_int_equal(episode->labels[i], -1);
        }
    }
    for (size_t a = 0; a < episode->groups; a++)
        for (size_t b = 0; b < a; b++)
            assert_int_not_equal(episode->classes[a], episode->classes[b]);
}

/* How often a class occurs in a part. */
static void check_counts(const imp_episode_options *options, const imp_episode *episode)
{
    bool unsupervised = options->kind == IMP_EPISODE_UNSUPERVISED;
    size_t modes = options->modes > 0 ? options->modes : 1;
    size_t fewest_way = options->fewest_way > 0 ? options->fewest_way : options->way;
    size_t fewest_shot = options->fewest_shot > 0 ? options->fewest_shot : options->shot;
    size_t unlabeled = unsupervised && options->unlabeled == 0 ? 5 : options->unlabeled;
    assert_in_range(episode->way, fewest_way, options->way);
    assert_int_equal(episode->groups, episode->way + options->distractors);
    assert_int_equal(episode->unlabeled, episode->groups * modes * unlabeled);

    size_t classes = imp_dataset_classes(dataset), drawn = 0;
    uint32_t *count = calloc(classes * 3, sizeof *count);
    const size_t end[] = {episode->supports, episode->supports + episode->queries,
                          imp_episode_size(episode)};
    for (size_t i = 0, part = 0; i < end[2]; i++) {
        while (i >= end[part])
            part++;
        count[3 * imp_dataset_class_of(dataset, episode->images[i]) + part]++;
    }
    size_t shot_seen = 0;
    for (size_t c = 0; c < classes; c++) {
        const uint32_t *of = count + 3 * c;
        if (of[0] + of[1] + of[2] == 0)
            continue;
        drawn++;
        assert_true(in_pool(options, imp_dataset_class(dataset, c).split));
        if (of[0] > 0) {
            assert_in_range(of[0], fewest_shot, options->shot);
            if (!options->unbalanced && shot_seen > 0)
                assert_int_equal(of[0], shot_seen);
            shot_seen = of[0];
            if (options->queries > 0)
                assert_int_equal(of[1], options->queries);
            else
                assert_in_range(of[1], 1, 15);
        } else {
            assert_int_equal(of[1], 0);
        }
        assert_int_equal(of[2], unlabeled);
    }
    if (unlabeled > 0 || options->distractors == 0)
        assert_int_equal(drawn, episode->groups * modes);
    free(count);
}

static void check_distinct(const imp_episode *episode)
{
    uint8_t *seen = calloc(imp_dataset_images(dataset), 1);
    for (size_t i = 0; i < imp_episode_size(episode); i++) {
        assert_true(episode->images[i] < imp_dataset_images(dataset));
        assert_int_equal(seen[episode->images[i]]++, 0);
    }
    free(seen);
}

static void properties_over_random_options(void **state)
{
    (void)state;
    imp_random random = imp_random_start(11, IMP_STREAM_DEMO, 0);
    for (int trial = 0; trial < 3000; trial++) {
        imp_episode_options options = random_options(&random);
        uint64_t index = imp_random_u64(&random);
        imp_episode episode = draw(&options, index), again = draw(&options, index);
        assert_int_equal(episode.index, index);
        check_distinct(&episode);
        check_labels(&episode);
        check_counts(&options, &episode);
        assert_true(same(&episode, &again));
        imp_episode_clear(&again);
        imp_episode_clear(&episode);
    }
}

/* ---- chance ---- */

/* The chi-square statistic of counts that should be equal, less its expectation, in units of its
 * standard deviation: beyond 5 happens once in millions. */
static double chi_square_score(const double *counts, size_t cells, double total)
{
    double expected = total / (double)cells, sum = 0.0;
    for (size_t i = 0; i < cells; i++)
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    double freedom = (double)cells - 1.0;
    return (sum - freedom) / sqrt(2.0 * freedom);
}

static void every_class_and_image_is_equally_likely(void **state)
{
    (void)state;
    imp_episode_options options = imp_episode_defaults();
    options.way = 4;
    options.queries = 2;
    options.unlabeled = 1;
    options.distractors = 2;
    size_t classes = imp_dataset_classes(dataset), cells = 0;
    double *supports = calloc(classes, sizeof *supports);
    double *distractors = calloc(classes, sizeof *distractors);
    double place[20] = {0}, query_place[20] = {0}, unlabeled_place[20] = {0};
    enum { EPISODES = 20000 };
    for (uint64_t e = 0; e < EPISODES; e++) {
        imp_episode episode = draw(&options, e);
        for (size_t g = 0; g < episode.groups; g++)
            (g < episode.way ? supports : distractors)[episode.classes[g]]++;
        for (size_t i = 0; i < imp_episode_size(&episode); i++) {
            double *which = i < episode.supports                     ? place
                            : i < episode.supports + episode.queries ? query_place
                                                                     : unlabeled_place;
            which[episode.images[i] % 20]++; /* all classes have 20 images */
        }
        imp_episode_clear(&episode);
    }
    for (size_t c = 0; c < classes; c++) {
        if (imp_dataset_class(dataset, c).split != IMP_SPLIT_TRAIN)
            continue;
        supports[cells] = supports[c];
        distractors[cells++] = distractors[c];
    }
    assert_true(fabs(chi_square_score(supports, cells, 4.0 * EPISODES)) < 5.0);
    assert_true(fabs(chi_square_score(distractors, cells, 2.0 * EPISODES)) < 5.0);
    assert_true(fabs(chi_square_score(place, 20, 4.0 * EPISODES)) < 5.0);
    assert_true(fabs(chi_square_score(query_place, 20, 8.0 * EPISODES)) < 5.0);
    assert_true(fabs(chi_square_score(unlabeled_place, 20, 6.0 * EPISODES)) < 5.0);
    free(supports);
    free(distractors);
}

static void variable_way_and_shot_are_uniform(void **state)
{
    (void)state;
    imp_episode_options options = imp_episode_defaults();
    options.way = 8;
    options.fewest_way = 3;
    options.shot = 4;
    options.fewest_shot = 1;
    options.queries = 1;
    double ways[6] = {0}, shots[4] = {0};
    for (uint64_t e = 0; e < 20000; e++) {
        imp_episode episode = draw(&options, e);
        ways[episode.way - 3]++;
        shots[episode.supports / episode.way - 1]++;
        imp_episode_clear(&episode);
    }
    assert_true(fabs(chi_square_score(ways, 6, 20000.0)) < 5.0);
    assert_true(fabs(chi_square_score(shots, 4, 20000.0)) < 5.0);
}

/* ---- keys ---- */

static void purposes_seeds_and_indices_differ(void **state)
{
    (void)state;
    imp_episode_options options = imp_episode_defaults();
    options.pool = IMP_POOL_ALL; /* the same classes, so that only the numbers can differ */
    options.queries = 3;
    imp_episode first = draw(&options, 0);
    for (int change = 0; change < 4; change++) {
        imp_episode_options other = options;
        uint64_t index = 0;
        if (change == 0)
            other.purpose = IMP_FOR_VALIDATION;
        if (change == 1)
            other.purpose = IMP_FOR_TESTING;
        if (change == 2)
            other.seed = 1;
        if (change == 3)
            index = (uint64_t)1 << 32; /* all 64 bits count */
        imp_episode second = draw(&other, index);
        assert_false(same(&first, &second));
        imp_episode_clear(&second);
    }
    imp_episode_clear(&first);
}

typedef struct many {
    const imp_episode_options *options;
    imp_episode *episodes;
} many;

static void draw_one(size_t block, int worker, void *context)
{
    (void)worker;
    const many *work = context;
    (void)imp_episode_draw(dataset, work->options, block, &work->episodes[block], NULL);
}

static void threads_draw_the_same(void **state)
{
    (void)state;
    enum { EPISODES = 200 };
    imp_episode_options options = imp_episode_defaults();
    options.unlabeled = 2;
    options.distractors = 3;
    options.labeled_fraction = 0.4;
    imp_episode alone[EPISODES], together[EPISODES];
    imp_parallel(EPISODES, 1, draw_one, &(many){&options, alone});
    imp_parallel(EPISODES, 4, draw_one, &(many){&options, together});
    for (size_t e = 0; e < EPISODES; e++) {
        assert_true(same(&alone[e], &together[e]));
        imp_episode_clear(&alone[e]);
        imp_episode_clear(&together[e]);
    }
}

/* ---- the labelled fraction ---- */

static void the_labelled_part_is_fixed(void **state)
{
    (void)state;
    imp_episode_options options = imp_episode_defaults();
    options.unlabeled = 5;
    options.distractors = 5;
    options.labeled_fraction = 0.4;
    uint8_t *role = calloc(imp_dataset_images(dataset), 1); /* 1: labelled, 2: unlabelled */
    size_t labeled = 0, unlabeled = 0;
    for (uint64_t e = 0; e < 4000; e++) {
        options.seed = e % 7; /* whatever the episode */
        imp_episode episode = draw(&options, e);
        for (size_t i = 0; i < imp_episode_size(&episode); i++) {
            uint8_t mine = i < episode.supports + episode.queries ? 1 : 2;
            uint8_t *known = &role[episode.images[i]];
            assert_true(*known == 0 || *known == mine);
            *known = mine;
        }
        imp_episode_clear(&episode);
    }
    size_t classes = 0;
    for (size_t c = 0; c < imp_dataset_classes(dataset); c++) {
        imp_class_info about = imp_dataset_class(dataset, c);
        if (about.split != IMP_SPLIT_TRAIN)
            continue;
        classes++;
        size_t of_class = 0;
        for (size_t i = 0; i < about.images; i++) {
            of_class += role[about.first_image + i] == 1;
            unlabeled += role[about.first_image + i] == 2;
        }
        assert_true(of_class <= 8);
        labeled += of_class;
    }
    assert_true(labeled > 7 * classes && unlabeled > 11 * classes); /* nearly all were seen */
    free(role);

    /* 5-shot: eight labelled images leave three queries. */
    options.shot = 5;
    imp_episode episode = draw(&options, 0);
    assert_int_equal(episode.queries, 5 * 3);
    imp_episode_clear(&episode);
    /* In testing all images count as labelled. */
    options.purpose = IMP_FOR_TESTING;
    episode = draw(&options, 0);
    assert_int_equal(episode.queries, 5 * 10);
    imp_episode_clear(&episode);
}

/* ---- the paper's episodes, and what cannot be ---- */

static void the_defaults_of_each_kind(void **state)
{
    (void)state;
    imp_episode_options options = imp_episode_defaults();
    options.purpose = IMP_FOR_TESTING;
    imp_episode episode = draw(&options, 0);
    assert_int_equal(episode.supports, 5);
    assert_int_equal(episode.queries, 75);
    imp_episode_clear(&episode);
    options.kind = IMP_EPISODE_SUPER_CLASSES;
    options.pool = IMP_POOL_ALL;
    episode = draw(&options, 0);
    assert_int_equal(episode.supports, 100);
    assert_int_equal(episode.queries, 500);
    imp_episode_clear(&episode);
    options.kind = IMP_EPISODE_UNSUPERVISED;
    episode = draw(&options, 0);
    assert_int_equal(episode.supports + episode.queries, 0);
    assert_int_equal(episode.unlabeled, 50);
    imp_episode_clear(&episode);
}

static void refuses(const imp_episode_options *options, const char *sentence)
{
    imp_episode episode;
    imp_error error;
    assert_int_equal(imp_episode_draw(dataset, options, 0, &episode, &error), IMP_EINVAL);
    assert_string_equal(error.message, sentence);
    assert_null(episode.images);
}

static void impossible_episodes_name_the_class(void **state)
{
    (void)state;
    imp_episode_options options = imp_episode_defaults();
    options.queries = 5;
    options.unlabeled = 20;
    refuses(&options, "alphabet01/character01 has 20 images; 1 + 5 + 20 are needed");
    options.unlabeled = 0;
    options.shot = 16;
    refuses(&options, "alphabet01/character01 has 20 images; 16 + 5 are needed");
    options.shot = 4;
    options.labeled_fraction = 0.4;
    refuses(&options, "alphabet01/character01 has 8 labelled images; 4 + 5 are needed");
    options.shot = 1;
    options.unlabeled = 13;
    refuses(&options, "alphabet01/character01 has 12 unlabelled images; 13 are needed");
    options = imp_episode_defaults();
    options.shot = 20;
    refuses(&options, "alphabet01/character01 has 20 images; 20 + 1 are needed");
    options.shot = 1;
    options.way = 4000;
    char sentence[200];
    size_t train = 0;
    for (size_t c = 0; c < imp_dataset_classes(dataset); c++)
        train += imp_dataset_class(dataset, c).split == IMP_SPLIT_TRAIN;
    snprintf(sentence, sizeof sentence,
             "there are %zu classes in the train split; 4000-way episodes need 4000", train);
    refuses(&options, sentence);
    options.kind = IMP_EPISODE_SUPER_CLASSES;
    options.way = 10;
    refuses(&options, "there are 9 super-classes in the train split; 10-way episodes need 10");
    options.way = 9;
    options.distractors = options.unlabeled = 2;
    refuses(&options, "there are 9 super-classes in the train split; 9-way episodes with 2 "
                      "distractor super-classes need 11");
    options.pool = IMP_POOL_ALL;
    options.way = 14;
    refuses(&options, "there are 15 super-classes in all splits together; 14-way episodes with 2 "
                      "distractor super-classes need 16");
    options.pool = IMP_POOL_OF_PURPOSE;
    options.distractors = options.unlabeled = 0;
    options.way = 2;
    options.modes = 17;
    imp_error error;
    imp_episode episode;
    assert_int_equal(imp_episode_draw(dataset, &options, 0, &episode, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, " classes in the train split; 17 are needed"));
    options = imp_episode_defaults();
    options.distractors = 2;
    refuses(&options, "distractors need unlabelled images; their number per class is 0");
    options = imp_episode_defaults();
    options.struct_size = offsetof(imp_episode_options, way); /* of an older caller */
    options.way = 1000000;
    assert_int_equal(imp_episode_draw(dataset, &options, 0, &episode, &error), IMP_OK);
    assert_int_equal(episode.way, 5);
    imp_episode_clear(&episode);
    struct {
        imp_episode_options options;
        size_t added;
    } newer = {.options = imp_episode_defaults(), .added = 1};
    newer.options.struct_size = sizeof newer;
    assert_int_equal(imp_episode_draw(dataset, &newer.options, 0, &episode, &error), IMP_EINVAL);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    imp_episode_options options = imp_episode_defaults();
    options.unlabeled = 2;
    /* The allocator is replaced while the dataset is held: its blocks are not touched meanwhile. */
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_episode episode;
        imp_status status = imp_episode_draw(dataset, &options, 3, &episode, NULL);
        imp_episode_clear(&episode);
        failing_allocator_expect(&memory, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties_over_random_options),
        cmocka_unit_test(every_class_and_image_is_equally_likely),
        cmocka_unit_test(variable_way_and_shot_are_uniform),
        cmocka_unit_test(purposes_seeds_and_indices_differ),
        cmocka_unit_test(threads_draw_the_same),
        cmocka_unit_test(the_labelled_part_is_fixed),
        cmocka_unit_test(the_defaults_of_each_kind),
        cmocka_unit_test(impossible_episodes_name_the_class),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, open_dataset, close_dataset);
}
