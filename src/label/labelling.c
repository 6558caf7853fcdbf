/* labelling.c - the table of nearest clusters, and the guesses that follow from it. */
#include "label/labelling.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"

enum {
    LANES = 16,
    BLOCK = 2048,      /* points per task of a pass */
    MOST_WEIGHED = 512 /* answers used to choose sigma */
};

float imp_squared_distance(const float *a, const float *b, size_t d)
{
    float lane[LANES] = {0}, sum = 0;
    size_t whole = d / LANES * LANES;
    for (size_t j = 0; j < whole; j += LANES)
        for (size_t k = 0; k < LANES; k++)
            lane[k] += (a[j + k] - b[j + k]) * (a[j + k] - b[j + k]);
    for (size_t j = whole; j < d; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    for (size_t k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

static const float *point_at(const imp_labelling *work, size_t i)
{
    return work->points + i * work->dimensions;
}

static float *row_of(const imp_labelling *work, size_t i)
{
    return work->nearest + i * work->class_capacity;
}

static size_t blocks_of(const imp_labelling *work)
{
    return (work->count + BLOCK - 1) / BLOCK;
}

/* ---- the table ---- */

typedef struct pass {
    imp_labelling *work;
    size_t first; /* clusters from here on are not in the table yet */
} pass;

static void meet_clusters(size_t block, int worker, void *context)
{
    (void)worker;
    const pass *own = context;
    imp_labelling *work = own->work;
    size_t end = (block + 1) * BLOCK < work->count ? (block + 1) * BLOCK : work->count;
    for (size_t i = block * BLOCK; i < end; i++) {
        float *row = row_of(work, i);
        for (size_t c = own->first; c < work->cluster_count; c++) {
            uint32_t center = work->cluster[c];
            if (center == i)
                continue; /* a point is not its own neighbour */
            float *best = &row[work->class[center]];
            float distance =
                imp_squared_distance(point_at(work, i), point_at(work, center), work->dimensions);
            if (distance < *best)
                *best = distance;
        }
    }
}

static void meet(imp_labelling *work, size_t first)
{
    pass own = {work, first};
    if (first < work->cluster_count)
        imp_parallel(blocks_of(work), work->threads, meet_clusters, &own);
}

static void clear_rows(imp_labelling *work)
{
    for (size_t i = 0; i < work->count * work->class_capacity; i++)
        work->nearest[i] = INFINITY;
}

imp_status imp_labelling_reserve(imp_labelling *work, size_t classes, imp_error *error)
{
    if (classes > IMP_MOST_KINDS)
        return imp_fail(error, IMP_EINVAL, "there can be at most %d classes", IMP_MOST_KINDS);
    if (classes > work->class_capacity) {
        size_t capacity = classes * 3 / 2 + 4;
        float *wider = imp_allocate(work->count * capacity, sizeof *wider);
        if (!wider)
            return imp_fail_memory(error, "the distances to the classes");
        for (size_t i = 0; i < work->count; i++)
            for (size_t c = 0; c < capacity; c++)
                wider[i * capacity + c] = c < work->class_capacity ? row_of(work, i)[c] : INFINITY;
        imp_release(work->nearest);
        work->nearest = wider;
        work->class_capacity = capacity;
    }
    if (classes > work->class_count)
        work->class_count = classes;
    return IMP_OK;
}

/* ---- guesses ---- */

static imp_guess guess_of(const imp_labelling *work, size_t i)
{
    const float *row = row_of(work, i);
    imp_guess guess = {.class = IMP_UNKNOWN, .distance = INFINITY};
    float second = INFINITY;
    for (size_t c = 0; c < work->class_count; c++) {
        if (row[c] < guess.distance) {
            second = guess.distance;
            guess.class = (int32_t)c;
            guess.distance = row[c];
        } else if (row[c] < second) {
            second = row[c];
        }
    }
    if (guess.class == IMP_UNKNOWN)
        return guess;
    double sum = 0;
    for (size_t c = 0; c < work->class_count; c++)
        sum += exp((guess.distance - row[c]) / (2 * work->sigma));
    guess.probability = (float)(1 / sum);
    guess.margin = second - guess.distance;
    return guess;
}

static void guess_block(size_t block, int worker, void *context)
{
    (void)worker;
    imp_labelling *work = context;
    size_t end = (block + 1) * BLOCK < work->count ? (block + 1) * BLOCK : work->count;
    for (size_t i = block * BLOCK; i < end; i++)
        work->guess[i] = guess_of(work, i);
}

void imp_labelling_probabilities(const imp_labelling *work, size_t point, float *probability)
{
    const float *row = row_of(work, point);
    float nearest = INFINITY;
    double sum = 0;
    for (size_t c = 0; c < work->class_count; c++)
        nearest = row[c] < nearest ? row[c] : nearest;
    for (size_t c = 0; c < work->class_count; c++)
        sum += isinf(row[c]) ? 0 : exp((nearest - row[c]) / (2 * work->sigma));
    for (size_t c = 0; c < work->class_count; c++)
        probability[c] =
            isinf(row[c]) ? 0 : (float)(exp((nearest - row[c]) / (2 * work->sigma)) / sum);
}

/* ---- sigma ---- */

/* The paper's loss for the answers in `items`, given the answers about others. */
static double loss_at(const imp_labelling *work, const uint32_t *items, size_t count, double sigma)
{
    double loss = 0;
    size_t counted = 0;
    for (size_t k = 0; k < count; k++) {
        const float *row = row_of(work, items[k]);
        float own = row[work->class[items[k]]], nearest = INFINITY;
        for (size_t c = 0; c < work->class_count; c++)
            nearest = row[c] < nearest ? row[c] : nearest;
        if (isinf(own))
            continue; /* the first of its class could not have been predicted */
        double sum = 0;
        for (size_t c = 0; c < work->class_count; c++)
            sum += exp((nearest - row[c]) / (2 * sigma));
        loss += log(sum) - (nearest - own) / (2 * sigma);
        counted++;
    }
    return counted ? loss / (double)counted : 0;
}

/* A sample of the answers, evenly spaced from first to last. */
static size_t weighed_answers(const imp_labelling *work, uint32_t *items)
{
    size_t count = 0, step = work->answered / MOST_WEIGHED + 1, seen = 0;
    for (size_t i = 0; i < work->count && count < MOST_WEIGHED; i++)
        if (work->class[i] != IMP_UNKNOWN && seen++ % step == 0)
            items[count++] = (uint32_t)i;
    return count;
}

static void choose_sigma(imp_labelling *work)
{
    uint32_t items[MOST_WEIGHED];
    size_t count = weighed_answers(work, items);
    double best = INFINITY, chosen = work->lambda;
    for (int step = -12; step <= 4 && count > 0; step++) {
        double sigma = work->lambda * pow(2, step * 0.5);
        double loss = loss_at(work, items, count, sigma);
        if (loss < best) {
            best = loss;
            chosen = sigma;
        }
    }
    work->sigma = chosen;
}

void imp_labelling_look(imp_labelling *work)
{
    choose_sigma(work);
    imp_parallel(blocks_of(work), work->threads, guess_block, work);
}

/* ---- answers ---- */

imp_status imp_labelling_create(imp_labelling *work, const float *points, size_t count, size_t d,
                                double scale, int threads, imp_error *error)
{
    *work = (imp_labelling){.count = count,
                            .dimensions = d,
                            .points = points,
                            .threads = imp_parallel_threads(threads),
                            .lambda = scale > 0 ? scale : 1e-30};
    work->sigma = work->lambda;
    work->class = imp_allocate(count, sizeof *work->class);
    work->alone = imp_allocate_zeroed(count, sizeof *work->alone);
    work->guess = imp_allocate(count, sizeof *work->guess);
    work->cluster = imp_allocate(count, sizeof *work->cluster);
    if (!work->class || !work->alone || !work->guess || !work->cluster ||
        imp_labelling_reserve(work, 1, error) != IMP_OK) {
        imp_labelling_release(work);
        return imp_fail_memory(error, "the labels of the pile");
    }
    for (size_t i = 0; i < count; i++)
        work->class[i] = IMP_UNKNOWN;
    clear_rows(work);
    imp_labelling_look(work);
    return IMP_OK;
}

void imp_labelling_release(imp_labelling *work)
{
    imp_release(work->class);
    imp_release(work->alone);
    imp_release(work->guess);
    imp_release(work->cluster);
    imp_release(work->nearest);
    *work = (imp_labelling){0};
}

/* A named point starts a cluster, unless it was named with others and is within lambda of a cluster
 * of its class. */
static void place(imp_labelling *work, uint32_t point)
{
    if (work->alone[point] || !(row_of(work, point)[work->class[point]] <= work->lambda)) {
        work->cluster[work->cluster_count++] = point;
        meet(work, work->cluster_count - 1);
    }
}

/* Rebuilds all clusters, in the order of their points. */
static void place_all(imp_labelling *work)
{
    work->cluster_count = 0;
    clear_rows(work);
    for (size_t i = 0; i < work->count; i++)
        if (work->class[i] != IMP_UNKNOWN)
            place(work, (uint32_t)i);
}

imp_status imp_labelling_answer(imp_labelling *work, const uint32_t *points, size_t count,
                                int32_t class, imp_error *error)
{
    for (size_t k = 0; k < count; k++)
        if (points[k] >= work->count)
            return imp_fail(error, IMP_EINVAL, "there is no item %lu in a pile of %zu",
                            (unsigned long)points[k], work->count);
    imp_status status = imp_labelling_reserve(work, (size_t)(class + 1), error);
    if (status)
        return status;
    bool taken_back = false;
    for (size_t k = 0; k < count; k++) {
        int32_t before = work->class[points[k]];
        if (before == class)
            continue;
        taken_back = taken_back || before != IMP_UNKNOWN;
        work->answered += before == IMP_UNKNOWN;
        work->answered -= class == IMP_UNKNOWN;
        work->class[points[k]] = class;
        work->alone[points[k]] = count == 1;
        if (class != IMP_UNKNOWN && !taken_back)
            place(work, points[k]);
    }
    if (taken_back)
        place_all(work);
    return IMP_OK;
}
