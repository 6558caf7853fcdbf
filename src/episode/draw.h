/* draw.h - drawing from a plan that is made once for many episodes. */
#ifndef IMP_EPISODE_DRAW_H
#define IMP_EPISODE_DRAW_H

#include "episode/plan.h"

/* imp_episode_draw() without making the plan; only IMP_ENOMEM remains. */
imp_status imp_episode_draw_planned(const imp_dataset *dataset, const imp_episode_plan *plan,
                                    uint64_t index, imp_episode *episode, imp_error *error);

/* Room for that many images and groups in a zeroed episode. */
imp_status imp_episode_allocate(imp_episode *episode, size_t images, size_t groups,
                                imp_error *error);

#endif
