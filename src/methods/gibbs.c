/*
 * gibbs.c - collapsed Gibbs sampling of the Chinese restaurant process mixture (the appendix;
 * Neal 2000, algorithm 3), from which DP-means is derived.
 *
 * Labelled points stay in their class. The others are seated one by one and then resampled in
 * sweeps: each leaves its cluster and joins or starts one at random, by its probability given all
 * other assignments. Means are integrated out (posterior.h). The most probable seating encountered
 * is used or, on request, the last one, which is a sample from the posterior. There is no gradient.
 */
#define _DEFAULT_SOURCE /* lgamma_r: lgamma() writes to a global */

#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "methods/posterior.h"
#include "methods/rule.h"
#include "methods/softmax.h"

enum { SWEEPS, LAST_SAMPLE };

static const imp_option_info options[] = {
    [SWEEPS] = {.name = "sweeps",
                .help = "how many times each unlabelled point is resampled",
                .kind = IMP_INTEGER,
                .least = 0,
                .most = 1e9,
                .initial = 100},
    [LAST_SAMPLE] = {.name = "last-sample",
                     .help = "use the last sample instead of the most probable one",
                     .kind = IMP_FLAG,
                     .most = 1},
};

/* A run in progress. */
typedef struct sampler {
    imp_run *run;
    imp_base base;
    imp_random random;
    size_t
        labeled; /* labelled points, whose shares come first; those of the others follow in order */
} sampler;

/* ---- the probability of a seating ---- */

/* The log of the joint probability of all points and their seating, up to a constant: every cluster
 * contributes Gamma(N) and the density of its members with the mean integrated out, one without a
 * label also alpha. The sum of the members' squares is the same for all seatings and left out. */
static double log_joint(const sampler *s)
{
    const imp_clusters *clusters = &s->run->clusters;
    double d = (double)clusters->dimensions, sigma = s->base.sigma, sigma_0 = s->base.sigma_0;
    double result = 0;
    int sign;
    for (size_t c = 0; c < clusters->count; c++) {
        double members = clusters->weight[c], total = sigma + members * sigma_0, square = 0;
        if (clusters->label[c] < 0)
            result += log(s->run->options->rule.alpha);
        for (size_t j = 0; j < clusters->dimensions; j++) {
            double from_mu_0 = imp_clusters_sum(clusters, c)[j] - members * s->base.mu_0[j];
            square += from_mu_0 * from_mu_0;
        }
        /* points relative to mu_0 have variance sigma + sigma_0 and covariance sigma_0 */
        result += lgamma_r(members, &sign) - 0.5 * d * log(total / sigma) +
                  0.5 * sigma_0 * square / (sigma * total);
    }
    return result;
}

/* ---- seating ---- */

/* Draws a cluster for x by its probabilities in each and in a new one, which is clusters.count. */
static size_t draw_cluster(sampler *s, const float *x)
{
    imp_clusters *clusters = &s->run->clusters;
    size_t count = clusters->count;
    double *probability = clusters->score; /* has room for one more */
    for (size_t c = 0; c < count; c++)
        probability[c] = imp_clusters_log_density(clusters, c, x);
    probability[count] =
        imp_posterior_new(&s->base, s->run->options->rule.alpha, x, clusters->dimensions);
    if (!imp_softmax(probability, count + 1))
        return count; /* too far from everything even for a log density */
    double left = imp_random_uniform(&s->random);
    size_t chosen = 0;
    while (chosen < count && left >= probability[chosen])
        left -= probability[chosen++];
    return chosen;
}

static imp_status seat(sampler *s, const float *x, size_t *chosen, imp_error *error)
{
    imp_clusters *clusters = &s->run->clusters;
    imp_status status = imp_clusters_make_room(clusters, error);
    if (status)
        return status;
    *chosen = draw_cluster(s, x);
    if (*chosen == clusters->count)
        status = imp_clusters_add(clusters, IMP_UNLABELED, s->base.sigma, NULL, error);
    if (status)
        return status;
    imp_posterior_join(clusters, *chosen, x, 1);
    imp_posterior_place(clusters, *chosen, &s->base);
    return IMP_OK;
}

/* Removes the point of a share from its cluster. An empty cluster is dropped, and the last one
 * takes its place. */
static void unseat(sampler *s, const imp_share *share)
{
    imp_clusters *clusters = &s->run->clusters;
    imp_shares *shares = &s->run->shares;
    size_t c = share->cluster, last = clusters->count - 1;
    imp_posterior_join(clusters, c, imp_points_row(&s->run->points, share->point), -1);
    if (clusters->weight[c] > 0.5) {
        imp_posterior_place(clusters, c, &s->base);
        return;
    }
    imp_clusters_move(clusters, last, c);
    clusters->count = last;
    for (size_t i = s->labeled; i < shares->count && c != last; i++)
        if (shares->share[i].cluster == last)
            shares->share[i].cluster = (uint32_t)c;
}

static imp_status seat_first(sampler *s, imp_error *error)
{
    const imp_points *points = &s->run->points;
    imp_status status = IMP_OK;
    for (size_t position = 0; position < imp_points_count(points) && !status; position++) {
        size_t i = imp_points_at(points, position), chosen;
        if (imp_points_label(points, i) >= 0)
            continue;
        status = seat(s, imp_points_row(points, i), &chosen, error);
        if (!status)
            status = imp_shares_add(&s->run->shares, i, chosen, 1, error);
    }
    return status;
}

static imp_status sweep(sampler *s, imp_error *error)
{
    imp_shares *shares = &s->run->shares;
    imp_status status = IMP_OK;
    for (size_t i = s->labeled; i < shares->count && !status; i++) {
        imp_share *share = &shares->share[i];
        size_t chosen = 0;
        unseat(s, share);
        status = seat(s, imp_points_row(&s->run->points, share->point), &chosen, error);
        share->cluster = (uint32_t)chosen;
    }
    return status;
}

/* Recomputes sums in every sweep, so that rounding errors do not accumulate. */
static void refresh(sampler *s)
{
    imp_means_begin(&s->run->clusters);
    imp_means_add(&s->run->clusters, &s->run->points, &s->run->shares);
    for (size_t c = 0; c < s->run->clusters.count; c++)
        imp_posterior_place(&s->run->clusters, c, &s->base);
}

/* ---- the most probable seating ---- */

static void remember(const sampler *s, double *best)
{
    const imp_shares *shares = &s->run->shares;
    for (size_t i = s->labeled; i < shares->count; i++)
        best[i - s->labeled] = shares->share[i].cluster;
}

/* Restores the remembered seating, which had `count` clusters. */
static imp_status restore(sampler *s, const double *best, size_t count, imp_error *error)
{
    imp_clusters *clusters = &s->run->clusters;
    imp_status status = IMP_OK;
    while (clusters->count < count && !status)
        status = imp_clusters_add(clusters, IMP_UNLABELED, s->base.sigma, NULL, error);
    clusters->count = count;
    for (size_t i = s->labeled; i < s->run->shares.count; i++)
        s->run->shares.share[i].cluster = (uint32_t)best[i - s->labeled];
    return status;
}

static imp_status sample(sampler *s, double *best, imp_error *error)
{
    size_t sweeps = (size_t)s->run->own[SWEEPS], count = 0;
    bool keeps_best = s->run->own[LAST_SAMPLE] == 0;
    double most = -INFINITY;
    imp_status status = seat_first(s, error);
    for (size_t i = 0; i <= sweeps && !status; i++) {
        if (i > 0)
            status = sweep(s, error);
        if (status)
            return status;
        refresh(s);
        double joint = keeps_best ? log_joint(s) : NAN;
        if (joint > most) {
            most = joint;
            count = s->run->clusters.count;
            remember(s, best);
        }
    }
    return status || !(most > -INFINITY) ? status : restore(s, best, count, error);
}

/* ---- the method ---- */

static imp_status decide(imp_run *run, imp_error *error)
{
    const imp_rule *rule = &run->options->rule;
    size_t d = run->points.dimensions, points = imp_points_count(&run->points);
    sampler s = {.run = run,
                 .base = {.sigma = rule->sigma_l, .sigma_0 = rule->sigma_u},
                 .random = imp_random_start(run->options->seed, IMP_STREAM_GIBBS, 0),
                 .labeled = points - run->points.unlabeled_count};
    /* mu_0, then the remembered seating */
    imp_status status = imp_run_scratch(run, points < SIZE_MAX - d ? d + points : SIZE_MAX, error);
    if (!status)
        status = imp_posterior_begin(run, &s.base, run->scratch, error);
    return status ? status : sample(&s, run->scratch + d, error);
}

static void place(imp_run *run)
{
    imp_base base = {.sigma = run->options->rule.sigma_l, .sigma_0 = run->options->rule.sigma_u};
    imp_posterior_place_all(run, &base, run->scratch);
}

const imp_method_kind imp_kind_gibbs = {
    .info = {.name = "gibbs",
             .summary = "samples of a Chinese restaurant process mixture, without gradients",
             .rule = IMP_USUAL_RULE,
             .uses_unlabeled = true,
             .hard = true,
             .options = options,
             .option_count = sizeof options / sizeof *options,
             .sampled = true},
    .decide = decide,
    .place = place,
};
