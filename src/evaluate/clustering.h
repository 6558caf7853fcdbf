/*
 * clustering.h - how well clusters of unlabelled images agree with their classes: the paper's
 * unsupervised experiment, on one frozen embedding.
 *
 * Episodes are of the kind IMP_EPISODE_UNSUPERVISED; their true labels are used only to measure the
 * clusters. The results do not depend on the number of threads.
 */
#ifndef IMP_EVALUATE_CLUSTERING_H
#define IMP_EVALUATE_CLUSTERING_H

#include <imp/cluster.h>

#include "evaluate/evaluate.h"
#include "settings/settings.h"

/* Settings as options for clustering: the method and the rule, with lambda open if it is to be
 * chosen. IMP_EINVAL for a method that does not cluster. */
imp_status imp_clustering_options(const imp_settings *settings, imp_cluster_options *options,
                                  imp_error *error);

/* Resets what a model's settings say about its own episodes, their size and steps, to clustering's
 * defaults. */
void imp_clustering_open(imp_settings *settings);

/* Episodes of settings->way classes (0: 10) with settings->shot images each (0: 5). */
imp_episode_options imp_clustering_task(const imp_settings *settings, imp_purpose purpose);

typedef struct imp_clustering_evaluation {
    imp_interval purity, nmi, ami; /* normalised by the arithmetic mean of the entropies */
    imp_interval clusters;         /* per episode */
} imp_clustering_evaluation;

/* Clusters every episode with each rule; results[i] is rule i's. On failure the results are
 * undefined: IMP_EINVAL for a rule without lambda, else the error of the first episode that
 * failed. */
imp_status imp_evaluate_clustering(const imp_encoder *encoder, const imp_dataset *dataset,
                                   const imp_cluster_options *rules, size_t count,
                                   const imp_evaluate_options *options,
                                   imp_clustering_evaluation *results, imp_error *error);

/* Chooses a rule's lambda on the episodes that the options name, by adjusted mutual information
 * (imp_cluster_tune() on their embeddings). They should be validation episodes of the size of the
 * test episodes. options->progress counts the candidates. On failure *lambda is unchanged. */
imp_status imp_tune_clustering(const imp_encoder *encoder, const imp_dataset *dataset,
                               const imp_cluster_options *rule, const imp_evaluate_options *options,
                               double *lambda, imp_error *error);

#endif
