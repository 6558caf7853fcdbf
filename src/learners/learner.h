/*
 * learner.h - what is trained on episodes and then solves them: the interface of all learners.
 *
 * A learner makes two things of a task: in training a step, which is the gradient of its loss by
 * all it learns, and in evaluation predictions for the queries. `metric` embeds the images and lets
 * a method classify the embeddings. Others may adapt the network to the supports first, or have
 * parameters of their own beside the network's.
 *
 * A learner's file holds one imp_learner_kind, from which the command line, recipes, model files
 * and checkpoints know all there is to know of it.
 */
#ifndef IMP_LEARNERS_LEARNER_H
#define IMP_LEARNERS_LEARNER_H

#include <imp/episode.h>
#include <imp/method.h>
#include <imp/network.h>

/* What a learner says of itself. */
typedef struct imp_learner_info {
    const char *name;
    const char *summary; /* a phrase: how it solves a task */
    bool by_method;      /* a method classifies for it: the method and the rule are of use to it */
    bool embeds; /* predicts from embeddings by the frozen network, which are computed once for all
                    such learners; others see the pictures, with a network of their own */
    const char *batch_norm; /* of a learner that does not embed: what that uses in evaluation, a
                               phrase like "statistics of each batch" */
    const imp_option_info *options;
    size_t option_count;
} imp_learner_info;

/* Learner number `index`, or NULL after the last; the first is the default. */
const imp_learner_info *imp_learner_at(size_t index);

/* The learner of that name, or NULL. */
const imp_learner_info *imp_learner_find(const char *name);

/* The learner's option of that name, or NULL. */
const imp_option_info *imp_learner_option(const imp_learner_info *learner, const char *name);

/* An option of that name which any learner has, or NULL: learners that share a name share what it
 * means, and none is also a method's. */
const imp_option_info *imp_any_learner_option(const char *name);

typedef struct imp_learner_options {
    imp_named_value own[IMP_MOST_OWN_OPTIONS]; /* as in imp_method_options */
    const char *method;                        /* NULL: the first; refused where by_method is not */
    imp_method_options method_options;         /* likewise */
    size_t way;                                /* the most classes of an episode in training */
    uint64_t seed;
} imp_learner_options;

/* The defaults. */
imp_learner_options imp_learner_defaults(void);

/* A piece of what a learner keeps beside the network. */
typedef struct imp_learner_parameter {
    const char *name;
    size_t rank, shape[4];
    size_t offset, count; /* in the learner's values */
    bool followed;        /* steps move it themselves, like batch norm's running statistics: the
                             optimizer leaves it alone */
} imp_learner_parameter;

typedef struct imp_learner imp_learner;
typedef struct imp_learner_kind imp_learner_kind;

/* One thread at a time may use a learner. */
struct imp_learner {
    const imp_learner_kind *kind;
    imp_learner_options options;
    double own[IMP_MOST_OWN_OPTIONS]; /* the values of its own options, in its order */
    imp_network *network;             /* not the learner's; NULL: it only predicts, and embeds */
    size_t dimensions;                /* of an embedding */

    /* What it learns beside the network. To be read and written between steps; whoever writes calls
     * imp_learner_publish(). */
    imp_learner_parameter *parameters;
    double *values;
    size_t parameter_count, value_count;

    void *state; /* the kind's own */
};

/* What one episode showed in training. */
typedef struct imp_outcome {
    double loss;
    double accuracy; /* share of the queries that were classified rightly before the update */
    size_t clusters; /* 0 where there is no such thing */
    size_t images;
    double network_seconds, method_seconds; /* forward and backward; what lies between */
} imp_outcome;

/* What a learner makes of a task in training. The arrays last until its next step. */
typedef struct imp_step {
    /* What the optimizer is to go against: the gradient of the loss or, of a learner that has none,
     * what takes its place, such as the way back from weights that were adapted to the task. */
    const float *network_gradient; /* as imp_network_parameters(); NULL, both of them, for a step
                                      whose gradient was part of that of a step before it */
    const double *value_gradient;  /* as the learner's values */
    const double *statistics;      /* what imp_network_follow() is to be told; NULL: nothing */
    imp_outcome outcome;
} imp_step;

/* What a learner makes of a task in evaluation. The arrays last until its next answer. */
typedef struct imp_solution {
    const int32_t *predictions;      /* (queries) */
    const int32_t *open_predictions; /* where clusters without a label compete, too, as in
                                        imp_method_result; NULL: the same */
    double loss;
    double lambda;                   /* NAN where there is no such thing */
    size_t clusters, class_clusters; /* all of them, and those with a label; or 0 */
} imp_solution;

struct imp_learner_kind {
    imp_learner_info info;
    const char *prefix; /* of the names of its tensors in files: "learner." */

    /* Sets parameters, values and state of a learner whose other members are set. On failure
     * `release` is called. */
    imp_status (*create)(imp_learner *learner, imp_error *error);
    /* Frees what `create` has made, or as much as there is of it. */
    void (*release)(imp_learner *learner);
    /* Takes note of values that were written. NULL where they are read when they are used. */
    void (*publish)(imp_learner *learner);
    /* The variances among the values, for methods that are run on its embedding; NULL: none. */
    imp_rule (*learned)(const imp_learner *learner);
    /* IMP_EINVAL when embeddings, loss or variances are no longer finite. Neither values nor the
     * network's parameters have changed when it returns, but for values that are `followed`. */
    imp_status (*step)(imp_learner *learner, const imp_task *task, imp_step *step,
                       imp_error *error);
    /* `embeddings` has a row for each image where the kind embeds, and is NULL otherwise. */
    imp_status (*predict)(imp_learner *learner, const imp_task *task, const float *embeddings,
                          imp_solution *answer, imp_error *error);
};

extern const imp_learner_kind imp_learner_metric;
extern const imp_learner_kind imp_learner_maml, imp_learner_reptile, imp_learner_memory;
extern const imp_learner_kind imp_learner_graph;

/* Makes the learner of that name on a network that must outlive it. The network may be NULL for a
 * learner that embeds and is only to predict; `dimensions` are those of its embeddings then. Names
 * of own options must last as long as the learner.
 *
 * On failure *out is NULL: IMP_EINVAL for a name that is none or options that are of no use to the
 * learner or out of range, IMP_ENOMEM. */
imp_status imp_learner_create(const char *name, const imp_learner_options *options,
                              imp_network *network, size_t dimensions, imp_learner **out,
                              imp_error *error);

/* NULL is allowed. */
void imp_learner_free(imp_learner *learner);

/* Writes all values, as many as learner->value_count. */
void imp_learner_set(imp_learner *learner, const double *values);

/* Lets the learner take note of values that were written. */
void imp_learner_publish(imp_learner *learner);

/* The parameter of that name, or NULL. */
const imp_learner_parameter *imp_learner_parameter_of(const imp_learner *learner, const char *name);

/* What it has learned of a rule; the rest is open. */
imp_rule imp_learner_rule(const imp_learner *learner);

/* The two things that a learner makes of a task; see imp_learner_kind. */
imp_status imp_learner_step(imp_learner *learner, const imp_task *task, imp_step *step,
                            imp_error *error);
imp_status imp_learner_predict(imp_learner *learner, const imp_task *task, const float *embeddings,
                               imp_solution *answer, imp_error *error);

/* The share of an episode's queries whose predictions are right. */
double imp_episode_accuracy(const imp_episode *episode, const int32_t *predictions);

#endif
