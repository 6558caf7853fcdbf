/*
 * nearest.c - finds the nearest of many centers for each of many points; scores stay in registers
 * and only the best are kept.
 *
 * Coordinates have 16 bits. The best and the second best score are returned, so that a caller who
 * needs the exact answer knows where quantisation could have decided.
 */
#include "kernels/nearest.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- rows ---- */

float VARIANT(nearest_square)(size_t dimensions, const float *x, const float *origin)
{
    vec sum = zero();
    size_t j = 0;
    for (; j + LANES <= dimensions; j += LANES) {
        vec difference = load_unaligned(x + j) - load_unaligned(origin + j);
        sum += difference * difference;
    }
    float rest = 0;
    for (; j < dimensions; j++)
        rest += (x[j] - origin[j]) * (x[j] - origin[j]);
    return rough_total(sum) + rest;
}

float VARIANT(nearest_round)(size_t dimensions, const float *x, const float *origin, float per_step,
                             int16_t *row)
{
    vec lost = zero();
    float rest = 0;
    size_t j = 0;
    for (; j + LANES <= dimensions; j += LANES) {
        vec exact = (load_unaligned(x + j) - load_unaligned(origin + j)) * splat(per_step);
        mask whole = round_to_whole(exact);
        vec fraction = exact - __builtin_convertvector(whole, vec);
        lost += fraction * fraction;
        store_halves(row + j, whole);
    }
    for (; j < dimensions; j++) {
        float exact = (x[j] - origin[j]) * per_step, whole = rintf(exact);
        rest += (exact - whole) * (exact - whole);
        row[j] = (int16_t)whole;
    }
    for (; j < imp_row_halves(dimensions); j++)
        row[j] = 0;
    return rough_total(lost) + rest;
}

/* ---- panels ---- */

size_t VARIANT(nearest_panel)(size_t dimensions)
{
    return WIDTH * (1 + imp_row_halves(dimensions) / 2);
}

/* A panel holds its centers' -|c|^2 / 2 as floats, then their coordinates, two dimensions at a
 * time.
 */
double VARIANT(nearest_pack)(size_t count, size_t dimensions, const float *centers,
                             const bool *there, int32_t *panel)
{
    memset(panel, 0, VARIANT(nearest_panel)(dimensions) * sizeof *panel);
    float start[WIDTH];
    int16_t *halves_of = (int16_t *)(panel + WIDTH);
    double most_lost = 0;
    for (size_t i = 0; i < WIDTH; i++) {
        double square = 0, lost = 0;
        bool is_there = i < count && (!there || there[i]);
        for (size_t j = 0; is_there && j < dimensions; j++) {
            double exact = centers[i * dimensions + j], whole = rint(exact);
            halves_of[(j / 2 * WIDTH + i) * 2 + j % 2] = (int16_t)whole;
            square += exact * exact;
            lost += (exact - whole) * (exact - whole);
        }
        start[i] = is_there ? (float)(-square / 2) : -INFINITY;
        most_lost = lost > most_lost ? lost : most_lost;
    }
    memcpy(panel, start, sizeof start);
    return most_lost;
}

/* ---- the best two ---- */

/* The best two scores of one point, lane by lane. */
typedef struct leader {
    mask best, second, center;
} __attribute__((may_alias)) leader;
_Static_assert(sizeof(leader) * IMP_NEAREST_POINTS <= sizeof(int32_t) * IMP_LEADERS,
               "the leaders of all points fit");

/* Compares POINTS points with the first `vectors` vectors of a panel. */
INLINE void meet_panel(bool at_once, size_t vectors, size_t pairs, const int16_t *rows,
                       const mask start[VECTORS], const int32_t *panel, int32_t first,
                       leader *leaders)
{
    mask score[POINTS][VECTORS];
    score_centers(at_once ? PAIRS_AT_ONCE : PAIRS, POINTS, vectors, pairs, rows, start,
                  panel + WIDTH, score);
#pragma GCC unroll 8
    for (size_t r = 0; r < POINTS; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; v++) {
            leader *l = &leaders[r];
            mask better = score[r][v] > l->best;
            mask number =
                (mask)zero() + (first + (int32_t)(v * LANES)); /* the center in the first lane */
            l->second = larger_whole(l->second, smaller_whole(l->best, score[r][v]));
            l->best = larger_whole(l->best, score[r][v]);
            l->center = (mask)choose(better, (vec)number, (vec)l->center);
        }
}

/* Compares `points` points with one panel, in which `left` centers are yet to be met. */
INLINE void meet_all(bool at_once, size_t points, size_t left, size_t pairs, const int16_t *rows,
                     const mask start[VECTORS], const int32_t *panel, int32_t first,
                     leader *leaders)
{
    if (left <= LANES)
        for (size_t i = 0; i < points; i += POINTS)
            meet_panel(at_once, 1, pairs, rows + i * 2 * pairs, start, panel, first, leaders + i);
    else
        for (size_t i = 0; i < points; i += POINTS)
            meet_panel(at_once, VECTORS, pairs, rows + i * 2 * pairs, start, panel, first,
                       leaders + i);
}

/* Combines the leaders of all lanes. */
INLINE void settle(const leader *l, int32_t *center, int32_t *best, int32_t *second)
{
    int32_t others[LANES] __attribute__((aligned(64)));
    *best = largest_whole(l->best);
    size_t lane = (size_t)__builtin_ctz(bits_at_least(l->best, (mask)zero() + *best));
    *center = ((const int32_t *)&l->center)[lane] + (int32_t)lane;
    *(mask *)others = l->best;
    others[lane] = INT32_MIN;
    *second = largest_whole(larger_whole(*(const mask *)others, l->second));
}

void VARIANT(nearest)(size_t points, size_t dimensions, const int16_t *rows, float ratio,
                      size_t begin, size_t end, const int32_t *packed, int32_t *leaders,
                      int32_t *center, int32_t *best, int32_t *second)
{
    leader *led = (leader *)leaders;
    bool at_once = adds_at_once();
    size_t size = VARIANT(nearest_panel)(dimensions);
    for (size_t i = 0; i < IMP_NEAREST_POINTS; i++) {
        led[i].best = led[i].second = (mask)zero() + INT32_MIN;
        led[i].center = (mask)zero();
    }
    for (size_t first = begin; first < end; first += WIDTH) {
        const int32_t *panel = packed + first / WIDTH * size;
        mask start[VECTORS];
        begin_scores(panel, ratio, start);
        if (at_once)
            meet_all(true, points, end - first, imp_row_halves(dimensions) / 2, rows, start, panel,
                     (int32_t)first, led);
        else
            meet_all(false, points, end - first, imp_row_halves(dimensions) / 2, rows, start, panel,
                     (int32_t)first, led);
    }
    for (size_t i = 0; i < points; i++)
        settle(&led[i], &center[i], &best[i], &second[i]);
}

/* ---- all that are good enough ---- */

bool VARIANT(nearest_close)(const int32_t *leaders, size_t point, int32_t least, int32_t *center,
                            size_t *count)
{
    const leader *l = (const leader *)leaders + point;
    *count = 0;
    for (int32_t i = 0; i < LANES; i++)
        if (l->best[i] >= least)
            center[(*count)++] = l->center[i] + i;
    return !any(l->second >= least);
}

size_t VARIANT(nearest_above)(size_t dimensions, const int16_t *row, float ratio, size_t *begin,
                              size_t end, const int32_t *packed, int32_t least, int32_t *center)
{
    size_t size = VARIANT(nearest_panel)(dimensions), found = 0;
    while (*begin < end && found == 0) {
        const int32_t *panel = packed + *begin / WIDTH * size;
        mask start[VECTORS], score[1][VECTORS];
        begin_scores(panel, ratio, start);
        score_centers(PAIRS, 1, VECTORS, imp_row_halves(dimensions) / 2, row, start, panel + WIDTH,
                      score);
        for (size_t v = 0; v < VECTORS; v++) {
            mask enough = score[0][v] >= least;
            for (size_t i = 0; any(enough) && i < LANES; i++)
                if (enough[i] && *begin + v * LANES + i < end)
                    center[found++] = (int32_t)(*begin + v * LANES + i);
        }
        *begin += WIDTH;
    }
    return found;
}
