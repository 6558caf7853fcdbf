/* measure_update.h - timing the training loop: what an update takes beyond its network. */
#ifndef IMP_CLI_MEASURE_UPDATE_H
#define IMP_CLI_MEASURE_UPDATE_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

/* Updates of Conv4 by the method imp, one episode each, 1 support and 5 queries of a character. */
typedef struct imp_update_task {
    bool alphabets; /* of ten characters each; false: characters */
    size_t way;
    int threads;
    double seconds;     /* how long to repeat */
    const char *folder; /* of a run that is begun there, for its log; must hold none */
} imp_update_task;

/* Medians, in seconds. */
typedef struct imp_update_result {
    size_t images, updates;
    double update;                                  /* from its beginning to the next one's */
    double feed, network, method, optimizer, rest;  /* of an update: imp_train_times */
    double bare;                                    /* the network alone on the same images */
    double overhead, least_overhead, most_overhead; /* update / bare - 1; first and last decile */
    double beyond;                                  /* update / its own network's time - 1 */
    char isa[16];
    int threads; /* that were used */
} imp_update_result;

/* Alternates updates of the trainer, its log included, with bare steps: forward and backward of
 * another Conv4 on the images of the update. Two of each warm up, at least three are timed. */
imp_status imp_measure_update(const imp_update_task *task, imp_update_result *result,
                              imp_error *error);

#endif
