/* measure_update.h - times the training loop: the overhead of an update over its network. */
#ifndef IMP_CLI_MEASURE_UPDATE_H
#define IMP_CLI_MEASURE_UPDATE_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

/* Updates of Conv4 with the method imp, one episode each, 1 support and 5 queries per class. */
typedef struct imp_update_task {
    bool alphabets; /* super-classes of ten classes each; false: classes */
    size_t way;
    int threads;
    double seconds;     /* how long to repeat */
    const char *folder; /* for a new run and its log; must hold no run */
} imp_update_task;

/* Medians, in seconds. */
typedef struct imp_update_result {
    size_t images, updates;
    double update; /* from the start of one to the start of the next */
    double feed, network, method, optimizer, rest;  /* of an update: imp_train_times */
    double bare;                                    /* the bare network on the same images */
    double overhead, least_overhead, most_overhead; /* update / bare - 1; first and last decile */
    double beyond;                                  /* update / its own network's time - 1 */
    char isa[16];
    int threads; /* that were used */
} imp_update_result;

/* Alternates updates of the trainer, including its log, with bare steps: forward and backward of
 * another Conv4 on the images of the update. After two of each to warm up, at least three are
 * timed. */
imp_status imp_measure_update(const imp_update_task *task, imp_update_result *result,
                              imp_error *error);

#endif
