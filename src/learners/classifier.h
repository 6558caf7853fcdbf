/*
 * classifier.h - a network with a linear classification head, which learners adapt to a task by
 * gradient steps on its supports.
 *
 * Its parameters are one flat array: those of the learner's network, then those of the head, which
 * are the learner's own values. The loss is the mean cross-entropy. Batch norm uses the statistics
 * of the batch, in training and in evaluation, where the queries form one batch, so that their
 * predictions depend on each other (transductive).
 */
#ifndef IMP_LEARNERS_CLASSIFIER_H
#define IMP_LEARNERS_CLASSIFIER_H

#include <math.h>

#include "learners/learner.h"
#include "nn/hessian.h"

typedef struct imp_classifier {
    imp_network *network; /* the learner's layers and the head */
    size_t way;           /* outputs of the head */
    size_t body, count;   /* parameters of the learner's network, and including the head */
    double *statistics; /* (state_count): of the batch that the running statistics should follow */
    size_t state_count;
    double *head_gradient;                             /* (count - body): of a step */
    float *logits, *moved, *gradient, *moved_gradient; /* (capacity, way) */
    int32_t *predictions;                              /* (capacity) */
    double *losses;                                    /* (capacity): of each image */
    size_t capacity;
    uint64_t step; /* of dropout */
} imp_classifier;

/* Options of learners that take steps on the supports; their defaults differ. */
#define IMP_OPTION_INNER_RATE(first)                                            \
    {                                                                           \
        .name = "inner-rate", .help = "learning rate of steps on the supports", \
        .kind = IMP_NUMBER, .least = 0, .most = INFINITY, .initial = (first)    \
    }
#define IMP_OPTION_INNER_STEPS(first)                                                            \
    {                                                                                            \
        .name = "inner-steps", .help = "steps on the supports in training", .kind = IMP_INTEGER, \
        .least = 1, .most = 1000, .initial = (first)                                             \
    }
#define IMP_OPTION_TEST_STEPS(first)                                                              \
    {                                                                                             \
        .name = "test-steps", .help = "steps on the supports in evaluation", .kind = IMP_INTEGER, \
        .least = 0, .most = 1000, .initial = (first)                                              \
    }

/* A batch of labelled images; labels are below `way`. */
typedef struct imp_batch {
    const float *pixels;
    const int32_t *labels;
    size_t images, way;
} imp_batch;

/* Creates a classifier of learner->options.way classes, and makes its head's parameters, with
 * initial values, the learner's. Call imp_classifier_clear() even on failure. */
imp_status imp_classifier_make(imp_classifier *classifier, imp_learner *learner, imp_error *error);

/* Frees the classifier and the learner's parameters and values. */
void imp_classifier_clear(imp_classifier *classifier, imp_learner *learner);

/* Starts a task and gives its batches of supports and queries. IMP_EINVAL for a task of more
 * classes than the head has. */
imp_status imp_classifier_begin(imp_classifier *classifier, const imp_learner *learner,
                                const imp_task *task, bool training, imp_batch *supports,
                                imp_batch *queries, imp_error *error);

/* Copies the learner's parameters, classifier->count of them. */
void imp_classifier_read(const imp_classifier *classifier, const imp_learner *learner,
                         float *parameters);

/* Loss, losses and predictions of a batch with these parameters. */
imp_status imp_classifier_predict(imp_classifier *classifier, const float *parameters,
                                  const imp_batch *batch, double *loss, imp_error *error);

/* The same and the gradient of the loss, which belongs to classifier->network and is valid until
 * the next call. */
imp_status imp_classifier_gradient(imp_classifier *classifier, const float *parameters,
                                   const imp_batch *batch, double *loss, imp_error *error);

/* product += the Hessian of the batch's loss at these parameters, times `direction`. `hessian` was
 * created for classifier->network. */
imp_status imp_classifier_hessian(imp_classifier *classifier, imp_hessian *hessian,
                                  const float *parameters, const float *direction,
                                  const imp_batch *batch, float *product, imp_error *error);

/* Records the statistics of the last batch. */
void imp_classifier_note(imp_classifier *classifier);

/* Splits a gradient of classifier->count numbers into those of network and head. */
void imp_classifier_split(const imp_classifier *classifier, const float *gradient, imp_step *step);

#endif
