/*
 * suggest.c - which point to label next.
 *
 * For every point we keep the two classes with the nearest answered points, these points and their
 * distances. That is Algorithm 1 with lambda 0, each answered point being a cluster, and one pass
 * over the points finds everything an answer changes: memory does not grow with the classes, nor
 * time with the answers. A point is never its own neighbour, so the neighbours of answered points
 * give leave-one-out predictions, by which the variance is chosen.
 */
#include <imp/suggest.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/parallel.h"
#include "kernels/kernels.h"
#include "methods/choose.h"
#include "methods/held_out.h"
#include "methods/metric.h"
#include "methods/points.h"
#include "methods/suggest_groups.h"

enum {
    NOBODY = -1,   /* no point */
    PART = 1024,   /* points that one thread processes */
    FEW = 10,      /* with fewer answers no variance is chosen */
    VARIANCES = 12 /* to choose from */
};

/* The variance with few answers, relative to the median squared distance from the center. */
static const double usual_sigma = 0.02;

/* The nearest answered points of two classes, the nearer one first. */
typedef struct neighbors {
    int32_t class[2], point[2]; /* IMP_UNLABELED and NOBODY if there is none */
    float distance[2];          /* squared; INFINITY */
} neighbors;

struct imp_suggester {
    size_t points, dimensions;
    int threads;
    imp_metric_kind metric;
    const imp_kernels *kernels;
    float *rows;      /* (points, dimensions), in the metric */
    uint32_t *number; /* (points): 0, 1, 2, ... */
    double spread;
    imp_groups groups;
    imp_groups pieces; /* smaller ones; empty if groups were given */
    int32_t *answer;   /* (points): IMP_UNLABELED where there is none */
    uint32_t *known;   /* answered points, in the order of the answers */
    size_t answered, skipped;
    neighbors *near; /* (points) */
};

void imp_suggester_options_init(imp_suggester_options *options, size_t size)
{
    const imp_suggester_options defaults = {.metric = IMP_METRIC_AUTO};
    imp_give_options(options, size, &defaults, sizeof defaults);
}

/* ---- neighbours ---- */

static const neighbors alone = {
    {IMP_UNLABELED, IMP_UNLABELED}, {NOBODY, NOBODY}, {INFINITY, INFINITY}};

/* Considers an answered point; ties go to the earlier one. */
static void meet(neighbors *near, int32_t class, int32_t point, float distance)
{
    if (class == near->class[0]) {
        if (distance < near->distance[0]) {
            near->distance[0] = distance;
            near->point[0] = point;
        }
    } else if (distance < near->distance[0]) {
        near->class[1] = near->class[0];
        near->point[1] = near->point[0];
        near->distance[1] = near->distance[0];
        near->class[0] = class;
        near->point[0] = point;
        near->distance[0] = distance;
    } else if (distance < near->distance[1]) {
        near->class[1] = class;
        near->point[1] = point;
        near->distance[1] = distance;
    }
}

/* A point whose answer is added or removed, compared with all others. */
typedef struct visit {
    imp_suggester *suggester;
    size_t point;
    double *room; /* for every thread */
    size_t room_size;
} visit;

static size_t part_end(const imp_suggester *suggester, size_t begin)
{
    return suggester->points - begin < PART ? suggester->points : begin + PART;
}

/* Squared distances of a point to `count` others. */
static void measure(const imp_suggester *suggester, size_t point, const uint32_t *others,
                    size_t count, double *place, double *distance)
{
    size_t d = suggester->dimensions;
    for (size_t j = 0; j < d; j++)
        place[j] = suggester->rows[point * d + j];
    suggester->kernels->distances_from(d, place, suggester->rows, others, count, distance);
}

static void come(size_t part, int worker, void *context)
{
    const visit *v = context;
    imp_suggester *suggester = v->suggester;
    double *place = v->room + (size_t)worker * v->room_size;
    double *distance = place + suggester->dimensions;
    size_t begin = part * PART, end = part_end(suggester, begin);
    measure(suggester, v->point, suggester->number + begin, end - begin, place, distance);
    for (size_t i = begin; i < end; i++)
        if (i != v->point)
            meet(&suggester->near[i], suggester->answer[v->point], (int32_t)v->point,
                 (float)distance[i - begin]);
}

/* Only points that had it as a neighbour search again. */
static void go(size_t part, int worker, void *context)
{
    const visit *v = context;
    imp_suggester *suggester = v->suggester;
    double *place = v->room + (size_t)worker * v->room_size;
    double *distance = place + suggester->dimensions;
    size_t begin = part * PART, end = part_end(suggester, begin);
    int32_t gone = (int32_t)v->point;
    for (size_t i = begin; i < end; i++) {
        neighbors *near = &suggester->near[i];
        if (near->point[0] != gone && near->point[1] != gone)
            continue;
        measure(suggester, i, suggester->known, suggester->answered, place, distance);
        *near = alone;
        for (size_t k = 0; k < suggester->answered; k++) {
            uint32_t other = suggester->known[k];
            if (other != i)
                meet(near, suggester->answer[other], (int32_t)other, (float)distance[k]);
        }
    }
}

static imp_status visit_all(imp_suggester *suggester, size_t point, imp_parallel_body *body,
                            imp_error *error)
{
    int threads = imp_parallel_threads(suggester->threads);
    size_t most = suggester->answered > PART ? suggester->answered : PART;
    visit v = {suggester, point, NULL, suggester->dimensions + most};
    v.room = imp_allocate(v.room_size * (size_t)threads, sizeof *v.room);
    if (!v.room)
        return imp_fail_memory(error, "an answer");
    imp_parallel((suggester->points + PART - 1) / PART, threads, body, &v);
    imp_release(v.room);
    return IMP_OK;
}

static bool is_class(int32_t answer)
{
    return answer >= 0;
}

/* Changes the answer of a point. */
static void note(imp_suggester *suggester, size_t point, int32_t label)
{
    int32_t before = suggester->answer[point];
    suggester->answer[point] = label;
    suggester->skipped += label == IMP_SKIPPED;
    suggester->skipped -= before == IMP_SKIPPED;
}

/* On failure everything is as it was. */
static imp_status take_back(imp_suggester *suggester, size_t point, imp_error *error)
{
    if (!is_class(suggester->answer[point])) {
        note(suggester, point, IMP_UNLABELED);
        return IMP_OK;
    }
    uint32_t *known = suggester->known;
    size_t place = 0;
    while (known[place] != point)
        place++;
    /* Keeps the order of the answers, which breaks ties. */
    memmove(known + place, known + place + 1, (suggester->answered - place - 1) * sizeof *known);
    suggester->answered--;
    imp_status status = visit_all(suggester, point, go, error);
    if (status) {
        memmove(known + place + 1, known + place, (suggester->answered - place) * sizeof *known);
        known[place] = (uint32_t)point;
        suggester->answered++;
        return status;
    }
    note(suggester, point, IMP_UNLABELED);
    return IMP_OK;
}

imp_status imp_suggester_answer(imp_suggester *suggester, size_t point, int32_t label,
                                imp_error *error)
{
    if (point >= suggester->points)
        return imp_fail(error, IMP_EINVAL, "there is no point %zu; there are %zu, numbered from 0",
                        point, suggester->points);
    if (label < IMP_SKIPPED)
        return imp_fail(error, IMP_EINVAL,
                        "the answer for point %zu is %d; it must be a class, 0 or more, -1 to take "
                        "an answer back, or -2 to skip the point",
                        point, (int)label);
    if (label == suggester->answer[point])
        return IMP_OK;
    imp_status status = take_back(suggester, point, error);
    if (status)
        return status;
    note(suggester, point, label);
    if (is_class(label)) {
        suggester->known[suggester->answered++] = (uint32_t)point;
        status = visit_all(suggester, point, come, error);
        if (status) {
            suggester->answered--;
            note(suggester, point, IMP_UNLABELED);
        }
    }
    return status;
}

/* ---- how sure ---- */

/* The probability that a point is of the nearer of the two classes. */
static double sure_of(const neighbors *near, double sigma)
{
    if (near->class[0] < 0)
        return 0;
    if (near->class[1] < 0)
        return 1; /* there is only one class */
    return 1 / (1 + exp(-((double)near->distance[1] - near->distance[0]) / (2 * sigma)));
}

/* The variance with the lowest leave-one-out loss on the answered points. */
static double choose_sigma(const imp_suggester *suggester)
{
    double best = usual_sigma * suggester->spread, least = INFINITY;
    for (size_t v = 0; v < VARIANCES && suggester->answered >= FEW; v++) {
        double sigma = suggester->spread * ldexp(1, -2 * (int)v), loss = 0;
        for (size_t k = 0; k < suggester->answered; k++) {
            uint32_t point = suggester->known[k];
            const neighbors *near = &suggester->near[point];
            double sure = sure_of(near, sigma);
            double right = suggester->answer[point] == near->class[0] ? sure : 1 - sure;
            loss -= log(fmax(right, 1e-6));
        }
        if (loss < least) {
            least = loss;
            best = sigma;
        }
    }
    return fmax(best, 1e-300);
}

void imp_suggester_guess(const imp_suggester *suggester, int32_t *label, float *sure)
{
    double sigma = choose_sigma(suggester);
    for (size_t i = 0; i < suggester->points; i++) {
        const neighbors *near = &suggester->near[i];
        bool told = is_class(suggester->answer[i]);
        if (label)
            label[i] = told ? suggester->answer[i] : near->class[0];
        if (sure)
            sure[i] = told ? 1 : (float)sure_of(near, sigma);
    }
}

/* ---- suggestions ---- */

/* Suggestions being collected. */
typedef struct asking {
    const imp_suggester *suggester;
    imp_suggestion *suggestions;
    size_t found;
    double sigma;
    bool *taken; /* (points) */
} asking;

static void suggest(asking *ask, size_t point, imp_suggestion_reason reason)
{
    const imp_suggester *suggester = ask->suggester;
    const neighbors *near = &suggester->near[point];
    ask->suggestions[ask->found++] = (imp_suggestion){.point = point,
                                                      .reason = reason,
                                                      .group = suggester->groups.of[point],
                                                      .guess = near->class[0],
                                                      .sure = sure_of(near, ask->sigma)};
    ask->taken[point] = true;
}

/* typical(groups) = the most typical point of each group without an answer, of those that are open;
 * ties go to the first. `points` where there is none. */
static void find_typical(const asking *ask, const imp_groups *groups, size_t *typical)
{
    const imp_suggester *suggester = ask->suggester;
    size_t none = suggester->points, answered = none + 1;
    for (size_t g = 0; g < groups->count; g++)
        typical[g] = none;
    for (size_t i = 0; i < none && groups->count > 0; i++) {
        int32_t g = groups->of[i];
        if (g < 0 || typical[g] == answered)
            continue;
        if (is_class(suggester->answer[i]) || ask->taken[i])
            typical[g] = answered;
        else if (suggester->answer[i] == IMP_UNLABELED &&
                 (typical[g] == none || groups->distance[i] < groups->distance[typical[g]]))
            typical[g] = i;
    }
    for (size_t g = 0; g < groups->count; g++)
        typical[g] = typical[g] == answered ? none : typical[g];
}

/* Suggests the most typical points of groups without an answer, the largest first. */
static void ask_for_groups(asking *ask, size_t count, size_t *typical)
{
    const imp_groups *groups = &ask->suggester->groups;
    find_typical(ask, groups, typical);
    for (size_t k = 0; k < groups->shown && ask->found < count; k++)
        if (typical[groups->order[k]] < ask->suggester->points)
            suggest(ask, typical[groups->order[k]], IMP_SUGGEST_TYPICAL);
}

/* The most typical point of the largest piece without an answer, or `points`. */
static size_t next_piece(const asking *ask, size_t *typical)
{
    const imp_groups *pieces = &ask->suggester->pieces;
    find_typical(ask, pieces, typical);
    for (size_t k = 0; k < pieces->shown; k++)
        if (typical[pieces->order[k]] < ask->suggester->points)
            return typical[pieces->order[k]];
    return ask->suggester->points;
}

/* Suggests the least certain points; ties go to the first. Points that are nearer to a suggested
 * one than to any answer wait for its answer; waiting(points) is scratch. Every other suggestion is
 * the most typical point of a piece without an answer, as long as there is one: uncertain points
 * lie between what is known, and say nothing about the rest. */
static void ask_for_unsure(asking *ask, size_t count, double *room, bool *waiting, size_t *typical)
{
    const imp_suggester *suggester = ask->suggester;
    size_t n = suggester->points;
    double *place = room, *distance = room + suggester->dimensions;
    for (size_t i = 0; i < n; i++)
        waiting[i] = ask->taken[i] || suggester->answer[i] != IMP_UNLABELED;
    while (ask->found < count) {
        size_t best = (suggester->answered + ask->found) % 2 ? next_piece(ask, typical) : n;
        imp_suggestion_reason reason = best < n ? IMP_SUGGEST_TYPICAL : IMP_SUGGEST_UNSURE;
        double least = INFINITY;
        for (size_t i = 0; i < n && reason == IMP_SUGGEST_UNSURE; i++) {
            double sure = waiting[i] ? INFINITY : sure_of(&suggester->near[i], ask->sigma);
            if (sure < least) {
                least = sure;
                best = i;
            }
        }
        if (best == n) { /* all others are waiting: suggest them now, if there are any */
            bool any = false;
            for (size_t i = 0; i < n; i++) {
                waiting[i] = ask->taken[i] || suggester->answer[i] != IMP_UNLABELED;
                any = any || !waiting[i];
            }
            if (!any)
                return;
            continue;
        }
        suggest(ask, best, reason);
        waiting[best] = true;
        if (ask->found == count)
            return;
        measure(suggester, best, suggester->number, n, place, distance);
        for (size_t i = 0; i < n; i++)
            waiting[i] = waiting[i] || distance[i] < suggester->near[i].distance[0];
    }
}

imp_status imp_suggester_next(const imp_suggester *suggester, size_t count,
                              imp_suggestion *suggestions, size_t *found, imp_error *error)
{
    size_t n = suggester->points, left = n - suggester->answered - suggester->skipped;
    asking ask = {.suggester = suggester,
                  .suggestions = suggestions,
                  .sigma = choose_sigma(suggester),
                  .taken = imp_allocate_zeroed(n, sizeof *ask.taken)};
    bool *waiting = imp_allocate(n, sizeof *waiting);
    double *room = imp_allocate(suggester->dimensions + n, sizeof *room);
    size_t groups = suggester->groups.count, pieces = suggester->pieces.count;
    size_t *typical = imp_allocate(groups > pieces ? groups : pieces, sizeof *typical);
    imp_status status =
        ask.taken && waiting && room && typical ? IMP_OK : imp_fail_memory(error, "suggestions");
    count = count < left ? count : left;
    if (!status) {
        ask_for_groups(&ask, count, typical);
        ask_for_unsure(&ask, count, room, waiting, typical);
    }
    *found = ask.found;
    imp_release(ask.taken);
    imp_release(waiting);
    imp_release(room);
    imp_release(typical);
    return status;
}

static bool has_answer(const imp_suggester *suggester, uint32_t group)
{
    bool found = false;
    for (size_t k = 0; k < suggester->answered && !found; k++)
        found = suggester->groups.of[suggester->known[k]] == (int32_t)group;
    return found;
}

imp_suggester_summary imp_suggester_summarize(const imp_suggester *suggester)
{
    double sigma = choose_sigma(suggester), sum = 0;
    size_t open = suggester->points - suggester->answered;
    for (size_t i = 0; i < suggester->points; i++)
        if (!is_class(suggester->answer[i]))
            sum += sure_of(&suggester->near[i], sigma);
    imp_suggester_summary summary = {
        .points = suggester->points,
        .dimensions = suggester->dimensions,
        .groups = suggester->groups.shown,
        .answered = suggester->answered,
        .skipped = suggester->skipped,
        .metric = suggester->metric,
        .expected = open > 0 && suggester->answered > 0 ? sum / (double)open : NAN};
    for (size_t k = 0; k < suggester->groups.shown; k++)
        summary.groups_asked += has_answer(suggester, suggester->groups.order[k]);
    return summary;
}

const int32_t *imp_suggester_groups(const imp_suggester *suggester)
{
    return suggester->groups.of;
}

const imp_groups *imp_suggester_pieces(const imp_suggester *suggester)
{
    return &suggester->pieces;
}

/* ---- creating ---- */

static imp_status enter_metric(imp_suggester *suggester, const float *x, imp_metric_kind kind,
                               imp_error *error)
{
    size_t n = suggester->points, d = suggester->dimensions;
    imp_metric metric = {0};
    imp_status status = IMP_OK;
    suggester->metric = kind;
    if (kind == IMP_METRIC_AUTO)
        status = imp_usual_metric(x, n, d, 0, &suggester->metric, error);
    if (!status)
        status = imp_metric_fit(&metric, suggester->metric, x, n, d, error);
    if (!status)
        status = imp_metric_apply(&metric, x, NULL, n, suggester->threads, suggester->rows, error);
    imp_metric_release(&metric);
    if (!status)
        status = imp_spread_of(suggester->rows, n, d, &suggester->spread, error);
    return status;
}

static imp_status fill(imp_suggester *suggester, const float *x,
                       const imp_suggester_options *options, imp_error *error)
{
    size_t n = suggester->points, values;
    if (imp_multiply(n, suggester->dimensions, &values))
        suggester->rows = imp_allocate(values, sizeof *suggester->rows);
    suggester->number = imp_allocate(n, sizeof *suggester->number);
    suggester->answer = imp_allocate(n, sizeof *suggester->answer);
    suggester->known = imp_allocate(n, sizeof *suggester->known);
    suggester->near = imp_allocate(n, sizeof *suggester->near);
    if (!suggester->rows || !suggester->number || !suggester->answer || !suggester->known ||
        !suggester->near)
        return imp_fail_memory(error, "a suggester");
    for (size_t i = 0; i < n; i++) {
        suggester->number[i] = (uint32_t)i;
        suggester->answer[i] = IMP_UNLABELED;
        suggester->near[i] = alone;
    }
    imp_status status = imp_kernels_choose(&suggester->kernels, error);
    if (!status)
        status = enter_metric(suggester, x, options->metric, error);
    if (!status)
        status = imp_groups_find(&suggester->groups, suggester->rows, n, suggester->dimensions,
                                 options->group, options->threads, error);
    if (!status && !options->group)
        status = imp_groups_find_pieces(&suggester->pieces, suggester->rows, n,
                                        suggester->dimensions, options->threads, error);
    return status;
}

void imp_suggester_free(imp_suggester *suggester)
{
    if (!suggester)
        return;
    imp_groups_release(&suggester->groups);
    imp_groups_release(&suggester->pieces);
    imp_release(suggester->rows);
    imp_release(suggester->number);
    imp_release(suggester->answer);
    imp_release(suggester->known);
    imp_release(suggester->near);
    imp_release(suggester);
}

static imp_status check(const float *x, size_t n, size_t d, const imp_suggester_options *options,
                        imp_error *error)
{
    if (n == 0 || d == 0)
        return imp_fail(error, IMP_EINVAL,
                        "there are %zu points of %zu dimensions; at least 1 of each is needed", n,
                        d);
    if (n > INT32_MAX)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "there are %zu points; at most %d can be asked for", n, INT32_MAX);
    if (!imp_metric_name(options->metric))
        return imp_fail(error, IMP_EINVAL, "%d is not a metric", (int)options->metric);
    return imp_check_finite(x, n, d, options->threads, "point", error);
}

imp_status imp_suggester_create(const float *x, size_t n, size_t d,
                                const imp_suggester_options *given, imp_suggester **out,
                                imp_error *error)
{
    *out = NULL;
    imp_suggester_options options = imp_suggester_defaults();
    imp_status status =
        imp_take_options(&options, sizeof options, given, "imp_suggester_options", error);
    if (!status)
        status = check(x, n, d, &options, error);
    if (status)
        return status;
    imp_suggester *suggester = imp_allocate_zeroed(1, sizeof *suggester);
    if (!suggester)
        return imp_fail_memory(error, "a suggester");
    suggester->points = n;
    suggester->dimensions = d;
    suggester->threads = options.threads;
    status = fill(suggester, x, &options, error);
    if (status) {
        imp_suggester_free(suggester);
        return status;
    }
    *out = suggester;
    return IMP_OK;
}
