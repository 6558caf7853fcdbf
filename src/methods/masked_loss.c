/*
 * masked_loss.c - step 6 of Algorithm 1 and the multi-modal loss of Section 3.2 with its gradient.
 *
 * A query scores a class by the log density of the class's best cluster, and only that cluster
 * enters probabilities (Equation 6) and loss: "masking" the others lets a class be multi-modal. The
 * loss is the cross-entropy, whose log-sum includes the true class; the paper's formula omits it.
 */
#include "methods/masked_loss.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "methods/softmax.h"

void imp_best_clusters(const imp_clusters *clusters, size_t way, const float *x, size_t *best,
                       double *score)
{
    for (size_t k = 0; k <= way; k++) {
        best[k] = IMP_NO_CLUSTER;
        score[k] = -INFINITY;
    }
    for (size_t c = 0; c < clusters->count; c++) {
        size_t class = clusters->label[c] < 0 ? way : (size_t)clusters->label[c];
        /* However unlikely a cluster is, it is more than none. */
        double density = fmax(imp_clusters_log_density(clusters, c, x), -DBL_MAX);
        if (density > score[class] || best[class] == IMP_NO_CLUSTER) {
            best[class] = c;
            score[class] = density;
        }
    }
}

static void predict(const imp_queries *queries, size_t q, imp_answers *answers)
{
    size_t way = queries->way, outcomes = way + queries->open_set;
    size_t largest = imp_largest(queries->score, outcomes);
    answers->predictions[q] = largest < way ? (int32_t)largest : IMP_UNLABELED;
    imp_probabilities(queries->score, outcomes, answers->probabilities + q * outcomes);
}

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

void imp_classify(const imp_clusters *clusters, const imp_queries *queries, imp_answers *answers)
{
    size_t way = queries->way, dimensions = clusters->dimensions;
    bool has_loss = queries->label && queries->count > 0;
    bool differentiate = has_loss && answers->query_gradient;
    double loss = 0;

    if (differentiate) {
        size_t values = clusters->count * dimensions;
        memset(answers->mean_gradient, 0, values * sizeof(double));
        memset(answers->sigma_gradient, 0, clusters->count * sizeof(double));
    }
    for (size_t q = 0; q < queries->count; q++) {
        const float *x = queries->x + q * dimensions;
        imp_best_clusters(clusters, way, x, queries->best, queries->score);
        predict(queries, q, answers);
        if (!has_loss)
            continue;

        /* The best cluster without a label competes as one more class, if there is one. */
        double all = imp_log_sum_exp(queries->score, way + 1);
        loss += all - queries->score[queries->label[q]];
        if (differentiate)
            differentiate_query(clusters, queries, q, all, answers);
    }
    answers->loss = has_loss ? loss / (double)queries->count : NAN;
}
