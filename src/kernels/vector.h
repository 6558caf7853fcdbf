/*
 * vector.h - the one vector type the kernels are written in, as wide as the variant being compiled.
 *
 * A kernel file is compiled once per instruction set with IMP_VARIANT set to its name. It uses GNU
 * vector extensions, so all variants share one source: 4 lanes in portable C and with NEON, 8 with
 * AVX2, 16 with AVX-512. The variant `wide` has the lanes of AVX-512 without its instructions;
 * tests use it on machines that lack them.
 */
#ifndef IMP_KERNELS_VECTOR_H
#define IMP_KERNELS_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define IMP_JOIN_(a, b) a##b
#define IMP_JOIN(a, b) IMP_JOIN_(a, b)

/* VARIANT(f) is imp_f_avx2, imp_f_portable, ...: a distinct name for the function in every variant.
 */
#define VARIANT(name) IMP_JOIN(imp_##name##_, IMP_VARIANT)

#define IMP_LANES_portable 4
#define IMP_LANES_neon 4
#define IMP_LANES_avx2 8
#define IMP_LANES_avx512 16
#define IMP_LANES_wide 16
#define LANES IMP_JOIN(IMP_LANES_, IMP_VARIANT)

/* The number of vector registers: the portable variant assumes what every processor has. */
#define IMP_REGISTERS_portable 16
#define IMP_REGISTERS_neon 32
#define IMP_REGISTERS_avx2 16
#define IMP_REGISTERS_avx512 32
#define IMP_REGISTERS_wide 32
#define REGISTERS IMP_JOIN(IMP_REGISTERS_, IMP_VARIANT)

#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(LANES * 4), may_alias));
typedef float vec_unaligned __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
typedef int32_t mask __attribute__((vector_size(LANES * 4), may_alias));
typedef int32_t mask_unaligned __attribute__((vector_size(LANES * 4), aligned(2), may_alias));
typedef uint8_t bytes __attribute__((vector_size(LANES), aligned(1), may_alias));
typedef int32_t row_word __attribute__((aligned(1), may_alias)); /* two halves or four bytes */
typedef int16_t halves __attribute__((vector_size(LANES * 2), aligned(2), may_alias));

INLINE vec load(const float *p)
{
    return *(const vec *)p;
}

INLINE vec load_unaligned(const float *p)
{
    return *(const vec_unaligned *)p;
}

INLINE void store(float *p, vec v)
{
    *(vec *)p = v;
}

INLINE void store_unaligned(float *p, vec v)
{
    *(vec_unaligned *)p = v;
}

/* A bit for each of the first `count` lanes, or for all if there are no more. */
INLINE uint32_t first_bits(size_t count)
{
    return count < LANES ? (1U << count) - 1 : (1U << LANES) - 1;
}

/* The first `count` lanes, or all; the others are 0. */
INLINE vec load_first(const float *p, size_t count)
{
    if (count >= LANES) /* unlike a masked load, need not wait for earlier stores */
        return load_unaligned(p);
#if LANES == 16 && defined(__AVX512F__)
    return (vec)_mm512_maskz_loadu_ps((__mmask16)first_bits(count), p);
#else
    float lanes[LANES] __attribute__((aligned(64))) = {0};
    memcpy(lanes, p, count * sizeof *lanes);
    return load(lanes);
#endif
}

INLINE void store_first(float *p, vec v, size_t count)
{
#if LANES == 16 && defined(__AVX512F__)
    _mm512_mask_storeu_ps(p, (__mmask16)first_bits(count), (__m512)v);
#else
    if (count >= LANES) {
        store_unaligned(p, v);
    } else {
        float lanes[LANES] __attribute__((aligned(64)));
        store(lanes, v);
        memcpy(p, lanes, count * sizeof *lanes);
    }
#endif
}

INLINE vec zero(void)
{
    return (vec){0};
}

INLINE vec splat(float s)
{
    return s - (vec){0}; /* unlike an addition, exact for -0 too, so it folds to a broadcast */
}

/* A vector register of doubles. */
enum { DOUBLES = LANES / 2 };
typedef double wide __attribute__((vector_size(DOUBLES * 8), may_alias));
typedef double wide_unaligned __attribute__((vector_size(DOUBLES * 8), aligned(8), may_alias));
typedef int64_t wide_mask __attribute__((vector_size(DOUBLES * 8), may_alias));

INLINE wide spread(double s)
{
    return s - (wide){0};
}

/* Four floats as doubles; compilers would convert two at a time. */
typedef double four_doubles __attribute__((vector_size(32), aligned(8), may_alias));
typedef float four_floats __attribute__((vector_size(16), aligned(4), may_alias));

INLINE four_doubles load_four_as_doubles(const float *p)
{
#if defined(__AVX2__)
    return (four_doubles)_mm256_cvtps_pd(_mm_loadu_ps(p));
#else
    return __builtin_convertvector(*(const four_floats *)p, four_doubles);
#endif
}

/* DOUBLES floats as doubles. */
INLINE wide load_as_doubles(const float *p)
{
#if LANES == 16 && defined(__AVX512F__)
    return (wide)_mm512_cvtps_pd(_mm256_loadu_ps(p));
#elif LANES == 8 && defined(__AVX2__)
    return (wide)_mm256_cvtps_pd(_mm_loadu_ps(p));
#else
    typedef float some __attribute__((vector_size(DOUBLES * 4), aligned(4), may_alias));
    return __builtin_convertvector(*(const some *)p, wide);
#endif
}

/* Two vectors of doubles as one of floats. */
INLINE vec to_floats(wide low, wide high)
{
#if LANES == 16 && defined(__AVX512F__)
    __m256 first = _mm512_cvtpd_ps((__m512d)low), second = _mm512_cvtpd_ps((__m512d)high);
    return (vec)_mm512_insertf32x8(_mm512_castps256_ps512(first), second, 1);
#else
    float lanes[LANES] __attribute__((aligned(64)));
    for (size_t l = 0; l < DOUBLES; l++) {
        lanes[l] = (float)low[l];
        lanes[l + DOUBLES] = (float)high[l];
    }
    return load(lanes);
#endif
}

/* The first `count` lanes of v, or all; the others are `rest`. */
INLINE wide first_doubles(wide v, size_t count, double rest)
{
#if LANES == 16 && defined(__AVX512F__)
    return (wide)_mm512_mask_mov_pd(_mm512_set1_pd(rest), (__mmask8)first_bits(count), (__m512d)v);
#else
    double lanes[DOUBLES] __attribute__((aligned(64)));
    *(wide *)lanes = v;
    for (size_t i = count; i < DOUBLES; i++)
        lanes[i] = rest;
    return *(const wide *)lanes;
#endif
}

/* a where m is set (all bits or none), elsewhere b */
INLINE vec choose(mask m, vec a, vec b)
{
    return (vec)((m & (mask)a) | (~m & (mask)b));
}

/* a where m is set, elsewhere 0 */
INLINE vec keep(mask m, vec a)
{
    return (vec)(m & (mask)a);
}

/* sum + v where v is no more than `limit`, elsewhere sum */
INLINE vec add_up_to(vec sum, vec v, vec limit)
{
#if LANES == 16 && defined(__AVX512F__)
    __mmask16 small = _mm512_cmp_ps_mask((__m512)v, (__m512)limit, _CMP_LE_OQ);
    return (vec)_mm512_mask_add_ps((__m512)sum, small, (__m512)sum, (__m512)v);
#else
    return sum + keep(v <= limit, v);
#endif
}

/* b where either is NaN, so larger(zero(), x) keeps a NaN in x */
INLINE vec larger(vec a, vec b)
{
#if LANES == 16 && defined(__AVX512F__)
    return (vec)_mm512_max_ps((__m512)a, (__m512)b);
#elif LANES == 8 && defined(__AVX2__)
    return (vec)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return choose(a > b, a, b);
#endif
}

/* b where either is NaN */
INLINE wide larger_double(wide a, wide b)
{
#if LANES == 16 && defined(__AVX512F__)
    return (wide)_mm512_max_pd((__m512d)a, (__m512d)b);
#else
    wide_mask first = a > b;
    return (wide)(((wide_mask)a & first) | ((wide_mask)b & ~first));
#endif
}

/* The largest lane. */
INLINE double largest_double(wide v)
{
#if LANES == 16 && defined(__AVX512F__)
    return _mm512_reduce_max_pd((__m512d)v);
#else
    double most = v[0];
    for (size_t i = 1; i < DOUBLES; i++)
        most = v[i] > most ? v[i] : most;
    return most;
#endif
}

/* a * b + c, either fused in all loops of a variant or in none: left to itself, a compiler that
 * tunes for some processors fuses only in loops with more than one sum.
 */
INLINE vec multiply_add(vec a, vec b, vec c)
{
#if LANES == 16 && defined(__AVX512F__)
    return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif LANES == 8 && defined(__FMA__)
    return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

/* LANES bytes as integers, and integers below 256 as bytes. The compilers' own conversion goes lane
 * by lane where one or two instructions suffice. */
INLINE mask load_bytes(const uint8_t *p)
{
#if LANES == 16 && defined(__AVX512F__)
    return (mask)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));
#elif LANES == 8 && defined(__AVX2__)
    return (mask)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
#else
    return __builtin_convertvector(*(const bytes *)p, mask);
#endif
}

INLINE void store_bytes(uint8_t *p, mask v)
{
#if LANES == 16 && defined(__AVX512F__)
    _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8((__m512i)v));
#elif LANES == 8 && defined(__AVX2__)
    __m128i low = _mm256_castsi256_si128((__m256i)v),
            high = _mm256_extracti128_si256((__m256i)v, 1);
    __m128i words = _mm_packs_epi32(low, high);
    _mm_storel_epi64((__m128i *)p, _mm_packus_epi16(words, words));
#else
    *(bytes *)p = __builtin_convertvector(v, bytes);
#endif
}

/* Integer vectors have the type mask too. Lane i: the two 16-bit halves of a times those of b,
 * added. */
INLINE mask multiply_pairs(mask a, mask b)
{
#if LANES == 16 && defined(__AVX512BW__)
    return (mask)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif LANES == 8 && defined(__AVX2__)
    return (mask)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif LANES == 4 && defined(__SSE2__)
    return (mask)_mm_madd_epi16((__m128i)a, (__m128i)b);
#elif LANES == 4 && defined(__aarch64__)
    int16x8_t x = (int16x8_t)a, y = (int16x8_t)b;
    return (mask)vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
#else
    typedef uint32_t bits __attribute__((vector_size(LANES * 4)));
    mask low_a = (mask)((bits)a << 16) >> 16, low_b = (mask)((bits)b << 16) >> 16;
    return low_a * low_b + (a >> 16) * (b >> 16);
#endif
}

/* Whether the processor multiplies and adds in one instruction (VNNI), which not all with AVX-512
 * can. */
INLINE bool adds_at_once(void)
{
#if LANES == 16 && defined(__AVX512BW__)
    return __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

/* sum + multiply_pairs(a, b), to the same bits either way. */
INLINE mask add_pairs(bool at_once, mask sum, mask a, mask b)
{
#if LANES == 16 && defined(__AVX512BW__)
    if (at_once) {
        __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
        return sum;
    }
#endif
    (void)at_once;
    return sum + multiply_pairs(a, b);
}

/* sum + the four unsigned bytes of a times the four signed bytes of b, to the same bits either way.
 */
INLINE mask add_fours(bool at_once, mask sum, mask a, mask b)
{
#if LANES == 16 && defined(__AVX512BW__)
    if (at_once) {
        __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
        return sum;
    }
#endif
    (void)at_once;
    typedef uint32_t bits __attribute__((vector_size(LANES * 4)));
#pragma GCC unroll 4
    for (int k = 0; k < 32; k += 8)
        sum += (mask)((bits)a >> k & 255) * ((mask)((bits)b << (24 - k)) >> 24);
    return sum;
}

INLINE mask larger_whole(mask a, mask b)
{
#if LANES == 16 && defined(__AVX512F__)
    return (mask)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif LANES == 8 && defined(__AVX2__)
    return (mask)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    mask m = a > b;
    return (m & a) | (~m & b);
#endif
}

INLINE mask smaller_whole(mask a, mask b)
{
#if LANES == 16 && defined(__AVX512F__)
    return (mask)_mm512_min_epi32((__m512i)a, (__m512i)b);
#elif LANES == 8 && defined(__AVX2__)
    return (mask)_mm256_min_epi32((__m256i)a, (__m256i)b);
#else
    mask m = a < b;
    return (m & a) | (~m & b);
#endif
}

/* The largest lane. */
INLINE int32_t largest_whole(mask v)
{
#if LANES == 16 && defined(__AVX512F__)
    return _mm512_reduce_max_epi32((__m512i)v);
#else
    int32_t lanes[LANES] __attribute__((aligned(64))), most;
    *(mask *)lanes = v;
    most = lanes[0];
    for (size_t i = 1; i < LANES; i++)
        most = lanes[i] > most ? lanes[i] : most;
    return most;
#endif
}

/* Whether any lane of m is set. */
INLINE bool any(mask m)
{
#if LANES == 16 && defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)m, (__m512i)m) != 0;
#elif LANES == 8 && defined(__AVX2__)
    return _mm256_testz_si256((__m256i)m, (__m256i)m) == 0;
#elif LANES == 4 && defined(__SSE2__)
    return _mm_movemask_epi8((__m128i)m) != 0;
#elif LANES == 4 && defined(__aarch64__)
    return vmaxvq_u32((uint32x4_t)m) != 0;
#else
    int32_t set = 0;
    for (size_t i = 0; i < LANES; i++)
        set |= m[i];
    return set != 0;
#endif
}

/* A bit for each lane of m, set or not. */
INLINE uint32_t to_bits(mask m)
{
#if LANES == 16 && defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)m, (__m512i)m);
#elif LANES == 8 && defined(__AVX2__)
    return (uint32_t)_mm256_movemask_ps((__m256)m);
#elif LANES == 4 && defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps((__m128)m);
#else
    uint32_t bits = 0;
    for (size_t i = 0; i < LANES; i++)
        bits |= (uint32_t)(m[i] != 0) << i;
    return bits;
#endif
}

/* A bit for each double of m. */
INLINE uint32_t to_bits_of_doubles(wide_mask m)
{
#if LANES == 16 && defined(__AVX512DQ__)
    return _mm512_movepi64_mask((__m512i)m);
#elif LANES == 8 && defined(__AVX2__)
    return (uint32_t)_mm256_movemask_pd((__m256d)m);
#else
    uint32_t bits = 0;
    for (size_t i = 0; i < DOUBLES; i++)
        bits |= (uint32_t)(m[i] != 0) << i;
    return bits;
#endif
}

/* A bit for each lane in which a is at least b. */
INLINE uint32_t bits_at_least(mask a, mask b)
{
#if LANES == 16 && defined(__AVX512F__)
    return _mm512_cmpge_epi32_mask((__m512i)a, (__m512i)b);
#else
    return to_bits(a >= b);
#endif
}

/* Lane i is i. */
INLINE mask lane_numbers(void)
{
    static const int32_t numbers[]
        __attribute__((aligned(64))) = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return *(const mask *)numbers;
}

/* Lane i is lane i ^ distance of v, for a distance below LANES. */
INLINE mask exchange(mask v, size_t distance)
{
    mask from = lane_numbers() ^ (int32_t)distance;
#if LANES == 16 && defined(__AVX512F__)
    return (mask)_mm512_permutexvar_epi32((__m512i)from, (__m512i)v);
#elif LANES == 8 && defined(__AVX2__)
    return (mask)_mm256_permutevar8x32_epi32((__m256i)v, (__m256i)from);
#else
    int32_t lanes[LANES] __attribute__((aligned(64))), moved[LANES] __attribute__((aligned(64)));
    *(mask *)lanes = v;
    for (size_t i = 0; i < LANES; i++)
        moved[i] = lanes[from[i]];
    return *(const mask *)moved;
#endif
}

/* Stores the lanes of v that have a bit, one after the other, and returns how many. There must be
 * room for a whole vector: what is behind them is overwritten. */
INLINE size_t store_chosen(uint32_t *p, uint32_t bits, mask v)
{
#if LANES == 16 && defined(__AVX512F__)
    _mm512_storeu_si512(p, _mm512_maskz_compress_epi32((__mmask16)bits, (__m512i)v));
    return (size_t)__builtin_popcount(bits);
#else
    uint32_t lanes[LANES] __attribute__((aligned(64)));
    size_t stored = 0;
    *(mask *)lanes = v;
    for (; bits != 0; bits &= bits - 1)
        p[stored++] = lanes[__builtin_ctz(bits)];
    return stored;
#endif
}

/* v, whose lanes that have a bit are replaced by p[0], p[1], ...; a whole vector is read from p. */
INLINE vec replace_chosen(vec v, uint32_t bits, const float *p)
{
#if LANES == 16 && defined(__AVX512F__)
    return (vec)_mm512_mask_expand_ps((__m512)v, (__mmask16)bits, _mm512_loadu_ps(p));
#else
    float lanes[LANES] __attribute__((aligned(64)));
    store(lanes, v);
    for (; bits != 0; bits &= bits - 1)
        lanes[__builtin_ctz(bits)] = *p++;
    return load(lanes);
#endif
}

/* Rounds to the nearest integers, for lanes below 2^22: the addition drops all fractional bits. */
INLINE mask round_to_whole(vec v)
{
    const vec shift = splat(0x1.8p23F);
    return (mask)(v + shift) - (mask)shift;
}

/* Stores integers that fit in 16 bits. */
INLINE void store_halves(int16_t *p, mask v)
{
#if LANES == 16 && defined(__AVX512F__)
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16((__m512i)v));
#elif LANES == 8 && defined(__AVX2__)
    __m128i low = _mm256_castsi256_si128((__m256i)v),
            high = _mm256_extracti128_si256((__m256i)v, 1);
    _mm_storeu_si128((__m128i *)p, _mm_packs_epi32(low, high));
#else
    *(halves *)p = __builtin_convertvector(v, halves);
#endif
}

/* v, kept in a register: a compiler may otherwise reload it at every use and saturate the load
 * ports. */
INLINE vec in_register(vec v)
{
#if (LANES == 16 && defined(__AVX512F__)) || (LANES == 8 && defined(__AVX2__))
    __asm__("" : "+v"(v));
#elif LANES == 4 && defined(__aarch64__)
    __asm__("" : "+w"(v));
#endif
    return v;
}

/* Lane i of the result is four[which[i]], which[i] in 0..3 (other values: any of the four). */
INLINE vec pick(const float four[4], mask which)
{
#if LANES == 16 && defined(__AVX512F__)
    __m512 all = _mm512_broadcast_f32x4(_mm_loadu_ps(four));
    return (vec)_mm512_permutevar_ps(all, (__m512i)which);
#elif LANES == 8 && defined(__AVX2__)
    __m256 all = _mm256_broadcast_ps((const __m128 *)four);
    return (vec)_mm256_permutevar_ps(all, (__m256i)which);
#else
    vec low = choose((which & 1) == 0, splat(four[0]), splat(four[1]));
    vec high = choose((which & 1) == 0, splat(four[2]), splat(four[3]));
    return choose((which & 2) == 0, low, high);
#endif
}

/* Adds each lane to its own double. Goes through memory, because indexing a vector's lanes in a
 * loop would keep the vector, and any array it is in, out of registers. */
INLINE void add_lanes(double *sums, vec v)
{
    float lanes[LANES] __attribute__((aligned(64)));
    store(lanes, v);
    for (size_t i = 0; i < LANES; i++)
        sums[i] += lanes[i];
}

/* The sum of the lanes in double, always in the same order. */
INLINE double total(vec v)
{
    float lanes[LANES] __attribute__((aligned(64)));
    double sum = 0;
    store(lanes, v);
    for (size_t i = 0; i < LANES; i++)
        sum += lanes[i];
    return sum;
}

/* The sum of the lanes in float, always in the same order. */
INLINE float rough_total(vec v)
{
#if LANES == 16 && defined(__AVX512F__)
    return _mm512_reduce_add_ps((__m512)v);
#else
    return (float)total(v);
#endif
}

#endif
