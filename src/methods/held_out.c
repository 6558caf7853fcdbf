/*
 * held_out.c - five-fold cross-validation: labelled points, stratified by class, are held out in
 * turn and classified by the others, with the metric, threshold and use of unlabelled points of a
 * trial.
 *
 * Nothing that uses labels, such as the within-class covariance, ever sees the held-out points.
 */
#include "methods/held_out.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "methods/metric.h"
#include "methods/propagate.h"
#include "methods/settle.h"

enum {
    MOST_POINTS = 500,  /* labelled points used, and as many unlabelled ones */
    MOST_CLASSES = 100, /* classes used */
    FEW = 60,           /* with fewer points, folds are drawn three times to reduce variance */
    SOME = 150
};

/* ---- which points take part ---- */

/* Whether an item is one of `count` spaced evenly among `of`, and which. */
static bool is_taken(size_t item, size_t of, size_t count, size_t *which)
{
    *which = item * count / of;
    return item == 0 || (item - 1) * count / of != *which;
}

static imp_status count_members(const imp_point_source *source, size_t way, size_t **members,
                                imp_error *error)
{
    *members = imp_allocate_zeroed(way, sizeof **members);
    if (!*members)
        return imp_fail_memory(error, "points to hold out");
    for (size_t i = 0; i < source->label_count; i++)
        if (source->label[i] >= 0)
            (*members)[source->label[i]]++;
    return IMP_OK;
}

/* Selects unlabelled points, evenly spaced among the others. Those after the last label, of which
 * there may be very many, are not looked at one by one. */
static void take_unlabeled(imp_trial_points *points, const imp_point_source *source)
{
    size_t unlabeled = imp_source_unlabeled(source), passed = 0, which;
    size_t wanted = unlabeled < MOST_POINTS ? unlabeled : MOST_POINTS;
    uint32_t *next = points->number + points->count;
    for (size_t i = 0; i < source->label_count && wanted > 0; i++)
        if (source->label[i] < 0 && is_taken(passed++, unlabeled, wanted, &which))
            next[points->unlabeled_count++] = (uint32_t)i;
    while (points->unlabeled_count < wanted) {
        size_t item = (points->unlabeled_count * unlabeled + wanted - 1) / wanted;
        next[points->unlabeled_count++] = (uint32_t)(source->label_count + item - passed);
    }
}

/* Selects labelled points, balanced across classes, and unlabelled ones. */
static void take(imp_trial_points *points, const imp_point_source *source, size_t way,
                 const size_t *members, size_t *seen)
{
    size_t classes = way < MOST_CLASSES ? way : MOST_CLASSES, quota = MOST_POINTS / classes;
    const int32_t *y = source->label;
    points->way = classes;
    for (size_t i = 0; i < source->label_count; i++) {
        size_t class, which;
        if (y[i] < 0 || !is_taken((size_t)y[i], way, classes, &class))
            continue;
        size_t of = members[y[i]], some = of < quota ? of : quota;
        if (is_taken(seen[y[i]]++, of, some, &which)) {
            points->number[points->count] = (uint32_t)i;
            points->label[points->count++] = (int32_t) class;
        }
    }
    take_unlabeled(points, source);
}

/* The fold in which the nth point of a class with several is held out. Classes start at different
 * folds, so that a small fold has many classes. Of a class that stands in for those with one label,
 * all points but one are held out together. */
static int8_t fold_of(size_t class, size_t nth, bool stands_in)
{
    size_t place = stands_in ? nth == 0 : nth;
    return (int8_t)((place + class) % IMP_FOLDS);
}

/* Distributes the points of every class over the folds, shuffled for each repeat. A class with one
 * label cannot be held out, so it would not be seen how such classes fare beside others with more;
 * therefore as large a part of the others stand in for them, which ones changes with the repeat. */
static void deal(imp_trial_points *points, size_t repeat, uint32_t *order, size_t *members,
                 const size_t *total)
{
    imp_random random = imp_random_start(1, IMP_STREAM_HELD_OUT, repeat);
    int8_t *fold = points->fold + repeat * points->count;
    size_t way = points->way, alone = 0;
    for (size_t class = 0; class < way; class ++)
        alone += total[class] == 1;
    for (size_t i = 0; i < points->count; i++)
        order[i] = (uint32_t)i;
    imp_random_shuffle(&random, order, points->count);
    memset(members, 0, way * sizeof *members);
    for (size_t i = 0; i < points->count; i++) {
        size_t class = (size_t)points->label[order[i]], turn = class + repeat;
        bool stands_in = (turn + 1) * alone / way > turn * alone / way;
        fold[order[i]] = total[class] < 2 ? -1 : fold_of(class, members[class]++, stands_in);
    }
}

static imp_status deal_all(imp_trial_points *points, imp_error *error)
{
    size_t *members = imp_allocate_zeroed(2 * points->way, sizeof *members);
    uint32_t *order = imp_allocate(points->count, sizeof *order);
    if (members)
        for (size_t i = 0; i < points->count; i++)
            members[points->label[i]]++;
    for (size_t class = 0; class < points->way && members; class ++)
        points->held_out += members[class] > 1 ? members[class] : 0;
    points->repeats = points->held_out < FEW ? 3 : points->held_out < SOME ? 2 : 1;
    points->fold = imp_allocate(points->repeats * points->count, sizeof *points->fold);
    imp_status status =
        members && order && points->fold ? IMP_OK : imp_fail_memory(error, "points to hold out");
    for (size_t repeat = 0; repeat < points->repeats && !status; repeat++)
        deal(points, repeat, order, members + points->way, members);
    imp_release(members);
    imp_release(order);
    return status;
}

imp_status imp_trial_points_take(imp_trial_points *points, const imp_point_source *source,
                                 size_t way, imp_error *error)
{
    *points = (imp_trial_points){.dimensions = source->dimensions};
    size_t *members, *seen = imp_allocate_zeroed(way, sizeof *seen);
    imp_status status = count_members(source, way, &members, error);
    size_t most = source->count < 2 * MOST_POINTS ? source->count : 2 * MOST_POINTS;
    points->number = imp_allocate(most, sizeof *points->number);
    points->label = imp_allocate(most, sizeof *points->label);
    if (!status && (!seen || !points->number || !points->label))
        status = imp_fail_memory(error, "points to hold out");
    if (!status) {
        take(points, source, way, members, seen);
        status = deal_all(points, error);
    }
    imp_release(members);
    imp_release(seen);
    return status;
}

void imp_trial_points_release(imp_trial_points *points)
{
    imp_release(points->number);
    imp_release(points->label);
    imp_release(points->fold);
    *points = (imp_trial_points){0};
}

/* ---- how far points spread ---- */

static double squared(const float *x, const double *mean, double count, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        double difference = x[j] - mean[j] / count;
        sum += difference * difference;
    }
    return sum;
}

imp_status imp_spread_of(const float *rows, size_t n, size_t d, double *spread, imp_error *error)
{
    size_t count = n < IMP_SPREAD_ROWS ? n : IMP_SPREAD_ROWS;
    double *sum = imp_allocate_zeroed(d + count, sizeof *sum);
    if (!sum)
        return imp_fail_memory(error, "the spread of points");
    double *distance = sum + d;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < d; j++)
            sum[j] += rows[imp_block_begin(n, count, i) * d + j];
    for (size_t i = 0; i < count; i++)
        distance[i] = squared(rows + imp_block_begin(n, count, i) * d, sum, (double)count, d);
    *spread = imp_median(distance, count);
    imp_release(sum);
    return IMP_OK;
}

imp_status imp_spread_within(const float *rows, const int32_t *label, size_t n, size_t d,
                             size_t way, double *spread, imp_error *error)
{
    double *sum = imp_allocate_zeroed(way * d, sizeof *sum);
    double *members = imp_allocate_zeroed(way, sizeof *members);
    double *distance = imp_allocate(n, sizeof *distance);
    imp_status status =
        sum && members && distance ? IMP_OK : imp_fail_memory(error, "the spread of points");
    size_t found = 0;
    for (size_t i = 0; i < n && !status; i++) {
        members[label[i]]++;
        for (size_t j = 0; j < d; j++)
            sum[(size_t)label[i] * d + j] += rows[i * d + j];
    }
    for (size_t i = 0; i < n && !status; i++) {
        double count = members[label[i]];
        if (count > 1)
            distance[found++] =
                count / (count - 1) * squared(rows + i * d, sum + (size_t)label[i] * d, count, d);
    }
    *spread = status ? 0 : imp_median(distance, found);
    imp_release(sum);
    imp_release(members);
    imp_release(distance);
    return status;
}

/* ---- one fold ---- */

/* The memory of one fold. */
typedef struct work {
    const imp_trial_points *points;
    const int8_t *fold;
    float *all;   /* (count + unlabeled_count, dimensions), in the metric */
    float *train; /* training rows */
    float *moved; /* these, then unlabelled ones that received labels, as propagation moves them */
    int32_t *label; /* of these */
    double *weight; /* likewise; 1 for training rows */
    size_t train_count, propagated_count;
    double within; /* the spread within classes, of training rows and with propagated ones */
    double propagated_within;
    imp_clusters clusters;
} work;

static void gather(work *at, const float *rows, size_t fold)
{
    const imp_trial_points *points = at->points;
    size_t d = points->dimensions;
    at->train_count = 0;
    for (size_t i = 0; i < points->count; i++)
        if (at->fold[i] != (int8_t)fold) {
            memcpy(at->train + at->train_count * d, rows + i * d, d * sizeof *rows);
            at->label[at->train_count++] = points->label[i];
        }
}

/* Fills at->all and at->train in the trial's metric. */
static imp_status enter_metric(work *at, const float *rows, size_t fold, double whitening,
                               bool *possible, imp_error *error)
{
    const imp_trial_points *points = at->points;
    size_t all = points->count + points->unlabeled_count, d = points->dimensions;
    *possible = true;
    gather(at, rows, fold);
    if (whitening == 0) {
        memcpy(at->all, rows, all * d * sizeof *rows);
        return IMP_OK;
    }
    imp_metric metric = {.dimensions = d};
    imp_status status = imp_metric_whiten(&metric, at->train, at->label, at->train_count, whitening,
                                          possible, error);
    if (!status && *possible)
        status = imp_metric_apply_whitening(&metric, rows, all, 1, at->all, error);
    if (!status && *possible)
        gather(at, at->all, fold);
    imp_metric_release(&metric);
    return status;
}

static imp_status find_within(const work *at, const float *rows, size_t count, double spread,
                              double *within, imp_error *error)
{
    imp_status status = imp_spread_within(rows, at->label, count, at->points->dimensions,
                                          at->points->way, within, error);
    if (*within <= 0)
        *within = spread;
    return status;
}

/* Propagates labels: the training rows and the unlabelled ones that receive one, moved. */
static imp_status propagate(work *at, double spread, imp_error *error)
{
    const imp_trial_points *points = at->points;
    size_t d = points->dimensions, count = points->unlabeled_count, begin = at->train_count;
    memcpy(at->moved, at->train, begin * d * sizeof *at->moved);
    memcpy(at->moved + begin * d, at->all + points->count * d, count * d * sizeof *at->moved);
    imp_status status = imp_propagate(at->moved, d, at->label, begin, count, points->way,
                                      at->label + begin, at->weight + begin, error);
    if (status)
        return status;
    for (size_t i = 0; i < begin; i++)
        at->weight[i] = 1;
    at->propagated_count = imp_keep_labeled(at->moved, d, at->label, at->weight, begin, count);
    return find_within(at, at->moved, begin + at->propagated_count, spread, &at->propagated_within,
                       error);
}

/* distance(held out, way) with one trial. */
static imp_status try_one(work *at, const imp_trial *trial, size_t fold, double spread,
                          double *distance, imp_error *error)
{
    const imp_trial_points *points = at->points;
    size_t d = points->dimensions, way = points->way;
    double share = (double)at->train_count / (double)points->unlabeled_count;
    bool helped = points->unlabeled_count > 0 && trial->ratio > 0;
    double within = trial->propagated ? at->propagated_within : at->within;
    const imp_point_source unlabeled =
        imp_source_of_rows(at->all + points->count * d, helped ? points->unlabeled_count : 0, d);
    const imp_settling settling = {
        .dimensions = d,
        .way = way,
        .labeled = trial->propagated ? at->moved : at->train,
        .label = at->label,
        .labeled_weight = trial->propagated ? at->weight : NULL,
        .labeled_count = at->train_count + (trial->propagated ? at->propagated_count : 0),
        .unlabeled = &unlabeled,
        .lambda = !isnan(trial->given_lambda) ? trial->given_lambda
                  : isfinite(trial->lambda)   ? trial->lambda * within
                                              : INFINITY,
        .lambda_u = INFINITY,
        .sigma = isnan(trial->given_sigma) ? trial->sigma * spread : trial->given_sigma,
        .weight = helped ? fmin(trial->ratio * share, 1) : 0,
        .steps = helped ? trial->steps : 1,
    };
    imp_status status = imp_settle(&settling, &at->clusters, error);
    const imp_clusters *clusters = &at->clusters;
    for (size_t i = 0; i < points->count && !status; i++) {
        if (at->fold[i] != (int8_t)fold)
            continue;
        for (size_t class = 0; class < way; class ++)
            distance[class] = INFINITY;
        for (size_t c = 0; c < clusters->count; c++) {
            double to = imp_clusters_distance(clusters, c, at->all + i * d) / spread;
            distance[clusters->label[c]] = fmin(distance[clusters->label[c]], to);
        }
        distance += way;
    }
    return status;
}

static imp_status try_all(work *at, const float *rows, size_t fold, const imp_trial *trials,
                          size_t trial_count, imp_trial_scores *scores, imp_error *error)
{
    const imp_trial_points *points = at->points;
    size_t d = points->dimensions, all = points->count + points->unlabeled_count;
    bool propagated = false;
    imp_status status = enter_metric(at, rows, fold, trials->whitening, &scores->possible, error);
    if (status || !scores->possible)
        return status;
    status = imp_spread_of(at->all, all, d, &scores->spread, error);
    /* Points that all coincide have no scale. */
    if (scores->spread <= 0)
        scores->spread = 1;
    if (!status)
        status = find_within(at, at->train, at->train_count, scores->spread, &at->within, error);
    for (size_t t = 0; t < trial_count; t++)
        propagated = propagated || trials[t].propagated;
    if (!status && propagated)
        status = propagate(at, scores->spread, error);
    for (size_t t = 0; t < trial_count && !status; t++)
        status = try_one(at, &trials[t], fold, scores->spread,
                         scores->distance + t * scores->count * points->way, error);
    return status;
}

imp_status imp_try_fold(const imp_trial_points *points, const float *rows, size_t repeat,
                        size_t fold, const imp_trial *trials, size_t trial_count,
                        imp_trial_scores *scores, imp_error *error)
{
    size_t d = points->dimensions, all = points->count + points->unlabeled_count;
    work at = {.points = points, .fold = points->fold + repeat * points->count};
    *scores = (imp_trial_scores){.possible = true};
    at.all = imp_allocate(all * d, sizeof *at.all);
    at.train = imp_allocate(points->count * d, sizeof *at.train);
    at.moved = imp_allocate(all * d, sizeof *at.moved);
    at.label = imp_allocate(all, sizeof *at.label);
    at.weight = imp_allocate(all, sizeof *at.weight);
    scores->label = imp_allocate(points->count, sizeof *scores->label);
    for (size_t i = 0; i < points->count && scores->label; i++)
        if (at.fold[i] == (int8_t)fold)
            scores->label[scores->count++] = points->label[i];
    scores->distance = imp_allocate(trial_count * scores->count * points->way, sizeof(double));
    imp_status status =
        at.all && at.train && at.moved && at.label && at.weight && scores->label && scores->distance
            ? IMP_OK
            : imp_fail_memory(error, "points to hold out");
    if (!status && scores->count > 0)
        status = try_all(&at, rows, fold, trials, trial_count, scores, error);
    imp_clusters_release(&at.clusters);
    imp_release(at.all);
    imp_release(at.train);
    imp_release(at.moved);
    imp_release(at.label);
    imp_release(at.weight);
    return status;
}

void imp_trial_scores_release(imp_trial_scores *scores)
{
    imp_release(scores->label);
    imp_release(scores->distance);
    *scores = (imp_trial_scores){0};
}
