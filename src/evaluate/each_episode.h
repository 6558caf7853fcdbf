/*
 * each_episode.h - episodes drawn, embedded and visited side by side: the loop of all evaluations.
 *
 * Every episode is drawn by its index and embedded by itself, so what a visit sees does not depend
 * on the threads.
 */
#ifndef IMP_EVALUATE_EACH_EPISODE_H
#define IMP_EVALUATE_EACH_EPISODE_H

#include "evaluate/evaluate.h"

/* A network of one thread with the same parameters and statistics, which drops nothing. */
imp_status imp_network_copy(imp_network *network, imp_network **out, imp_error *error);

/* Looks at one episode; `embeddings` has a row for each of its images. `worker` as for
 * imp_parallel(). May keep neither. */
typedef imp_status imp_episode_visit(const imp_task *task, const float *embeddings, int worker,
                                     void *context, imp_error *error);

/* Visits every episode that the options name or, of several ranks, this one's share of them. On
 * failure, which is the first episode's that failed, others may have been visited too.
 * options->context is for options->progress; the visits get `context`. `encoder` may be NULL;
 * embeddings are then NULL, too. */
imp_status imp_each_episode(const imp_encoder *encoder, const imp_dataset *dataset,
                            const imp_evaluate_options *options, imp_episode_visit *visit,
                            void *context, imp_error *error);

#endif
