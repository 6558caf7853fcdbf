/*
 * each_episode.h - draws, embeds and visits episodes in parallel: the loop of all evaluations.
 *
 * Every episode is drawn by its index and embedded by itself, so what a visit sees does not depend
 * on the number of threads.
 */
#ifndef IMP_EVALUATE_EACH_EPISODE_H
#define IMP_EVALUATE_EACH_EPISODE_H

#include "evaluate/evaluate.h"

/* A single-threaded copy of a network, with the same parameters and statistics and without
 * dropout. */
imp_status imp_network_copy(imp_network *network, imp_network **out, imp_error *error);

/* Visits one episode; `embeddings` has a row for each of its images. `worker` is as for
 * imp_parallel(). Must not keep either pointer. */
typedef imp_status imp_episode_visit(const imp_task *task, const float *embeddings, int worker,
                                     void *context, imp_error *error);

/* Visits every episode that the options name or, with several ranks, this rank's share. The error
 * is that of the first episode that failed; later ones may have been visited. options->context is
 * for options->progress; visits get `context`. If `encoder` is NULL, so are the embeddings. */
imp_status imp_each_episode(const imp_encoder *encoder, const imp_dataset *dataset,
                            const imp_evaluate_options *options, imp_episode_visit *visit,
                            void *context, imp_error *error);

#endif
