/*
 * method.h - what a method is inside: how it makes clusters, and how the gradient gets through it.
 *
 * A method's file tells two things apart. `infer` takes the decisions, which are constants to the
 * gradient: the clusters, their labels, the points' shares. `place` computes where the clusters
 * stand and how wide they are, as a function of points and parameters with the decisions given, and
 * `differentiate` is its gradient. Between the two, queries are classified the same way for all
 * (masked_loss.h).
 */
#ifndef IMP_METHODS_METHOD_H
#define IMP_METHODS_METHOD_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/method.h>

#include "methods/clusters.h"

/* One episode being worked on. */
typedef struct imp_run {
    const imp_method_options *options;
    const double *values; /* the method's parameters */
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

typedef struct imp_method_kind {
    const char *name;
    const imp_method_parameter *parameters;
    size_t parameter_count, value_count;
    bool has_lambda; /* compares distances with a threshold */
    bool has_steps;  /* its clustering can be repeated */

    /* Sets the parameters' first values. NULL where there are none. */
    void (*initialize)(const imp_method_options *options, double *values);
    /* Takes the decisions and places the clusters. */
    imp_status (*infer)(imp_run *run, imp_error *error);
    /* Places the clusters again, the decisions as they are in `run`. */
    void (*place)(imp_run *run);
    /* From run->mean_gradient and run->sigma_gradient to points and parameters. */
    void (*differentiate)(imp_run *run);
} imp_method_kind;

extern const imp_method_kind imp_kind_imp, imp_kind_imp_tied, imp_kind_prototypes,
    imp_kind_prototypes_learned, imp_kind_neighbors, imp_kind_soft_kmeans,
    imp_kind_soft_kmeans_cluster, imp_kind_soft_kmeans_masked, imp_kind_dp_means, imp_kind_map_dp,
    imp_kind_em;

/* The kind of that name; the sentence of a failure lists all names. */
imp_status imp_kind_find(const char *name, const imp_method_kind **kind, imp_error *error);

/* Fails unless the options are in range, and lambda, cluster_steps, learn_sigma and no_prior are of
 * use to the method where they are not the defaults. Variances and alpha have defaults that are
 * like any other value: a method that has no use for one leaves it alone. */
imp_status imp_kind_check_options(const imp_method_kind *kind, const imp_method_options *options,
                                  imp_error *error);

/* imp_method_run() that takes no decisions but keeps those of the run before, which must have been
 * on an episode of the same shape: the function whose exact gradient imp_method_run() gives. For
 * tests. */
imp_status imp_method_run_again(imp_method *method, const imp_episode_view *episode, bool gradients,
                                imp_method_result *result, imp_error *error);

/* The parameters log_sigma_l and log_sigma_u, which several methods learn. */
extern const imp_method_parameter imp_sigma_parameters[2];

/* values = log sigma_l, log sigma_u of the options. */
void imp_initialize_sigmas(const imp_method_options *options, double *values);

#endif
