/*
 * draw.c - draws an episode: groups, then classes of each group, then images of each class.
 *
 * Every draw is a uniformly random subset: a shuffle that stops when it has enough. Supports,
 * queries and unlabelled images of a class are consecutive parts of one such shuffle, so they never
 * share an image.
 */
#include "episode/draw.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"

/* Random sequences for the labelled part of a class, in IMP_STREAM_SPLIT after those that split the
 * classes. */
#define LABELED_SEQUENCE ((uint64_t)3 << 32)

static uint32_t stream_of(imp_purpose purpose)
{
    switch (purpose) {
    case IMP_FOR_TRAINING:
        return IMP_STREAM_TRAIN;
    case IMP_FOR_VALIDATION:
        return IMP_STREAM_VALIDATION;
    case IMP_FOR_TESTING:
        break;
    }
    return IMP_STREAM_TEST;
}

/* Uniform in low..high. */
static uint32_t between(imp_random *random, uint32_t low, uint32_t high)
{
    return low == high ? low : low + imp_random_below(random, high - low + 1);
}

/* Shuffles until the first `wanted` items are a random subset in random order. */
static void shuffle_first(imp_random *random, uint32_t *items, size_t count, size_t wanted)
{
    for (size_t i = 0; i < wanted && i < count; i++) {
        size_t chosen = i + imp_random_below(random, (uint32_t)(count - i));
        uint32_t item = items[i];
        items[i] = items[chosen];
        items[chosen] = item;
    }
}

/* ---- an episode being filled ---- */

imp_status imp_episode_allocate(imp_episode *episode, size_t images, size_t groups,
                                imp_error *error)
{
    episode->images = imp_allocate(images, sizeof *episode->images);
    episode->labels = imp_allocate(images, sizeof *episode->labels);
    episode->truth = imp_allocate(images, sizeof *episode->truth);
    episode->classes = imp_allocate(groups, sizeof *episode->classes);
    if (episode->images == NULL || episode->labels == NULL || episode->truth == NULL ||
        episode->classes == NULL) {
        imp_episode_clear(episode);
        return imp_fail_memory(error, "an episode");
    }
    return IMP_OK;
}

void imp_episode_clear(imp_episode *episode)
{
    imp_release(episode->images);
    imp_release(episode->labels);
    imp_release(episode->truth);
    imp_release(episode->classes);
    *episode = (imp_episode){0};
}

/* A list of images that grows within memory that is large enough. */
typedef struct list {
    uint32_t *images;
    int32_t *truth;
    size_t count;
} list;

static void append(list *to, const uint32_t *images, size_t count, int32_t truth)
{
    for (size_t i = 0; i < count; i++) {
        to->images[to->count] = images[i];
        to->truth[to->count++] = truth;
    }
}

struct imp_drawer {
    const imp_dataset *dataset;
    const imp_episode_plan *plan;
    imp_random random;
    uint32_t *groups;  /* (plan->groups): shuffled */
    uint32_t *classes; /* (all classes of the pool): the drawn group's, shuffled */
    uint32_t *images;  /* (the largest class): shuffled */
    list supports, queries, unlabeled;
    uint32_t shot;
};

/* The images of a class, with the permanently labelled ones first. */
static void list_images(imp_drawer *work, uint32_t class_number, const imp_class_info *about)
{
    for (size_t i = 0; i < about->images; i++)
        work->images[i] = (uint32_t)(about->first_image + i);
    if (!work->plan->parted)
        return;
    imp_random fixed = imp_random_start(work->plan->options.labeled_seed, IMP_STREAM_SPLIT,
                                        LABELED_SEQUENCE | class_number);
    shuffle_first(&fixed, work->images, about->images,
                  imp_labeled_count(work->plan, about->images));
}

/* Draws from one class; a distractor gives only unlabelled images. */
static void draw_class(imp_drawer *work, uint32_t class_number, int32_t truth, bool distractor)
{
    const imp_episode_plan *plan = work->plan;
    const imp_episode_options *options = &plan->options;
    imp_class_info about = imp_dataset_class(work->dataset, class_number);
    list_images(work, class_number, &about);

    uint32_t shot = 0, queries = 0;
    if (!distractor && options->shot > 0) {
        shot = options->unbalanced ? between(&work->random, options->fewest_shot, options->shot)
                                   : work->shot;
        queries = imp_query_count(plan, about.images);
    }
    uint32_t labeled = imp_labeled_count(plan, about.images);
    uint32_t *rest = work->images + shot + queries;
    if (plan->parted) {
        shuffle_first(&work->random, work->images, labeled, shot + queries);
        rest = work->images + labeled;
        shuffle_first(&work->random, rest, about.images - labeled, options->unlabeled);
    } else {
        shuffle_first(&work->random, work->images, about.images,
                      (size_t)shot + queries + options->unlabeled);
    }
    append(&work->supports, work->images, shot, truth);
    append(&work->queries, work->images + shot, queries, truth);
    append(&work->unlabeled, rest, options->unlabeled, truth);
}

static void draw_group(imp_drawer *work, uint32_t group, int32_t truth, bool distractor)
{
    const imp_episode_plan *plan = work->plan;
    uint32_t begin = plan->begin[group], count = plan->begin[group + 1] - begin;
    uint32_t modes = plan->options.modes;
    memcpy(work->classes, plan->classes + begin, count * sizeof *work->classes);
    shuffle_first(&work->random, work->classes, count, modes);
    for (uint32_t i = 0; i < modes; i++)
        draw_class(work, work->classes[i], truth, distractor);
}

/* Unlabelled images are drawn class by class, so their order would reveal their classes. */
static void shuffle_unlabeled(imp_drawer *work)
{
    list *unlabeled = &work->unlabeled;
    for (size_t i = 0; i + 1 < unlabeled->count; i++) {
        size_t other = i + imp_random_below(&work->random, (uint32_t)(unlabeled->count - i));
        uint32_t image = unlabeled->images[i];
        int32_t truth = unlabeled->truth[i];
        unlabeled->images[i] = unlabeled->images[other];
        unlabeled->truth[i] = unlabeled->truth[other];
        unlabeled->images[other] = image;
        unlabeled->truth[other] = truth;
    }
}

/* ---- the whole ---- */

static size_t largest_class(const imp_dataset *dataset, const imp_episode_plan *plan)
{
    size_t largest = 0;
    for (uint32_t i = 0; i < plan->begin[plan->groups]; i++) {
        size_t images = imp_dataset_class(dataset, plan->classes[i]).images;
        largest = images > largest ? images : largest;
    }
    return largest;
}

/* Lists with room for the most images the options allow. */
static bool make_room(list *of, size_t most)
{
    of->images = imp_allocate(most, sizeof *of->images);
    of->truth = imp_allocate(most, sizeof *of->truth);
    return of->images != NULL && of->truth != NULL;
}

static void put(imp_episode *episode, size_t at, const list *from, bool labeled)
{
    memcpy(episode->images + at, from->images, from->count * sizeof *from->images);
    memcpy(episode->truth + at, from->truth, from->count * sizeof *from->truth);
    for (size_t i = 0; i < from->count; i++)
        episode->labels[at + i] = labeled ? from->truth[i] : -1;
}

/* Draws from what the plan allows and fills the three lists; `way` labels and `groups` in total. */
static void draw_lists(imp_drawer *work, uint64_t index, uint32_t *way, uint32_t *groups)
{
    const imp_episode_plan *plan = work->plan;
    const imp_episode_options *options = &plan->options;
    work->random = imp_random_start(options->seed, stream_of(options->purpose), index);
    work->supports.count = work->queries.count = work->unlabeled.count = 0;
    *way = between(&work->random, options->fewest_way, options->way);
    work->shot = between(&work->random, options->fewest_shot, options->shot);
    *groups = *way + options->distractors;
    for (size_t g = 0; g < plan->groups; g++)
        work->groups[g] = (uint32_t)g;
    shuffle_first(&work->random, work->groups, plan->groups, *groups);
    for (uint32_t g = 0; g < *groups; g++)
        draw_group(work, work->groups[g], (int32_t)g, g >= *way);
    shuffle_unlabeled(work);
}

static void fill(const imp_drawer *work, uint64_t index, uint32_t way, uint32_t groups,
                 imp_episode *episode)
{
    episode->index = index;
    episode->kind = work->plan->options.kind;
    episode->way = way;
    episode->groups = groups;
    episode->supports = work->supports.count;
    episode->queries = work->queries.count;
    episode->unlabeled = work->unlabeled.count;
    for (size_t g = 0; g < groups; g++)
        episode->classes[g] = work->plan->group[work->groups[g]];
    put(episode, 0, &work->supports, true);
    put(episode, episode->supports, &work->queries, true);
    put(episode, episode->supports + episode->queries, &work->unlabeled, false);
}

imp_status imp_drawer_create(const imp_dataset *dataset, const imp_episode_plan *plan,
                             imp_drawer **out, imp_error *error)
{
    *out = NULL;
    const imp_episode_options *options = &plan->options;
    size_t classes = ((size_t)options->way + options->distractors) * options->modes;
    imp_drawer *drawer = imp_allocate_zeroed(1, sizeof *drawer);
    if (drawer == NULL)
        return imp_fail_memory(error, "an episode");
    drawer->dataset = dataset;
    drawer->plan = plan;
    drawer->groups = imp_allocate(plan->groups, sizeof *drawer->groups);
    drawer->classes = imp_allocate(plan->begin[plan->groups], sizeof *drawer->classes);
    drawer->images = imp_allocate(largest_class(dataset, plan), sizeof *drawer->images);
    bool room = make_room(&drawer->supports, classes * options->shot) &&
                make_room(&drawer->queries, classes * options->queries) &&
                make_room(&drawer->unlabeled, classes * options->unlabeled) &&
                drawer->groups != NULL && drawer->classes != NULL && drawer->images != NULL;
    if (!room) {
        imp_drawer_free(drawer);
        return imp_fail_memory(error, "an episode");
    }
    *out = drawer;
    return IMP_OK;
}

void imp_drawer_free(imp_drawer *drawer)
{
    if (drawer == NULL)
        return;
    imp_release(drawer->groups);
    imp_release(drawer->classes);
    imp_release(drawer->images);
    imp_release(drawer->supports.images);
    imp_release(drawer->supports.truth);
    imp_release(drawer->queries.images);
    imp_release(drawer->queries.truth);
    imp_release(drawer->unlabeled.images);
    imp_release(drawer->unlabeled.truth);
    imp_release(drawer);
}

size_t imp_plan_most_images(const imp_episode_plan *plan)
{
    const imp_episode_options *options = &plan->options;
    size_t labels = (size_t)options->way * options->modes;
    size_t all = ((size_t)options->way + options->distractors) * options->modes;
    return labels * ((size_t)options->shot + options->queries) + all * options->unlabeled;
}

size_t imp_plan_most_groups(const imp_episode_plan *plan)
{
    return (size_t)plan->options.way + plan->options.distractors;
}

void imp_drawer_draw(imp_drawer *drawer, uint64_t index, imp_episode *episode)
{
    uint32_t way, groups;
    draw_lists(drawer, index, &way, &groups);
    fill(drawer, index, way, groups, episode);
}

imp_status imp_episode_draw_planned(const imp_dataset *dataset, const imp_episode_plan *plan,
                                    uint64_t index, imp_episode *episode, imp_error *error)
{
    *episode = (imp_episode){0};
    imp_drawer *drawer;
    imp_status status = imp_drawer_create(dataset, plan, &drawer, error);
    if (status)
        return status;
    uint32_t way, groups;
    draw_lists(drawer, index, &way, &groups);
    size_t images = drawer->supports.count + drawer->queries.count + drawer->unlabeled.count;
    status = imp_episode_allocate(episode, images, groups, error);
    if (!status)
        fill(drawer, index, way, groups, episode);
    imp_drawer_free(drawer);
    return status;
}

imp_status imp_episode_draw(const imp_dataset *dataset, const imp_episode_options *options,
                            uint64_t index, imp_episode *episode, imp_error *error)
{
    *episode = (imp_episode){0};
    imp_episode_plan plan;
    imp_status status = imp_episode_plan_make(&plan, dataset, options, error);
    if (!status)
        status = imp_episode_draw_planned(dataset, &plan, index, episode, error);
    imp_episode_plan_clear(&plan);
    return status;
}
