/*
 * new_kinds.c - finds groups of unlabelled points that are too far from all labelled ones, and too
 * many for chance.
 *
 * Far is what one in twenty held-out labelled points exceeds, so of unlabelled points of the
 * classes about one in twenty is far, too, and which ones is chance: strays, each on its own. The
 * far points are clustered (DP-means), and a cluster is a kind if it is larger than strays make
 * one, and if more far points than others are nearer to it than to a labelled point: so it is
 * beside the classes and not among them.
 */
#include "methods/new_kinds.h"

#include <math.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"
#include "methods/imp.h"
#include "methods/open_set.h"
#include "methods/reference.h"

enum {
    LEAST_MEMBERS = 4, /* far points of a kind */
    PASSES = 5,
};

/* The share of points of the classes that are far. */
static const double far_rate = 0.05;

/* So many standard deviations more far points than expected are not chance. */
static const double surprise = 2;

/* The far points of a kind are at least this part of what is expected of all strays together. */
static const double part_of_strays = 0.25;

/* A cluster of far points has a squared radius of at most this times the squared distance beyond
 * which a point is far. */
static const double radius = 2;

typedef struct finding {
    const imp_sample *sample;
    imp_reference reference;
    double limit;    /* the squared distance beyond which a point is far */
    double expected; /* weight of all strays */
    bool surprising; /* there are more far points than strays */
    float *rows;     /* (count, dimensions): the unlabelled points, in the reference's units */
    size_t *number;  /* (count): in the sample */
    double *far;     /* (count): squared distances to the nearest labelled point */
    size_t *cluster; /* (count) */
    size_t count;
    imp_clusters clusters; /* of the far points */
} finding;

static imp_status make_room(finding *f, imp_error *error)
{
    const imp_sample *sample = f->sample;
    size_t n = sample->count, d = sample->dimensions;
    f->rows = imp_allocate(n * d, sizeof *f->rows);
    f->number = imp_allocate(n, sizeof *f->number);
    f->far = imp_allocate(n, sizeof *f->far);
    f->cluster = imp_allocate(n, sizeof *f->cluster);
    if (!f->rows || !f->number || !f->far || !f->cluster)
        return imp_fail_memory(error, "points of new kinds");
    for (size_t i = 0; i < n; i++)
        if (sample->label[i] < 0) {
            for (size_t j = 0; j < d; j++)
                f->rows[f->count * d + j] = sample->rows[i * d + j];
            f->number[f->count++] = i;
        }
    return IMP_OK;
}

static double share_of(const finding *f, size_t i)
{
    return imp_sample_share(f->sample, f->number[i]);
}

/* Compares the number of far points with what the held-out ones promise, whose own number varies by
 * chance, too. */
static void count_far(finding *f, size_t held_out)
{
    double all = 0, far = 0, n = (double)held_out;
    for (size_t i = 0; i < f->count; i++) {
        all += share_of(f, i);
        far += f->far[i] > f->limit ? share_of(f, i) : 0;
    }
    double rate = fmax(far_rate, 1 / (n + 1));
    double variance = rate * (1 - rate) * (all + all * all / (n + 2));
    f->expected = rate * all;
    f->surprising = far > f->expected + surprise * sqrt(variance);
}

/* Clusters the far points. */
static imp_status cluster_far(finding *f, imp_error *error)
{
    size_t d = f->sample->dimensions, count = 0;
    float *rows = imp_allocate(f->count * d, sizeof *rows);
    imp_shares shares = {0};
    imp_status status = rows ? IMP_OK : imp_fail_memory(error, "points of new kinds");
    for (size_t i = 0; i < f->count && !status; i++)
        if (f->far[i] > f->limit) {
            for (size_t j = 0; j < d; j++)
                rows[count * d + j] = f->rows[i * d + j];
            count++;
        }
    const imp_points points = {
        .dimensions = d, .second = rows, .second_count = count, .unlabeled_count = count};
    imp_clusters_restart(&f->clusters, d);
    for (int pass = 0; pass < PASSES && count > 0 && !status; pass++) {
        status = imp_grow_clusters(&f->clusters, &points, radius * f->limit, 1, 1, &shares, error);
        if (status)
            break;
        imp_means_begin(&f->clusters);
        imp_means_add(&f->clusters, &points, &shares);
        imp_means_finish(&f->clusters, NULL);
    }
    imp_shares_release(&shares);
    imp_release(rows);
    return status;
}

/* What speaks for a cluster of far points being a kind. */
typedef struct evidence {
    size_t points;   /* far points nearest to it */
    double weight;   /* that these stand for */
    double familiar; /* of them, that clusters without a label have already */
    double far, all; /* weight of points nearer to it than to labelled ones */
} evidence;

/* Which cluster every point is nearest to, and what that says of the clusters. */
static void gather(finding *f, evidence *of)
{
    for (size_t i = 0; i < f->count; i++) {
        double distance, weight = share_of(f, i);
        bool far = f->far[i] > f->limit;
        size_t c = f->cluster[i] = imp_nearest_cluster(
            &f->clusters, f->rows + i * f->sample->dimensions, IMP_UNLABELED, &distance);
        if (far) {
            of[c].points++;
            of[c].weight += weight;
            of[c].familiar += f->sample->label[f->number[i]] < IMP_UNLABELED ? weight : 0;
        }
        if (distance < f->far[i]) {
            of[c].all += weight;
            of[c].far += far ? weight : 0;
        } else {
            f->cluster[i] = f->clusters.count;
        }
    }
}

/* A kind found earlier stays one, however many points of the classes came since. */
static bool is_kind(const finding *f, const evidence *of)
{
    bool many = f->surprising && of->weight >= part_of_strays * f->expected;
    return of->points >= LEAST_MEMBERS && 2 * of->far >= of->all &&
           (many || 2 * of->familiar >= of->weight);
}

static imp_status tell_apart(finding *f, imp_new_kinds *kinds, imp_error *error)
{
    size_t clusters = f->clusters.count;
    evidence *of = imp_allocate_zeroed(clusters, sizeof *of);
    int32_t *number = imp_allocate(clusters, sizeof *number);
    imp_status status = of && number ? IMP_OK : imp_fail_memory(error, "points of new kinds");
    if (!status)
        gather(f, of);
    for (size_t c = 0; c < clusters && !status; c++)
        number[c] = is_kind(f, &of[c]) ? (int32_t)kinds->count++ : -1;
    for (size_t i = 0; i < f->count && !status; i++)
        if (f->cluster[i] < clusters)
            kinds->kind[f->number[i]] = number[f->cluster[i]];
    imp_release(of);
    imp_release(number);
    return status;
}

imp_status imp_new_kinds_find(const imp_sample *sample, imp_new_kinds *kinds, imp_error *error)
{
    finding f = {.sample = sample};
    size_t held_out = 0;
    *kinds = (imp_new_kinds){.kind = imp_allocate(sample->count, sizeof *kinds->kind)};
    if (!kinds->kind)
        return imp_fail_memory(error, "points of new kinds");
    for (size_t i = 0; i < sample->count; i++)
        kinds->kind[i] = -1;
    if (sample->count - sample->labeled_kept < LEAST_MEMBERS || sample->labeled_kept == 0)
        return IMP_OK;
    imp_status status = imp_reference_take(&f.reference, sample, error);
    if (!status)
        status = imp_open_set_limit(sample, &f.reference, far_rate, &f.limit, &held_out, error);
    if (!status)
        status = make_room(&f, error);
    if (!status)
        status = imp_reference_distances(&f.reference, f.rows, f.count, f.far, error);
    if (!status) {
        imp_reference_enter(&f.reference, f.rows, f.count);
        count_far(&f, held_out);
        status = cluster_far(&f, error);
    }
    if (!status && f.clusters.count > 0)
        status = tell_apart(&f, kinds, error);
    imp_clusters_release(&f.clusters);
    imp_reference_release(&f.reference);
    imp_release(f.rows);
    imp_release(f.number);
    imp_release(f.far);
    imp_release(f.cluster);
    return status;
}

void imp_new_kinds_release(imp_new_kinds *kinds)
{
    imp_release(kinds->kind);
    *kinds = (imp_new_kinds){0};
}
