/*
 * steps.h - where the steps of a run's episodes come from.
 *
 * The trainer takes one step after the other, in episode order, and does not know who computed it.
 * Here this process draws all episodes and computes all steps itself. A run on several processes is
 * another source (rank_steps.h): at the first step of an update each process computes its share,
 * all exchange them, and they come out in the same order everywhere, so that sums have the same
 * bits as with one process.
 */
#ifndef IMP_TRAIN_STEPS_H
#define IMP_TRAIN_STEPS_H

#include "learners/learner.h"

typedef struct imp_steps imp_steps;
struct imp_steps {
    /* The step of the next episode, computed with the current learner, which does not change until
     * all steps of an update are taken. The step is valid until the next call. *waited is the
     * seconds spent waiting for the episode. */
    imp_status (*next)(imp_steps *steps, imp_learner *learner, imp_step *step, double *waited,
                       imp_error *error);
};

/* Episodes prefetched, steps computed by this process. */
typedef struct imp_own_steps {
    imp_steps steps;
    imp_feed *feed;
} imp_own_steps;

/* Begins with episode `first`; `ahead` is as for imp_feed_open(). Close it even after a failure. */
imp_status imp_own_steps_open(imp_own_steps *own, const imp_dataset *dataset,
                              const imp_episode_options *task, uint64_t first, size_t ahead,
                              imp_error *error);
void imp_own_steps_close(imp_own_steps *own);

#endif
