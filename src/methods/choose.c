/*
 * choose.c - choosing metric, lambda and variance together, then the weight of unlabelled points,
 * by the masked loss (Equation 6's cross-entropy over each class's best cluster) of held-out
 * points.
 *
 * Few points choose among many candidates, so chance would win. Against that, every candidate pays
 * a price in the currency of the loss, as a prior would have it: nothing for the usual metric, a
 * nat in all for another one, two more for whitening, and for the variance by how many octaves it
 * is away from the usual one. With a hundred points the price no longer matters.
 */
#include "methods/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/first_failure.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/held_out.h"
#include "methods/metric.h"

enum {
    METRICS = 4, /* that may be tried, each with and without whitening */
    CANDIDATES = 2 * METRICS,
    THRESHOLDS = 3,
    SIGMAS = 17,
    NARROW = 16, /* fewer features than this lose too much when they are scaled to length 1 */
};

static const double thresholds[THRESHOLDS] = {INFINITY, 0.5, 0};

/* In parts of the median squared distance from the center; half octaves around it are tried. */
static const double usual_sigma = 0.1;
static const double price_of_metric = 1, price_of_whitening = 2, octaves_of_sigma = 1;

/* Where there is one class, nothing can be classified wrongly; clusters then begin where hardly a
 * point of one heap would be. */
static const double far_for_one_class = 4;

/* Unlabelled points may weigh so many times what all labelled ones weigh. */
static const double ratios[] = {0, 2, 8};
enum { RATIOS = sizeof ratios / sizeof *ratios };

/* Unlabelled points are used if the loss is lower by this part of its standard error. */
static const double clearly = 0.5;

static double sigma_at(size_t index)
{
    return usual_sigma * pow(2, ((double)index - (SIGMAS - 1) / 2) / 2);
}

/* What a candidate pays, for all points together. */
static double price_of_sigma(double sigma)
{
    double octaves = log2(sigma / usual_sigma) / octaves_of_sigma;
    return 0.5 * octaves * octaves;
}

/* ---- the loss ---- */

/* The cross-entropy of a class by its squared distances. */
static double loss_of(const double *distance, size_t way, int32_t label, double sigma)
{
    double least = INFINITY, sum = 0;
    for (size_t class = 0; class < way; class ++)
        least = fmin(least, distance[class]);
    for (size_t class = 0; class < way; class ++)
        sum += exp((least - distance[class]) / (2 * sigma));
    return (distance[label] - least) / (2 * sigma) + log(sum);
}

/* ---- trying all candidates ---- */

typedef struct candidate {
    imp_metric_kind metric;
    bool whitened;
    double price;
    const float *rows; /* the points in the first part of the metric */
    bool possible;
    double loss[THRESHOLDS][SIGMAS]; /* mean over the points held out */
} candidate;

typedef struct choosing {
    const imp_choice_bounds *bounds;
    imp_trial_points points;
    float *rows[METRICS];
    candidate candidates[CANDIDATES];
    size_t metric_count, candidate_count;
    struct trial_sums {
        bool possible;
        size_t count;
        double loss[THRESHOLDS][SIGMAS];
    } * sums; /* (candidates, repeats, folds) */
    imp_first_failure failure;
} choosing;

/* Which values are tried: one where it was given. */
static size_t threshold_count(const choosing *at)
{
    return isnan(at->bounds->lambda) ? THRESHOLDS : 1;
}

static size_t sigma_count(const choosing *at)
{
    return isnan(at->bounds->sigma) ? SIGMAS : 1;
}

static imp_status try_fold(choosing *at, size_t task, imp_error *error)
{
    const imp_trial_points *points = &at->points;
    size_t folds = points->repeats * IMP_FOLDS, fold = task % folds;
    const candidate *of = &at->candidates[task / folds];
    struct trial_sums *sums = &at->sums[task];
    size_t tried = threshold_count(at), way = points->way;
    imp_trial trials[THRESHOLDS];
    for (size_t t = 0; t < tried; t++)
        trials[t] = (imp_trial){.whitened = of->whitened,
                                .lambda = thresholds[t],
                                .sigma = usual_sigma,
                                .given_lambda = at->bounds->lambda,
                                .given_sigma = at->bounds->sigma};
    imp_trial_scores scores;
    imp_status status = imp_try_fold(points, of->rows, fold / IMP_FOLDS, fold % IMP_FOLDS, trials,
                                     tried, &scores, error);
    sums->possible = scores.possible;
    sums->count = scores.count;
    for (size_t t = 0; t < tried && !status && scores.possible; t++)
        for (size_t s = 0; s < sigma_count(at); s++) {
            double sigma =
                isnan(at->bounds->sigma) ? sigma_at(s) : at->bounds->sigma / scores.spread;
            for (size_t i = 0; i < scores.count; i++)
                sums->loss[t][s] += loss_of(scores.distance + (t * scores.count + i) * way, way,
                                            scores.label[i], sigma);
        }
    imp_trial_scores_release(&scores);
    return status;
}

static void try_task(size_t task, int worker, void *context)
{
    (void)worker;
    choosing *at = context;
    imp_error error;
    imp_status status = try_fold(at, task, &error);
    imp_first_failure_note(&at->failure, task, status, &error);
}

static imp_status try_all(choosing *at, imp_error *error)
{
    size_t folds = at->points.repeats * IMP_FOLDS;
    at->sums = imp_allocate_zeroed(at->candidate_count * folds, sizeof *at->sums);
    if (!at->sums)
        return imp_fail_memory(error, "the choice of a metric");
    imp_first_failure_begin(&at->failure);
    imp_parallel(at->candidate_count * folds, imp_parallel_threads(0), try_task, at);
    imp_status status = imp_first_failure_end(&at->failure, error);
    double tried = (double)(at->points.held_out * at->points.repeats);
    for (size_t c = 0; c < at->candidate_count && !status; c++) {
        candidate *of = &at->candidates[c];
        of->possible = true;
        for (size_t f = 0; f < folds; f++) {
            const struct trial_sums *sums = &at->sums[c * folds + f];
            of->possible = of->possible && (sums->possible || sums->count == 0);
            for (size_t t = 0; t < THRESHOLDS; t++)
                for (size_t s = 0; s < SIGMAS; s++)
                    of->loss[t][s] += sums->loss[t][s] / tried;
        }
    }
    return status;
}

/* ---- candidates ---- */

imp_status imp_usual_metric(const float *x, size_t n, size_t d, size_t way, imp_metric_kind *usual,
                            imp_error *error)
{
    bool unlike;
    imp_status status = imp_features_unlike(x, n, d, &unlike, error);
    if (!status)
        *usual = unlike                   ? IMP_METRIC_STANDARD
                 : d < NARROW || way == 1 ? IMP_METRIC_SCALED
                                          : IMP_METRIC_UNIT;
    return status;
}

static bool has_negative(const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (x[i] < 0)
            return true;
    return false;
}

static imp_status add_metric(choosing *at, imp_metric_kind kind, double price, const float *x,
                             size_t n, imp_error *error)
{
    const imp_trial_points *points = &at->points;
    size_t d = points->dimensions, all = points->count + points->unlabeled_count;
    float *rows = at->rows[at->metric_count++] = imp_allocate(all * d, sizeof *rows);
    if (!rows)
        return imp_fail_memory(error, "the choice of a metric");
    imp_metric metric;
    imp_status status = imp_metric_fit(&metric, kind, x, n, d, error);
    if (!status)
        status = imp_metric_apply(&metric, x, points->number, all, 0, rows, error);
    imp_metric_release(&metric);
    imp_whitening whitening = at->bounds->whitening;
    if (whitening == IMP_WHITEN_AUTO && at->bounds->metric != IMP_METRIC_AUTO)
        whitening = IMP_WHITEN_NO;
    for (int whitened = 0; whitened < 2; whitened++)
        if (whitening == IMP_WHITEN_AUTO || (whitening == IMP_WHITEN_YES) == (whitened == 1))
            at->candidates[at->candidate_count++] =
                (candidate){.metric = kind,
                            .whitened = whitened,
                            .price = price + (whitened ? price_of_whitening : 0),
                            .rows = rows};
    return status;
}

static imp_status list_candidates(choosing *at, imp_metric_kind usual, const float *x, size_t n,
                                  imp_error *error)
{
    if (at->bounds->metric != IMP_METRIC_AUTO)
        return add_metric(at, at->bounds->metric, 0, x, n, error);
    const imp_metric_kind kinds[] = {IMP_METRIC_SCALED, IMP_METRIC_STANDARD, IMP_METRIC_UNIT,
                                     IMP_METRIC_ROOT};
    imp_status status = add_metric(at, usual, 0, x, n, error);
    for (size_t k = 0; k < METRICS && !status; k++) {
        bool narrow = at->points.dimensions < 3 && kinds[k] == IMP_METRIC_UNIT;
        bool rooted = kinds[k] == IMP_METRIC_ROOT &&
                      (at->points.dimensions < 3 || has_negative(x, n * at->points.dimensions));
        if (kinds[k] != usual && !narrow && !rooted)
            status = add_metric(at, kinds[k], price_of_metric, x, n, error);
    }
    return status;
}

/* ---- the best ---- */

static imp_status take_best(choosing *at, imp_choice *choice, imp_error *error)
{
    double least = INFINITY, points = (double)at->points.held_out;
    choice->candidates = imp_allocate(at->candidate_count, sizeof *choice->candidates);
    if (!choice->candidates)
        return imp_fail_memory(error, "the choice of a metric");
    for (size_t c = 0; c < at->candidate_count; c++) {
        const candidate *of = &at->candidates[c];
        double best = INFINITY;
        imp_mixture_candidate told = {of->metric, of->whitened, NAN, NAN};
        if (!of->possible)
            continue;
        for (size_t t = 0; t < threshold_count(at); t++)
            for (size_t s = 0; s < sigma_count(at); s++) {
                double price = of->price;
                if (isnan(at->bounds->sigma))
                    price += price_of_sigma(sigma_at(s));
                double value = of->loss[t][s] + price / points;
                if (value < best) {
                    best = value;
                    told.lambda = thresholds[t];
                    told.loss = of->loss[t][s];
                }
                if (value < least) {
                    least = value;
                    choice->metric = of->metric;
                    choice->whitened = of->whitened;
                    choice->lambda = thresholds[t];
                    choice->sigma = sigma_at(s);
                    choice->loss = of->loss[t][s];
                }
            }
        choice->candidates[choice->candidate_count++] = told;
    }
    return IMP_OK;
}

/* ---- unlabelled points ---- */

/* What the points held out have to say about each ratio. */
typedef struct weighing {
    double *loss;     /* (ratios, held out in all repeats) */
    double *distance; /* likewise, to the nearest cluster */
    size_t right[RATIOS];
    size_t count;
} weighing;

static imp_status weigh_fold(const choosing *at, const imp_choice *choice, const float *rows,
                             size_t repeat, size_t fold, weighing *found, imp_error *error)
{
    const imp_trial_points *points = &at->points;
    size_t way = points->way, all = points->held_out * points->repeats;
    imp_trial trials[RATIOS];
    for (size_t r = 0; r < RATIOS; r++)
        trials[r] = (imp_trial){.whitened = choice->whitened,
                                .lambda = choice->lambda,
                                .sigma = choice->sigma,
                                .ratio = ratios[r],
                                .given_lambda = at->bounds->lambda,
                                .given_sigma = at->bounds->sigma,
                                .steps = at->bounds->steps};
    size_t tried = points->unlabeled_count > 0 ? RATIOS : 1;
    imp_trial_scores scores;
    imp_status status = imp_try_fold(points, rows, repeat, fold, trials, tried, &scores, error);
    double sigma = isnan(at->bounds->sigma) ? choice->sigma : at->bounds->sigma / scores.spread;
    for (size_t r = 0; r < tried && !status; r++)
        for (size_t i = 0; i < scores.count; i++) {
            const double *distance = scores.distance + (r * scores.count + i) * way;
            size_t nearest = 0;
            for (size_t class = 1; class < way; class ++)
                nearest = distance[class] < distance[nearest] ? class : nearest;
            found->loss[r * all + found->count + i] =
                loss_of(distance, way, scores.label[i], sigma);
            found->distance[r * all + found->count + i] = distance[nearest];
            found->right[r] += nearest == (size_t)scores.label[i];
        }
    found->count += scores.count;
    imp_trial_scores_release(&scores);
    return status;
}

/* The largest gain over no unlabelled points that is clear, and as many right as without. */
static size_t best_ratio(const weighing *found, size_t all, size_t points)
{
    size_t best = 0;
    double most = 0;
    for (size_t r = 1; r < RATIOS; r++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < all; i++) {
            double gain = found->loss[i] - found->loss[r * all + i];
            mean += gain / (double)all;
            square += gain * gain / (double)all;
        }
        double error = sqrt(fmax(0, square - mean * mean) / (double)points);
        if (mean > clearly * error && mean > most && found->right[r] >= found->right[0]) {
            most = mean;
            best = r;
        }
    }
    return best;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static imp_status choose_ratio(const choosing *at, imp_choice *choice, imp_error *error)
{
    const float *rows = NULL;
    for (size_t c = 0; c < at->candidate_count; c++)
        if (at->candidates[c].metric == choice->metric)
            rows = at->candidates[c].rows;
    size_t all = at->points.held_out * at->points.repeats;
    weighing found = {.loss = imp_allocate(RATIOS * all, sizeof(double)),
                      .distance = imp_allocate(RATIOS * all, sizeof(double))};
    choice->distance = imp_allocate(all, sizeof *choice->distance);
    imp_status status = found.loss && found.distance && choice->distance
                            ? IMP_OK
                            : imp_fail_memory(error, "the choice of a weight");
    for (size_t f = 0; f < at->points.repeats * IMP_FOLDS && !status; f++)
        status = weigh_fold(at, choice, rows, f / IMP_FOLDS, f % IMP_FOLDS, &found, error);
    if (!status) {
        size_t best =
            at->points.unlabeled_count > 0 ? best_ratio(&found, all, at->points.held_out) : 0;
        choice->ratio = ratios[best];
        choice->loss = 0;
        for (size_t i = 0; i < all; i++)
            choice->loss += found.loss[best * all + i] / (double)all;
        choice->accuracy = (double)found.right[best] / (double)all;
        memcpy(choice->distance, found.distance + best * all, all * sizeof *choice->distance);
        qsort(choice->distance, all, sizeof *choice->distance, compare_numbers);
        choice->distance_count = all;
    }
    imp_release(found.loss);
    imp_release(found.distance);
    return status;
}

/* ---- all of it ---- */

static imp_status choose(choosing *at, const float *x, size_t n, imp_metric_kind usual,
                         imp_choice *choice, imp_error *error)
{
    imp_status status = list_candidates(at, usual, x, n, error);
    if (!status)
        status = try_all(at, error);
    if (!status)
        status = take_best(at, choice, error);
    /* A covariance that was asked for cannot be tried with two points of a class, nor be fitted
     * with one. */
    if (!status && choice->candidate_count > 0)
        status = choose_ratio(at, choice, error);
    choice->held_out = choice->candidate_count > 0 ? at->points.held_out : 0;
    return status;
}

imp_status imp_choose(const imp_choice_bounds *bounds, const float *x, const int32_t *y, size_t n,
                      size_t d, size_t way, imp_choice *choice, imp_error *error)
{
    *choice = (imp_choice){.metric = bounds->metric,
                           .whitened = bounds->whitening == IMP_WHITEN_YES,
                           .lambda = way == 1 ? far_for_one_class : INFINITY,
                           .sigma = usual_sigma,
                           .ratio = ratios[RATIOS - 1],
                           .loss = NAN,
                           .accuracy = NAN};
    choosing at = {.bounds = bounds};
    imp_metric_kind usual;
    imp_status status = imp_usual_metric(x, n, d, way, &usual, error);
    if (!status && choice->metric == IMP_METRIC_AUTO)
        choice->metric = usual;
    if (!status)
        status = imp_trial_points_take(&at.points, y, n, d, way, error);
    if (!status && at.points.held_out > 0 && at.points.way > 1)
        status = choose(&at, x, n, usual, choice, error);
    imp_trial_points_release(&at.points);
    for (size_t m = 0; m < METRICS; m++)
        imp_release(at.rows[m]);
    imp_release(at.sums);
    return status;
}

void imp_choice_release(imp_choice *choice)
{
    imp_release(choice->candidates);
    imp_release(choice->distance);
    *choice = (imp_choice){0};
}
