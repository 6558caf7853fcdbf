/*
 * classify.c - step 6 of Algorithm 1, for one query and for many.
 *
 * The score of a class is the log density of its best cluster. Many queries are first scored
 * against all clusters in integers. That gives each class's score within a known error; clusters
 * that could be the best of a class that matters are then scored in double precision.
 */
#include "methods/classify.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/rooms.h"
#include "methods/columns.h"
#include "methods/softmax.h"

/* ---- one query ---- */

/* Considers cluster c with that density; ties go to the first in the list. */
static void consider(const imp_clusters *clusters, size_t way, size_t c, double density,
                     size_t *best, double *score)
{
    size_t class = clusters->label[c] < 0 ? way : (size_t)clusters->label[c];
    /* Any cluster, however unlikely, beats none. */
    density = density > -DBL_MAX ? density : -DBL_MAX;
    if (best[class] == IMP_NO_CLUSTER || density > score[class] ||
        (density == score[class] && c < best[class])) {
        best[class] = c;
        score[class] = density;
    }
}

void imp_best_clusters(const imp_clusters *clusters, size_t way, const float *x, size_t *best,
                       double *score)
{
    for (size_t k = 0; k <= way; k++) {
        best[k] = IMP_NO_CLUSTER;
        score[k] = -INFINITY;
    }
    for (size_t c = 0; c < clusters->count; c++)
        consider(clusters, way, c, imp_clusters_log_density(clusters, c, x), best, score);
}

void imp_agree(float *probability, size_t outcomes, size_t chosen)
{
    float most = probability[chosen];
    int rivals = 0;
    for (size_t o = 0; o < chosen; o++)
        rivals |= probability[o] >= most;
    for (size_t o = chosen + 1; o < outcomes; o++)
        rivals |= probability[o] > most;
    if (!rivals)
        return;
    for (size_t o = 0; o < outcomes; o++)
        most = probability[o] > most ? probability[o] : most;
    probability[chosen] = nextafterf(most, INFINITY);
}

/* The decision for a query. */
typedef struct decision {
    size_t class, cluster; /* cluster is IMP_NO_CLUSTER if all clusters were dropped */
    double distance;       /* squared, to that cluster's mean */
} decision;

static void write_answer(const decision *made, size_t way, size_t q, const imp_decisions *decisions)
{
    bool decided = made->cluster != IMP_NO_CLUSTER;
    if (decisions->label)
        decisions->label[q] = made->class < way ? (int32_t)made->class : IMP_UNLABELED;
    if (decisions->cluster)
        decisions->cluster[q] = decided ? (int32_t)made->cluster : -1;
    if (decisions->distance)
        decisions->distance[q] = decided ? (float)made->distance : INFINITY;
}

void imp_decide(const imp_clusters *clusters, size_t way, bool open_set, const float *x,
                const size_t *best, const double *score, size_t q, const imp_decisions *decisions)
{
    /* Without classes the only choice is "none of these". */
    decision made = {.class = way > 0 ? imp_largest(score, way + open_set) : 0};
    made.cluster = best[made.class];
    if (decisions->distance && made.cluster != IMP_NO_CLUSTER)
        made.distance = imp_clusters_distance(clusters, made.cluster, x);
    write_answer(&made, way, q, decisions);
    size_t outcomes = way + open_set;
    if (decisions->probability && outcomes > 0) {
        float *probability = decisions->probability + q * outcomes;
        imp_probabilities(score, outcomes, probability);
        imp_agree(probability, outcomes, made.class);
    }
}

/* ---- many ---- */

enum {
    PART = 4 * IMP_NEAREST_POINTS, /* queries that one thread takes at a time */
    LEAST_BLOCK = 64 * PART,       /* queries that all threads take together */
    FEW = 256,                     /* with fewer queries or clusters columns do not pay */
    FEW_CLUSTERS = 16,
    SMALL_GROUP = 12,      /* points whose scores stay in the L1 cache */
    SMALL = 1 << 19,       /* bytes of columns that stay in the L2 cache */
    LEAST_LOGARITHM = -60, /* of the terms that imp_kernels.nearest_shares() adds up */
    FIRST_HALVING = 2,     /* tails are tried from a fourth of their limit on */
    MOST_ERROR = 80,       /* above it, shares relative to the approximate best are not used */
};

/* The largest error of a probability, apart from float rounding. */
static const double tolerance = 8e-7;

/* fmax() would be a call, and has to handle NaN. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The memory of one thread. */
typedef struct workspace {
    imp_rounded points;
    int32_t *scores; /* (IMP_NEAREST_POINTS, columns) */
    imp_slots slots; /* whose leaders are clusters */
    int32_t largest[IMP_MOST_SECTIONS];
    uint32_t *slot;              /* slots of classes that matter */
    float *slot_share;           /* by slot: its density relative to the best slot */
    float *largest_share;        /* by class: the largest of its slots, */
    float *share;                /* one of these two; later with exact values filled in */
    size_t *best;                /* by class */
    double *score;               /* by class */
    uint32_t *candidate, *class; /* clusters to be scored in double precision, and their classes */
    double *candidate_distance;
    double *candidate_density;
    float *candidate_share;
    int32_t enough; /* leaders of slots that score so much are candidates, */
    bool alone;     /* and they are all: no two candidates are of one class */

    /* Of the points at hand: by how much two log densities of one can change places, and the
     * logarithm of what all classes may have together that stay rough; that itself, and how far
     * below the best they are safe for any distribution of scores; and a slot's share of the best
     * one of its class below which it does not matter. */
    double error, limit, limit_share, widest;
    float least_of_class;
} workspace;

typedef struct job {
    const imp_clusters *clusters;
    size_t way;
    bool open_set, rough; /* whether columns are used */
    bool alike;           /* all clusters are columns of one section */
    bool bytes;           /* with 8 bits */
    size_t group;         /* points scored together */
    imp_columns columns;
    workspace *workspaces; /* per thread */
    const imp_decisions *decisions;
    size_t begin, end; /* the block's queries */
    const float *rows; /* of these */
} job;

/* Those from the first one on. */
static imp_slots slots_from(const imp_slots *slots, size_t first)
{
    return (imp_slots){slots->best + first, slots->second + first, slots->leader + first};
}

/* Finds the best of each slot; returns the best density of all. */
static double score_slots(const job *work, workspace *w, size_t r)
{
    const imp_columns *columns = &work->columns;
    const imp_kernels *kernels = columns->frame.kernels;
    const int32_t *scores = w->scores + r * columns->stride;
    double most = -INFINITY;
    for (size_t s = 0; s < columns->sections; s++) {
        const imp_section *section = &columns->section[s];
        imp_slots slots = slots_from(&w->slots, section->first_group * kernels->lanes);
        imp_density_line line = imp_columns_density(section, &w->points, r);
        w->largest[s] = kernels->nearest_maxima(
            section->end_group - section->first_group, columns->group + section->first_group,
            scores + section->begin, columns->cluster + section->begin, &slots);
        most = larger(most, line.base + line.slope * w->largest[s]);
    }
    return most;
}

/* The shares of all slots and classes. Returns how far below the best classes may stay rough. */
static double share_out(const job *work, workspace *w, size_t r, double most)
{
    const imp_columns *columns = &work->columns;
    const imp_kernels *kernels = columns->frame.kernels;
    float tail[IMP_TAIL_STEPS] = {0};
    for (size_t s = 0; s < columns->sections; s++) {
        const imp_section *section = &columns->section[s];
        size_t first = section->first_group * kernels->lanes;
        size_t end = section->end_group * kernels->lanes;
        imp_density_line line = imp_columns_density(section, &w->points, r);
        double offset = line.base + line.slope * w->largest[s] - most;
        kernels->nearest_shares(
            end - first, w->slots.best + first, w->largest[s], (float)line.slope, (float)offset,
            (float)w->limit_share / (1 << FIRST_HALVING), w->slot_share + first, tail);
    }
    w->share = columns->ordered ? w->slot_share : w->largest_share;
    if (!columns->ordered) {
        memset(w->share, 0, (work->way + 1) * sizeof *w->share);
        for (size_t slot = 0; slot < columns->groups * kernels->lanes; slot++)
            if (columns->slot_class[slot] >= 0) {
                float *share = &w->share[columns->slot_class[slot]];
                *share = *share > w->slot_share[slot] ? *share : w->slot_share[slot];
            }
    }
    size_t step = 0; /* the sums fall; where a loop would end is hard to predict */
    for (size_t s = 0; s < IMP_TAIL_STEPS; s++)
        step += !(tail[s] <= (float)w->limit_share);
    bool known = w->limit > LEAST_LOGARITHM && step < IMP_TAIL_STEPS;
    return known ? (double)(step + FIRST_HALVING) * log(2) - w->limit : w->widest;
}

/* Collects the clusters of a slot that score at least `close`. */
static size_t collect_slot(const imp_columns *columns, const workspace *w, const int32_t *scores,
                           size_t slot, int32_t close, uint32_t *candidate, uint32_t *class)
{
    size_t lanes = columns->frame.kernels->lanes, column = columns->column[slot], found = 0;
    candidate[0] = (uint32_t)w->slots.leader[slot];
    class[0] = (uint32_t)columns->slot_class[slot];
    if (w->slots.second[slot] < close)
        return 1;
    const imp_slot_group *group = &columns->group[slot / lanes];
    for (size_t lane = 0; lane < lanes; lane += group->width)
        for (size_t row = 0; row < group->depth; row++)
            if (scores[column + lane + row * lanes] >= close) {
                candidate[found] = (uint32_t)columns->cluster[column + lane + row * lanes];
                class[found++] = (uint32_t)columns->slot_class[slot];
            }
    return found;
}

/* Collects every cluster that may be the best of a class whose score is no less than `least`. */
static size_t collect(const job *work, workspace *w, size_t r, double least)
{
    const imp_columns *columns = &work->columns;
    const imp_kernels *kernels = columns->frame.kernels;
    const int32_t *scores = w->scores + r * columns->stride;
    size_t found = 0;
    for (size_t i = 0; i < columns->strays; i++) {
        int32_t label = work->clusters->label[columns->stray[i]];
        w->class[found] = label < 0 ? (uint32_t)work->way : (uint32_t)label;
        w->candidate[found++] = columns->stray[i];
    }
    for (size_t s = 0; s < columns->sections; s++) {
        const imp_section *section = &columns->section[s];
        imp_density_line line = imp_columns_density(section, &w->points, r);
        size_t first = section->first_group * kernels->lanes;
        size_t end = section->end_group * kernels->lanes;
        w->enough = imp_columns_whole(line, least);
        double whole = w->error / line.slope + 3;
        int32_t apart = whole < INT32_MAX ? (int32_t)whole : INT32_MAX;
        size_t leaders;
        w->alone = columns->single && work->alike &&
                   kernels->nearest_leaders(end, &w->slots, columns->slot_class, w->enough, apart,
                                            w->candidate, w->class, &leaders);
        if (w->alone)
            return leaders;
        size_t slots =
            kernels->nearest_over(end - first, w->slots.best + first, w->enough, w->slot);
        for (size_t i = 0; i < slots; i++) {
            size_t slot = first + w->slot[i];
            int64_t close = (int64_t)w->slots.best[slot] - apart;
            if (columns->single ||
                !(w->slot_share[slot] <
                  w->least_of_class * w->largest_share[columns->slot_class[slot]]))
                found += collect_slot(columns, w, scores, slot,
                                      close > IMP_LEAST_SCORE ? (int32_t)close : IMP_LEAST_SCORE,
                                      w->candidate + found, w->class + found);
        }
    }
    return found;
}

/* Decides by the densities of candidates at x; returns the largest. */
static double decide(const job *work, workspace *w, const float *x, size_t count, decision *made)
{
    const imp_clusters *clusters = work->clusters;
    const imp_kernels *kernels = work->columns.frame.kernels;
    const imp_section *section = work->columns.section;
    double *density = w->candidate_density, best = -INFINITY;
    size_t first = 0, ties = count; /* those before the first are not the best */
    if (work->alike)
        ties = kernels->log_densities(clusters->dimensions, x, clusters->mean, w->candidate, count,
                                      section->offset, 2 * section->sigma, w->candidate_distance,
                                      density, &first);
    else
        kernels->distances(clusters->dimensions, x, clusters->mean, w->candidate, count,
                           w->candidate_distance);
    for (size_t i = 0; i < count && !work->alike; i++) {
        size_t c = w->candidate[i];
        double here = clusters->offset[c] - w->candidate_distance[i] / (2 * clusters->sigma[c]);
        density[i] = larger(here, -DBL_MAX);
        if (density[i] > best) {
            best = density[i];
            first = i;
        }
    }
    *made = (decision){.cluster = IMP_NO_CLUSTER};
    for (size_t i = first; i < count && (i == first || ties > 1); i++) {
        size_t c = w->candidate[i], class = w->class[i];
        if (density[i] == density[first] &&
            (i == first || class < made->class || (class == made->class && c < made->cluster)))
            *made = (decision){class, c, w->candidate_distance[i]};
    }
    return count > 0 ? density[first] : -INFINITY;
}

/* Replaces the approximate shares of the candidates' classes, which are relative to `most`, by
 * exact ones; the best candidate's density is `best`. */
static void write_probabilities(const job *work, workspace *w, size_t count, double most,
                                double best, size_t chosen, float *probability)
{
    const imp_columns *columns = &work->columns;
    const imp_kernels *kernels = columns->frame.kernels;
    size_t outcomes = work->way + work->open_set;
    if (!(w->error < MOST_ERROR && most > -DBL_MAX)) { /* approximate shares are negligible then */
        most = best;
        memset(w->share, 0, outcomes * sizeof *w->share);
    }
    kernels->shares(count, w->candidate_density, most, w->candidate_share);
    bool in_slots = w->alone && columns->ordered;
    if (in_slots)
        kernels->replace_shares(columns->groups * kernels->lanes, w->slots.best, w->enough,
                                w->candidate_share, w->share);
    for (size_t i = 0; i < count && !in_slots; i++)
        w->share[w->class[i]] = w->alone ? w->candidate_share[i] : 0;
    for (size_t i = 0; i < count && !w->alone; i++) {
        float *share = &w->share[w->class[i]];
        *share = *share > w->candidate_share[i] ? *share : w->candidate_share[i];
    }
    if (kernels->scale_shares(outcomes, w->share, chosen, probability) != 1)
        imp_agree(probability, outcomes, chosen);
}

/* Decides on point r, which is query q, and writes the result unless q is IMP_NO_CLUSTER; returns
 * the number of clusters scored in double. */
static size_t decide_point(const job *work, workspace *w, size_t r, size_t q)
{
    size_t outcomes = work->way + work->open_set;
    bool shares = work->decisions->probability && outcomes > 0;
    double most = score_slots(work, w, r), window = w->error;
    if (shares || !work->columns.single) /* no class that could be the best stays approximate */
        window = larger(window, share_out(work, w, r, most));
    size_t count = collect(work, w, r, most - window);
    decision made;
    double best = decide(work, w, w->points.point[r], count, &made);
    if (q != IMP_NO_CLUSTER) {
        write_answer(&made, work->way, q, work->decisions);
        if (shares)
            write_probabilities(work, w, count, most, best, made.class,
                                work->decisions->probability + q * outcomes);
    }
    return count;
}

/* Quantises the current points and scores them against all clusters. */
static void score_group(const job *work, workspace *w)
{
    imp_columns_score(&work->columns, work->bytes, &w->points, w->scores);
    double error = 0;
    for (size_t r = 0; r < w->points.count; r++)
        if (w->points.inside[r])
            error = larger(error, w->points.error[r]);
    /* The error of an approximate log density is at most half of this. If R is the largest
     * approximate one, the true probability of a class with R - w is at most exp(error - w), with
     * an error of that times expm1(error / 2). */
    w->error = error / imp_columns_least_sigma(&work->columns);
    w->limit = log(tolerance / expm1(w->error / 2)) - w->error;
    w->limit_share = exp(larger(w->limit, LEAST_LOGARITHM));
    w->widest = log((double)(work->way + 1)) - w->limit;
    w->least_of_class = (float)(0.999 * exp(-w->error));
}

/* Asks for rows of points before they are needed. */
static void prefetch_rows(const float *rows, size_t values)
{
    enum { LINE = 16 }; /* values of a cache line */
    for (size_t i = 0; i < values; i += LINE)
        __builtin_prefetch(rows + i);
}

static void decide_part(size_t part, int worker, void *context)
{
    const job *work = context;
    workspace *w = &work->workspaces[worker];
    const imp_clusters *clusters = work->clusters;
    size_t d = clusters->dimensions, begin = work->begin + part * PART;
    size_t end = work->end - begin < PART ? work->end : begin + PART;
    for (; begin < end; begin += w->points.count) {
        size_t left = end - begin;
        const float *rows = work->rows + (begin - work->begin) * d;
        w->points.count = left < work->group ? left : work->group;
        left -= w->points.count;
        for (size_t r = 0; r < w->points.count; r++)
            w->points.point[r] = rows + r * d;
        prefetch_rows(rows + w->points.count * d, (left < work->group ? left : work->group) * d);
        if (work->rough)
            score_group(work, w);
        for (size_t r = 0; r < w->points.count; r++) {
            const float *x = w->points.point[r];
            if (work->rough && w->points.inside[r]) {
                decide_point(work, w, r, begin + r);
            } else {
                imp_best_clusters(clusters, work->way, x, w->best, w->score);
                imp_decide(clusters, work->way, work->open_set, x, w->best, w->score, begin + r,
                           work->decisions);
            }
        }
    }
}

/* ---- 8 bits or 16 ---- */

/* Whether bytes pay in a block, judged by its first points: they halve the time of the integer
 * scores but leave more clusters to score in double precision. */
static bool bytes_pay(job *work)
{
    workspace *w = &work->workspaces[0];
    size_t d = work->clusters->dimensions, looked_at = 0, points = 0;
    size_t left = work->end - work->begin;
    if (!work->columns.packed_bytes)
        return false;
    w->points.count = left < work->group ? left : work->group;
    for (size_t r = 0; r < w->points.count; r++)
        w->points.point[r] = work->rows + r * d;
    work->bytes = true;
    score_group(work, w);
    for (size_t r = 0; r < w->points.count; r++) {
        if (w->points.inside[r])
            looked_at += decide_point(work, w, r, IMP_NO_CLUSTER), points++;
    }
    /* In cycles: one for 64 byte products, about one per dimension in double, plus some per
     * cluster. */
    return looked_at * (d + 20) * 64 < points * work->columns.count * d;
}

enum { ROOMS = 15 };

static size_t larger_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* A thread's arrays. Without columns only the first two exist. */
static size_t list_rooms(const job *work, workspace *w, imp_room rooms[ROOMS])
{
    const imp_columns *columns = &work->columns;
    size_t clusters = work->clusters->count, outcomes = work->way + 1;
    size_t lanes = work->rough ? columns->frame.kernels->lanes : 0, slots = columns->groups * lanes;
    const imp_room all[ROOMS] = {
        IMP_ROOM(w->best, outcomes, 1),
        IMP_ROOM(w->score, outcomes, 1),
        IMP_ROOM(w->points.rows, IMP_NEAREST_POINTS, imp_row_halves(work->clusters->dimensions)),
        IMP_ROOM(w->scores, IMP_NEAREST_POINTS, columns->stride),
        IMP_ROOM(w->slots.best, slots, 1),
        IMP_ROOM(w->slots.second, slots, 1),
        IMP_ROOM(w->slots.leader, slots, 1),
        IMP_ROOM(w->slot, slots, 1),
        IMP_ROOM(w->slot_share, slots, 1),
        IMP_ROOM(w->largest_share, outcomes, 1),
        /* nearest_leaders() may write one entry per slot */
        IMP_ROOM(w->candidate, larger_size(clusters, slots), 1),
        IMP_ROOM(w->class, larger_size(clusters, slots), 1),
        /* kernels store and load whole vectors */
        IMP_ROOM(w->candidate_distance, clusters + lanes, 1),
        IMP_ROOM(w->candidate_density, clusters + lanes, 1),
        IMP_ROOM(w->candidate_share, clusters + lanes, 1),
    };
    memcpy(rooms, all, sizeof all);
    return work->rough ? ROOMS : 2;
}

static void release_workspaces(job *work, int threads)
{
    imp_room rooms[ROOMS];
    for (int i = 0; work->workspaces && i < threads; i++)
        imp_rooms_release(rooms, list_rooms(work, &work->workspaces[i], rooms));
    imp_release(work->workspaces);
}

static imp_status create_workspaces(job *work, int threads, imp_error *error)
{
    size_t d = work->clusters->dimensions;
    work->workspaces = imp_allocate_zeroed((size_t)threads, sizeof *work->workspaces);
    bool enough = work->workspaces != NULL;
    for (int i = 0; enough && i < threads; i++) {
        imp_room rooms[ROOMS];
        workspace *w = &work->workspaces[i];
        enough = imp_rooms_make(rooms, list_rooms(work, w, rooms));
        if (enough && work->rough) /* kernels also read the unused rows */
            memset(w->points.rows, 0,
                   IMP_NEAREST_POINTS * imp_row_halves(d) * sizeof *w->points.rows);
    }
    return enough ? IMP_OK : imp_fail_memory(error, "the answers");
}

static imp_status decide_blocks(job *work, const imp_point_source *queries, int threads,
                                imp_error *error)
{
    imp_reader reader;
    size_t block = larger_size(imp_source_block(queries), LEAST_BLOCK);
    imp_status status = imp_reader_create(&reader, queries, NULL, block, error);
    for (; work->begin < queries->count && !status; work->begin = work->end) {
        size_t left = queries->count - work->begin;
        work->end = work->begin + (left < block ? left : block);
        status = imp_reader_read(&reader, work->begin, work->end - work->begin, &work->rows, error);
        if (!status)
            work->bytes = work->rough && bytes_pay(work);
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
    job work = {.clusters = clusters,
                .way = way,
                .open_set = open_set,
                .group = IMP_NEAREST_POINTS,
                .decisions = decisions};
    float *origin = NULL;
    imp_status status = IMP_OK;
    threads = imp_parallel_threads(threads);
    if (queries->count >= FEW && clusters->count >= FEW_CLUSTERS) {
        double radius;
        origin = imp_allocate(clusters->dimensions, sizeof *origin);
        status = origin ? imp_source_center(queries, origin, &radius, error)
                        : imp_fail_memory(error, "the answers");
        if (!status)
            status = imp_columns_create(&work.columns, clusters, way, open_set || way == 0, origin,
                                        radius, error);
        work.rough = work.columns.sections > 0;
        work.alike = work.columns.sections == 1 && work.columns.strays == 0;
        if (work.columns.count * clusters->dimensions * sizeof(int16_t) <= SMALL)
            work.group = SMALL_GROUP;
        if (!status && work.rough && clusters->dimensions <= IMP_MOST_BYTES &&
            work.columns.frame.kernels->nearest_bytes_pay())
            status = imp_columns_add_bytes(&work.columns, clusters, error);
    }
    if (!status)
        status = create_workspaces(&work, threads, error);
    if (!status)
        status = decide_blocks(&work, queries, threads, error);
    release_workspaces(&work, threads);
    imp_columns_release(&work.columns);
    imp_release(origin);
    return status;
}
