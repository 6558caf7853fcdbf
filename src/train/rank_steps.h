/*
 * rank_steps.h - the steps of a run that several processes share.
 *
 * At the first step of an update each rank computes the steps of its share of the episodes. Their
 * results go to all ranks; of the gradients, only a running sum travels from rank to rank, in
 * episode order, and the last rank broadcasts it. So every rank follows the same gradient, with the
 * same bits as a single process.
 */
#ifndef IMP_TRAIN_RANK_STEPS_H
#define IMP_TRAIN_RANK_STEPS_H

#include "base/ranks.h"
#include "train/steps.h"

typedef struct imp_rank_steps imp_rank_steps;

/* Whether a learner's steps can be computed separately: not if one leaves state for the next. */
bool imp_rank_steps_suit(const imp_learner *learner);

/* Begins with episode `first`, which is the first of an update of `episodes`. On failure *out is
 * NULL. */
imp_status imp_rank_steps_open(const imp_ranks *ranks, const imp_learner *learner,
                               const imp_dataset *dataset, const imp_episode_options *task,
                               uint64_t first, size_t episodes, imp_rank_steps **out,
                               imp_error *error);

/* The source for the trainer. */
imp_steps *imp_rank_steps_of(imp_rank_steps *steps);

/* NULL is allowed. */
void imp_rank_steps_close(imp_rank_steps *steps);

#endif
