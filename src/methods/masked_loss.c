/*
 * masked_loss.c - the multi-modal loss of Section 3.2 with its gradient.
 *
 * The score of a class is the log density of its best cluster (classify.h), and only that cluster
 * enters probabilities (Equation 6) and loss: "masking" the others lets a class be multi-modal. The
 * loss is the cross-entropy, whose log-sum includes the true class; the paper's formula omits it.
 * The unmasked loss, with which the paper compares it, is here too: there the density of a class is
 * the sum over its clusters, as in neighbourhood components analysis.
 */
#include "methods/masked_loss.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <imp/method.h>

#include "methods/softmax.h"

/* The gradient of slope * log N(x; mean, sigma I) for the query x and cluster c. */
static void differentiate_density(const imp_clusters *clusters, size_t c, const float *x,
                                  double slope, double log_density, double *query_gradient,
                                  imp_answers *answers)
{
    size_t dimensions = clusters->dimensions;
    const double *mean = imp_clusters_mean(clusters, c);
    double *mean_gradient = answers->mean_gradient + c * dimensions;
    double pull = slope / clusters->sigma[c];
    for (size_t j = 0; j < dimensions; j++) {
        double step = pull * (x[j] - mean[j]);
        mean_gradient[j] += step;
        query_gradient[j] -= step;
    }
    /* log N = -d/2 log(2 pi sigma) - distance / (2 sigma), and offset - log N is the last term. */
    double half_distance = clusters->offset[c] - log_density;
    answers->sigma_gradient[c] += slope * (half_distance - 0.5 * (double)dimensions);
}

/* The gradient of the cross-entropy of query q; `all` is the log-sum of its scores. */
static void differentiate_query(const imp_clusters *clusters, const imp_queries *queries, size_t q,
                                double all, imp_answers *answers)
{
    size_t dimensions = clusters->dimensions, truth = (size_t)queries->label[q];
    const float *x = queries->x + q * dimensions;
    memset(queries->row, 0, dimensions * sizeof *queries->row);
    for (size_t k = 0; k <= queries->way; k++) {
        if (queries->best[k] == IMP_NO_CLUSTER)
            continue;
        double slope = exp(queries->score[k] - all) - (k == truth ? 1 : 0);
        differentiate_density(clusters, queries->best[k], x, slope / (double)queries->count,
                              queries->score[k], queries->row, answers);
    }
    for (size_t j = 0; j < dimensions; j++)
        answers->query_gradient[q * dimensions + j] = (float)queries->row[j];
}

/* ---- all clusters of a class ---- */

/* Writes the log densities of all clusters to clusters->score, and the log of each class's summed
 * density to sum(way + 1), given the best clusters of a query and their scores. */
static void sum_classes(imp_clusters *clusters, const imp_queries *queries, const float *x,
                        double *sum)
{
    for (size_t k = 0; k <= queries->way; k++)
        sum[k] = 0;
    for (size_t c = 0; c < clusters->count; c++) {
        size_t k = clusters->label[c] < 0 ? queries->way : (size_t)clusters->label[c];
        double density = imp_clusters_log_density(clusters, c, x);
        clusters->score[c] = density > -DBL_MAX ? density : -DBL_MAX;
        sum[k] += exp(clusters->score[c] - queries->score[k]);
    }
    for (size_t k = 0; k <= queries->way; k++)
        sum[k] = sum[k] > 0 ? queries->score[k] + log(sum[k]) : -INFINITY;
}

/* The gradient of the cross-entropy of query q with class sums; `all` is their log-sum. */
static void differentiate_sums(const imp_clusters *clusters, const imp_queries *queries, size_t q,
                               double all, imp_answers *answers)
{
    size_t dimensions = clusters->dimensions;
    int32_t truth = queries->label[q];
    const float *x = queries->x + q * dimensions;
    memset(queries->row, 0, dimensions * sizeof *queries->row);
    for (size_t c = 0; c < clusters->count; c++) {
        double slope = exp(clusters->score[c] - all);
        if (clusters->label[c] == truth)
            slope -= exp(clusters->score[c] - queries->sum[truth]);
        differentiate_density(clusters, c, x, slope / (double)queries->count, clusters->score[c],
                              queries->row, answers);
    }
    for (size_t j = 0; j < dimensions; j++)
        answers->query_gradient[q * dimensions + j] = (float)queries->row[j];
}

/* ---- queries ---- */

static void decide_query(const imp_clusters *clusters, const imp_queries *queries, size_t q,
                         imp_answers *answers)
{
    const double *score = queries->scoring == IMP_SCORE_SUMS ? queries->sum : queries->score;
    imp_decide(clusters, queries->way, queries->open_set, queries->x + q * clusters->dimensions,
               queries->best, score, q, &answers->decisions);
    size_t won = imp_largest(score, queries->way + 1);
    answers->open_label[q] = won < queries->way ? (int32_t)won : IMP_UNLABELED;
}

void imp_classify(imp_clusters *clusters, const imp_queries *queries, imp_answers *answers)
{
    size_t way = queries->way, dimensions = clusters->dimensions;
    bool has_loss = queries->label && queries->count > 0;
    bool differentiate = has_loss && answers->query_gradient;
    bool sums = queries->scoring != IMP_SCORE_MASKED;
    double loss = 0;

    if (differentiate) {
        size_t values = clusters->count * dimensions;
        memset(answers->mean_gradient, 0, values * sizeof(double));
        memset(answers->sigma_gradient, 0, clusters->count * sizeof(double));
    }
    for (size_t q = 0; q < queries->count; q++) {
        const float *x = queries->x + q * dimensions;
        imp_best_clusters(clusters, way, x, queries->best, queries->score);
        if (sums)
            sum_classes(clusters, queries, x, queries->sum);
        decide_query(clusters, queries, q, answers);
        if (!has_loss)
            continue;

        /* The best unlabelled cluster, or the sum of all, competes as one more class, if there is
         * any. */
        const double *score = sums ? queries->sum : queries->score;
        double all = imp_log_sum_exp(score, way + 1);
        loss += all - score[queries->label[q]];
        if (differentiate && sums)
            differentiate_sums(clusters, queries, q, all, answers);
        else if (differentiate)
            differentiate_query(clusters, queries, q, all, answers);
    }
    answers->loss = has_loss ? loss / (double)queries->count : NAN;
}
