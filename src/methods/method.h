/*
 * method.h - the internal interface of a method: how it makes clusters, and how it backpropagates.
 *
 * A run has three parts. `decide` makes the decisions, which are constants to the gradient: the
 * clusters, their labels, the points' shares. `place` computes means and variances of the clusters
 * as functions of points and parameters, given the decisions, and `differentiate` is its gradient.
 * Between the two, queries are classified the same way for all methods (masked_loss.h).
 */
#ifndef IMP_METHODS_METHOD_H
#define IMP_METHODS_METHOD_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/method.h>

#include "methods/clusters.h"

/* One episode being processed. */
typedef struct imp_run {
    const imp_method_options *options; /* the rule is complete, except for lambda */
    const double *own;                 /* values of the method's own options, in its order */
    const double *values;              /* the method's parameters */
    size_t way;
    imp_points points;

    imp_clusters clusters;
    imp_shares shares;
    double lambda;   /* NAN unless the method sets it */
    double *scratch; /* the method's own, see imp_run_scratch() */
    size_t scratch_capacity;

    /* The loss's gradient with respect to each cluster's mean (clusters, dimensions) and log sigma
     * (clusters); and, to be added to, each point (points, dimensions) and parameter. */
    double *mean_gradient, *sigma_gradient, *point_gradient, *value_gradient;
} imp_run;

/* Makes run->scratch at least `count` doubles long; if it grows, its contents are lost. */
imp_status imp_run_scratch(imp_run *run, size_t count, imp_error *error);

/* Adds the gradient of log sigma over all labelled clusters to *sigma_l and over all others to
 * *sigma_u; the two may be the same, and NULL drops a sum. */
void imp_run_sum_sigma_gradient(const imp_run *run, double *sigma_l, double *sigma_u);

/* How the clusters of a class combine to its score. */
typedef enum imp_scoring {
    IMP_SCORE_MASKED,   /* loss and predictions by the best cluster of each class */
    IMP_SCORE_UNMASKED, /* the loss by the sum over all clusters, predictions as before */
    IMP_SCORE_SUMS      /* loss and predictions by the sum */
} imp_scoring;

/* The option "unmasked" of methods whose classes have several clusters, as their first option, and
 * the scoring it selects. */
extern const imp_option_info imp_unmasked_option;
imp_scoring imp_unmasked_scoring(const double *own);

/* The complete description of a method. */
typedef struct imp_method_kind imp_method_kind;
struct imp_method_kind {
    imp_method_info info; /* the public part */
    const imp_method_parameter *parameters;
    size_t parameter_count, value_count;
    bool fits_mixtures; /* imp_mixture_fit() can use what it learned unchanged */
    bool distractors;   /* sigma_u is the variance of one wide cluster of distractors, which other
                           methods cannot use, nor this one theirs */

    /* The kind to use instead, depending on its own options. NULL: itself. */
    const imp_method_kind *(*variant)(const double *own);
    /* Depending on its own options. NULL: masked. */
    imp_scoring (*scoring)(const double *own);
    /* Sets the initial parameters. NULL: there are none. */
    void (*initialize)(const imp_method_options *options, double *values);
    /* Makes the decisions. */
    imp_status (*decide)(imp_run *run, imp_error *error);
    /* Places the clusters, given the decisions in `run`. */
    void (*place)(imp_run *run);
    /* Backpropagates run->mean_gradient and run->sigma_gradient to points and parameters. NULL: it
     * has no gradient and cannot be trained. */
    void (*differentiate)(imp_run *run);
};

extern const imp_method_kind imp_kind_imp, imp_kind_imp_tied, imp_kind_prototypes,
    imp_kind_neighbors, imp_kind_soft_kmeans, imp_kind_soft_kmeans_cluster,
    imp_kind_soft_kmeans_masked, imp_kind_dp_means, imp_kind_map_dp, imp_kind_em, imp_kind_nca,
    imp_kind_fixed_modes, imp_kind_gibbs;

/* Finds a kind by name; on failure the sentence suggests or lists names. */
imp_status imp_kind_find(const char *name, const imp_method_kind **kind, imp_error *error);

/* The same for methods that need no labels; NULL means imp. */
imp_status imp_find_clustering(const char *name, const imp_method_info **method, imp_error *error);

/* The method's own option of that name, or NULL. */
const imp_option_info *imp_method_option(const imp_method_info *method, const char *name);

/* The option of that name of any method, or NULL: it means the same in all methods that have it. */
const imp_option_info *imp_own_option(const char *name);

/* The values of the method's own options, in its order: those given, or the defaults. */
imp_status imp_kind_take_own(const imp_method_kind *kind, const imp_method_options *options,
                             double own[IMP_MOST_OWN_OPTIONS], imp_error *error);

/* Fails unless the parameters are open or in range, and the method uses lambda and steps if they
 * are given. */
imp_status imp_kind_check_rule(const imp_method_kind *kind, const imp_rule *rule, imp_error *error);

/* The part of a rule that method `from` was trained with that another method can use on its
 * embedding: alpha and the variances, if they mean the same. The rest is open. */
imp_rule imp_rule_for_another(const imp_rule *rule, const char *from, const char *to);

/* The rule for fitting a mixture to embeddings trained by the method with that rule; only lambda
 * may be open. */
imp_rule imp_rule_for_mixture(const imp_rule *rule, const char *method);

/* Whether a method's sigma_u is the variance of one wide cluster of distractors. */
bool imp_has_distractors(const char *method);

/* How many values a method with these options learns; 0 for an unknown method. */
size_t imp_method_value_count(const char *name, const imp_method_options *options);

/* Sets a method's own option in a list as in imp_method_options; setting the default removes it.
 * IMP_EINVAL if the list is full. */
imp_status imp_own_set(imp_named_value *own, const imp_option_info *option, double value,
                       imp_error *error);

/* The value in such a list, or the default. */
double imp_own_value(const imp_named_value *own, const imp_option_info *option);

/* Removes options that the method does not have. */
void imp_own_keep(imp_named_value *own, const char *method);

/* Whether two lists are equal, in any order. */
bool imp_own_equal(const imp_named_value *a, const imp_named_value *b);

/* The learned part of the method's rule: the variances that are its parameters. The rest is open.
 */
imp_rule imp_method_learned(const imp_method *method);

/* imp_method_run() with the decisions of the run before, which must have been on an episode of the
 * same shape: the function whose exact gradient imp_method_run() computes. For tests. */
imp_status imp_method_run_again(imp_method *method, const imp_episode_view *episode, bool gradients,
                                imp_method_result *result, imp_error *error);

/* IMP_EUNSUPPORTED for a method without gradients. */
imp_status imp_method_check_gradient(const imp_method *method, imp_error *error);

/* The parameters log_sigma_l and log_sigma_u, which several methods learn. */
extern const imp_method_parameter imp_sigma_parameters[2];

/* values = log sigma_l, log sigma_u of the options. */
void imp_initialize_sigmas(const imp_method_options *options, double *values);

#endif
