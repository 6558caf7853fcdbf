/*
 * rank_steps.h - the steps of a run that several processes make together.
 *
 * At the first step of an update each rank makes those of its share of the episodes. What they
 * showed goes to all; of their gradients only a running sum goes from rank to rank, in the order of
 * the episodes, and the last tells it to all. So every rank follows the same gradient, with the
 * same bits as one process that made all the steps.
 */
#ifndef IMP_TRAIN_RANK_STEPS_H
#define IMP_TRAIN_RANK_STEPS_H

#include "base/ranks.h"
#include "train/steps.h"

typedef struct imp_rank_steps imp_rank_steps;

/* Whether the steps of a learner can be made apart: not if one leaves something for the next. */
bool imp_rank_steps_suit(const imp_learner *learner);

/* Begins with episode number `first`, of `episodes` in each update, which is the first of an
 * update. On failure *out is NULL. */
imp_status imp_rank_steps_open(const imp_ranks *ranks, const imp_learner *learner,
                               const imp_dataset *dataset, const imp_episode_options *task,
                               uint64_t first, size_t episodes, imp_rank_steps **out,
                               imp_error *error);

/* What the trainer takes steps from. */
imp_steps *imp_rank_steps_of(imp_rank_steps *steps);

/* NULL is allowed. */
void imp_rank_steps_close(imp_rank_steps *steps);

#endif
