/*
 * divide.c - divides and merges groups of points in many dimensions.
 *
 * The principal components of all points show a group only if it changes the variance along its
 * direction by more than noise does (Baik, Ben Arous and Peche, 2005): of many groups, the small
 * ones are hidden and end up in others. Those of the few points of one group show it again. Noise
 * is no danger here: turned in any way it stays the same, so the scores of noise in its principal
 * components are normal however few points there are, and only two groups make two heaps of them,
 * in a direction whose variance exceeds that of noise.
 * That would not hold for a direction chosen to show two heaps, such as that of k-means, for which
 * points must be held out.
 */
#include "methods/divide.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare_doubles.h"
#include "base/error.h"
#include "base/first_failure.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "methods/apart.h"
#include "methods/components.h"
#include "methods/grouping.h"

enum {
    DIRECTIONS = 4,  /* of a group that are examined */
    STARTS = 3,      /* where each may be cut at first: at quartiles */
    FEWEST_EACH = 6, /* points on each side of a cut: two or three far out are no group */
    ROUNDS = 20,
    TOGETHER = 8,      /* pairs judged at once, besides two for every division */
    PASSES = 5,        /* of k-means after a change */
    MOST_KNOWN = 4096, /* judgements that are remembered */
};

/* Points to be judged, and how. */
typedef struct question {
    uint32_t a, b;   /* groups, or one of them twice */
    double evidence; /* beyond what is required, that their points are two groups */
} question;

typedef struct division {
    imp_grouping g;
    int threads;
    uint32_t *member; /* (n): the points, group by group */
    size_t *first;    /* (n + 1): where each group begins */
    uint64_t *key;    /* (n): of a group, which changes with its points */
    bool *upper;      /* (n): which side of the best cut of its group a point is on */
    int32_t *number;  /* (n): the groups of points while these change */
    imp_group_pair *pairs;
    question *questions;
    size_t asked;
    uint64_t *known; /* keys of points that were judged before, which need no change */
    size_t known_count;
    imp_first_failure failure;
} division;

/* ---- one group, or two ---- */

/* Tries to divide scores(m) at a quartile; room has 2 m numbers. If that is better than *best,
 * upper(m) tells how. */
static void try_cut(const double *score, size_t m, double cut, double *room, double *best,
                    bool *upper)
{
    double sum[2] = {0, 0}, count[2] = {0, 0}, *t = room, *share = room + m;
    for (size_t i = 0; i < m; i++) {
        sum[score[i] > cut] += score[i];
        count[score[i] > cut]++;
    }
    if (count[0] == 0 || count[1] == 0)
        return;
    double low = sum[0] / count[0], high = sum[1] / count[1];
    for (size_t i = 0; i < m; i++)
        t[i] = (score[i] - low) / (high - low);
    double found = imp_evidence_of_two(t, m, share) - imp_evidence_required(m), size = 0;
    for (size_t i = 0; i < m; i++)
        size += share[i] > 0.5;
    if (found <= *best || size < FEWEST_EACH || (double)m - size < FEWEST_EACH)
        return;
    *best = found;
    for (size_t i = 0; i < m; i++)
        upper[i] = share[i] > 0.5;
}

/* The points of the groups of a question, one after the other. */
static size_t gather(const division *v, const question *q, float *rows, uint32_t *points)
{
    size_t m = 0, d = v->g.dimensions;
    for (size_t side = 0; side < (q->a == q->b ? 1 : 2); side++) {
        size_t group = side == 0 ? q->a : q->b;
        for (size_t k = v->first[group]; k < v->first[group + 1]; k++, m++) {
            points[m] = v->member[k];
            memcpy(rows + m * d, v->g.rows + v->member[k] * d, d * sizeof *rows);
        }
    }
    return m;
}

static size_t size_of(const division *v, size_t group)
{
    return v->first[group + 1] - v->first[group];
}

static imp_status judge(const division *v, question *q, imp_error *error)
{
    size_t d = v->g.dimensions, m = size_of(v, q->a) + (q->a == q->b ? 0 : size_of(v, q->b));
    size_t directions = 0;
    q->evidence = -INFINITY;
    if (m < 2 * FEWEST_EACH)
        return IMP_OK;
    float *rows = imp_allocate(m * d, sizeof *rows);
    uint32_t *points = imp_allocate(m, sizeof *points);
    double *scores = imp_allocate((DIRECTIONS + 3) * m, sizeof *scores);
    bool *upper = imp_allocate_zeroed(m, sizeof *upper);
    imp_status status = rows && points && scores && upper
                            ? IMP_OK
                            : imp_fail_memory(error, "the components of a group");
    if (!status) {
        gather(v, q, rows, points);
        status = imp_leading_scores(rows, m, d, DIRECTIONS, scores, &directions, error);
    }
    for (size_t k = 0; k < directions && !status; k++) {
        double *sorted = scores + DIRECTIONS * m, *room = sorted + m;
        memcpy(sorted, scores + k * m, m * sizeof *sorted);
        qsort(sorted, m, sizeof *sorted, imp_compare_doubles);
        for (size_t start = 1; start <= STARTS; start++)
            try_cut(scores + k * m, m, sorted[start * (m - 1) / (STARTS + 1)], room, &q->evidence,
                    upper);
    }
    for (size_t i = 0; i < m && !status && q->a == q->b; i++)
        v->upper[points[i]] = upper[i];
    imp_release(rows);
    imp_release(points);
    imp_release(scores);
    imp_release(upper);
    return status;
}

static void judge_one(size_t index, int worker, void *context)
{
    (void)worker;
    division *v = context;
    imp_error error;
    imp_status status = judge(v, &v->questions[index], &error);
    imp_first_failure_note(&v->failure, index, status, &error);
}

/* Answers the questions, on all threads. */
static imp_status judge_all(division *v, imp_error *error)
{
    imp_first_failure_begin(&v->failure);
    imp_parallel(v->asked, imp_parallel_threads(v->threads), judge_one, v);
    return imp_first_failure_end(&v->failure, error);
}

/* ---- what was judged before ---- */

/* A number for each point, so that their sums tell sets of points from each other. */
static uint64_t mix(uint64_t i)
{
    i = (i + 1) * 0x9e3779b97f4a7c15U;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9U;
    return i ^ i >> 29;
}

/* The key of a question. The same points may be one group or two, which are different questions. */
static uint64_t key_of(const division *v, const question *q)
{
    return q->a == q->b ? v->key[q->a] : ~(v->key[q->a] + v->key[q->b]);
}

static bool is_known(const division *v, uint64_t key)
{
    for (size_t k = 0; k < v->known_count; k++)
        if (v->known[k] == key)
            return true;
    return false;
}

static void ask(division *v, uint32_t a, uint32_t b)
{
    question q = {.a = a, .b = b};
    if (!is_known(v, key_of(v, &q)))
        v->questions[v->asked++] = q;
}

static void know(division *v, const question *q)
{
    if (v->known_count < MOST_KNOWN)
        v->known[v->known_count++] = key_of(v, q);
}

/* ---- all groups ---- */

static void list_members(division *v)
{
    size_t groups = v->g.groups.count;
    memset(v->first, 0, (groups + 1) * sizeof *v->first);
    memset(v->key, 0, groups * sizeof *v->key);
    for (size_t i = 0; i < v->g.count; i++) {
        v->first[v->g.assignment[i] + 1]++;
        v->key[v->g.assignment[i]] += mix(i);
    }
    for (size_t c = 0; c < groups; c++)
        v->first[c + 1] += v->first[c];
    for (size_t i = 0; i < v->g.count; i++)
        v->member[v->first[v->g.assignment[i]]++] = (uint32_t)i;
    memmove(v->first + 1, v->first, groups * sizeof *v->first);
    v->first[0] = 0;
}

/* k-means from the `count` groups of v->number. */
static imp_status settle(division *v, size_t count, imp_error *error)
{
    imp_status status = imp_grouping_begin(&v->g, v->number, count, error);
    if (!status)
        status = imp_grouping_settle(&v->g, PASSES, error);
    if (!status)
        list_members(v);
    return status;
}

/* Divides groups that hold two; *made becomes how many. */
static imp_status divide_all(division *v, size_t *made, imp_error *error)
{
    size_t groups = v->g.groups.count;
    *made = v->asked = 0;
    for (uint32_t c = 0; c < groups; c++)
        ask(v, c, c);
    imp_status status = judge_all(v, error);
    memcpy(v->number, v->g.assignment, v->g.count * sizeof *v->number);
    for (size_t k = 0; k < v->asked && !status; k++) {
        const question *q = &v->questions[k];
        if (!(q->evidence > 0)) {
            know(v, q);
            continue;
        }
        for (size_t i = v->first[q->a]; i < v->first[q->a + 1]; i++)
            if (v->upper[v->member[i]])
                v->number[v->member[i]] = (int32_t)(groups + *made);
        ++*made;
    }
    return status || *made == 0 ? status : settle(v, groups + *made, error);
}

/* Merges neighbours that are one group, none twice and at most `most` pairs; *made becomes how
 * many. Only the cheapest are judged. */
static imp_status join_some(division *v, size_t most, size_t *made, imp_error *error)
{
    size_t pairs = imp_grouping_pairs(&v->g, v->pairs);
    *made = v->asked = 0;
    for (size_t k = 0; k < pairs && v->asked < TOGETHER + 2 * most; k++)
        ask(v, v->pairs[k].a, v->pairs[k].b);
    imp_status status = judge_all(v, error);
    memset(v->upper, 0, v->g.groups.count * sizeof *v->upper); /* merged already */
    for (size_t k = 0; k < v->asked && !status; k++) {
        const question *q = &v->questions[k];
        if (q->evidence > 0)
            know(v, q);
        if (q->evidence > 0 || v->upper[q->a] || v->upper[q->b] || *made == most)
            continue;
        v->upper[q->a] = v->upper[q->b] = true;
        imp_grouping_join(&v->g, q->a, q->b);
        ++*made;
    }
    if (status || *made == 0)
        return status;
    imp_grouping_drop_joined(&v->g);
    status = imp_grouping_settle(&v->g, PASSES, error);
    if (!status)
        list_members(v);
    return status;
}

/* ---- all of it ---- */

static imp_status create(division *v, size_t n, imp_error *error)
{
    v->member = imp_allocate(n, sizeof *v->member);
    v->first = imp_allocate(n + 1, sizeof *v->first);
    v->key = imp_allocate(n, sizeof *v->key);
    v->upper = imp_allocate_zeroed(n, sizeof *v->upper);
    v->number = imp_allocate(n, sizeof *v->number);
    v->pairs = imp_allocate(n * IMP_GROUP_NEIGHBORS, sizeof *v->pairs);
    v->questions = imp_allocate(n * IMP_GROUP_NEIGHBORS, sizeof *v->questions);
    v->known = imp_allocate(MOST_KNOWN, sizeof *v->known);
    return v->member && v->first && v->key && v->upper && v->number && v->pairs && v->questions &&
                   v->known
               ? IMP_OK
               : imp_fail_memory(error, "groups of points");
}

static void release(division *v)
{
    imp_grouping_release(&v->g);
    imp_release(v->member);
    imp_release(v->first);
    imp_release(v->key);
    imp_release(v->upper);
    imp_release(v->number);
    imp_release(v->pairs);
    imp_release(v->questions);
    imp_release(v->known);
}

/* Divides, and then merges what was not two after all, until nothing is divided. No more are merged
 * than were divided: many groups together look like one again, and everything would be merged. If
 * nothing is divided at first, the groups are as they were. */
static imp_status run(division *v, bool *changed, imp_error *error)
{
    imp_status status = IMP_OK;
    size_t made, joined;
    *changed = false;
    list_members(v);
    for (int round = 0; round < ROUNDS && !status; round++) {
        status = divide_all(v, &made, error);
        if (made == 0)
            break;
        *changed = true;
        for (joined = 1; joined > 0 && made > 0 && !status; made -= joined)
            status = join_some(v, made, &joined, error);
    }
    return status;
}

imp_status imp_divide(const float *rows, size_t n, size_t d, int threads, int32_t *assignment,
                      size_t *groups, imp_error *error)
{
    division v = {.threads = threads};
    bool changed = false;
    imp_status status = imp_grouping_create(&v.g, rows, n, d, n, threads, error);
    if (!status)
        status = create(&v, n, error);
    if (!status)
        status = imp_grouping_begin(&v.g, assignment, *groups, error);
    if (!status) {
        const uint32_t *moved = v.g.groups.count < *groups ? v.g.groups.moved : NULL;
        for (size_t i = 0; i < n; i++) /* groups without points are gone */
            v.g.assignment[i] = moved ? (int32_t)moved[assignment[i]] : assignment[i];
        status = run(&v, &changed, error);
    }
    if (!status && changed) {
        memcpy(assignment, v.g.assignment, n * sizeof *assignment);
        *groups = v.g.groups.count;
    }
    release(&v);
    return status;
}
