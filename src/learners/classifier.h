/*
 * classifier.h - a network with a linear layer to the classes behind it, which learners adapt to a
 * task by gradient steps on its supports.
 *
 * Its parameters are one flat array: the learner's network's, then the head's, which are what such
 * a learner keeps beside the network. The loss is the mean cross-entropy. Batch norm uses the
 * statistics of the batch, in training and in evaluation, where queries are one batch: they know of
 * each other.
 */
#ifndef IMP_LEARNERS_CLASSIFIER_H
#define IMP_LEARNERS_CLASSIFIER_H

#include <math.h>

#include "learners/learner.h"
#include "nn/hessian.h"

typedef struct imp_classifier {
    imp_network *network; /* the learner's layers and the head */
    size_t way;           /* outputs of the head */
    size_t body, count;   /* parameters: of the learner's network, and with the head's */
    double *statistics;   /* (state_count): of a batch that is worth following */
    size_t state_count;
    double *head_gradient;                             /* (count - body): of a step */
    float *logits, *moved, *gradient, *moved_gradient; /* (capacity, way) */
    int32_t *predictions;                              /* (capacity) */
    double *losses;                                    /* (capacity): of each image */
    size_t capacity;
    uint64_t step; /* of dropout */
} imp_classifier;

/* Options of learners that take steps on the supports; what differs is how they begin. */
#define IMP_OPTION_INNER_RATE(first)                                                        \
    {                                                                                       \
        .name = "inner-rate", .help = "size of a step on the supports", .kind = IMP_NUMBER, \
        .least = 0, .most = INFINITY, .initial = (first)                                    \
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

/* A classifier of learner->options.way classes, its head's parameters among the learner's with
 * their initial values. What is made is to be freed by imp_classifier_clear() also on failure. */
imp_status imp_classifier_make(imp_classifier *classifier, imp_learner *learner, imp_error *error);

/* Frees what was made, the learner's parameters and values with it. */
void imp_classifier_clear(imp_classifier *classifier, imp_learner *learner);

/* Takes a task up: how many classes it has, and which of its images its batches are. IMP_EINVAL for
 * a task of more classes than the head has. */
imp_status imp_classifier_begin(imp_classifier *classifier, const imp_learner *learner,
                                const imp_task *task, bool training, imp_batch *supports,
                                imp_batch *queries, imp_error *error);

/* The learner's parameters, as many as classifier->count. */
void imp_classifier_read(const imp_classifier *classifier, const imp_learner *learner,
                         float *parameters);

/* Loss, losses and predictions of a batch by these parameters. */
imp_status imp_classifier_predict(imp_classifier *classifier, const float *parameters,
                                  const imp_batch *batch, double *loss, imp_error *error);

/* The same and the gradient of the loss, which is classifier->network's; good until the next. */
imp_status imp_classifier_gradient(imp_classifier *classifier, const float *parameters,
                                   const imp_batch *batch, double *loss, imp_error *error);

/* product += the Hessian of the batch's loss at these parameters, times `direction`. `hessian` is
 * one of classifier->network. */
imp_status imp_classifier_hessian(imp_classifier *classifier, imp_hessian *hessian,
                                  const float *parameters, const float *direction,
                                  const imp_batch *batch, float *product, imp_error *error);

/* Keeps the statistics of the last batch. */
void imp_classifier_note(imp_classifier *classifier);

/* A step's gradient, of classifier->count numbers, as the learner's two. */
void imp_classifier_split(const imp_classifier *classifier, const float *gradient, imp_step *step);

#endif
