/*
 * choose_use.c - chooses how unlabelled points are used, by the same held-out points.
 *
 * Not at all, by soft assignment to clusters, or by label propagation: each is tried with the best
 * few metrics, and used if the gain over not using them is clear and no more points are
 * misclassified.
 */
#include "methods/choose_use.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare_doubles.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"

/* A use of unlabelled points: none; soft assignment, with a total weight of `ratio` times that of
 * all labelled points; or label propagation, with a threshold.
 */
typedef struct use {
    double ratio;
    bool propagated;
    double lambda;
} use;

static const use uses[] = {{0},
                           {.ratio = 2},
                           {.ratio = 8},
                           {.propagated = true, .lambda = 0},
                           {.propagated = true, .lambda = 0.5},
                           {.propagated = true, .lambda = INFINITY}};
enum { USES = sizeof uses / sizeof *uses };

/* They are used if the loss is lower by this fraction of its standard error. */
static const double clearly = 0.5;

/* Results on held-out points for a finalist and a use of unlabelled points. */
typedef struct verdict {
    double *loss;     /* (variances, points held out in all repeats) */
    double *distance; /* likewise, to the nearest cluster */
    size_t *right;    /* (folds) */
} verdict;

typedef struct weighing {
    const imp_choosing *at;
    const imp_finalist *finalists;
    size_t finalist_count, use_count, all;
    size_t *begin; /* (folds): where a fold's points are among all */
    verdict verdicts[IMP_FINALISTS][USES];
    imp_first_failure failure;
} weighing;

/* Label propagation may suit other variances. */
static size_t variances_of(const imp_choosing *at, size_t which)
{
    return uses[which].propagated ? imp_sigma_count(at) : 1;
}

static double variance_at(const imp_choosing *at, const imp_finalist *of, size_t which, size_t s)
{
    return uses[which].propagated && isnan(at->bounds->sigma) ? imp_sigma_at(s) : of->sigma;
}

static imp_status weigh_fold(weighing *found, size_t task, imp_error *error)
{
    const imp_choosing *at = found->at;
    const imp_trial_points *points = &at->points;
    size_t folds = points->repeats * IMP_FOLDS, fold = task % folds, way = points->way;
    const imp_finalist *of = &found->finalists[task / folds];
    imp_trial trials[USES];
    for (size_t r = 0; r < found->use_count; r++)
        trials[r] = (imp_trial){.whitening = of->of->whitening,
                                .lambda = uses[r].propagated ? uses[r].lambda : of->lambda,
                                .sigma = of->sigma,
                                .ratio = uses[r].ratio,
                                .propagated = uses[r].propagated,
                                .given_lambda = at->bounds->lambda,
                                .given_sigma = at->bounds->sigma,
                                .steps = at->bounds->steps};
    imp_trial_scores scores;
    imp_status status = imp_try_fold(points, of->of->rows, fold / IMP_FOLDS, fold % IMP_FOLDS,
                                     trials, found->use_count, &scores, error);
    for (size_t r = 0; r < found->use_count && !status && scores.possible; r++) {
        verdict *to = &found->verdicts[task / folds][r];
        for (size_t i = 0; i < scores.count; i++) {
            const double *distance = scores.distance + (r * scores.count + i) * way;
            size_t nearest = 0, place = found->begin[fold] + i;
            for (size_t class = 1; class < way; class ++)
                nearest = distance[class] < distance[nearest] ? class : nearest;
            to->distance[place] = distance[nearest];
            to->right[fold] += nearest == (size_t)scores.label[i];
            for (size_t s = 0; s < variances_of(at, r); s++) {
                double sigma = isnan(at->bounds->sigma) ? variance_at(at, of, r, s)
                                                        : at->bounds->sigma / scores.spread;
                to->loss[s * found->all + place] =
                    imp_loss_of(distance, way, scores.label[i], sigma);
            }
        }
    }
    imp_trial_scores_release(&scores);
    return status;
}

static void weigh_task(size_t task, int worker, void *context)
{
    (void)worker;
    weighing *found = context;
    imp_error error;
    imp_status status = weigh_fold(found, task, &error);
    imp_first_failure_note(&found->failure, task, status, &error);
}

static size_t right_of(const weighing *found, const verdict *of)
{
    size_t right = 0;
    for (size_t f = 0; f < found->at->points.repeats * IMP_FOLDS; f++)
        right += of->right[f];
    return right;
}

/* By how much `loss` is lower than `other` on average, and the standard error of that. */
static double gain_over(const double *other, const double *loss, size_t all, double points,
                        double *error)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < all; i++) {
        double gain = other[i] - loss[i];
        mean += gain / (double)all;
        square += gain * gain / (double)all;
    }
    *error = sqrt(fmax(0, square - mean * mean) / points);
    return mean;
}

/* The choice: a finalist, a use of unlabelled points and a variance. */
typedef struct winner {
    size_t finalist, use, variance;
} winner;

/* The largest clear gain over not using unlabelled points, with at least as many correct. */
static winner find_winner(const weighing *found)
{
    const imp_choosing *at = found->at;
    const verdict *without = &found->verdicts[0][0];
    double points = (double)at->points.held_out, most = 0;
    winner best = {0};
    for (size_t f = 0; f < found->finalist_count; f++)
        for (size_t r = 1; r < found->use_count; r++) {
            const verdict *of = &found->verdicts[f][r];
            for (size_t s = 0; s < variances_of(at, r); s++) {
                double error, price = found->finalists[f].of->price - found->finalists[0].of->price;
                double sigma = variance_at(at, &found->finalists[f], r, s);
                if (isnan(at->bounds->sigma))
                    price +=
                        imp_price_of_sigma(sigma) - imp_price_of_sigma(found->finalists[0].sigma);
                double gain =
                    gain_over(without->loss, of->loss + s * found->all, found->all, points, &error);
                double net = gain - price / points;
                if (net > most && gain > clearly * error &&
                    right_of(found, of) >= right_of(found, without)) {
                    most = net;
                    best = (winner){f, r, s};
                }
            }
        }
    return best;
}

static imp_status make_room(weighing *found, imp_error *error)
{
    const imp_trial_points *points = &found->at->points;
    size_t folds = points->repeats * IMP_FOLDS, begin = 0;
    bool all = true;
    found->all = points->held_out * points->repeats;
    found->begin = imp_allocate(folds, sizeof *found->begin);
    for (size_t f = 0; f < folds && found->begin; f++) {
        const int8_t *fold = points->fold + f / IMP_FOLDS * points->count;
        found->begin[f] = begin;
        for (size_t i = 0; i < points->count; i++)
            begin += fold[i] == (int8_t)(f % IMP_FOLDS);
    }
    for (size_t f = 0; f < found->finalist_count; f++)
        for (size_t r = 0; r < found->use_count; r++) {
            verdict *of = &found->verdicts[f][r];
            size_t values = variances_of(found->at, r) * found->all;
            of->loss = imp_allocate_zeroed(values, sizeof *of->loss);
            of->distance = imp_allocate_zeroed(found->all, sizeof *of->distance);
            of->right = imp_allocate_zeroed(folds, sizeof *of->right);
            all = all && of->loss && of->distance && of->right;
        }
    return found->begin && all ? IMP_OK : imp_fail_memory(error, "the choice of a weight");
}

static void release_room(weighing *found)
{
    imp_release(found->begin);
    for (size_t f = 0; f < IMP_FINALISTS; f++)
        for (size_t r = 0; r < USES; r++) {
            imp_release(found->verdicts[f][r].loss);
            imp_release(found->verdicts[f][r].distance);
            imp_release(found->verdicts[f][r].right);
        }
}

static void take_winner(const weighing *found, imp_choice *choice)
{
    const winner best = found->use_count > 1 ? find_winner(found) : (winner){0};
    const imp_finalist *of = &found->finalists[best.finalist];
    const verdict *said = &found->verdicts[best.finalist][best.use];
    const use *with = &uses[best.use];
    choice->metric = of->of->metric;
    choice->whitening = of->of->whitening;
    choice->lambda = with->propagated ? with->lambda : of->lambda;
    choice->sigma = variance_at(found->at, of, best.use, best.variance);
    choice->ratio = with->ratio;
    choice->propagated = with->propagated;
    choice->loss = 0;
    for (size_t i = 0; i < found->all; i++)
        choice->loss += said->loss[best.variance * found->all + i] / (double)found->all;
    choice->accuracy = (double)right_of(found, said) / (double)found->all;
    memcpy(choice->distance, said->distance, found->all * sizeof *choice->distance);
    qsort(choice->distance, found->all, sizeof *choice->distance, imp_compare_doubles);
    choice->distance_count = found->all;
}

imp_status imp_choose_use(const imp_choosing *at, const imp_finalist *finalists, size_t count,
                          imp_choice *choice, imp_error *error)
{
    bool help = at->points.unlabeled_count > 0;
    weighing found = {.at = at,
                      .finalists = finalists,
                      .finalist_count = help ? count : 1,
                      .use_count = !help               ? 1
                                   : at->may_propagate ? USES
                                                       : USES - IMP_THRESHOLDS};
    imp_status status = make_room(&found, error);
    choice->distance = imp_allocate(found.all, sizeof *choice->distance);
    if (!status && !choice->distance)
        status = imp_fail_memory(error, "the choice of a weight");
    if (!status) {
        imp_first_failure_begin(&found.failure);
        imp_parallel(found.finalist_count * at->points.repeats * IMP_FOLDS, imp_parallel_threads(0),
                     weigh_task, &found);
        status = imp_first_failure_end(&found.failure, error);
    }
    if (!status)
        take_winner(&found, choice);
    release_room(&found);
    return status;
}
