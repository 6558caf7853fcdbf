/*
 * imp.c - infinite mixture prototypes: Algorithm 1 of the paper, top to bottom.
 *
 * Steps 1 and 5 are means of points, which every method uses: they are in clusters.c, together with
 * the gradient of step 5, the only step that it passes through. lambda, the clusters made in step 3
 * and the soft assignments of step 4 are constants to the gradient. Step 6, classifying queries, is
 * in masked_loss.c.
 */
#include "methods/imp.h"

#include <math.h>

#include "base/error.h"
#include "methods/method.h"
#include "methods/rule.h"
#include "methods/softmax.h"

/* ---- step 2: the threshold, the paper's Equation 5 with the sign that it drops ---- */

double imp_estimate_lambda(const double *means, size_t count, size_t dimensions, double sigma,
                           double alpha)
{
    /* rho: the unbiased variance between the class means, averaged over the dimensions */
    double rho = 0;
    for (size_t j = 0; j < dimensions && count > 1; j++) {
        double center = 0, deviation = 0;
        for (size_t c = 0; c < count; c++)
            center += means[c * dimensions + j] / (double)count;
        for (size_t c = 0; c < count; c++) {
            double difference = means[c * dimensions + j] - center;
            deviation += difference * difference;
        }
        rho += deviation / (double)(count - 1) / (double)dimensions;
    }
    double lambda = -2 * sigma * log(alpha) + (double)dimensions * sigma * log1p(rho / sigma);
    /* A negative lambda would start a cluster even where there is one already. */
    return lambda < 0 ? 0 : lambda;
}

/* ---- step 3: infer the number of clusters ---- */

size_t imp_nearest_cluster(const imp_clusters *clusters, const float *x, int32_t label,
                           double *distance)
{
    size_t nearest = 0;
    *distance = INFINITY;
    for (size_t c = 0; c < clusters->count; c++) {
        if (!imp_may_join(label, clusters->label[c]))
            continue;
        double to_c = imp_clusters_distance(clusters, c, x);
        if (to_c < *distance) {
            *distance = to_c;
            nearest = c;
        }
    }
    return nearest;
}

imp_status imp_grow_clusters(imp_clusters *clusters, const imp_points *points, double lambda,
                             double sigma_l, double sigma_u, imp_shares *shares, imp_error *error)
{
    imp_status status = IMP_OK;
    if (shares)
        shares->count = 0;
    for (size_t position = 0; position < imp_points_count(points) && !status; position++) {
        size_t i = imp_points_at(points, position);
        const float *x = imp_points_row(points, i);
        int32_t label = imp_points_label(points, i);
        double distance;
        size_t joined = imp_nearest_cluster(clusters, x, label, &distance);
        if (distance > lambda) {
            joined = clusters->count;
            status = imp_clusters_add(clusters, label, label < 0 ? sigma_u : sigma_l, x, error);
        }
        if (!status && shares)
            status = imp_shares_add(shares, i, joined, 1, error);
    }
    return status;
}

/* ---- step 4: assign points to clusters ---- */

void imp_soft_assignment(const imp_clusters *clusters, const float *x, int32_t label, double *z)
{
    for (size_t c = 0; c < clusters->count; c++)
        z[c] = imp_may_join(label, clusters->label[c]) ? imp_clusters_log_density(clusters, c, x)
                                                       : -INFINITY;
    if (!imp_softmax(z, clusters->count)) {
        /* Too far from all clusters even for a log density: the nearest takes all. */
        double distance;
        z[imp_nearest_cluster(clusters, x, label, &distance)] = 1;
    }
}

imp_status imp_assign_softly(const imp_clusters *clusters, const imp_points *points, size_t begin,
                             size_t end, double *z, imp_shares *shares, imp_error *error)
{
    imp_status status = IMP_OK;
    for (size_t position = begin; position < end; position++) {
        size_t i = imp_points_at(points, position);
        imp_soft_assignment(clusters, imp_points_row(points, i), imp_points_label(points, i), z);
        for (size_t c = 0; c < clusters->count && !status; c++)
            if (z[c] > 0)
                status = imp_shares_add(shares, i, c, z[c], error);
    }
    return status;
}

imp_status imp_assign_all_softly(imp_clusters *clusters, const imp_points *points,
                                 imp_shares *shares, imp_error *error)
{
    shares->count = 0;
    return imp_assign_softly(clusters, points, 0, imp_points_count(points), clusters->score, shares,
                             error);
}

/* ---- Algorithm 1 ---- */

imp_status imp_check_classes(const imp_clusters *clusters, size_t way, imp_error *error)
{
    for (size_t label = 0; label < way; label++) {
        bool first_kept = label < clusters->count && clusters->label[label] == (int32_t)label;
        size_t c = first_kept ? label : 0;
        while (c < clusters->count && clusters->label[c] != (int32_t)label)
            c++;
        if (c == clusters->count)
            return imp_fail(error, IMP_EINVAL,
                            "all clusters of class %zu were dropped; take a larger lambda, smaller "
                            "variances or fewer steps",
                            label);
    }
    if (clusters->count == 0)
        return imp_fail(error, IMP_EINVAL,
                        "all clusters were dropped; take a larger lambda, smaller variances or "
                        "fewer steps");
    return IMP_OK;
}

imp_status imp_algorithm_begin(const imp_algorithm *algorithm, const imp_points *points, size_t way,
                               imp_clusters *clusters, double *lambda, imp_error *error)
{
    /* 1. One cluster per class, at the mean of its labelled points. */
    imp_status status =
        imp_clusters_add_class_means(clusters, points, way, algorithm->rule.sigma_l, error);
    if (status)
        return status;

    /* 2. Estimate lambda, once. */
    *lambda = algorithm->rule.lambda;
    if (isnan(*lambda)) {
        *lambda = imp_estimate_lambda(clusters->mean, clusters->count, clusters->dimensions,
                                      algorithm->lambda_sigma, algorithm->rule.alpha);
        if (!isfinite(*lambda))
            return imp_fail(error, IMP_EINVAL,
                            "lambda is estimated as %g; give lambda, or points and variances of "
                            "more usual size",
                            *lambda);
    }
    return IMP_OK;
}

imp_status imp_algorithm_run(const imp_algorithm *algorithm, const imp_points *points, size_t way,
                             imp_clusters *clusters, imp_shares *shares, double *lambda,
                             imp_error *error)
{
    size_t steps = (size_t)algorithm->rule.steps;
    imp_status status = imp_algorithm_begin(algorithm, points, way, clusters, lambda, error);
    for (size_t step = 0; step < steps && !status; step++) {
        /* 5., of the step before: each cluster's mean, weighted by the assignments; empty clusters
         * are dropped. */
        if (step > 0)
            algorithm->move(clusters, points, shares);

        /* 3. Infer the number of clusters. */
        status =
            imp_grow_clusters(clusters, points, *lambda, algorithm->rule.sigma_l,
                              algorithm->rule.sigma_u, algorithm->assign ? NULL : shares, error);

        /* 4. Assign the points to clusters. */
        if (!status && algorithm->assign)
            status = algorithm->assign(clusters, points, shares, error);
    }
    return status;
}

static imp_status decide(imp_run *run, double sigma_l, double sigma_u, imp_error *error)
{
    imp_algorithm algorithm = {
        .rule = run->options->rule,
        .lambda_sigma = imp_lambda_sigma(&run->points, sigma_l, sigma_u),
        .assign = imp_assign_all_softly,
        .move = imp_weighted_means,
    };
    algorithm.rule.sigma_l = sigma_l;
    algorithm.rule.sigma_u = sigma_u;
    return imp_algorithm_run(&algorithm, &run->points, run->way, &run->clusters, &run->shares,
                             &run->lambda, error);
}

/* Step 5, from the assignments of the last step 4. */
static void place(imp_run *run, double sigma_l, double sigma_u)
{
    imp_weighted_means(&run->clusters, &run->points, &run->shares);
    imp_clusters_set_sigmas(&run->clusters, sigma_l, sigma_u);
}

/* The gradient of step 5, and of the two variances in the densities of step 6. */
static void differentiate(imp_run *run, double *log_sigma_l, double *log_sigma_u)
{
    imp_weighted_means_gradient(&run->clusters, &run->shares, run->mean_gradient,
                                run->point_gradient);
    imp_run_sum_sigma_gradient(run, log_sigma_l, log_sigma_u);
}

/* ---- imp: two variances ---- */

static imp_status decide_two(imp_run *run, imp_error *error)
{
    return decide(run, exp(run->values[0]), exp(run->values[1]), error);
}

static void place_two(imp_run *run)
{
    place(run, exp(run->values[0]), exp(run->values[1]));
}

static void differentiate_two(imp_run *run)
{
    differentiate(run, &run->value_gradient[0], &run->value_gradient[1]);
}

const imp_method_kind imp_kind_imp = {
    .info = {.name = "imp",
             .summary = "infinite mixture prototypes, Algorithm 1",
             .rule = IMP_USUAL_RULE,
             .has_lambda = true,
             .has_steps = true,
             .uses_unlabeled = true,
             .unsupervised = true,
             .options = &imp_unmasked_option,
             .option_count = 1},
    .scoring = imp_unmasked_scoring,
    .fits_mixtures = true,
    .parameters = imp_sigma_parameters,
    .parameter_count = 2,
    .value_count = 2,
    .initialize = imp_initialize_sigmas,
    .decide = decide_two,
    .place = place_two,
    .differentiate = differentiate_two,
};

/* ---- imp-tied: one variance for both ---- */

static void initialize_one(const imp_method_options *options, double *values)
{
    values[0] = log(options->rule.sigma_l);
}

static imp_status decide_one(imp_run *run, imp_error *error)
{
    return decide(run, exp(run->values[0]), exp(run->values[0]), error);
}

static void place_one(imp_run *run)
{
    place(run, exp(run->values[0]), exp(run->values[0]));
}

static void differentiate_one(imp_run *run)
{
    differentiate(run, &run->value_gradient[0], &run->value_gradient[0]);
}

static const imp_method_parameter tied_parameters[] = {{.name = "log_sigma", .count = 1}};

const imp_method_kind imp_kind_imp_tied = {
    .info = {.name = "imp-tied",
             .summary = "the same as imp with one variance for labelled and unlabelled clusters",
             .rule = IMP_USUAL_RULE,
             .has_lambda = true,
             .has_steps = true,
             .uses_unlabeled = true,
             .options = &imp_unmasked_option,
             .option_count = 1},
    .scoring = imp_unmasked_scoring,
    .fits_mixtures = true,
    .parameters = tied_parameters,
    .parameter_count = 1,
    .value_count = 1,
    .initialize = initialize_one,
    .decide = decide_one,
    .place = place_one,
    .differentiate = differentiate_one,
};
