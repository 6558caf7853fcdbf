/*
 * constraints.c - clusters that respect must-link and cannot-link pairs and labels.
 *
 * Points that must be together form a block, which is assigned as a whole to the cluster nearest to
 * its mean (COP-k-means; Wagstaff et al., 2001), in order. Points of one class need not be in one
 * cluster, since a class may have several modes; but a cluster holds at most one class. A cluster
 * with several keeps the class of most of its labelled points, and each of the others starts a
 * cluster at their mean.
 */
#include "methods/constraints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/assign.h"

enum { MOST_PASSES = 50 };

struct imp_constraints {
    size_t n, d;
    size_t count;       /* constrained points */
    uint32_t *point;    /* (count): their indices, block by block */
    float *rows;        /* (count, d) */
    int32_t *final;     /* (count): their clusters */
    size_t blocks;      /* block b is points first[b] .. first[b + 1] - 1 */
    size_t *first;      /* (blocks + 1) */
    int32_t *class;     /* (blocks): or IMP_UNLABELED */
    double *mean;       /* (blocks, d) */
    uint32_t *apart;    /* pairs of blocks that must be apart */
    size_t apart_count; /* pairs */
};

/* ---- blocks ---- */

static uint32_t root_of(uint32_t *parent, uint32_t point)
{
    while (parent[point] != point)
        point = parent[point] = parent[parent[point]];
    return point;
}

static imp_status check(const imp_cluster_options *options, size_t n, imp_error *error)
{
    for (size_t k = 0; k < options->pair_count; k++) {
        const imp_cluster_pair *pair = &options->pairs[k];
        if (pair->a >= n || pair->b >= n || pair->a == pair->b)
            return imp_fail(error, IMP_EINVAL,
                            "pair %zu is of points %u and %u; a pair is of two different points "
                            "from 0 to %zu",
                            k, pair->a, pair->b, n - 1);
    }
    for (size_t i = 0; options->label && i < n; i++)
        if (options->label[i] < IMP_UNLABELED)
            return imp_fail(error, IMP_EINVAL,
                            "point %zu has the label %d; labels are classes, 0 or more, or -1 for "
                            "an unlabelled point",
                            i, (int)options->label[i]);
    return IMP_OK;
}

/* Joins points that must be together; class[root] becomes the class of a block. known[i] says
 * whether point i is constrained. */
static imp_status join_blocks(const imp_cluster_options *options, size_t n, uint32_t *parent,
                              int32_t *class, bool *known, imp_error *error)
{
    for (size_t i = 0; i < n; i++) {
        parent[i] = (uint32_t)i;
        class[i] = options->label ? options->label[i] : IMP_UNLABELED;
        known[i] = class[i] >= 0;
    }
    for (size_t k = 0; k < options->pair_count; k++) {
        const imp_cluster_pair *pair = &options->pairs[k];
        known[pair->a] = known[pair->b] = true;
        if (pair->apart)
            continue;
        uint32_t a = root_of(parent, pair->a), b = root_of(parent, pair->b);
        if (class[a] >= 0 && class[b] >= 0 && class[a] != class[b])
            return imp_fail(error, IMP_EINVAL,
                            "points %u and %u must be together, but they, or points joined with "
                            "them, are of the classes %d and %d",
                            pair->a, pair->b, (int)class[a], (int)class[b]);
        class[a] = class[a] >= 0 ? class[a] : class[b];
        parent[b] = a;
    }
    return IMP_OK;
}

/* Lists the blocks in the order of their first points; number[root] becomes the number of a block.
 */
static void list_blocks(imp_constraints *c, uint32_t *parent, const int32_t *class,
                        const bool *known, uint32_t *number)
{
    for (size_t i = 0; i < c->n; i++)
        number[i] = UINT32_MAX;
    for (size_t i = 0; i < c->n; i++) {
        uint32_t root = root_of(parent, (uint32_t)i);
        if (!known[i])
            continue;
        if (number[root] == UINT32_MAX) {
            number[root] = (uint32_t)c->blocks;
            c->class[c->blocks] = class[root];
            c->first[++c->blocks] = 0;
        }
        c->first[number[root] + 1]++;
    }
    for (size_t b = 0; b < c->blocks; b++)
        c->first[b + 1] += c->first[b];
    for (size_t i = c->n; i-- > 0;)
        if (known[i])
            c->point[--c->first[number[root_of(parent, (uint32_t)i)] + 1]] = (uint32_t)i;
    /* Each entry is now that of the block before. */
    memmove(c->first, c->first + 1, c->blocks * sizeof *c->first);
    c->first[c->blocks] = c->count;
}

static imp_status list_apart(imp_constraints *c, const imp_cluster_options *options,
                             uint32_t *parent, const uint32_t *number, imp_error *error)
{
    for (size_t k = 0; k < options->pair_count; k++) {
        const imp_cluster_pair *pair = &options->pairs[k];
        if (!pair->apart)
            continue;
        uint32_t a = number[root_of(parent, pair->a)], b = number[root_of(parent, pair->b)];
        if (a == b)
            return imp_fail(error, IMP_EINVAL,
                            "points %u and %u must be apart, but other pairs put them together",
                            pair->a, pair->b);
        c->apart[2 * c->apart_count] = a;
        c->apart[2 * c->apart_count++ + 1] = b;
    }
    return IMP_OK;
}

static imp_status read_rows(imp_constraints *c, const imp_point_source *source, imp_error *error)
{
    imp_reader reader;
    imp_status status = imp_reader_create(&reader, source, c->point, 1, error);
    if (status)
        return status;
    for (size_t k = 0; k < c->count && !status; k++) {
        const float *row;
        status = imp_reader_read(&reader, k, 1, &row, error);
        if (!status)
            memcpy(c->rows + k * c->d, row, c->d * sizeof *row);
    }
    imp_reader_release(&reader);
    for (size_t b = 0; b < c->blocks && !status; b++)
        for (size_t k = c->first[b]; k < c->first[b + 1]; k++)
            for (size_t j = 0; j < c->d; j++)
                c->mean[b * c->d + j] +=
                    c->rows[k * c->d + j] / (double)(c->first[b + 1] - c->first[b]);
    return status;
}

static imp_status fill(imp_constraints *c, const imp_cluster_options *options,
                       const imp_point_source *source, imp_error *error)
{
    size_t n = c->n;
    uint32_t *parent = imp_allocate(n, sizeof *parent), *number = imp_allocate(n, sizeof *number);
    int32_t *class = imp_allocate(n, sizeof *class);
    bool *known = imp_allocate(n, sizeof *known);
    imp_status status = parent && number && class && known
                            ? join_blocks(options, n, parent, class, known, error)
                            : imp_fail_memory(error, "what is known of points");
    for (size_t i = 0; i < n && !status; i++)
        c->count += known[i];
    if (!status) {
        c->point = imp_allocate(c->count, sizeof *c->point);
        c->rows = imp_allocate(c->count * c->d, sizeof *c->rows);
        c->final = imp_allocate(c->count, sizeof *c->final);
        c->first = imp_allocate_zeroed(c->count + 2, sizeof *c->first);
        c->class = imp_allocate(c->count, sizeof *c->class);
        c->mean = imp_allocate_zeroed(c->count * c->d, sizeof *c->mean);
        c->apart = imp_allocate(2 * options->pair_count, sizeof *c->apart);
        if (!c->point || !c->rows || !c->final || !c->first || !c->class || !c->mean || !c->apart)
            status = imp_fail_memory(error, "what is known of points");
    }
    if (!status) {
        list_blocks(c, parent, class, known, number);
        status = list_apart(c, options, parent, number, error);
    }
    if (!status)
        status = read_rows(c, source, error);
    imp_release(parent);
    imp_release(number);
    imp_release(class);
    imp_release(known);
    return status;
}

imp_status imp_constraints_create(const imp_cluster_options *options,
                                  const imp_point_source *source, imp_constraints **out,
                                  imp_error *error)
{
    *out = NULL;
    if (!options->label && options->pair_count == 0)
        return IMP_OK;
    imp_status status = check(options, source->count, error);
    if (status)
        return status;
    imp_constraints *c = imp_allocate_zeroed(1, sizeof *c);
    if (!c)
        return imp_fail_memory(error, "what is known of points");
    c->n = source->count;
    c->d = source->dimensions;
    status = fill(c, options, source, error);
    if (status) {
        imp_constraints_free(c);
        return status;
    }
    *out = c;
    return IMP_OK;
}

void imp_constraints_free(imp_constraints *constraints)
{
    if (!constraints)
        return;
    imp_release(constraints->point);
    imp_release(constraints->rows);
    imp_release(constraints->final);
    imp_release(constraints->first);
    imp_release(constraints->class);
    imp_release(constraints->mean);
    imp_release(constraints->apart);
    imp_release(constraints);
}

/* ---- passes ---- */

/* A labelled point's vote for its class in its nearest cluster. */
typedef struct vote {
    int32_t cluster, class;
    uint32_t known; /* its index among the constrained points */
} vote;

static int compare_votes(const void *a, const void *b)
{
    const vote *x = a, *y = b;
    if (x->cluster != y->cluster)
        return (x->cluster > y->cluster) - (x->cluster < y->cluster);
    if (x->class != y->class)
        return (x->class > y->class) - (x->class < y->class);
    return (x->known > y->known) - (x->known < y->known);
}

/* Adds a cluster of that class at the mean of the points that voted. */
static imp_status add_at_votes(const imp_constraints *c, imp_clusters *clusters, const vote *votes,
                               size_t count, imp_error *error)
{
    imp_status status = imp_clusters_add(clusters, votes->class, 1, NULL, error);
    double *mean = status ? NULL : imp_clusters_mean(clusters, clusters->count - 1);
    for (size_t k = 0; k < count && !status; k++)
        for (size_t j = 0; j < c->d; j++)
            mean[j] += c->rows[votes[k].known * c->d + j] / (double)count;
    return status;
}

/* Gives clusters the class of most of their labelled points; the other classes start clusters. */
static imp_status claim(const imp_constraints *c, imp_clusters *clusters, const int32_t *assignment,
                        imp_error *error)
{
    vote *votes = imp_allocate(c->count, sizeof *votes);
    if (!votes)
        return imp_fail_memory(error, "the classes of clusters");
    size_t count = 0;
    for (size_t b = 0; b < c->blocks; b++)
        for (size_t k = c->first[b]; k < c->first[b + 1] && c->class[b] >= 0; k++)
            votes[count++] = (vote){assignment[c->point[k]], c->class[b], (uint32_t)k};
    qsort(votes, count, sizeof *votes, compare_votes);
    imp_status status = IMP_OK;
    for (size_t begin = 0, end = 0; begin < count && !status; begin = end) {
        size_t most = 0, best = begin, stretch;
        while (end < count && votes[end].cluster == votes[begin].cluster)
            end++;
        for (size_t k = begin; k < end; k += stretch) {
            for (stretch = 1; k + stretch < end && votes[k + stretch].class == votes[k].class;)
                stretch++;
            if (stretch > most) {
                most = stretch;
                best = k;
            }
        }
        clusters->label[votes[begin].cluster] = votes[best].class;
        for (size_t k = begin; k < end && !status; k += stretch) {
            for (stretch = 1; k + stretch < end && votes[k + stretch].class == votes[k].class;)
                stretch++;
            if (k != best)
                status = add_at_votes(c, clusters, votes + k, stretch, error);
        }
    }
    imp_release(votes);
    return status;
}

/* Whether an earlier block that must be apart from this one is in that cluster. */
static bool is_taken(const imp_constraints *c, size_t block, int32_t cluster)
{
    for (size_t k = 0; k < c->apart_count; k++) {
        size_t a = c->apart[2 * k], b = c->apart[2 * k + 1];
        size_t other = a == block ? b : a;
        if ((a == block || b == block) && other < block && c->final[c->first[other]] == cluster)
            return true;
    }
    return false;
}

/* Assigns each block to the nearest cluster allowed; *changed if any assignment changed. */
static imp_status place_blocks(imp_constraints *c, imp_clusters *clusters, bool *changed,
                               imp_error *error)
{
    for (size_t b = 0; b < c->blocks; b++) {
        const double *place = c->mean + b * c->d;
        double nearest = INFINITY;
        int32_t best = -1;
        for (size_t k = 0; k < clusters->count; k++) {
            double distance = 0;
            const double *mean = imp_clusters_mean(clusters, k);
            for (size_t j = 0; j < c->d; j++)
                distance += (place[j] - mean[j]) * (place[j] - mean[j]);
            if (distance < nearest && imp_may_join(c->class[b], clusters -> label[k]) &&
                !is_taken(c, b, (int32_t)k)) {
                nearest = distance;
                best = (int32_t)k;
            }
        }
        if (best < 0) {
            imp_status status = imp_clusters_add(clusters, c->class[b], 1, NULL, error);
            if (status)
                return status;
            best = (int32_t)clusters->count - 1;
            memcpy(imp_clusters_mean(clusters, (size_t)best), place, c->d * sizeof *place);
        }
        for (size_t k = c->first[b]; k < c->first[b + 1]; k++) {
            *changed = *changed || c->final[k] != best;
            c->final[k] = best;
        }
    }
    return IMP_OK;
}

/* Moves constrained points from the sums of their nearest clusters to those of their assigned ones.
 */
static void correct_sums(const imp_constraints *c, imp_clusters *clusters,
                         const int32_t *assignment)
{
    for (size_t k = 0; k < c->count; k++) {
        int32_t from = assignment[c->point[k]], to = c->final[k];
        if (from == to)
            continue;
        clusters->weight[from] -= 1;
        clusters->weight[to] += 1;
        for (size_t j = 0; j < c->d; j++) {
            imp_clusters_sum(clusters, (size_t)from)[j] -= c->rows[k * c->d + j];
            imp_clusters_sum(clusters, (size_t)to)[j] += c->rows[k * c->d + j];
        }
    }
    for (size_t k = 0; k < clusters->count; k++)
        for (size_t j = 0; j < c->d && clusters->weight[k] > 0.5; j++)
            imp_clusters_mean(clusters, k)[j] =
                imp_clusters_sum(clusters, k)[j] / clusters->weight[k];
}

static imp_status nearest_of_all(const imp_point_source *source, imp_clusters *clusters,
                                 int threads, int32_t *assignment, size_t *changed,
                                 imp_error *error)
{
    imp_assigner *assigner;
    imp_status status =
        imp_assigner_create(source, NULL, &(imp_crew){.threads = threads}, &assigner, error);
    if (!status)
        status = imp_assigner_pass(assigner, clusters, INFINITY, 1, assignment, changed, error);
    imp_assigner_free(assigner);
    return status;
}

imp_status imp_constraints_settle(imp_constraints *constraints, const imp_point_source *source,
                                  imp_clusters *clusters, int threads, int32_t *assignment,
                                  size_t *steps, bool *converged, imp_error *error)
{
    imp_constraints *c = constraints;
    imp_status status = claim(c, clusters, assignment, error);
    for (size_t k = 0; k < c->count; k++)
        c->final[k] = -1;
    *converged = false;
    for (size_t pass = 0; pass < MOST_PASSES && !*converged && !status; pass++) {
        size_t moved;
        bool changed = false;
        status = place_blocks(c, clusters, &changed, error);
        if (!status)
            status = nearest_of_all(source, clusters, threads, assignment, &moved, error);
        if (!status)
            correct_sums(c, clusters, assignment);
        *converged = !changed && moved == 0;
        ++*steps;
    }
    for (size_t k = 0; k < c->count && !status; k++)
        assignment[c->point[k]] = c->final[k];
    return status;
}
