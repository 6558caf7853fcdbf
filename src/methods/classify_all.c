/*
 * classify_all.c - step 6 of Algorithm 1 for many queries.
 *
 * Integer scores give each class's score within a known error (candidates.h). Clusters that could
 * be the best of a class that matters are then scored in double precision.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/rooms.h"
#include "methods/candidates.h"
#include "methods/classify.h"

enum {
    PART = 4 * IMP_NEAREST_POINTS, /* queries that one thread takes at a time */
    LEAST_BLOCK = 64 * PART,       /* queries that all threads take together */
    MOST_ERROR = 80, /* above it, shares relative to the approximate best are not used */
    MUCH = 1 << 26   /* bytes of probabilities that no cache holds until they are read */
};

/* The memory of one thread. */
typedef struct workspace {
    imp_candidates found;
    size_t *best;  /* by class */
    double *score; /* by class */

    /* Of the listed candidates. */
    double *distance, *density;
    float *share;

    float *probability;                  /* (queries, outcomes) */
    imp_decision made[IMP_MOST_QUERIES]; /* by query */
    double most[IMP_MOST_QUERIES];       /* by query: the largest density of its candidates */
} workspace;

typedef struct job {
    imp_contest contest;
    bool open_set;
    size_t outcomes;       /* of which probabilities are wanted, or 0 */
    bool apart;            /* probabilities are written so that they displace nothing in caches */
    workspace *workspaces; /* per thread */
    const imp_decisions *decisions;
    size_t begin, end; /* the block's queries */
    const float *rows; /* of these */
} job;

/* ---- queries whose candidates are listed ---- */

/* The distances and densities of all candidates. */
static void score_candidates(const imp_contest *contest, workspace *w)
{
    const imp_clusters *clusters = contest->clusters;
    const imp_kernels *kernels = contest->columns.frame.kernels;
    const imp_candidates *found = &w->found;
    kernels->distances_in_fours(clusters->dimensions, found->points.point[0], found->point,
                                clusters->mean, found->cluster,
                                found->count / IMP_CANDIDATES_TOGETHER, w->distance);
    if (contest->alike) {
        const imp_section *section = contest->columns.section;
        kernels->densities(found->count, w->distance, section->offset, 2 * section->sigma,
                           w->density);
        return;
    }
    for (size_t i = 0; i < found->count; i++) {
        size_t c = found->cluster[i];
        double here = clusters->offset[c] - w->distance[i] / (2 * clusters->sigma[c]);
        w->density[i] = here > -DBL_MAX ? here : -DBL_MAX;
    }
}

/* Decides by the densities of a query's candidates; the largest of these is *most. */
static imp_decision decide(const imp_contest *contest, const workspace *w, const imp_query *q,
                           double *most)
{
    const double *density = w->density + q->first, *distance = w->distance + q->first;
    const uint32_t *cluster = w->found.cluster + q->first, *class = w->found.class + q->first;
    size_t first, ties = contest->columns.frame.kernels->largest(q->count, density, &first);
    imp_decision made = {.cluster = IMP_NO_CLUSTER};
    *most = ties > 0 ? density[first] : -INFINITY;
    for (size_t i = first; i < q->count && (i == first || ties > 1); i++)
        if (density[i] == density[first] && (i == first || class[i] < made.class ||
                                             (class[i] == made.class && cluster[i] < made.cluster)))
            made = (imp_decision){class[i], cluster[i], distance[i]};
    return made;
}

/* The exact shares of a query's candidates, the largest of whose densities is `most`. */
static void share(const job *work, workspace *w, imp_query *q, double most)
{
    bool near = most < q->most + MOST_ERROR; /* no stray is much nearer than all columns */
    if (!(w->found.error < MOST_ERROR && q->most > -DBL_MAX && near)) {
        q->most = most; /* rough shares are negligible */
        memset(q->share, 0, work->outcomes * sizeof *q->share);
    }
    work->contest.columns.frame.kernels->shares(q->count, w->density + q->first, q->most,
                                                w->share + q->first);
}

/* Replaces the rough shares of the candidates' classes by the exact ones. */
static void replace_shares(const imp_contest *contest, const workspace *w, const imp_query *q)
{
    const imp_columns *columns = &contest->columns;
    const uint32_t *class = w->found.class + q->first;
    const float *exact = w->share + q->first;
    bool in_slots = q->alone && columns->ordered;
    if (in_slots)
        columns->frame.kernels->replace_shares(contest->slots, q->slots.best, q->enough, exact,
                                               q->share);
    for (size_t i = columns->strays; i < q->count && !in_slots; i++) /* strays have no rough ones */
        q->share[class[i]] = q->alone ? exact[i] : 0;
    for (size_t i = 0; i < q->count && !q->alone; i++) {
        float *of_class = &q->share[class[i]];
        *of_class = *of_class > exact[i] ? *of_class : exact[i];
    }
}

/* Writes the probabilities of queries begin .. end-1; point r is query first + r of all. */
static void write_probabilities(const job *work, workspace *w, size_t begin, size_t end,
                                size_t first)
{
    const imp_kernels *kernels = work->contest.columns.frame.kernels;
    imp_query *query = w->found.query;
    size_t outcomes = work->outcomes;
    float *all = work->decisions->probability + first * outcomes;
    for (size_t i = begin; i < end; i++)
        share(work, w, &query[i], w->most[i]);
    for (size_t i = begin; i < end; i++)
        replace_shares(&work->contest, w, &query[i]);
    for (size_t i = begin; i < end; i++) {
        float *to = work->apart ? w->probability + i * outcomes : all + query[i].point * outcomes;
        if (kernels->scale_shares(outcomes, query[i].share, w->made[i].class, to) != 1)
            imp_agree(to, outcomes, w->made[i].class);
    }
    for (size_t next; work->apart && begin < end; begin = next) { /* neighbours together */
        for (next = begin + 1; next < end && query[next].point == query[next - 1].point + 1; next++)
            ;
        kernels->write_apart((next - begin) * outcomes, w->probability + begin * outcomes,
                             all + query[begin].point * outcomes);
    }
}

/* Answers queries begin .. end-1, whose candidates are all that are listed; point r is query
 * first + r. Each step is done for all of them: a processor that has mispredicted how many
 * candidates a query has begins anew, and by then the results it needs should be there. */
static void answer(const job *work, workspace *w, size_t begin, size_t end, size_t first)
{
    score_candidates(&work->contest, w);
    for (size_t i = begin; i < end; i++) {
        const imp_query *q = &w->found.query[i];
        w->made[i] = decide(&work->contest, w, q, &w->most[i]);
        imp_write_decision(&w->made[i], work->contest.way, first + q->point, work->decisions);
    }
    if (work->outcomes > 0)
        write_probabilities(work, w, begin, end, first);
    w->found.count = 0;
}

/* Answers all queries that were found among the points. */
static void answer_all(const job *work, workspace *w, size_t first)
{
    imp_candidates *found = &w->found;
    size_t done = 0;
    imp_candidates_prepare(&work->contest, found);
    for (size_t i = 0; i < found->queries; i++)
        if (imp_candidates_list(&work->contest, found, &found->query[i]) ||
            i + 1 == found->queries) {
            answer(work, w, done, i + 1, first);
            done = i + 1;
        }
    found->queries = 0;
}

/* ---- points ---- */

/* Asks for rows of points before they are needed. */
static void prefetch_rows(const float *rows, size_t values)
{
    enum { LINE = 16 }; /* values of a cache line */
    for (size_t i = 0; i < values; i += LINE)
        __builtin_prefetch(rows + i);
}

/* Points that follow each other, up to as many as are scored together. */
static void take_points(const job *work, imp_rounded *points, const float *rows, size_t count)
{
    points->count = count < work->contest.group ? count : work->contest.group;
    for (size_t r = 0; r < points->count; r++)
        points->point[r] = rows + r * work->contest.clusters->dimensions;
}

/* Decides query q by all clusters in double precision. */
static void decide_exactly(const job *work, workspace *w, const float *x, size_t q)
{
    const imp_contest *contest = &work->contest;
    imp_best_clusters(contest->clusters, contest->way, x, w->best, w->score);
    imp_decide(contest->clusters, contest->way, work->open_set, x, w->best, w->score, q,
               work->decisions);
}

/* Decides queries begin .. end-1 by candidates, apart from those that have no row. */
static void decide_roughly(const job *work, workspace *w, const float *rows, size_t begin,
                           size_t end)
{
    imp_candidates *found = &w->found;
    imp_rounded *points = &found->points;
    size_t d = work->contest.clusters->dimensions, group = work->contest.group;
    for (; begin < end; begin += points->count, rows += points->count * d) {
        size_t left = end - begin;
        take_points(work, points, rows, left);
        left -= points->count;
        prefetch_rows(rows + points->count * d, (left < group ? left : group) * d);
        imp_candidates_score(&work->contest, found);
        for (size_t r = 0; r < points->count; r++) {
            if (points->inside[r])
                found->query[found->queries++].point = r;
            else
                decide_exactly(work, w, points->point[r], begin + r);
            if (found->queries == work->contest.together || r + 1 == points->count)
                answer_all(work, w, begin);
        }
    }
}

static void decide_part(size_t part, int worker, void *context)
{
    const job *work = context;
    workspace *w = &work->workspaces[worker];
    size_t d = work->contest.clusters->dimensions, begin = work->begin + part * PART;
    size_t end = work->end - begin < PART ? work->end : begin + PART;
    const float *rows = work->rows + (begin - work->begin) * d;
    if (work->contest.group > 0)
        decide_roughly(work, w, rows, begin, end);
    for (size_t q = begin; q < end && work->contest.group == 0; q++)
        decide_exactly(work, w, rows + (q - begin) * d, q);
}

/* ---- all ---- */

enum { ROOMS = 6 };

/* A thread's arrays. Without columns only the first two exist. */
static size_t list_rooms(const job *work, workspace *w, imp_room rooms[ROOMS])
{
    const imp_contest *contest = &work->contest;
    size_t outcomes = contest->way + 1;
    size_t all = contest->group > 0 ? imp_candidates_room(contest) : 0;
    const imp_room each[ROOMS] = {
        IMP_ROOM(w->best, outcomes, 1), IMP_ROOM(w->score, outcomes, 1),
        IMP_ROOM(w->distance, all, 1),  IMP_ROOM(w->density, all, 1),
        IMP_ROOM(w->share, all, 1),     IMP_ROOM(w->probability, contest->together, work->outcomes),
    };
    memcpy(rooms, each, sizeof each);
    return contest->group > 0 ? ROOMS : 2;
}

static void release_workspaces(job *work, int threads)
{
    imp_room rooms[ROOMS];
    for (int i = 0; work->workspaces && i < threads; i++) {
        imp_rooms_release(rooms, list_rooms(work, &work->workspaces[i], rooms));
        if (work->contest.group > 0)
            imp_candidates_release(&work->workspaces[i].found, &work->contest);
    }
    imp_release(work->workspaces);
}

static imp_status create_workspaces(job *work, int threads, imp_error *error)
{
    imp_status status = IMP_OK;
    work->workspaces = imp_allocate_zeroed((size_t)threads, sizeof *work->workspaces);
    if (!work->workspaces)
        return imp_fail_memory(error, "the answers");
    for (int i = 0; i < threads && !status; i++) {
        imp_room rooms[ROOMS];
        workspace *w = &work->workspaces[i];
        if (!imp_rooms_make(rooms, list_rooms(work, w, rooms)))
            status = imp_fail_memory(error, "the answers");
        else if (work->contest.group > 0)
            status = imp_candidates_create(&w->found, &work->contest, error);
    }
    return status;
}

/* Judges by the first points of a block. */
static void choose_bytes(job *work)
{
    imp_candidates *found = &work->workspaces[0].found;
    take_points(work, &found->points, work->rows, work->end - work->begin);
    imp_candidates_choose_bytes(&work->contest, found);
}

static imp_status decide_blocks(job *work, const imp_point_source *queries, int threads,
                                imp_error *error)
{
    imp_reader reader;
    size_t block = imp_source_block(queries);
    block = block > LEAST_BLOCK ? block : LEAST_BLOCK;
    imp_status status = imp_reader_create(&reader, queries, NULL, block, error);
    for (; work->begin < queries->count && !status; work->begin = work->end) {
        size_t left = queries->count - work->begin;
        work->end = work->begin + (left < block ? left : block);
        status = imp_reader_read(&reader, work->begin, work->end - work->begin, &work->rows, error);
        if (!status && work->contest.group > 0)
            choose_bytes(work);
        if (!status)
            imp_parallel((work->end - work->begin + PART - 1) / PART, threads, decide_part, work);
    }
    imp_reader_release(&reader);
    return status;
}

imp_status imp_decide_all(const imp_clusters *clusters, size_t way, bool open_set,
                          const imp_point_source *queries, int threads,
                          const imp_decisions *decisions, imp_error *error)
{
    job work = {.open_set = open_set,
                .outcomes = decisions->probability ? way + open_set : 0,
                .decisions = decisions};
    work.apart = work.outcomes > 0 && queries->count > MUCH / sizeof(float) / work.outcomes;
    threads = imp_parallel_threads(threads);
    imp_status status = imp_contest_create(&work.contest, clusters, way, open_set,
                                           work.outcomes > 0, queries, error);
    if (status)
        return status;
    status = create_workspaces(&work, threads, error);
    if (!status)
        status = decide_blocks(&work, queries, threads, error);
    release_workspaces(&work, threads);
    imp_contest_release(&work.contest);
    return status;
}
