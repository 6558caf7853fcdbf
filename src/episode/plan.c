/*
 * plan.c - completes an episode's options and refuses those that cannot be drawn, naming the class
 * that is too small.
 *
 * Every class that might be drawn is checked, so that a training run cannot fail on its millionth
 * episode.
 */
#include "episode/plan.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "data/dataset.h"
#include "episode/augment.h"

enum { FEW_QUERIES = 5, MANY_QUERIES = 15, MOST_IMAGES = 1 << 24 };

void imp_episode_options_init(imp_episode_options *options, size_t size)
{
    const imp_episode_options defaults = {0};
    imp_give_options(options, size, &defaults, sizeof defaults);
}

void imp_episode_plan_clear(imp_episode_plan *plan)
{
    imp_release(plan->group);
    imp_release(plan->begin);
    imp_release(plan->classes);
    *plan = (imp_episode_plan){0};
}

uint32_t imp_labeled_count(const imp_episode_plan *plan, size_t images)
{
    if (!plan->parted)
        return (uint32_t)images;
    long labeled = lround(plan->options.labeled_fraction * (double)images);
    return labeled < 1 ? 1 : (uint32_t)labeled;
}

uint32_t imp_query_count(const imp_episode_plan *plan, size_t images)
{
    const imp_episode_options *options = &plan->options;
    if (plan->wants_queries || options->queries == 0)
        return options->queries;
    uint32_t labeled = imp_labeled_count(plan, images);
    uint64_t taken = (uint64_t)options->shot + (plan->parted ? 0 : options->unlabeled);
    uint64_t left = labeled > taken ? labeled - taken : 0;
    return left < options->queries ? (uint32_t)left : options->queries;
}

/* ---- options ---- */

static imp_status check_options(const imp_episode_options *options, imp_error *error)
{
    if ((unsigned)options->kind > IMP_EPISODE_UNSUPERVISED ||
        (unsigned)options->purpose > IMP_FOR_TESTING || (unsigned)options->pool > IMP_POOL_ALL)
        return imp_fail(error, IMP_EINVAL, "kind, purpose or pool of the episode is unknown");
    if (!(options->labeled_fraction >= 0.0 && options->labeled_fraction <= 1.0))
        return imp_fail(error, IMP_EINVAL, "the labelled fraction must be from 0 to 1, not %g",
                        options->labeled_fraction);
    return imp_augmentation_check(&options->augment, error);
}

static imp_status settle(imp_episode_plan *plan, const imp_episode_options *given, imp_error *error)
{
    imp_episode_options *options = &plan->options;
    *options = imp_episode_defaults();
    imp_status status =
        imp_take_options(options, sizeof *options, given, "imp_episode_options", error);
    if (!status)
        status = check_options(options, error);
    if (status)
        return status;
    bool unsupervised = options->kind == IMP_EPISODE_UNSUPERVISED;
    bool by_super_class = options->kind == IMP_EPISODE_SUPER_CLASSES;

    if (options->way == 0)
        options->way = unsupervised || by_super_class ? IMP_USUAL_SUPER_CLASSES : IMP_USUAL_CLASSES;
    if (options->fewest_way == 0)
        options->fewest_way = options->way;
    if (!by_super_class)
        options->modes = 1;
    else if (options->modes == 0)
        options->modes = 10;
    if (unsupervised) {
        if (options->shot != 0 || options->fewest_shot != 0 || options->queries != 0 ||
            options->distractors != 0)
            return imp_fail(error, IMP_EINVAL,
                            "an unsupervised episode has no shot, queries or distractors");
        if (options->unlabeled == 0)
            options->unlabeled = 5;
        plan->wants_queries = true;
    } else {
        if (options->shot == 0)
            options->shot = 1;
        if (options->fewest_shot == 0)
            options->fewest_shot = options->shot;
        plan->wants_queries = options->queries != 0;
        if (options->queries == 0)
            options->queries =
                options->purpose == IMP_FOR_TRAINING || by_super_class ? FEW_QUERIES : MANY_QUERIES;
    }
    if (options->fewest_way > options->way)
        return imp_fail(error, IMP_EINVAL, "the fewest way, %u, is more than the way, %u",
                        options->fewest_way, options->way);
    if (options->fewest_shot > options->shot)
        return imp_fail(error, IMP_EINVAL, "the fewest shot, %u, is more than the shot, %u",
                        options->fewest_shot, options->shot);
    if (options->distractors > 0 && options->unlabeled == 0)
        return imp_fail(error, IMP_EINVAL,
                        "distractors need unlabelled images; their number per class is 0");
    plan->parted = options->labeled_fraction > 0.0 && options->labeled_fraction < 1.0 &&
                   options->purpose == IMP_FOR_TRAINING && !unsupervised;

    double images = ((double)options->way + options->distractors) * options->modes *
                    ((double)options->shot + options->queries + options->unlabeled);
    if (images > MOST_IMAGES)
        return imp_fail(error, IMP_EINVAL, "an episode of %.0f images is too large; %d are allowed",
                        images, MOST_IMAGES);
    return IMP_OK;
}

/* ---- the pool ---- */

static bool in_pool(const imp_episode_options *options, imp_split split)
{
    switch (options->pool) {
    case IMP_POOL_OF_PURPOSE:
        return split == (imp_split)options->purpose; /* both enums have the same three values */
    case IMP_POOL_TRAIN:
        return split == IMP_SPLIT_TRAIN;
    case IMP_POOL_VALIDATION:
        return split == IMP_SPLIT_VALIDATION;
    case IMP_POOL_TEST:
        return split == IMP_SPLIT_TEST;
    case IMP_POOL_ALL:
        break;
    }
    return split != IMP_SPLIT_NONE;
}

/* The name of the pool in messages. */
static const char *pool_name(const imp_episode_options *options)
{
    static const char *const names[] = {"the train split", "the val split", "the test split"};
    if (options->pool == IMP_POOL_ALL)
        return "all splits together";
    return options->pool == IMP_POOL_OF_PURPOSE ? names[options->purpose]
                                                : names[options->pool - IMP_POOL_TRAIN];
}

/* Fails with how many labels there are, how many the episodes need, and why. */
static imp_status too_few(const imp_episode_plan *plan, const char *things, imp_error *error)
{
    const imp_episode_options *options = &plan->options;
    char reason[80] = "";
    if (options->distractors > 0)
        snprintf(reason, sizeof reason, " with %u distractor %s", options->distractors, things);
    return imp_fail(error, IMP_EINVAL, "there are %zu %s in %s; %u-way episodes%s need %llu",
                    plan->groups, things, pool_name(options), options->way, reason,
                    (unsigned long long)options->way + options->distractors);
}

static imp_status gather(imp_episode_plan *plan, const imp_dataset *dataset, imp_error *error)
{
    bool by_super_class = plan->options.kind == IMP_EPISODE_SUPER_CLASSES;
    size_t classes = imp_dataset_classes(dataset), used = 0;
    if (by_super_class && imp_dataset_super_classes(dataset) == 0)
        return imp_fail(error, IMP_EINVAL,
                        "episodes of super-classes need a dataset that has them");
    plan->group = imp_allocate(classes, sizeof *plan->group);
    plan->begin = imp_allocate(classes + 1, sizeof *plan->begin);
    plan->classes = imp_allocate(classes, sizeof *plan->classes);
    if (plan->group == NULL || plan->begin == NULL || plan->classes == NULL)
        return imp_fail_memory(error, "an episode");

    for (size_t i = 0; i < classes; i++) {
        imp_class_info about = imp_dataset_class(dataset, i);
        if (!in_pool(&plan->options, about.split))
            continue;
        uint32_t group = by_super_class ? (uint32_t)about.super_class : (uint32_t)i;
        /* The classes of a super-class are adjacent. */
        if (plan->groups == 0 || plan->group[plan->groups - 1] != group) {
            plan->begin[plan->groups] = (uint32_t)used;
            plan->group[plan->groups++] = group;
        }
        plan->classes[used++] = (uint32_t)i;
    }
    plan->begin[plan->groups] = (uint32_t)used;

    uint64_t needed = (uint64_t)plan->options.way + plan->options.distractors;
    if (plan->groups < needed)
        return too_few(plan, by_super_class ? "super-classes" : "classes", error);
    return IMP_OK;
}

/* ---- counts ---- */

static imp_status check_class(const imp_episode_plan *plan, const imp_class_info *about,
                              imp_error *error)
{
    const imp_episode_options *options = &plan->options;
    uint64_t labeled = imp_labeled_count(plan, about->images);
    uint64_t queries = imp_query_count(plan, about->images);
    if (queries == 0 && options->queries > 0)
        queries = 1; /* as many as there are, but at least one */
    uint64_t needed = options->shot + queries;

    if (plan->parted) {
        if (labeled < needed)
            return imp_fail(error, IMP_EINVAL, "%s has %u labelled images; %u + %u are needed",
                            about->name, (unsigned)labeled, options->shot, (unsigned)queries);
        if (about->images - labeled < options->unlabeled)
            return imp_fail(error, IMP_EINVAL, "%s has %u unlabelled images; %u are needed",
                            about->name, (unsigned)(about->images - labeled), options->unlabeled);
    } else if (about->images < needed + options->unlabeled) {
        if (needed == 0)
            return imp_fail(error, IMP_EINVAL, "%s has %zu images; %u are needed", about->name,
                            about->images, options->unlabeled);
        if (options->unlabeled == 0)
            return imp_fail(error, IMP_EINVAL, "%s has %zu images; %u + %u are needed", about->name,
                            about->images, options->shot, (unsigned)queries);
        return imp_fail(error, IMP_EINVAL, "%s has %zu images; %u + %u + %u are needed",
                        about->name, about->images, options->shot, (unsigned)queries,
                        options->unlabeled);
    }
    return IMP_OK;
}

static imp_status check_counts(const imp_episode_plan *plan, const imp_dataset *dataset,
                               imp_error *error)
{
    imp_status status = IMP_OK;
    for (size_t g = 0; g < plan->groups && !status; g++) {
        uint32_t classes = plan->begin[g + 1] - plan->begin[g];
        if (classes < plan->options.modes)
            return imp_fail(error, IMP_EINVAL, "%s has %u classes in %s; %u are needed",
                            imp_dataset_super_class(dataset, plan->group[g]), classes,
                            pool_name(&plan->options), plan->options.modes);
        for (uint32_t i = plan->begin[g]; i < plan->begin[g + 1] && !status; i++) {
            imp_class_info about = imp_dataset_class(dataset, plan->classes[i]);
            status = check_class(plan, &about, error);
        }
    }
    return status;
}

imp_status imp_episode_plan_make(imp_episode_plan *plan, const imp_dataset *dataset,
                                 const imp_episode_options *options, imp_error *error)
{
    *plan = (imp_episode_plan){0};
    imp_episode_options defaults = imp_episode_defaults();
    imp_status status = settle(plan, options != NULL ? options : &defaults, error);
    if (!status && imp_augmentation_is_on(&plan->options.augment))
        status = imp_dataset_need_pictures(dataset, "augmentation", error);
    if (!status)
        status = gather(plan, dataset, error);
    if (!status)
        status = check_counts(plan, dataset, error);
    if (status)
        imp_episode_plan_clear(plan);
    return status;
}
