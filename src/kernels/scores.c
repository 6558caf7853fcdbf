/*
 * scores.c - all scores of many points with many centers, in integers of 16 or 8 bits, and
 * reductions of them: the highest of each group, and those above a threshold.
 */
#include <math.h>
#include <string.h>

#include "kernels/exponential.h"
#include "kernels/nearest.h"

/* ---- rows and panels of bytes ---- */

float VARIANT(nearest_extent)(size_t dimensions, const float *x, const float *origin)
{
    vec most = zero();
    float all = 0, lanes[LANES] __attribute__((aligned(64)));
    size_t j = 0;
    for (; j + LANES <= dimensions; j += LANES) {
        vec difference = load_unaligned(x + j) - load_unaligned(origin + j);
        most = larger(most, larger(difference, -difference));
    }
    store(lanes, most);
    for (size_t i = 0; i < LANES; i++)
        all = lanes[i] > all ? lanes[i] : all;
    for (; j < dimensions; j++)
        all = fabsf(x[j] - origin[j]) > all ? fabsf(x[j] - origin[j]) : all;
    return all;
}

/* Bytes of a row are unsigned: numbers from -127 to 127 are stored as 1 to 255. */
enum { ZERO = 128 };

float VARIANT(nearest_round_bytes)(size_t dimensions, const float *x, const float *origin,
                                   float per_step, uint8_t *row)
{
    vec lost = zero();
    float rest = 0;
    size_t j = 0;
    for (; j + LANES <= dimensions; j += LANES) {
        vec exact = (load_unaligned(x + j) - load_unaligned(origin + j)) * splat(per_step);
        mask whole = round_to_whole(exact);
        vec fraction = exact - __builtin_convertvector(whole, vec);
        lost += fraction * fraction;
        store_bytes(row + j, whole + ZERO);
    }
    for (; j < dimensions; j++) {
        float exact = (x[j] - origin[j]) * per_step, whole = rintf(exact);
        rest += (exact - whole) * (exact - whole);
        row[j] = (uint8_t)((int)whole + ZERO);
    }
    for (; j < imp_row_bytes(dimensions); j++)
        row[j] = ZERO;
    return (float)(total(lost) + rest);
}

size_t VARIANT(nearest_panel_bytes)(size_t dimensions)
{
    return WIDTH * (2 + imp_row_bytes(dimensions) / 4);
}

/* A panel holds its centers' -|c|^2 / 2 as floats, the corrections for the offset of unsigned rows,
 * and then their coordinates, four dimensions at a time. */
double VARIANT(nearest_pack_bytes)(size_t count, size_t dimensions, const float *centers,
                                   const bool *there, int32_t *panel)
{
    memset(panel, 0, VARIANT(nearest_panel_bytes)(dimensions) * sizeof *panel);
    float start[WIDTH];
    int8_t *bytes_of = (int8_t *)(panel + 2 * WIDTH);
    double most_lost = 0;
    for (size_t i = 0; i < WIDTH; i++) {
        double square = 0, lost = 0;
        int32_t sum = 0;
        bool is_there = i < count && (!there || there[i]);
        for (size_t j = 0; is_there && j < dimensions; j++) {
            float exact = centers[i * dimensions + j], whole = rintf(exact);
            bytes_of[(j / 4 * WIDTH + i) * 4 + j % 4] = (int8_t)whole;
            sum += (int32_t)whole;
            square += (double)exact * exact;
            lost += ((double)exact - whole) * ((double)exact - whole);
        }
        start[i] = is_there ? (float)(-square / 2) : -INFINITY;
        panel[WIDTH + i] = ZERO * sum;
        most_lost = lost > most_lost ? lost : most_lost;
    }
    memcpy(panel, start, sizeof start);
    return most_lost;
}

/* ---- all scores ---- */

INLINE void write_scores(product kind, size_t words, const int32_t *rows, const mask start[VECTORS],
                         const int32_t *centers, int32_t *to, size_t stride)
{
    mask score[POINTS][VECTORS];
    score_centers(kind, POINTS, VECTORS, words, rows, start, centers, score);
#pragma GCC unroll 8
    for (size_t r = 0; r < POINTS; r++)
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++)
            *(mask *)(to + r * stride + v * LANES) = score[r][v];
}

/* Scores POINTS points at a time against one panel after the other. */
INLINE void score_all(product kind, size_t points, size_t words, const void *rows, float ratio,
                      size_t begin, size_t end, const int32_t *packed, int32_t *scores,
                      size_t stride)
{
    bool fours = kind == FOURS || kind == FOURS_AT_ONCE;
    size_t head = fours ? 2 * WIDTH : WIDTH, size = head + words * WIDTH;
    for (size_t first = begin; first < end; first += WIDTH) {
        const int32_t *panel = packed + first / WIDTH * size;
        mask start[VECTORS];
        begin_scores(panel, ratio, start);
        for (size_t v = 0; fours && v < VECTORS; v++)
            start[v] -= *(const mask_unaligned *)(panel + WIDTH + v * LANES);
        for (size_t i = 0; i < points; i += POINTS)
            write_scores(kind, words, (const int32_t *)rows + i * words, start, panel + head,
                         scores + i * stride + first, stride);
    }
}

void VARIANT(nearest_scores)(size_t points, size_t dimensions, const int16_t *rows, float ratio,
                             size_t begin, size_t end, const int32_t *packed, int32_t *scores,
                             size_t stride)
{
    size_t words = imp_row_halves(dimensions) / 2;
    if (adds_at_once())
        score_all(PAIRS_AT_ONCE, points, words, rows, ratio, begin, end, packed, scores, stride);
    else
        score_all(PAIRS, points, words, rows, ratio, begin, end, packed, scores, stride);
}

bool VARIANT(nearest_bytes_pay)(void)
{
    return adds_at_once();
}

void VARIANT(nearest_scores_bytes)(size_t points, size_t dimensions, const uint8_t *rows,
                                   float ratio, size_t begin, size_t end, const int32_t *packed,
                                   int32_t *scores, size_t stride)
{
    size_t words = imp_row_bytes(dimensions) / 4;
    if (adds_at_once())
        score_all(FOURS_AT_ONCE, points, words, rows, ratio, begin, end, packed, scores, stride);
    else
        score_all(FOURS, points, words, rows, ratio, begin, end, packed, scores, stride);
}

/* ---- reductions ---- */

/* The two highest scores of every lane, and whose the highest is. */
typedef struct top {
    mask best, second, leader;
} top;

/* Combines the lanes of each slot of a group that has `width` slots. */
INLINE top fold(top lanes, size_t width)
{
    for (size_t distance = LANES / 2; distance >= width; distance /= 2) {
        top other = {exchange(lanes.best, distance), exchange(lanes.second, distance),
                     exchange(lanes.leader, distance)};
        mask better = other.best > lanes.best;
        lanes.leader = (mask)choose(better, (vec)other.leader, (vec)lanes.leader);
        lanes.second = larger_whole(larger_whole(lanes.second, other.second),
                                    smaller_whole(lanes.best, other.best));
        lanes.best = larger_whole(lanes.best, other.best);
    }
    mask is_slot = lane_numbers() < (int32_t)width;
    lanes.best = (mask)choose(is_slot, (vec)lanes.best, (vec)((mask)zero() + INT32_MIN));
    return lanes;
}

int32_t VARIANT(nearest_maxima)(size_t groups, const imp_slot_group *group, const int32_t *scores,
                                const int32_t *number, const imp_slots *slots)
{
    const mask none = (mask)zero() + INT32_MIN;
    mask all = none;
    for (size_t g = 0; g < groups; g++) {
        top lanes = {*(const mask *)scores, none, *(const mask *)number};
        for (size_t r = 1; r < group[g].depth; r++) {
            mask score = *(const mask *)(scores + r * LANES);
            mask better = score > lanes.best;
            lanes.leader =
                (mask)choose(better, *(const vec *)(number + r * LANES), (vec)lanes.leader);
            lanes.second = larger_whole(lanes.second, smaller_whole(lanes.best, score));
            lanes.best = larger_whole(lanes.best, score);
        }
        if (group[g].width < LANES)
            lanes = fold(lanes, group[g].width);
        all = larger_whole(all, lanes.best);
        *(mask *)(slots->best + g * LANES) = lanes.best;
        *(mask *)(slots->second + g * LANES) = lanes.second;
        *(mask *)(slots->leader + g * LANES) = lanes.leader;
        scores += group[g].depth * LANES;
        number += group[g].depth * LANES;
    }
    return largest_whole(all);
}

size_t VARIANT(nearest_over)(size_t count, const int32_t *scores, int32_t least, uint32_t *which)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i += LANES) {
        mask enough = *(const mask *)(scores + i) >= least;
        found += store_chosen(which + found, to_bits(enough), lane_numbers() + (int32_t)i);
    }
    return found;
}

bool VARIANT(nearest_leaders)(size_t count, const imp_slots *slots, const int32_t *class,
                              int32_t least, int32_t apart, uint32_t *leader,
                              uint32_t *leader_class, size_t *found)
{
    mask rivals = (mask)zero();
    *found = 0;
    for (size_t i = 0; i < count; i += LANES) {
        mask score = *(const mask *)(slots->best + i), next = *(const mask *)(slots->second + i);
        mask enough = score >= least;
        uint32_t bits = to_bits(enough);
        /* the difference itself may be too large */
        rivals |= enough & ((score >> 1) - (next >> 1) <= apart / 2 + 1);
        store_chosen(leader_class + *found, bits, *(const mask *)(class + i));
        *found += store_chosen(leader + *found, bits, *(const mask *)(slots->leader + i));
    }
    return !any(rivals);
}

void VARIANT(replace_shares)(size_t count, const int32_t *best, int32_t least, const float *exact,
                             float *share)
{
    for (size_t i = 0; i < count; i += LANES) {
        uint32_t bits = bits_at_least(*(const mask *)(best + i), (mask)zero() + least);
        store(share + i, replace_chosen(load(share + i), bits, exact));
        exact += __builtin_popcount(bits);
    }
}

#define SHUFFLE __builtin_shufflevector

/* The sums of the lanes of each. */
INLINE four_floats four_sums(vec a, vec b, vec c, vec d)
{
#if LANES == 16
    vec ab = SHUFFLE(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
             SHUFFLE(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    vec cd = SHUFFLE(c, d, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
             SHUFFLE(c, d, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    vec all = SHUFFLE(ab, cd, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
              SHUFFLE(ab, cd, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    return (four_floats)(SHUFFLE(all, all, 0, 1, 2, 3) + SHUFFLE(all, all, 4, 5, 6, 7) +
                         SHUFFLE(all, all, 8, 9, 10, 11) + SHUFFLE(all, all, 12, 13, 14, 15));
#elif LANES == 8
    vec ab = SHUFFLE(a, b, 0, 8, 1, 9, 4, 12, 5, 13) + SHUFFLE(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    vec cd = SHUFFLE(c, d, 0, 8, 1, 9, 4, 12, 5, 13) + SHUFFLE(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
    vec all =
        SHUFFLE(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13) + SHUFFLE(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
    return (four_floats)(SHUFFLE(all, all, 0, 1, 2, 3) + SHUFFLE(all, all, 4, 5, 6, 7));
#else
    vec ab = SHUFFLE(a, b, 0, 4, 1, 5) + SHUFFLE(a, b, 2, 6, 3, 7);
    vec cd = SHUFFLE(c, d, 0, 4, 1, 5) + SHUFFLE(c, d, 2, 6, 3, 7);
    return (four_floats)(SHUFFLE(ab, cd, 0, 1, 4, 5) + SHUFFLE(ab, cd, 2, 3, 6, 7));
#endif
}

size_t VARIANT(nearest_shares)(size_t count, const int32_t *scores, int32_t zero_score, float slope,
                               float offset, float limit, float most, float *share,
                               float tail[IMP_TAIL_STEPS])
{
    _Static_assert(IMP_TAIL_STEPS == 4, "there is a sum for each");
    vec first = zero(), second = zero(), third = zero(), fourth = zero();
    const vec per_half = splat(2 * slope * (float)LOG2_E), least = splat(-120);
    const vec of_zero = splat(offset * (float)LOG2_E);
    for (size_t i = 0; i < count; i += LANES) {
        mask score = *(const mask *)(scores + i);
        mask half = (score >> 1) - (zero_score >> 1); /* the difference itself may be too large */
        vec power = multiply_add(__builtin_convertvector(half, vec), per_half, of_zero);
        vec e = rough_power_of_two(larger(power, least));
        e = keep((score >= IMP_LEAST_SCORE) & (power > least), e);
        *(vec *)(share + i) = e;
        first = add_up_to(first, e, splat(limit));
        second = add_up_to(second, e, splat(limit / 2));
        third = add_up_to(third, e, splat(limit / 4));
        fourth = add_up_to(fourth, e, splat(limit / 8));
    }
    four_floats sums = four_sums(first, second, third, fourth) + *(const four_floats *)tail;
    *(four_floats *)tail = sums;
    size_t more = 0;
    for (size_t s = 0; s < IMP_TAIL_STEPS; s++)
        more += !(sums[s] <= most);
    return more;
}
