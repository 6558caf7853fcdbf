/* eval_clusters.h - the part of `imp eval` that clusters images without labels. */
#ifndef IMP_CLI_EVAL_CLUSTERS_H
#define IMP_CLI_EVAL_CLUSTERS_H

#include <stdbool.h>
#include <stdint.h>

#include <imp/encoder.h>

#include "settings/settings.h"

/* What is measured, and on what. */
typedef struct imp_cluster_contest {
    const imp_encoder *encoder;
    const imp_dataset *dataset;
    const imp_settings *settings; /* method (one or several), variances, way, shot, lambda */
    imp_purpose purpose;          /* of the episodes to measure */
    imp_pool pool;                /* of those episodes */
    uint64_t seed;                /* of all episodes */
    size_t episodes;              /* to measure on */
    size_t validation;            /* to choose lambda on, if it is not given */
    const double *lambdas;        /* to measure at; none: the setting, or the chosen value */
    size_t lambda_count;
    int threads;
    imp_network *network;   /* network to use with each episode's batch statistics, or NULL */
    const char *statistics; /* and its name in the output */
    bool json, quiet;
    const char *model, *command_line; /* for the JSON */
} imp_cluster_contest;

/* Clusters and prints. Returns the exit status. */
int imp_eval_clusters(const imp_cluster_contest *contest);

#endif
