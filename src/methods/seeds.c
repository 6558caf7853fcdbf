/* seeds.c - finds initial means: small groups of one half of a sample, merged where the other half
 * cannot tell them apart. */
#include "methods/seeds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "methods/apart.h"
#include "methods/components.h"
#include "methods/divide.h"
#include "methods/farthest_first.h"
#include "methods/grouping.h"
#include "methods/spherical.h"
#include "methods/ward.h"

enum {
    MOST_POINTS = 8000,    /* of a sample */
    MOST_VALUES = 1 << 25, /* values in a sample */
    FEWEST_POINTS = 200,   /* of a sample, however many values these have */
    MOST_GROUPS = 1000,    /* initially */
    GROUP = 6,
    SMALL_GROUP = 3, /* points per group on average */
    FEW = 60,        /* with no more points than this, groups are small */
    AT_ONCE = 10,    /* one in this many groups is merged before means are recomputed */
    FIRST_PASSES = 5,
    PASSES = 3,
    MOST_BY_WARD = 500, /* largest wanted number found by Ward's method */
    POINTS_BY_WARD = 4000,
    LAST_PASSES = 10,
    MANY_DIMENSIONS = 16, /* of spherical groups; in fewer, other shapes look like them */
};

/* ---- the sample ---- */

typedef struct sample {
    size_t n, d;
    float *rows;    /* (n, d), in random order */
    float *reduced; /* (n, q) */
    size_t q;
    int threads;
} sample;

/* One point from each of n equal intervals of the source, then shuffled. */
static imp_status take_sample(sample *s, const imp_point_source *source, size_t most,
                              imp_error *error)
{
    size_t d = source->dimensions, fit = MOST_VALUES / d;
    most = most < fit ? most : fit > FEWEST_POINTS ? fit : FEWEST_POINTS;
    size_t n = source->count < most ? source->count : most;
    s->n = n;
    s->d = d;
    s->rows = imp_allocate(n * d, sizeof *s->rows);
    uint32_t *number = imp_allocate(n, sizeof *number), *order = imp_allocate(n, sizeof *order);
    imp_reader reader;
    imp_status status =
        s->rows && number && order ? IMP_OK : imp_fail_memory(error, "a sample of the points");
    imp_random random = imp_random_start(1, IMP_STREAM_HELD_OUT, 0);
    for (size_t i = 0; i < n && !status; i++) {
        size_t begin = imp_block_begin(source->count, n, i);
        size_t end = imp_block_begin(source->count, n, i + 1);
        number[i] = (uint32_t)(begin + imp_random_below(&random, (uint32_t)(end - begin)));
        order[i] = (uint32_t)i;
    }
    if (!status) {
        imp_random_shuffle(&random, order, n);
        status = imp_reader_create(&reader, source, number, 1, error);
    }
    if (!status) {
        for (size_t i = 0; i < n && !status; i++) {
            const float *row;
            status = imp_reader_read(&reader, i, 1, &row, error);
            if (!status)
                memcpy(s->rows + order[i] * d, row, d * sizeof *row);
        }
        imp_reader_release(&reader);
    }
    imp_release(number);
    imp_release(order);
    if (!status)
        status =
            imp_principal_components(s->rows, n, d, IMP_MOST_COMPONENTS, &s->reduced, &s->q, error);
    return status;
}

/* ---- merging ---- */

/* The memory of a round of merging. */
typedef struct joining {
    imp_grouping *g;
    imp_group_pair *pairs;
    uint32_t *member;  /* (n - made): held-out points, group by group */
    size_t *first;     /* (groups + 1): where each begins */
    double *t, *share; /* (n) */
    bool *joined;      /* (groups) */
    double least;      /* evidence of a pair that is distinct */
} joining;

static void list_members(joining *r)
{
    const imp_grouping *g = r->g;
    size_t groups = g->groups.count, begin = 0;
    memset(r->first, 0, (groups + 1) * sizeof *r->first);
    for (size_t i = g->made; i < g->count; i++)
        r->first[g->assignment[i] + 1]++;
    for (size_t c = 0; c <= groups; c++)
        begin = r->first[c] += begin;
    for (size_t i = g->count; i-- > g->made;)
        r->member[--r->first[g->assignment[i] + 1]] = (uint32_t)i;
    /* Each entry is now that of the group before. */
    memmove(r->first, r->first + 1, groups * sizeof *r->first);
    r->first[groups] = g->count - g->made;
}

/* The evidence, beyond what is required, that the held-out points of two groups are from two. */
static double apart(joining *r, size_t a, size_t b)
{
    const imp_clusters *groups = &r->g->groups;
    const double *from = imp_clusters_mean(groups, a), *to = imp_clusters_mean(groups, b);
    size_t q = groups->dimensions, count = 0, both[2] = {a, b};
    double square = 0;
    for (size_t j = 0; j < q; j++)
        square += (to[j] - from[j]) * (to[j] - from[j]);
    for (size_t side = 0; side < 2 && square > 0; side++)
        for (size_t k = r->first[both[side]]; k < r->first[both[side] + 1]; k++) {
            const float *x = r->g->rows + r->member[k] * q;
            double product = 0;
            for (size_t j = 0; j < q; j++)
                product += (x[j] - from[j]) * (to[j] - from[j]);
            r->t[count++] = product / square;
        }
    if (count < 4)
        return -1;
    return imp_evidence_of_two(r->t, count, r->share) - imp_evidence_required(count);
}

/* Merges some of the cheapest pairs that are not distinct; returns how many. */
static size_t join_some(joining *r)
{
    imp_grouping *g = r->g;
    size_t pairs = imp_grouping_pairs(g, r->pairs), most = g->groups.count / AT_ONCE + 1, made = 0;
    list_members(r);
    memset(r->joined, 0, g->groups.count * sizeof *r->joined);
    r->least = INFINITY;
    for (size_t k = 0; k < pairs && made < most; k++) {
        size_t a = r->pairs[k].a, b = r->pairs[k].b;
        if (r->joined[a] || r->joined[b])
            continue;
        double found = apart(r, a, b);
        if (found > 0) {
            r->least = fmin(r->least, found + imp_evidence_required(0));
            continue;
        }
        r->joined[a] = r->joined[b] = true;
        imp_grouping_join(g, a, b);
        made++;
    }
    imp_grouping_drop_joined(g);
    return made;
}

static imp_status join_until_apart(imp_grouping *g, double *least, imp_error *error)
{
    size_t n = g->count, groups = g->groups.count;
    joining r = {.g = g,
                 .pairs = imp_allocate(groups * IMP_GROUP_NEIGHBORS, sizeof *r.pairs),
                 .member = imp_allocate(n, sizeof *r.member),
                 .first = imp_allocate(groups + 2, sizeof *r.first),
                 .t = imp_allocate(n, sizeof *r.t),
                 .share = imp_allocate(n, sizeof *r.share),
                 .joined = imp_allocate(groups, sizeof *r.joined),
                 .least = INFINITY};
    imp_status status = r.pairs && r.member && r.first && r.t && r.share && r.joined
                            ? imp_grouping_settle(g, FIRST_PASSES, error)
                            : imp_fail_memory(error, "groups of points");
    while (!status && g->groups.count > 1 && join_some(&r) > 0)
        status = imp_grouping_settle(g, PASSES, error);
    *least = r.least;
    imp_release(r.pairs);
    imp_release(r.member);
    imp_release(r.first);
    imp_release(r.t);
    imp_release(r.share);
    imp_release(r.joined);
    return status;
}

/* ---- seeds ---- */

/* Means of the sample's original points, by the groups of their projections. */
static imp_status place_seeds(imp_seeds *seeds, const sample *s, const int32_t *group,
                              size_t groups, imp_error *error)
{
    size_t d = s->d;
    double *sum = imp_allocate_zeroed(groups * d, sizeof *sum), distance = 0;
    double *size = imp_allocate_zeroed(groups, sizeof *size);
    seeds->mean = imp_allocate(groups * d, sizeof *seeds->mean);
    if (!sum || !size || !seeds->mean) {
        imp_release(sum);
        imp_release(size);
        return imp_fail_memory(error, "the seeds of clusters");
    }
    for (size_t i = 0; i < s->n; i++) {
        size[group[i]]++;
        for (size_t j = 0; j < d; j++)
            sum[(size_t)group[i] * d + j] += s->rows[i * d + j];
    }
    for (size_t c = 0; c < groups; c++)
        for (size_t j = 0; j < d; j++)
            sum[c * d + j] /= fmax(size[c], 1);
    for (size_t i = 0; i < s->n; i++)
        distance += imp_squared_distance(s->rows + i * d, sum + (size_t)group[i] * d, d);
    for (size_t c = 0; c < groups; c++) {
        if (size[c] == 0)
            continue;
        for (size_t j = 0; j < d; j++)
            seeds->mean[seeds->count * d + j] = (float)sum[c * d + j];
        seeds->count++;
    }
    seeds->within = distance / (double)s->n;
    seeds->sampled = s->n;
    imp_release(sum);
    imp_release(size);
    return IMP_OK;
}

/* The groups, if they are spherical noise in many dimensions. */
static imp_status find_spherical(const sample *s, int32_t *group, size_t *groups, bool *found,
                                 imp_error *error)
{
    float *projected = NULL;
    const float *reduced = s->reduced;
    size_t q = s->q;
    imp_status status = IMP_OK;
    if (s->d < MANY_DIMENSIONS)
        return IMP_OK;
    if (q == s->d) {
        status = imp_principal_components(s->rows, s->n, s->d, 0, &projected, &q, error);
        reduced = projected;
    }
    if (!status && q < s->d && q < IMP_MOST_COMPONENTS) /* the others are noise */
        status = imp_spherical_groups(s->rows, s->n, s->d, reduced, q, s->threads, group, groups,
                                      found, error);
    imp_release(projected);
    return status;
}

static imp_status find_by_ward(imp_seeds *seeds, const sample *s, size_t wanted, imp_error *error)
{
    imp_grouping g;
    size_t count = wanted, made = wanted > 0 ? s->n : s->n / 2;
    if (wanted == 0) {
        count = made / (made > FEW ? GROUP : SMALL_GROUP);
        count = count > MOST_GROUPS ? MOST_GROUPS : count;
    }
    imp_status status = imp_grouping_create(&g, s->reduced, s->n, s->q, made, s->threads, error);
    if (!status)
        status = imp_ward(s->reduced, made, s->q, count, s->threads, g.assignment, error);
    if (!status)
        status = imp_grouping_begin(&g, g.assignment, count, error);
    if (!status)
        status = wanted > 0 ? imp_grouping_settle(&g, LAST_PASSES, error)
                            : join_until_apart(&g, &seeds->least, error);
    size_t groups = g.groups.count;
    bool noisy = s->q < s->d && s->q < IMP_MOST_COMPONENTS; /* beyond the components is noise */
    if (!status && wanted == 0)
        status = find_spherical(s, g.assignment, &groups, &seeds->spherical, error);
    if (seeds->spherical)
        seeds->least = INFINITY; /* nothing of it is left */
    if (!status && wanted == 0 && noisy && !seeds->spherical)
        status = imp_divide(s->rows, s->n, s->d, s->threads, g.assignment, &groups, error);
    if (!status)
        status = place_seeds(seeds, s, g.assignment, groups, error);
    seeds->groups = seeds->spherical ? imp_spherical_initial(s->n) : count;
    imp_grouping_release(&g);
    return status;
}

/* The first points of a farthest-first traversal, as long as they are distinct. */
static imp_status find_farthest(imp_seeds *seeds, const imp_point_source *source, size_t wanted,
                                const imp_crew *crew, imp_error *error)
{
    size_t d = source->dimensions, row, values;
    imp_traversal traversal;
    imp_status status = imp_traversal_begin(&traversal, source, crew->threads, error);
    if (status)
        return status;
    seeds->mean =
        imp_multiply(wanted, d, &values) ? imp_allocate(values, sizeof *seeds->mean) : NULL;
    if (!seeds->mean)
        status = imp_fail_memory(error, "the seeds of clusters");
    while (!status && seeds->count < wanted) {
        if (seeds->count > 0 && imp_traversal_radius(&traversal) <= 0)
            break;
        seeds->within = seeds->count > 0 ? imp_traversal_radius(&traversal) : 0;
        status = imp_traversal_next(&traversal, &row, error);
        if (!status) /* nothing of a pass is done yet, but somebody may want to stop */
            status = imp_crew_done(crew, 0, 0, error);
        if (!status)
            memcpy(seeds->mean + seeds->count++ * d, traversal.center, d * sizeof *seeds->mean);
    }
    seeds->within = imp_traversal_radius(&traversal);
    seeds->sampled = source->count;
    imp_traversal_end(&traversal);
    return status;
}

imp_status imp_seeds_find(imp_seeds *seeds, const imp_point_source *source, size_t wanted,
                          const imp_crew *crew, imp_error *error)
{
    *seeds = (imp_seeds){.least = INFINITY};
    if (wanted > MOST_BY_WARD || (wanted > 0 && 8 * wanted > source->count))
        return find_farthest(seeds, source, wanted, crew, error);
    sample s = {.threads = crew->threads};
    imp_status status = take_sample(&s, source, wanted > 0 ? POINTS_BY_WARD : MOST_POINTS, error);
    if (!status)
        status = find_by_ward(seeds, &s, wanted, error);
    imp_release(s.rows);
    imp_release(s.reduced);
    return status;
}

void imp_seeds_release(imp_seeds *seeds)
{
    imp_release(seeds->mean);
    *seeds = (imp_seeds){0};
}
