/* draw.h - draws episodes from a plan that is made once for many. */
#ifndef IMP_EPISODE_DRAW_H
#define IMP_EPISODE_DRAW_H

#include "episode/plan.h"

/* imp_episode_draw() without making the plan; only IMP_ENOMEM remains. */
imp_status imp_episode_draw_planned(const imp_dataset *dataset, const imp_episode_plan *plan,
                                    uint64_t index, imp_episode *episode, imp_error *error);

/* Draws many episodes of a plan, reusing its memory. One thread at a time; the dataset and the plan
 * must outlive it. */
typedef struct imp_drawer imp_drawer;

imp_status imp_drawer_create(const imp_dataset *dataset, const imp_episode_plan *plan,
                             imp_drawer **out, imp_error *error);
void imp_drawer_free(imp_drawer *drawer); /* NULL is allowed */

/* Draws into an episode that has room for the most images and groups of the plan. */
void imp_drawer_draw(imp_drawer *drawer, uint64_t index, imp_episode *episode);

/* The most images and groups that any episode of a plan has. */
size_t imp_plan_most_images(const imp_episode_plan *plan);
size_t imp_plan_most_groups(const imp_episode_plan *plan);

/* Room for that many images and groups in a zeroed episode. */
imp_status imp_episode_allocate(imp_episode *episode, size_t images, size_t groups,
                                imp_error *error);

/* A part of the episodes: of every `of` consecutive ones, those from `begin` to `end` - 1. */
typedef struct imp_feed_share {
    uint64_t of, begin, end;
} imp_feed_share;

/* imp_feed_open() for these only; there must be some. `first` is a multiple of share->of. */
imp_status imp_feed_open_share(const imp_dataset *dataset, const imp_episode_options *options,
                               uint64_t first, size_t ahead, const imp_feed_share *share,
                               imp_feed **out, imp_error *error);

#endif
