/*
 * steps.h - where the steps of a run's episodes come from.
 *
 * The trainer takes one step after the other, in the order of the episodes, and knows nothing of
 * who made it. Here this process draws all episodes and makes all steps itself. A run on several
 * processes is another source: at the first step of an update each process makes its share, all
 * exchange them, and then they come out in order everywhere, so that the sums have the same bits as
 * those of one process.
 */
#ifndef IMP_TRAIN_STEPS_H
#define IMP_TRAIN_STEPS_H

#include "learners/learner.h"

typedef struct imp_steps imp_steps;
struct imp_steps {
    /* The step of the next episode, by the learner as it is; it does not change until all steps of
     * an update are taken. The step lasts until the next. *waited is how many seconds went by
     * before the episode was there. */
    imp_status (*next)(imp_steps *steps, imp_learner *learner, imp_step *step, double *waited,
                       imp_error *error);
};

/* Episodes drawn ahead, steps made by this process. */
typedef struct imp_own_steps {
    imp_steps steps;
    imp_feed *feed;
} imp_own_steps;

/* Begins with episode number `first`; `ahead` as for imp_feed_open(). Close it also after a
 * failure. */
imp_status imp_own_steps_open(imp_own_steps *own, const imp_dataset *dataset,
                              const imp_episode_options *task, uint64_t first, size_t ahead,
                              imp_error *error);
void imp_own_steps_close(imp_own_steps *own);

#endif
