/*
 * spherical.c - groups of spherical noise by the Dirichlet process mixture that DP-means is derived
 * from (the paper's appendix), with means integrated out.
 *
 * In many dimensions a point's distance says little about its group, and principal components show
 * only the groups that change a variance by more than noise does. What is left is the likelihood of
 * all points: a point joins a group with the probability that it has given the group's other
 * points. Leaving the point itself out matters, because its own noise is a large part of a small
 * group's mean. Shares are probabilities, not samples (collapsed variational inference; Kurihara,
 * Welling and Teh, 2007, with the approximation of Asuncion et al., 2009), so rounding does not
 * change the result as it would change a chain of samples. Many small groups of Ward's method come
 * first; most lose their points to others, and pairs that are as likely one group are merged.
 *
 * The model is checked before and after: the squared distances of points from their means must vary
 * as those of noise do, and no direction may have a variance that noise has not. Most real data
 * fail, and are left to other means.
 */
#define _DEFAULT_SOURCE /* lgamma_r: lgamma() writes to a global */

#include "methods/spherical.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "kernels/kernels.h"
#include "methods/apart.h"
#include "methods/components.h"
#include "methods/ward.h"

enum {
    GROUP = 12, /* points per initial group on average */
    SMALL_GROUP = 6,
    FEW_GROUPS = 100, /* up to so many initial groups are small */
    BLOCK = 256,      /* points whose shares are computed before groups change */
    PART = 32,        /* points of a block that a thread takes at a time */
    ROWS = 64,        /* dimensions of the sums that a thread takes at a time */
    SWEEPS = 40,
    ESTIMATES = 4, /* of the variances */
    FEWEST = 6,    /* points in a group */
};

/* Directions that are hidden in noise make it look larger than it is. Too small a variance only
 * leaves more groups to be merged. */
static const double hidden = 0.96;
/* Of all points, what may still move when shares count as settled; shares below which a group has
 * nothing of a point, and a group nothing at all. */
static const double settled = 0.003, least_share = 1e-6, least_weight = 0.5;
/* Times the spread of the points is larger than their noise, at most: beyond it is rounding. */
static const double largest_ratio = 1e6;
/* A grouping was chosen to be likely, so more evidence is required than for two groups as such. */
static const double chosen = 10;

typedef struct fit {
    size_t n, d, count; /* of points, dimensions and groups */
    int threads;
    const imp_kernels *kernels;
    float *x;       /* (n, d), centred */
    double *square; /* (n): of each point's length */
    double spread;  /* their mean */
    float *share;   /* (n, count) */
    float *sum;     /* (d, count), of the points by their shares */
    double *weight; /* (count): the sum of the shares */
    double sigma;   /* variance of noise */
    double ratio;   /* of the means' variance to it */

    /* of the groups, while shares change */
    double *length;          /* (count): squared, of the sum */
    double *base;            /* (count): log probability of no point in particular */
    double *shrunk;          /* (count): variance of the mean, in terms of noise */
    float *product, *change; /* (BLOCK, count) */
    double *scores;          /* (threads, count) */
    double *moved;           /* (BLOCK / PART) */
    size_t begin, end;       /* points of the block */
} fit;

/* ---- shares ---- */

/* How probable a squared distance is, and a group of so many points. */
static double log_predictive(const fit *f, double weight, double shrunk)
{
    return log(fmax(weight, 1e-9)) - 0.5 * (double)f->d * log1p(shrunk);
}

/* The score of point i in group k, which has the share `own` of it; product: of point and sum. */
static double score(const fit *f, size_t i, size_t k, double product, double own)
{
    double square = f->square[i] / f->sigma, length = f->length[k], shrunk = f->shrunk[k];
    double base = f->base[k];
    product /= f->sigma;
    if (own > 0) { /* without the point */
        double weight = fmax(f->weight[k] - own, 0);
        length = fmax(length - 2 * own * product + own * own * square, 0);
        product -= own * square;
        shrunk = 1 / (weight + 1 / f->ratio);
        base = log_predictive(f, weight, shrunk);
    }
    double distance = square - 2 * shrunk * product + shrunk * shrunk * length;
    return base - 0.5 * distance / (1 + shrunk);
}

static void share_part(size_t part, int worker, void *context)
{
    fit *f = context;
    size_t count = f->count, d = f->d, begin = f->begin + part * PART;
    size_t end = f->end - begin < PART ? f->end : begin + PART;
    double *scores = f->scores + (size_t)worker * count, moved = 0;
    float *product = f->product + part * PART * count, *change = f->change + part * PART * count;
    memset(product, 0, (end - begin) * count * sizeof *product);
    f->kernels->multiply(end - begin, count, d, f->x + begin * d, d, 1, f->sum, count, product,
                         count);
    for (size_t i = begin; i < end; i++, product += count, change += count) {
        float *share = f->share + i * count;
        double most = -INFINITY, total = 0;
        for (size_t k = 0; k < count; k++) {
            scores[k] = score(f, i, k, product[k], share[k]);
            most = fmax(most, scores[k]);
        }
        f->kernels->normalize(count, most, scores);
        for (size_t k = 0; k < count; k++)
            total += scores[k] = scores[k] < least_share ? 0 : scores[k];
        for (size_t k = 0; k < count; k++) {
            float now = (float)(scores[k] / total);
            change[k] = now - share[k];
            moved += fabs(change[k]) / 2;
            share[k] = now;
        }
    }
    f->moved[part] = moved;
}

/* Adds what changed to some dimensions of the sums. */
static void add_rows(size_t some, int worker, void *context)
{
    (void)worker;
    fit *f = context;
    size_t first = some * ROWS, rows = f->d - first < ROWS ? f->d - first : ROWS;
    f->kernels->multiply(rows, f->count, f->end - f->begin, f->x + f->begin * f->d + first, 1, f->d,
                         f->change, f->count, f->sum + first * f->count, f->count);
}

static void describe_groups(fit *f)
{
    memset(f->length, 0, f->count * sizeof *f->length);
    for (size_t j = 0; j < f->d; j++)
        for (size_t k = 0; k < f->count; k++)
            f->length[k] += (double)f->sum[j * f->count + k] * f->sum[j * f->count + k] / f->sigma;
    for (size_t k = 0; k < f->count; k++) {
        f->shrunk[k] = 1 / (f->weight[k] + 1 / f->ratio);
        f->base[k] = log_predictive(f, f->weight[k], f->shrunk[k]);
    }
}

/* Keeps the groups that `gone` does not name. */
static void drop(fit *f, const bool *gone)
{
    size_t kept = 0, before = f->count;
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < before; k++)
            if (!gone[k])
                f->share[kept++] = f->share[i * before + k];
    kept = 0;
    for (size_t j = 0; j < f->d; j++)
        for (size_t k = 0; k < before; k++)
            if (!gone[k])
                f->sum[kept++] = f->sum[j * before + k];
    kept = 0;
    for (size_t k = 0; k < before; k++)
        if (!gone[k])
            f->weight[kept++] = f->weight[k];
    f->count = kept;
}

/* New shares for all points; returns what part of them moved. */
static double sweep(fit *f, bool *gone)
{
    double moved = 0;
    for (f->begin = 0; f->begin < f->n; f->begin = f->end) {
        f->end = f->n - f->begin < BLOCK ? f->n : f->begin + BLOCK;
        size_t parts = (f->end - f->begin + PART - 1) / PART;
        describe_groups(f);
        imp_parallel(parts, f->threads, share_part, f);
        imp_parallel((f->d + ROWS - 1) / ROWS, f->threads, add_rows, f);
        for (size_t part = 0; part < parts; part++)
            moved += f->moved[part];
        for (size_t i = 0; i < f->end - f->begin; i++)
            for (size_t k = 0; k < f->count; k++)
                f->weight[k] += f->change[i * f->count + k];
    }
    bool any = false;
    for (size_t k = 0; k < f->count; k++)
        any |= gone[k] = f->weight[k] < least_weight;
    if (any)
        drop(f, gone);
    return moved / (double)f->n;
}

/* ---- merging ---- */

typedef struct pair {
    double evidence; /* that they are two, beyond what is required */
    uint32_t a, b;
} pair;

static int by_evidence(const void *x, const void *y)
{
    const pair *p = x, *q = y;
    if (p->evidence != q->evidence)
        return (p->evidence > q->evidence) - (p->evidence < q->evidence);
    return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

/* The log likelihood of a group, and of its size. */
static double log_likelihood(const fit *f, double weight, double length)
{
    int sign;
    double grown = 1 + weight * f->ratio;
    return lgamma_r(weight, &sign) - 0.5 * (double)f->d * log(grown) +
           0.5 * length * f->ratio / grown;
}

/* Merges the pairs whose points are as likely one group, none twice. Returns how many. */
static size_t merge(fit *f, pair *pairs, bool *gone)
{
    size_t count = f->count, listed = 0, made = 0;
    describe_groups(f);
    memset(gone, 0, count * sizeof *gone);
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++) {
            double product = 0, weight = f->weight[a] + f->weight[b];
            for (size_t j = 0; j < f->d; j++)
                product += (double)f->sum[j * count + a] * f->sum[j * count + b];
            double one =
                log_likelihood(f, weight, f->length[a] + f->length[b] + 2 * product / f->sigma);
            double two = log_likelihood(f, f->weight[a], f->length[a]) +
                         log_likelihood(f, f->weight[b], f->length[b]);
            pair found = {two - one - chosen - imp_evidence_required((size_t)weight), (uint32_t)a,
                          (uint32_t)b};
            if (found.evidence <= 0)
                pairs[listed++] = found;
        }
    qsort(pairs, listed, sizeof *pairs, by_evidence);
    bool *used = gone + count;
    memset(used, 0, count * sizeof *used);
    for (size_t p = 0; p < listed; p++) {
        size_t a = pairs[p].a, b = pairs[p].b;
        if (used[a] || used[b])
            continue;
        used[a] = used[b] = gone[b] = true;
        f->weight[a] += f->weight[b];
        for (size_t j = 0; j < f->d; j++)
            f->sum[j * count + a] += f->sum[j * count + b];
        for (size_t i = 0; i < f->n; i++)
            f->share[i * count + a] += f->share[i * count + b];
        made++;
    }
    if (made > 0)
        drop(f, gone);
    return made;
}

/* ---- the variances ---- */

/* From the groups. The means of few groups vary less than those of many from the same
 * distribution. */
static void estimate(fit *f)
{
    double between = 0, equal = 0, n = (double)f->n, d = (double)f->d;
    f->sigma = 1;
    describe_groups(f);
    for (size_t k = 0; k < f->count; k++) {
        between += f->length[k] / f->weight[k];
        equal += f->weight[k] * f->weight[k] / (n * n);
    }
    f->sigma = fmax(n * f->spread - between, 0) / (d * (n - (double)f->count));
    f->ratio = (f->spread / d / f->sigma - 1) / fmax(1 - equal, 1. / 3);
}

/* Shares that settle and groups that are merged until all are distinct. */
static void find_groups(fit *f, pair *pairs, bool *gone)
{
    for (int k = 0; k < ESTIMATES && f->count > 1; k++) {
        do
            for (int s = 0; s < SWEEPS && sweep(f, gone) > settled; s++)
                ;
        while (merge(f, pairs, gone) > 0);
        double before = f->sigma;
        if (f->count == 1)
            break;
        estimate(f);
        if (!(f->sigma > 0) || !(f->ratio > 0) || fabs(f->sigma / before - 1) < 0.005)
            break;
    }
}

/* ---- whether points are such groups ---- */

/* Whether squared lengths vary as those of noise of `dimensions` dimensions do, or hardly more. */
static bool vary_as_noise(const double *square, size_t n, double dimensions)
{
    double mean = 0, variance = 0;
    for (size_t i = 0; i < n; i++)
        mean += square[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        variance += (square[i] - mean) * (square[i] - mean) / (double)n;
    return variance <= (1.5 + 3 * sqrt(2 / (double)n)) * 2 * mean * mean / dimensions;
}

/* Centres the points and scales them as the components are, whose total variance is 1. */
static imp_status center(fit *f, const float *rows, imp_error *error)
{
    size_t n = f->n, d = f->d;
    double *mean = imp_allocate_zeroed(d, sizeof *mean), sum = 0;
    if (!mean)
        return imp_fail_memory(error, "the mean of the points");
    for (size_t i = 0; i < n * d; i++)
        mean[i % d] += rows[i] / (double)n;
    for (size_t i = 0; i < n * d; i++)
        sum += (rows[i] - mean[i % d]) * (rows[i] - mean[i % d]) / (double)n;
    double factor = sum > 0 ? 1 / sqrt(sum) : 0;
    for (size_t i = 0; i < n * d; i++)
        f->x[i] = (float)((rows[i] - mean[i % d]) * factor);
    for (size_t i = 0; i < n; i++) {
        f->square[i] = 0;
        for (size_t j = 0; j < d; j++)
            f->square[i] += (double)f->x[i * d + j] * f->x[i * d + j];
        f->spread += f->square[i] / (double)n;
    }
    imp_release(mean);
    return IMP_OK;
}

/* Whether what the components leave may be noise, whose variance is then known roughly. */
static bool begins_as_noise(fit *f, const float *reduced, size_t q, double *room)
{
    double sum = 0;
    for (size_t i = 0; i < f->n; i++) {
        room[i] = f->square[i];
        for (size_t j = 0; j < q; j++)
            room[i] -= (double)reduced[i * q + j] * reduced[i * q + j];
        sum += room[i] / (double)f->n;
    }
    f->sigma = hidden * sum / (double)(f->d - q);
    f->ratio = f->sigma > 0 ? f->spread / (double)f->d / f->sigma - 1 : 0;
    return f->ratio > 0 && f->ratio < largest_ratio &&
           vary_as_noise(room, f->n, (double)(f->d - q));
}

/* Whether what the groups leave is noise; their points' shares become 0 or 1. */
static imp_status ends_as_noise(fit *f, int32_t *group, double *room, bool *found, imp_error *error)
{
    size_t n = f->n, d = f->d, count = f->count, directions;
    float *mean = f->sum; /* (count, d) now */
    memset(mean, 0, count * d * sizeof *mean);
    memset(f->weight, 0, count * sizeof *f->weight);
    for (size_t i = 0; i < n; i++) {
        size_t best = 0;
        for (size_t k = 1; k < count; k++)
            best = f->share[i * count + k] > f->share[i * count + best] ? k : best;
        group[i] = (int32_t)best;
        f->weight[best]++;
    }
    for (size_t k = 0; k < count; k++)
        *found &= f->weight[k] >= FEWEST;
    if (!*found)
        return IMP_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            mean[(size_t)group[i] * d + j] += f->x[i * d + j] / (float)f->weight[group[i]];
    for (size_t i = 0; i < n; i++) {
        room[i] = 0;
        for (size_t j = 0; j < d; j++) {
            f->x[i * d + j] -= mean[(size_t)group[i] * d + j];
            room[i] += (double)f->x[i * d + j] * f->x[i * d + j];
        }
        room[i] /= 1 - 1 / f->weight[group[i]];
    }
    *found = vary_as_noise(room, n, (double)d);
    imp_status status = IMP_OK;
    if (*found) {
        status = imp_leading_scores(f->x, n, d, 1, room, &directions, error);
        *found = !status && directions == 0;
    }
    return status;
}

/* ---- all of it ---- */

static void release(fit *f)
{
    imp_release(f->x);
    imp_release(f->square);
    imp_release(f->share);
    imp_release(f->sum);
    imp_release(f->weight);
    imp_release(f->length);
    imp_release(f->base);
    imp_release(f->shrunk);
    imp_release(f->product);
    imp_release(f->change);
    imp_release(f->scores);
    imp_release(f->moved);
}

/* Memory for the groups of `group`, which begin with all of their points. */
static imp_status begin_groups(fit *f, const int32_t *group, imp_error *error)
{
    size_t n = f->n, d = f->d, count = f->count;
    f->share = imp_allocate_zeroed(n * count, sizeof *f->share);
    f->sum = imp_allocate_zeroed(d * count, sizeof *f->sum);
    f->weight = imp_allocate_zeroed(count, sizeof *f->weight);
    f->length = imp_allocate(count, sizeof *f->length);
    f->base = imp_allocate(count, sizeof *f->base);
    f->shrunk = imp_allocate(count, sizeof *f->shrunk);
    f->product = imp_allocate(BLOCK * count, sizeof *f->product);
    f->change = imp_allocate(BLOCK * count, sizeof *f->change);
    f->scores = imp_allocate((size_t)f->threads * count, sizeof *f->scores);
    f->moved = imp_allocate(BLOCK / PART, sizeof *f->moved);
    if (!f->share || !f->sum || !f->weight || !f->length || !f->base || !f->shrunk || !f->product ||
        !f->change || !f->scores || !f->moved)
        return imp_fail_memory(error, "groups of points");
    for (size_t i = 0; i < n; i++) {
        size_t k = (size_t)group[i];
        f->share[i * count + k] = 1;
        f->weight[k]++;
        for (size_t j = 0; j < d; j++)
            f->sum[j * count + k] += f->x[i * d + j];
    }
    return IMP_OK;
}

size_t imp_spherical_initial(size_t n)
{
    size_t small = n / SMALL_GROUP, usual = n / GROUP;
    if (small <= FEW_GROUPS)
        return small;
    return usual < FEW_GROUPS ? FEW_GROUPS : usual;
}

static imp_status run(fit *f, const float *reduced, size_t q, int32_t *group, double *room,
                      bool *found, imp_error *error)
{
    f->count = imp_spherical_initial(f->n);
    imp_status status = imp_ward(reduced, f->n, q, f->count, f->threads, group, error);
    if (!status)
        status = begin_groups(f, group, error);
    if (status)
        return status;
    pair *pairs = imp_allocate(f->count * f->count / 2 + 1, sizeof *pairs);
    bool *gone = imp_allocate(2 * f->count, sizeof *gone);
    if (pairs && gone)
        find_groups(f, pairs, gone);
    else
        status = imp_fail_memory(error, "groups of points");
    imp_release(pairs);
    imp_release(gone);
    *found = !status && f->count > 1 && f->sigma > 0;
    return *found ? ends_as_noise(f, group, room, found, error) : status;
}

imp_status imp_spherical_groups(const float *rows, size_t n, size_t d, const float *reduced,
                                size_t q, int threads, int32_t *group, size_t *groups, bool *found,
                                imp_error *error)
{
    fit f = {.n = n, .d = d, .threads = imp_parallel_threads(threads)};
    *found = false;
    f.x = imp_allocate(n * d, sizeof *f.x);
    f.square = imp_allocate(n, sizeof *f.square);
    double *room = imp_allocate(n, sizeof *room);
    int32_t *made = imp_allocate(n, sizeof *made);
    imp_status status = f.x && f.square && room && made
                            ? imp_kernels_choose(&f.kernels, error)
                            : imp_fail_memory(error, "groups of points");
    if (!status)
        status = center(&f, rows, error);
    if (!status && n >= 2 * SMALL_GROUP && begins_as_noise(&f, reduced, q, room))
        status = run(&f, reduced, q, made, room, found, error);
    if (*found) {
        memcpy(group, made, n * sizeof *group);
        *groups = f.count;
    }
    imp_release(room);
    imp_release(made);
    release(&f);
    return status;
}
