/*
 * method.h - what a method is inside: how it makes clusters, and how the gradient gets through it.
 *
 * A run has three parts, which a method's file tells apart. `decide` takes the decisions, which are
 * constants to the gradient: the clusters, their labels, the points' shares. `place` computes where
 * the clusters stand and how wide they are, as a function of points and parameters with the
 * decisions given, and `differentiate` is its gradient. Before that, queries are classified the
 * same way for all (masked_loss.h).
 */
#ifndef IMP_METHODS_METHOD_H
#define IMP_METHODS_METHOD_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/method.h>

#include "methods/clusters.h"

/* One episode being worked on. */
typedef struct imp_run {
    const imp_method_options *options; /* the rule is complete, but for lambda */
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

/* Makes run->scratch at least `count` doubles long; what it held is lost if it grows. */
imp_status imp_run_scratch(imp_run *run, size_t count, imp_error *error);

/* Adds the gradient of log sigma over all labelled clusters to *sigma_l and over all others to
 * *sigma_u; the two may be the same, and NULL drops a sum. */
void imp_run_sum_sigma_gradient(const imp_run *run, double *sigma_l, double *sigma_u);

/* How clusters that share a class share its queries. */
typedef enum imp_scoring {
    IMP_SCORE_MASKED,   /* loss and predictions by the best cluster of each class */
    IMP_SCORE_UNMASKED, /* the loss by the sum over all clusters, predictions as before */
    IMP_SCORE_SUMS      /* both by sums */
} imp_scoring;

/* The option of methods whose classes have several clusters, where it is their first, and what it
 * means. */
extern const imp_option_info imp_unmasked_option;
imp_scoring imp_unmasked_scoring(const double *own);

/* All that there is to know of a method. */
typedef struct imp_method_kind imp_method_kind;
struct imp_method_kind {
    imp_method_info info; /* what it tells everybody */
    const imp_method_parameter *parameters;
    size_t parameter_count, value_count;
    bool fits_mixtures; /* what it learned is what imp_mixture_fit() should be told, as it is */
    bool distractors;   /* sigma_u is the variance of one wide cluster of distractors, which says
                           nothing to other methods, nor theirs to this one */

    /* The kind to be in its place where its own options ask for one. NULL: itself. */
    const imp_method_kind *(*variant)(const double *own);
    /* By its own options. NULL: masked. */
    imp_scoring (*scoring)(const double *own);
    /* Sets the parameters' first values. NULL where there are none. */
    void (*initialize)(const imp_method_options *options, double *values);
    /* Takes the decisions. */
    imp_status (*decide)(imp_run *run, imp_error *error);
    /* Places the clusters, the decisions as they are in `run`. */
    void (*place)(imp_run *run);
    /* From run->mean_gradient and run->sigma_gradient to points and parameters. NULL: it has no
     * gradient, and cannot be trained. */
    void (*differentiate)(imp_run *run);
};

extern const imp_method_kind imp_kind_imp, imp_kind_imp_tied, imp_kind_prototypes,
    imp_kind_neighbors, imp_kind_soft_kmeans, imp_kind_soft_kmeans_cluster,
    imp_kind_soft_kmeans_masked, imp_kind_dp_means, imp_kind_map_dp, imp_kind_em, imp_kind_nca,
    imp_kind_fixed_modes, imp_kind_gibbs;

/* The kind of that name; the sentence of a failure lists all names. */
imp_status imp_kind_find(const char *name, const imp_method_kind **kind, imp_error *error);

/* The same of one that needs no labels; NULL stands for imp. */
imp_status imp_find_clustering(const char *name, const imp_method_info **method, imp_error *error);

/* The method's own option of that name, or NULL. */
const imp_option_info *imp_method_option(const imp_method_info *method, const char *name);

/* An option of that name which any method has, or NULL: methods that share a name share what it
 * means. */
const imp_option_info *imp_own_option(const char *name);

/* The values of the method's own options, in its order: those given, or the defaults. */
imp_status imp_kind_take_own(const imp_method_kind *kind, const imp_method_options *options,
                             double own[IMP_MOST_OWN_OPTIONS], imp_error *error);

/* Fails unless the numbers are open or in range, and lambda and steps of use to the method. */
imp_status imp_kind_check_rule(const imp_method_kind *kind, const imp_rule *rule, imp_error *error);

/* What of a rule that method `from` was trained with holds for another one on its embedding: alpha
 * and the variances, where they mean the same. The rest is open. */
imp_rule imp_rule_for_another(const imp_rule *rule, const char *from, const char *to);

/* What a mixture of embeddings that the method was trained on with that rule should be fitted with;
 * only lambda may be open. */
imp_rule imp_rule_for_mixture(const imp_rule *rule, const char *method);

/* Whether a method's sigma_u is the variance of one wide cluster of distractors. */
bool imp_has_distractors(const char *method);

/* How many values a method with these options learns; 0 for what is no method. */
size_t imp_method_value_count(const char *name, const imp_method_options *options);

/* Gives an option of some method's own a value, in a list as in imp_method_options; its default
 * leaves the list without it. IMP_EINVAL where the list is full. */
imp_status imp_own_set(imp_named_value *own, const imp_option_info *option, double value,
                       imp_error *error);

/* The value in such a list, or the default. */
double imp_own_value(const imp_named_value *own, const imp_option_info *option);

/* The list with only those that the method has. */
void imp_own_keep(imp_named_value *own, const char *method);

/* Whether two lists say the same. */
bool imp_own_equal(const imp_named_value *a, const imp_named_value *b);

/* What the method has learned of its rule: the variances that are its parameters. The rest is open.
 */
imp_rule imp_method_learned(const imp_method *method);

/* imp_method_run() that takes no decisions but keeps those of the run before, which must have been
 * on an episode of the same shape: the function whose exact gradient imp_method_run() gives. For
 * tests. */
imp_status imp_method_run_again(imp_method *method, const imp_episode_view *episode, bool gradients,
                                imp_method_result *result, imp_error *error);

/* IMP_EUNSUPPORTED for a method that has no gradient to learn by. */
imp_status imp_method_check_gradient(const imp_method *method, imp_error *error);

/* The parameters log_sigma_l and log_sigma_u, which several methods learn. */
extern const imp_method_parameter imp_sigma_parameters[2];

/* values = log sigma_l, log sigma_u of the options. */
void imp_initialize_sigmas(const imp_method_options *options, double *values);

#endif
