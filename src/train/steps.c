/* steps.c - the steps that this process makes itself. */
#include "train/steps.h"

#include "base/clock.h"

static imp_status next(imp_steps *steps, imp_learner *learner, imp_step *step, double *waited,
                       imp_error *error)
{
    imp_own_steps *own = (imp_own_steps *)steps;
    const imp_task *task;
    double begin = imp_clock();
    imp_status status = imp_feed_next(own->feed, &task, error);
    *waited = imp_clock() - begin;
    return status ? status : imp_learner_step(learner, task, step, error);
}

imp_status imp_own_steps_open(imp_own_steps *own, const imp_dataset *dataset,
                              const imp_episode_options *task, uint64_t first, size_t ahead,
                              imp_error *error)
{
    *own = (imp_own_steps){.steps = {.next = next}};
    return imp_feed_open(dataset, task, first, ahead, &own->feed, error);
}

void imp_own_steps_close(imp_own_steps *own)
{
    imp_feed_close(own->feed);
}
