/* measure.h - timing a network: median step time of training and evaluation. */
#ifndef IMP_CLI_MEASURE_H
#define IMP_CLI_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/imp.h>

/* What to time: a training step (forward with batch statistics, backward to all gradients; no loss,
 * no optimizer) or the evaluation-mode forward of a frozen network. */
typedef struct imp_measure_task {
    const char *description;
    bool training;
    size_t images, channels, height, width;
    int threads;
    double seconds; /* how long to repeat the step */
} imp_measure_task;

typedef struct imp_measure_result {
    double images_per_second; /* of the median step */
    double most;              /* of the fastest step */
    size_t steps;
    double resident_mb;     /* peak resident memory during the timed steps */
    double faults_per_step; /* page faults during the timed steps */
    char isa[16];
    int threads; /* that were used */
} imp_measure_result;

/* Runs two steps to warm up and then times at least three. */
imp_status imp_measure(const imp_measure_task *task, imp_measure_result *result, imp_error *error);

#endif
