/*
 * choose.c - chooses metric, lambda and variance together, then the use of unlabelled points, by
 * the masked loss (the cross-entropy of Equation 6 over each class's best cluster) of held-out
 * points.
 *
 * With few points and many candidates, chance would decide. Therefore every candidate pays a
 * penalty, as a prior would impose: none for the usual metric, a quarter of a nat in total for
 * another one, half a nat more for whitening, and for the variance by its distance from the usual
 * one in octaves. With a hundred points the penalty no longer matters.
 */
#include "methods/choose_use.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/first_failure.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/held_out.h"
#include "methods/metric.h"
#include "methods/points.h"
#include "methods/propagate.h"

enum {
    NARROW = 16, /* with fewer features, scaling to length 1 loses too much */
};

static const double thresholds[IMP_THRESHOLDS] = {INFINITY, 0.5, 0};
static const double strengths[IMP_STRENGTHS] = {0, 0.5, 1};

/* Relative to the median squared distance from the center; half octaves around it are tried. */
static const double usual_sigma = 0.1;
static const double price_of_metric = 0.25, price_of_whitening = 0.5, octaves_of_sigma = 1;

/* With one class nothing can be misclassified; lambda is then so large that hardly a point of one
 * cluster exceeds it. */
static const double far_for_one_class = 4;

/* If nothing can be held out: the variance, the variance if unlabelled points become clusters too,
 * and the weight ratio of unlabelled points if they do not. Few labels are overconfident. */
static const double guessed_sigma = 0.2, sigma_among_neighbors = 0.15, guessed_ratio = 8;

double imp_sigma_at(size_t index)
{
    return usual_sigma * pow(2, ((double)index - (IMP_SIGMAS - 1) / 2) / 2);
}

/* The penalty of a candidate, in total for all points. */
double imp_price_of_sigma(double sigma)
{
    double octaves = log2(sigma / usual_sigma) / octaves_of_sigma;
    return 0.5 * octaves * octaves;
}

/* ---- the loss ---- */

/* The cross-entropy of a class, from the squared distances. */
double imp_loss_of(const double *distance, size_t way, int32_t label, double sigma)
{
    double least = INFINITY, sum = 0;
    for (size_t class = 0; class < way; class ++)
        least = fmin(least, distance[class]);
    for (size_t class = 0; class < way; class ++)
        sum += exp((least - distance[class]) / (2 * sigma));
    return (distance[label] - least) / (2 * sigma) + log(sum);
}

/* ---- trying all candidates ---- */

/* How many values are tried: only one if it was given. */
static size_t threshold_count(const imp_choosing *at)
{
    return isnan(at->bounds->lambda) ? IMP_THRESHOLDS : 1;
}

size_t imp_sigma_count(const imp_choosing *at)
{
    return isnan(at->bounds->sigma) ? IMP_SIGMAS : 1;
}

static imp_status try_fold(imp_choosing *at, size_t task, imp_error *error)
{
    const imp_trial_points *points = &at->points;
    size_t folds = points->repeats * IMP_FOLDS, fold = task % folds;
    const imp_candidate *of = &at->candidates[task / folds];
    struct imp_trial_sums *sums = &at->sums[task];
    size_t tried = threshold_count(at), way = points->way;
    imp_trial trials[IMP_THRESHOLDS];
    for (size_t t = 0; t < tried; t++)
        trials[t] = (imp_trial){.whitening = of->whitening,
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
        for (size_t s = 0; s < imp_sigma_count(at); s++) {
            double sigma =
                isnan(at->bounds->sigma) ? imp_sigma_at(s) : at->bounds->sigma / scores.spread;
            for (size_t i = 0; i < scores.count; i++)
                sums->loss[t][s] += imp_loss_of(scores.distance + (t * scores.count + i) * way, way,
                                                scores.label[i], sigma);
        }
    imp_trial_scores_release(&scores);
    return status;
}

static void try_task(size_t task, int worker, void *context)
{
    (void)worker;
    imp_choosing *at = context;
    imp_error error;
    imp_status status = try_fold(at, task, &error);
    imp_first_failure_note(&at->failure, task, status, &error);
}

static imp_status try_all(imp_choosing *at, imp_error *error)
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
        imp_candidate *of = &at->candidates[c];
        of->possible = true;
        for (size_t f = 0; f < folds; f++) {
            const struct imp_trial_sums *sums = &at->sums[c * folds + f];
            of->possible = of->possible && (sums->possible || sums->count == 0);
            for (size_t t = 0; t < IMP_THRESHOLDS; t++)
                for (size_t s = 0; s < IMP_SIGMAS; s++)
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

/* Whether any value is negative; most often the first point tells. */
static imp_status has_negative(const imp_point_source *source, bool *found, imp_error *error)
{
    imp_reader reader;
    size_t n = source->count, d = source->dimensions, block = imp_source_block(source);
    imp_status status = imp_reader_create(&reader, source, NULL, block, error);
    *found = false;
    for (size_t begin = 0, count = 1; begin < n && !*found && !status; begin += count) {
        const float *x;
        count = begin == 0 ? 1 : n - begin < block ? n - begin : block;
        status = imp_reader_read(&reader, begin, count, &x, error);
        for (size_t i = 0; i < count * d && !*found && !status; i++)
            *found = x[i] < 0;
    }
    imp_reader_release(&reader);
    return status;
}

static imp_status add_metric(imp_choosing *at, imp_metric_kind kind, double price, imp_error *error)
{
    const imp_trial_points *points = &at->points;
    size_t d = points->dimensions, all = points->count + points->unlabeled_count;
    float *rows = at->rows[at->metric_count++] = imp_allocate(all * d, sizeof *rows);
    if (!rows)
        return imp_fail_memory(error, "the choice of a metric");
    imp_metric metric;
    imp_status status = imp_metric_fit(&metric, kind, at->sample, at->sampled, d, error);
    if (!status)
        status = imp_metric_apply(&metric, at->taken, NULL, all, 0, rows, error);
    imp_metric_release(&metric);
    imp_whitening whitening = at->bounds->whitening;
    if (whitening == IMP_WHITEN_AUTO && at->bounds->metric != IMP_METRIC_AUTO)
        whitening = IMP_WHITEN_NO;
    /* Whitening that was asked for has full strength. */
    for (size_t w = 0; w < IMP_STRENGTHS; w++)
        if (whitening == IMP_WHITEN_AUTO || strengths[w] == (whitening == IMP_WHITEN_YES))
            at->candidates[at->candidate_count++] =
                (imp_candidate){.metric = kind,
                                .whitening = strengths[w],
                                .price = price + (w > 0 ? price_of_whitening : 0),
                                .rows = rows};
    return status;
}

static imp_status list_candidates(imp_choosing *at, imp_metric_kind usual,
                                  const imp_point_source *source, imp_error *error)
{
    if (at->bounds->metric != IMP_METRIC_AUTO)
        return add_metric(at, at->bounds->metric, 0, error);
    const imp_metric_kind kinds[] = {IMP_METRIC_SCALED, IMP_METRIC_STANDARD, IMP_METRIC_UNIT,
                                     IMP_METRIC_ROOT};
    bool narrow = source->dimensions < 3, negative = false;
    imp_status status = add_metric(at, usual, 0, error);
    if (!status && !narrow)
        status = has_negative(source, &negative, error);
    for (size_t k = 0; k < IMP_METRICS && !status; k++) {
        bool unfit = (kinds[k] == IMP_METRIC_UNIT && narrow) ||
                     (kinds[k] == IMP_METRIC_ROOT && (narrow || negative));
        if (kinds[k] != usual && !unfit)
            status = add_metric(at, kinds[k], price_of_metric, error);
    }
    return status;
}

/* ---- the best ---- */

static imp_finalist best_of(const imp_choosing *at, const imp_candidate *of)
{
    imp_finalist best = {.of = of, .value = INFINITY};
    double points = (double)at->points.held_out;
    for (size_t t = 0; t < threshold_count(at); t++)
        for (size_t s = 0; s < imp_sigma_count(at); s++) {
            double price = of->price;
            if (isnan(at->bounds->sigma))
                price += imp_price_of_sigma(imp_sigma_at(s));
            double value = of->loss[t][s] + price / points;
            if (value < best.value)
                best = (imp_finalist){of, thresholds[t], imp_sigma_at(s), of->loss[t][s], value};
        }
    return best;
}

/* Records the best strength of whitening. */
static void note_candidate(imp_choice *choice, const imp_finalist *one)
{
    const imp_mixture_candidate told = {one->of->metric, one->of->whitening > 0, one->lambda,
                                        one->loss};
    imp_mixture_candidate *last = choice->candidates + choice->candidate_count;
    if (choice->candidate_count > 0 && last[-1].metric == told.metric &&
        last[-1].whitened == told.whitened) {
        if (told.loss < last[-1].loss)
            last[-1] = told;
        return;
    }
    *last = told;
    choice->candidate_count++;
}

/* The finalists, best first, with the evidence; returns how many. */
static imp_status take_best(imp_choosing *at, imp_choice *choice, imp_finalist *finalists,
                            size_t *count, imp_error *error)
{
    *count = 0;
    choice->candidates = imp_allocate(at->candidate_count, sizeof *choice->candidates);
    if (!choice->candidates)
        return imp_fail_memory(error, "the choice of a metric");
    for (size_t c = 0; c < at->candidate_count; c++) {
        if (!at->candidates[c].possible)
            continue;
        imp_finalist one = best_of(at, &at->candidates[c]);
        note_candidate(choice, &one);
        size_t place = *count;
        for (; place > 0 && one.value < finalists[place - 1].value; place--)
            if (place < IMP_FINALISTS)
                finalists[place] = finalists[place - 1];
        if (place < IMP_FINALISTS) {
            finalists[place] = one;
            *count += *count < IMP_FINALISTS;
        }
    }
    return IMP_OK;
}

/* ---- all of it ---- */

/* The points of the trials, as they are. */
static imp_status take_points(imp_choosing *at, const imp_point_source *source, imp_error *error)
{
    const imp_trial_points *points = &at->points;
    size_t all = points->count + points->unlabeled_count;
    at->taken = imp_allocate(all * points->dimensions, sizeof *at->taken);
    return at->taken ? imp_source_gather(source, points->number, all, at->taken, error)
                     : imp_fail_memory(error, "the choice of a metric");
}

static imp_status choose(imp_choosing *at, const imp_point_source *source, imp_metric_kind usual,
                         imp_choice *choice, imp_error *error)
{
    imp_finalist finalists[IMP_FINALISTS];
    size_t count = 0;
    imp_status status = take_points(at, source, error);
    if (!status)
        status = list_candidates(at, usual, source, error);
    if (!status)
        status = try_all(at, error);
    if (!status)
        status = take_best(at, choice, finalists, &count, error);
    /* Whitening that was asked for cannot be tried with two points of a class, nor fitted with one.
     */
    if (!status && count > 0)
        status = imp_choose_use(at, finalists, count, choice, error);
    choice->held_out = choice->candidate_count > 0 ? at->points.held_out : 0;
    return status;
}

imp_status imp_choose(const imp_choice_bounds *bounds, const imp_point_source *source, size_t way,
                      imp_choice *choice, imp_error *error)
{
    *choice = (imp_choice){.metric = bounds->metric,
                           .whitening = bounds->whitening == IMP_WHITEN_YES,
                           .lambda = way == 1 ? far_for_one_class : INFINITY,
                           .sigma = guessed_sigma,
                           .ratio = guessed_ratio,
                           .loss = NAN,
                           .accuracy = NAN};
    size_t unlabeled = imp_source_unlabeled(source), labeled = source->count - unlabeled;
    imp_choosing at = {.bounds = bounds,
                       .may_propagate = isnan(bounds->weight) && isnan(bounds->lambda) && way > 1 &&
                                        unlabeled > 0 && labeled <= IMP_MOST_PROPAGATING};
    if (at.may_propagate) {
        choice->propagated = true;
        choice->lambda = 0;
        choice->sigma = sigma_among_neighbors;
    }
    imp_metric_kind usual;
    float *room;
    imp_status status =
        imp_source_sample(source, IMP_METRIC_ROWS, &room, &at.sample, &at.sampled, error);
    if (!status)
        status = imp_usual_metric(at.sample, at.sampled, source->dimensions, way, &usual, error);
    if (!status && choice->metric == IMP_METRIC_AUTO)
        choice->metric = usual;
    if (!status)
        status = imp_trial_points_take(&at.points, source, way, error);
    if (!status && at.points.held_out > 0 && at.points.way > 1)
        status = choose(&at, source, usual, choice, error);
    imp_trial_points_release(&at.points);
    for (size_t m = 0; m < IMP_METRICS; m++)
        imp_release(at.rows[m]);
    imp_release(at.taken);
    imp_release(at.sums);
    imp_release(room);
    return status;
}

void imp_choice_release(imp_choice *choice)
{
    imp_release(choice->candidates);
    imp_release(choice->distance);
    *choice = (imp_choice){0};
}
