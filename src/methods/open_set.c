/*
 * open_set.c - scores points by how strange they are, and chooses the threshold so that about the
 * given share of known points exceeds it.
 *
 * A new point and n labelled ones are exchangeable, so the new one exceeds the k-th smallest of n
 * held-out scores with probability (n + 1 - k) / (n + 1), whatever the distribution (split
 * conformal prediction; leaving one out adds a little caution, because a new point has one more
 * neighbour). Between these probabilities the threshold is interpolated. Below 1 / (n + 1) the
 * scores say nothing by themselves, and an exponential tail is assumed.
 */
#include "methods/open_set.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare_doubles.h"
#include "base/error.h"
#include "base/first_failure.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/classify.h"
#include "methods/softmax.h"

enum { MOST_MEASURED = 500 }; /* labelled points, evenly spaced, that are scored */

/* What a cluster without a label multiplies squared distances by at most: not without limit, for
 * there may be known points among those that started it. */
static const double claim_factor = 2;

double imp_open_set_score(double far, double claimed)
{
    return claimed > 0 ? far * pow(claim_factor, claimed) : far;
}

/* ---- held-out points ---- */

/* Labelled points of the sample whose class has another. */
typedef struct known {
    const imp_mixture *mixture;
    size_t count;
    size_t *row, *number; /* (count): in the sample, and among its labelled points */
    double *score;        /* (count) */
    const float *rows;    /* the sample in the mixture's metric */
    imp_first_failure failure;
} known;

static bool has_another(const imp_sample *sample, size_t own)
{
    bool another = false;
    for (size_t i = 0; i < sample->count && !another; i++)
        another = i != own && sample->label[i] == sample->label[own];
    return another;
}

static imp_status measure_known(known *all, const imp_sample *sample,
                                const imp_reference *reference, imp_error *error)
{
    size_t labeled = sample->labeled_kept;
    size_t measured = labeled < MOST_MEASURED ? labeled : MOST_MEASURED;
    all->row = imp_allocate(measured, sizeof *all->row);
    all->number = imp_allocate(measured, sizeof *all->number);
    all->score = imp_allocate(measured, sizeof *all->score);
    if (!all->row || !all->number || !all->score)
        return imp_fail_memory(error, "held-out points");
    for (size_t i = 0, number = 0, k = 0; i < sample->count && k < measured; i++) {
        if (sample->label[i] < 0)
            continue;
        if (number++ != imp_block_begin(labeled, measured, k))
            continue;
        k++;
        if (has_another(sample, i)) {
            all->row[all->count] = i;
            all->number[all->count++] = number - 1;
        }
    }
    return imp_reference_own_distances(reference, sample, all->number, all->count, all->score,
                                       error);
}

static void release_known(known *all)
{
    imp_release(all->row);
    imp_release(all->number);
    imp_release(all->score);
}

/* The log density of cluster c without this point of weight `weight`, which is in it. */
static double density_without(const imp_clusters *clusters, size_t c, const float *x, double weight)
{
    double left = clusters->weight[c] - weight;
    if (left <= IMP_LEAST_WEIGHT)
        return -INFINITY;
    /* The mean of the others is farther from the point by this factor. */
    double farther = clusters->weight[c] / left;
    return clusters->offset[c] -
           farther * farther * imp_clusters_distance(clusters, c, x) / (2 * clusters->sigma[c]);
}

/* The probability that clusters without a label claim a labelled point which its own cluster, the
 * best of its class, does without. */
static double claim(const imp_mixture *mixture, const float *x, int32_t label, double weight,
                    size_t *best, double *score)
{
    const imp_clusters *clusters = &mixture->clusters;
    size_t way = mixture->classes;
    imp_best_clusters(clusters, way, x, best, score);
    size_t own = best[label];
    if (own != IMP_NO_CLUSTER) {
        score[label] = density_without(clusters, own, x, weight);
        for (size_t c = 0; c < clusters->count; c++)
            if (clusters->label[c] == label && c != own)
                score[label] = fmax(score[label], imp_clusters_log_density(clusters, c, x));
    }
    imp_softmax(score, way + 1);
    return score[way];
}

static void claim_one(size_t index, int worker, void *context)
{
    (void)worker;
    known *all = context;
    const imp_mixture *mixture = all->mixture;
    const imp_sample *sample = &mixture->sample;
    size_t row = all->row[index], outcomes = mixture->classes + 1;
    size_t *best = imp_allocate(outcomes, sizeof *best);
    double *score = imp_allocate(outcomes, sizeof *score);
    imp_error error;
    imp_status status = best && score ? IMP_OK : imp_fail_memory(&error, "held-out points");
    if (!status) {
        double weight = sample->weight[row] * imp_sample_share(sample, row);
        double claimed = claim(mixture, all->rows + row * sample->dimensions, sample->label[row],
                               weight, best, score);
        all->score[index] = imp_open_set_score(all->score[index], claimed);
    }
    imp_release(best);
    imp_release(score);
    imp_first_failure_note(&all->failure, index, status, &error);
}

/* Lets the clusters without a label, if there are any, claim held-out points. */
static imp_status claim_all(known *all, imp_error *error)
{
    const imp_mixture *mixture = all->mixture;
    const imp_clusters *clusters = &mixture->clusters;
    if (imp_mixture_stranger_number(clusters, clusters->count) == 0)
        return IMP_OK;
    float *room;
    imp_status status = imp_mixture_enter(mixture, mixture->sample.rows, mixture->sample.count,
                                          &room, &all->rows, error);
    if (!status) {
        imp_first_failure_begin(&all->failure);
        imp_parallel(all->count, imp_parallel_threads(0), claim_one, all);
        status = imp_first_failure_end(&all->failure, error);
    }
    imp_release(room);
    return status;
}

imp_status imp_open_set_calibrate(imp_mixture *mixture, imp_error *error)
{
    imp_mixture_chosen *chosen = &mixture->chosen;
    known all = {.mixture = mixture};
    imp_release(chosen->distance);
    chosen->distance = NULL;
    chosen->distance_count = 0;
    imp_reference_release(&mixture->reference);
    imp_status status = imp_reference_take(&mixture->reference, &mixture->sample, error);
    if (!status)
        status = measure_known(&all, &mixture->sample, &mixture->reference, error);
    if (!status)
        status = claim_all(&all, error);
    if (!status) {
        qsort(all.score, all.count, sizeof *all.score, imp_compare_doubles);
        chosen->distance = all.score;
        chosen->distance_count = all.count;
        all.score = NULL;
    }
    release_known(&all);
    imp_open_set_place(mixture);
    return status;
}

/* ---- the threshold ---- */

/* The score that a new known point exceeds with probability `rate`, from n ascending scores. */
static double score_at(const double *score, size_t n, double rate)
{
    double beyond = rate * ((double)n + 1);
    if (rate <= 0 || n == 0)
        return INFINITY;
    if (beyond < 1) {
        size_t begin = n - n / 2; /* the larger half */
        double excess = 0;
        for (size_t i = begin; i < n; i++)
            excess += (score[i] - score[begin - 1]) / (double)(n - begin);
        return score[n - 1] - excess * log(beyond);
    }
    double rank = (double)n + 1 - beyond, whole = floor(rank);
    double below = whole >= 1 ? score[(size_t)whole - 1] : 0;
    return rank > whole ? below + (rank - whole) * (score[(size_t)whole] - below) : below;
}

imp_status imp_open_set_limit(const imp_sample *sample, const imp_reference *reference, double rate,
                              double *limit, size_t *held_out, imp_error *error)
{
    known all = {0};
    imp_status status = measure_known(&all, sample, reference, error);
    if (!status) {
        qsort(all.score, all.count, sizeof *all.score, imp_compare_doubles);
        *limit = score_at(all.score, all.count, rate);
        *held_out = all.count;
    }
    release_known(&all);
    return status;
}

void imp_open_set_place(imp_mixture *mixture)
{
    imp_mixture_chosen *chosen = &mixture->chosen;
    chosen->nowhere = score_at(chosen->distance, chosen->distance_count, chosen->rate);
}

imp_status imp_mixture_set_open_set_rate(imp_mixture *mixture, double rate, imp_error *error)
{
    if (!(rate >= 0 && rate <= 1))
        return imp_fail(error, IMP_EINVAL,
                        "the open-set rate is %g; it must be a number from 0 to 1", rate);
    mixture->chosen.rate = rate;
    imp_open_set_place(mixture);
    return IMP_OK;
}

bool imp_open_set_calibrated(const imp_mixture *mixture)
{
    return mixture->chosen.any && mixture->chosen.distance_count > 0;
}

double imp_open_set_probability(const imp_mixture *mixture, double score)
{
    double threshold = mixture->chosen.nowhere;
    double gain = threshold > 0 ? 4 * (score / threshold - 1) : score > 0;
    return gain > 0 ? 1 - 0.5 * exp(-gain) : exp(gain) / (double)(mixture->classes + 1);
}
