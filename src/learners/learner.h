/*
 * learner.h - the interface of all learners, which are trained on episodes and then solve them.
 *
 * From a task a learner computes, in training, a step, which is the gradient of its loss with
 * respect to everything it learns, and, in evaluation, predictions for the queries. `metric` embeds
 * the images and lets a method classify the embeddings. Others may adapt the network to the
 * supports first, or have parameters besides the network's.
 *
 * A learner's file defines one imp_learner_kind, from which the command line, recipes, model files
 * and checkpoints get everything they need.
 */
#ifndef IMP_LEARNERS_LEARNER_H
#define IMP_LEARNERS_LEARNER_H

#include <imp/episode.h>
#include <imp/method.h>
#include <imp/network.h>

/* The public description of a learner. */
typedef struct imp_learner_info {
    const char *name;
    const char *summary; /* a phrase: how it solves a task */
    bool by_method;      /* it classifies by a method, so it takes a method and a rule */
    bool embeds; /* it predicts from embeddings by the frozen network, which are computed once for
                    all such learners; others get the pictures, and have a network of their own */
    const char *batch_norm; /* if it does not embed: what batch norm uses in evaluation, a phrase
                               like "statistics of each batch" */
    const imp_option_info *options;
    size_t option_count;
} imp_learner_info;

/* Learner `index`, or NULL after the last; the first is the default. */
const imp_learner_info *imp_learner_at(size_t index);

/* The learner of that name, or NULL. */
const imp_learner_info *imp_learner_find(const char *name);

/* The learner's option of that name, or NULL. */
const imp_option_info *imp_learner_option(const imp_learner_info *learner, const char *name);

/* The option of that name of any learner, or NULL: it means the same in all learners that have it,
 * and no method has one of that name. */
const imp_option_info *imp_any_learner_option(const char *name);

typedef struct imp_learner_options {
    imp_named_value own[IMP_MOST_OWN_OPTIONS]; /* as in imp_method_options */
    const char *method;                        /* NULL: the first; refused if by_method is false */
    imp_method_options method_options;         /* likewise */
    size_t way;                                /* the most classes of an episode in training */
    uint64_t seed;
} imp_learner_options;

/* The defaults. */
imp_learner_options imp_learner_defaults(void);

/* A named part of the learner's own values. */
typedef struct imp_learner_parameter {
    const char *name;
    size_t rank, shape[4];
    size_t offset, count; /* in the learner's values */
    bool followed; /* updated by the steps themselves, like batch norm's running statistics: the
                      optimizer leaves it alone */
} imp_learner_parameter;

typedef struct imp_learner imp_learner;
typedef struct imp_learner_kind imp_learner_kind;

/* One thread at a time may use a learner. */
struct imp_learner {
    const imp_learner_kind *kind;
    imp_learner_options options;
    double own[IMP_MOST_OWN_OPTIONS]; /* the values of its own options, in its order */
    imp_network *network;             /* not owned; NULL: it only predicts, from embeddings */
    size_t dimensions;                /* of an embedding */

    /* What it learns besides the network. May be read and written between steps; call
     * imp_learner_publish() after writing. */
    imp_learner_parameter *parameters;
    double *values;
    size_t parameter_count, value_count;

    void *state; /* the kind's own */
};

/* The result of one episode in training. */
typedef struct imp_outcome {
    double loss;
    double accuracy; /* fraction of queries classified correctly before the update */
    size_t clusters; /* 0 if there are none */
    size_t images;
    double network_seconds, method_seconds; /* forward and backward; what is between them */
} imp_outcome;

/* The result of a learner for a task in training. The arrays are valid until its next step. */
typedef struct imp_step {
    /* What the optimizer descends: the gradient of the loss or, for a learner without one, what
     * takes its place, such as the difference from weights adapted to the task. */
    const float *network_gradient; /* as imp_network_parameters(); both are NULL if the gradient was
                                      part of an earlier step's */
    const double *value_gradient;  /* as the learner's values */
    const double *statistics;      /* for imp_network_follow(); NULL: none */
    imp_outcome outcome;
} imp_step;

/* The result of a learner for a task in evaluation. The arrays are valid until its next prediction.
 */
typedef struct imp_solution {
    const int32_t *predictions;      /* (queries) */
    const int32_t *open_predictions; /* with unlabelled clusters competing, as in imp_method_result;
                                        NULL: the same */
    double loss;
    double lambda;                   /* NAN if there is none */
    size_t clusters, class_clusters; /* all clusters, and those with a label; or 0 */
} imp_solution;

struct imp_learner_kind {
    imp_learner_info info;
    const char *prefix; /* of the names of its tensors in files: "learner." */

    /* Sets parameters, values and state of a learner whose other members are set. `release` is
     * called even on failure. */
    imp_status (*create)(imp_learner *learner, imp_error *error);
    /* Frees what `create` made, even if it failed halfway. */
    void (*release)(imp_learner *learner);
    /* Called after values were written. NULL: they are read when used. */
    void (*publish)(imp_learner *learner);
    /* The learned variances, for methods that are run on its embedding; NULL: none. */
    imp_rule (*learned)(const imp_learner *learner);
    /* IMP_EINVAL if embeddings, loss or variances are no longer finite. Changes neither values,
     * except those that are `followed`, nor the network's parameters. */
    imp_status (*step)(imp_learner *learner, const imp_task *task, imp_step *step,
                       imp_error *error);
    /* `embeddings` has a row for each image if the kind embeds, and is NULL otherwise. */
    imp_status (*predict)(imp_learner *learner, const imp_task *task, const float *embeddings,
                          imp_solution *answer, imp_error *error);
};

extern const imp_learner_kind imp_learner_metric;
extern const imp_learner_kind imp_learner_maml, imp_learner_reptile, imp_learner_memory;
extern const imp_learner_kind imp_learner_graph;

/* Creates the learner called `name` on a network that must outlive it. The network may be NULL for
 * a learner that embeds and only predicts; then `dimensions` are those of its embeddings. Names of
 * own options must stay valid as long as the learner.
 *
 * On failure *out is NULL: IMP_EINVAL for an unknown name or options that the learner does not use
 * or that are out of range, IMP_ENOMEM. */
imp_status imp_learner_create(const char *name, const imp_learner_options *options,
                              imp_network *network, size_t dimensions, imp_learner **out,
                              imp_error *error);

/* NULL is allowed. */
void imp_learner_free(imp_learner *learner);

/* Writes all learner->value_count values. */
void imp_learner_set(imp_learner *learner, const double *values);

/* Tells the learner that values were written. */
void imp_learner_publish(imp_learner *learner);

/* The parameter of that name, or NULL. */
const imp_learner_parameter *imp_learner_parameter_of(const imp_learner *learner, const char *name);

/* The learned part of a rule; the rest is open. */
imp_rule imp_learner_rule(const imp_learner *learner);

/* Step and predict; see imp_learner_kind. */
imp_status imp_learner_step(imp_learner *learner, const imp_task *task, imp_step *step,
                            imp_error *error);
imp_status imp_learner_predict(imp_learner *learner, const imp_task *task, const float *embeddings,
                               imp_solution *answer, imp_error *error);

/* The fraction of an episode's queries that are predicted correctly. */
double imp_episode_accuracy(const imp_episode *episode, const int32_t *predictions);

#endif
