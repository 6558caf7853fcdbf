/*
 * kernels.h - the hot loops, one table of functions per instruction set.
 *
 * Every function here is serial and touches only its arguments; the layers above divide the work
 * into blocks and run them in parallel. Activations are (N, H, W, 64) floats, 64-byte aligned,
 * unless a function says otherwise. Variants of a function differ only in rounding.
 */
#ifndef IMP_KERNELS_KERNELS_H
#define IMP_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

enum {
    IMP_CHANNELS = 64,          /* channels of the fused blocks */
    IMP_CHANNEL_STEP = 16,      /* the others take multiples of this */
    IMP_CONVOLVE_TILES = 126,   /* a multiple of 6 and 7, the rows of a register block */
    IMP_POINTS = 36,            /* transform points of Winograd's F(4x4, 3x3): 6 x 6 */
    IMP_TILE_SIZES = 2,         /* 4x4 and 6x6 */
    IMP_FIRST_MAX_CHANNELS = 4, /* most input channels of the first-layer kernels */
    IMP_FIRST_MAX_TAPS = 9 * IMP_FIRST_MAX_CHANNELS,
    IMP_NEAREST_POINTS = 48,                   /* points compared with all centers together */
    IMP_MOST_NEAREST_WIDTH = 64,               /* most centers in a panel */
    IMP_LEADERS = IMP_NEAREST_POINTS * 3 * 16, /* size of the working memory of nearest() */
    IMP_LONGEST_ROW = 32000,       /* in steps: no coordinate exceeds 16 bits, no score 32 */
    IMP_MOST_DIMENSIONS = 1 << 16, /* of such rows: beyond, float sums are too inaccurate */
    IMP_HALF_SQUARE_ERROR = 512,   /* 2^-21 of the largest |c|^2 / 2 times a ratio of 2 */
    IMP_LARGEST_BYTE = 127,        /* largest coordinate, in steps, of byte rows */
    IMP_MOST_BYTES = 1 << 15,      /* dimensions of byte rows: scores fit in 32 bits */
    IMP_TAIL_STEPS = 4             /* thresholds of nearest_shares() */
};

#define IMP_MOST_ROUNDING 0.51 /* half a step, plus float rounding */
#define IMP_ROW_ROUNDING 0.01  /* float rounding of a row, in steps, beyond what is reported */
#define IMP_BYTE_ROUNDING 1e-4 /* the same of each coordinate of a byte row */
#define IMP_SHARE_ERROR 3e-5   /* relative, of nearest_shares() */
#define IMP_LEAST_SCORE                                                      \
    (INT32_MIN + 256) /* centers score higher, places without a center lower \
                       */

/* Length of a row: products are summed in pairs. */
static inline size_t imp_row_halves(size_t dimensions)
{
    return (dimensions + 1) / 2 * 2;
}

/* Length of a byte row: products are summed in fours. */
static inline size_t imp_row_bytes(size_t dimensions)
{
    return (dimensions + 3) / 4 * 4;
}

/* A stack of maps: `images` maps of height x width. */
typedef struct imp_maps {
    size_t images, height, width;
} imp_maps;

/* The number of 4x4 tiles of a Winograd convolution's output; they may overhang at the right and
 * the bottom. */
static inline size_t imp_maps_tiles(const imp_maps *maps)
{
    return maps->images * ((maps->height + 3) / 4) * ((maps->width + 3) / 4);
}

/* Count, mean and sum of squared deviations of each channel. Moments of blocks are merged in order.
 */
typedef struct imp_moments {
    double count;
    double mean[IMP_CHANNELS];
    double deviation[IMP_CHANNELS];
} imp_moments;

/* The coefficients of batch normalisation per channel, forward and backward. */
typedef struct imp_norm {
    float scale[IMP_CHANNELS];  /* gamma / std */
    float beta[IMP_CHANNELS];   /* z = scale * (y - mean) + beta */
    float mean[IMP_CHANNELS];   /* of the batch, without the convolution's bias */
    float rstd[IMP_CHANNELS];   /* 1 / sqrt(variance + eps) */
    float sign[IMP_CHANNELS];   /* of gamma: 1, 0 or -1 */
    float offset[IMP_CHANNELS]; /* backward: -scale * sum(dz) / count */
    float slope[IMP_CHANNELS];  /* backward: -scale * rstd * sum(dz * xhat) / count */
} imp_norm;

/* The same for any number of channels, with the rectifier after it (slope 1 below zero means none):
 * z = scale * (x - mean) + beta, and backward dx = scale * dz + offset + tilt * (x - mean). */
typedef struct imp_channel_norm {
    size_t channels;
    const float *mean, *scale, *beta, *offset, *tilt;
    float slope;
} imp_channel_norm;

/* The first layer's input: planar (N, C, H + 2, row) with a border of one pixel, `row` floats from
 * line to line, each channel shifted by its mean (the border too). */
typedef struct imp_padded {
    const float *pixels;
    size_t images, channels, height, width; /* without the border */
    size_t row;                             /* floats per line, at least width + 2 */
} imp_padded;

/* 3x3 convolution of 64 to 64 channels by Winograd's tiles of one size. */
typedef struct imp_winograd {
    size_t points;         /* transform points of a tile: 36 or 64 */
    size_t scratch_floats; /* scratch that the functions need */

    /* Transforms weights (64 out, `inputs` in, 3, 3) into the packed form that the products read:
     * `forward` for y = W x, each output channel multiplied by scale[out] if scale is not NULL,
     * and, if not NULL, `adjoint` for dx = W^T dy. Each has points * 64 * 64 floats; a call writes
     * rows begin..end-1 of every 64x64 matrix. */
    void (*weights)(const float *weights, size_t inputs, const float *scale, size_t begin,
                    size_t end, float *forward, float *adjoint);

    /* out = conv(in), same size; moments of out over these images. `selected`, if not NULL,
     * receives the winner of each 2x2 window, (N, H/2, W/2, 64): the value for which value *
     * `sign`, the sign of gamma in each channel, is largest. */
    void (*forward)(const imp_maps *maps, const float *in, const float *weights, const float *sign,
                    float *out, float *selected, imp_moments *moments, float *scratch);

    /* out = maxpool(relu(conv(in) + bias)), (N, H/2, W/2, 64): for evaluation, with the norm folded
     * into the weights. */
    void (*infer)(const imp_maps *maps, const float *in, const float *weights, const float *bias,
                  float *out, float *scratch);

    /* The adjoint. `y` is the convolution's output, `selected` comes from forward(), and `pooled`
     * and `dpooled` are the result of pool_forward() and its gradient. Writes the transformed
     * weight gradient to `dweights` (points, 64 in, 64 out), and the input's gradient to `din` if
     * that is not NULL (then `adjoint` is the packed weights). If `selected` is NULL, there was no
     * pooling: the gradient of the convolution's output is offset + slope * (y - mean), with the
     * coefficients in `norm`. */
    void (*backward)(const imp_maps *maps, const float *in, const float *y, const float *selected,
                     const float *pooled, const float *dpooled, const imp_norm *norm,
                     const float *adjoint, float *dweights, float *din, float *scratch);

    /* dweights (64 out, `inputs` in, 3, 3) += the back-transformed sum of `count` consecutive
     * arrays written by backward(), for input channels begin..end-1. */
    void (*weight_gradient)(const float *parts, size_t count, size_t inputs, size_t begin,
                            size_t end, float *dweights);
} imp_winograd;

/* Scores of a group, `depth` rows of as many as a vector has lanes. Lanes `width` apart, a power of
 * two, belong to the same slot, so that a group of few slots has few rows. */
typedef struct imp_slot_group {
    uint32_t depth, width;
} imp_slot_group;

/* By slot, of which a group has one per lane, though without scores from `width` on: the two
 * highest scores, and whose the highest is. Arrays aligned to 64 bytes. */
typedef struct imp_slots {
    int32_t *best, *second, *leader;
} imp_slots;

typedef struct imp_kernels {
    const char *name;      /* "avx512", "avx2" or "portable" */
    size_t padding_floats; /* finite floats required after the last pixel of imp_padded */

    /* The convolution of the fused blocks by tiles of 4x4 and 6x6; imp_winograd_for() chooses. */
    const imp_winograd *winograd[IMP_TILE_SIZES];

    /* pooled = relu(norm(selected)) of `count` pooled pixels. */
    void (*pool_forward)(size_t count, const float *selected, const imp_norm *norm, float *pooled);

    /* Sums over `count` pooled pixels: sum_dz[c] and sum_dz_xhat[c] (64 each, overwritten). */
    void (*pool_backward_sums)(size_t count, const float *selected, const float *pooled,
                               const float *dpooled, const imp_norm *norm, double *sum_dz,
                               double *sum_dz_xhat);

    /* The same convolution on its own, for any numbers of channels that are multiples of
     * IMP_CHANNEL_STEP; activations are (N, H, W, channels) and aligned. Up to IMP_CONVOLVE_TILES
     * tiles are processed together; an array (IMP_POINTS, tiles, channels) of that many transformed
     * tiles has convolve_points() floats. */
    size_t (*convolve_points)(size_t channels);

    /* The transformed weights, IMP_POINTS * inputs * outputs floats, of weights
     * (outputs, inputs, 3, 3): of y = W x, each output channel multiplied by scale[out] if scale is
     * not NULL, or, if `adjoint`, of dx = W^T dy, which is a convolution from `outputs` to `inputs`
     * channels. A call writes rows begin .. end-1 of every point's matrix, which has one row per
     * input channel of the convolution. */
    void (*convolve_weights)(const float *weights, size_t inputs, size_t outputs, bool adjoint,
                             const float *scale, size_t begin, size_t end, float *packed);

    /* out = rectify(conv(in) + bias); bias may be NULL, and `slope`, the rectifier's below zero, 1
     * for none. Scratch is convolve_points() of inputs and outputs. */
    void (*convolve)(const imp_maps *maps, size_t inputs, size_t outputs, const float *in,
                     const float *weights, const float *bias, float slope, float *out,
                     float *scratch);

    /* The weight gradient takes three steps. These two transform the convolution's input, or the
     * gradient of its output, for tiles first + begin .. first + end-1, to the places begin ..
     * end-1 of such an array; */
    void (*convolve_input)(const imp_maps *maps, size_t channels, const float *in, size_t first,
                           size_t begin, size_t end, float *v);
    void (*convolve_gradient)(const imp_maps *maps, size_t channels, const float *dout,
                              size_t first, size_t begin, size_t end, float *dm);
    /* this multiplies `count` tiles of both at one point and adds the product to `du` (IMP_POINTS,
     * inputs, outputs), or overwrites it if `fresh`; */
    void (*convolve_outer)(size_t point, size_t inputs, size_t outputs, size_t count,
                           const float *v, const float *dm, bool fresh, float *du);
    /* and this adds the back-transformed sum to dweights (outputs, inputs, 3, 3) for input channels
     * begin .. end-1. */
    void (*convolve_weight_gradient)(const float *du, size_t inputs, size_t outputs, size_t begin,
                                     size_t end, float *dweights);

    /* Mean and sum of squared deviations of each channel of x (pixels, channels). Scratch is
     * 3 * channels floats. */
    void (*norm_moments)(size_t pixels, size_t channels, const float *x, double *mean,
                         double *deviation, float *scratch);
    void (*norm_forward)(const imp_channel_norm *norm, size_t pixels, const float *x, float *out);
    /* Sums of dz and of dz * (x - mean); offset and tilt are not needed yet. Scratch is
     * 2 * channels floats. */
    void (*norm_backward_sums)(const imp_channel_norm *norm, size_t pixels, const float *x,
                               const float *dout, double *sum_dz, double *sum_dz_x, float *scratch);
    void (*norm_backward)(const imp_channel_norm *norm, size_t pixels, const float *x,
                          const float *dout, float *din);

    /* c(m, n) += a(m, k) b(k, n). Element (i, j) of a is a[i * a_row + j * a_column], so a
     * transposed matrix only needs other strides; rows of b and c are b_row and c_row floats apart.
     */
    void (*multiply)(size_t m, size_t n, size_t k, const float *a, size_t a_row, size_t a_column,
                     const float *b, size_t b_row, float *c, size_t c_row);

    /* The nearest of many centers for up to IMP_NEAREST_POINTS points, in integers: coordinates are
     * quantised to 16 bits, in steps relative to an origin. The points of a call have one step
     * size, the centers another, and no row may be longer than IMP_LONGEST_ROW steps. The nearest
     * center has the highest score, x.c - |c|^2 / 2, in units of the product of both steps. Integer
     * sums are exact, so the error of a score comes only from quantising the coordinates, less than
     * IMP_MOST_ROUNDING of a step each, plus up to IMP_HALF_SQUARE_ERROR. */

    /* |x - origin|^2, and the quantised row of that difference: imp_row_halves() numbers. per_step
     * is the reciprocal of the step. Rounding returns the sum of squared quantisation errors of all
     * coordinates, in steps. */
    float (*nearest_square)(size_t dimensions, const float *x, const float *origin);
    float (*nearest_round)(size_t dimensions, const float *x, const float *origin, float per_step,
                           int16_t *row);

    /* Centers are packed in panels of nearest_width centers, nearest_panel() numbers each.
     * nearest_pack() packs up to one panel of centers, given as rows of floats in steps; where
     * there[i] is false (NULL: none is) the place stays empty. It returns the largest sum of
     * squared quantisation errors of a center. */
    size_t nearest_width;
    size_t (*nearest_panel)(size_t dimensions);
    double (*nearest_pack)(size_t count, size_t dimensions, const float *centers, const bool *there,
                           int32_t *panel);

    /* Compares points with centers begin .. end-1; `begin` starts a panel. `rows` has room for
     * IMP_NEAREST_POINTS rows, all of which are read even if there are fewer points. `ratio`, at
     * most 2, is the centers' step divided by the points'. best and second are the two highest
     * scores (below IMP_LEAST_SCORE if there is no such center), center the number of one with the
     * best. `leaders`, IMP_LEADERS numbers aligned to 64 bytes, is for nearest_close(). */
    void (*nearest)(size_t points, size_t dimensions, const int16_t *rows, float ratio,
                    size_t begin, size_t end, const int32_t *packed, int32_t *leaders,
                    int32_t *center, int32_t *best, int32_t *second);

    /* The centers that scored at least `least`, which is not below IMP_LEAST_SCORE, for one of the
     * points of that comparison; at most nearest_width. False if there may be more, since only the
     * best of each lane are known. */
    bool (*nearest_close)(const int32_t *leaders, size_t point, int32_t least, int32_t *center,
                          size_t *count);

    /* The same without omissions, by comparing one row again with the centers from *begin on. Stops
     * after a panel in which it found some and moves *begin there; all are done when that is `end`
     * or more. */
    size_t (*nearest_above)(size_t dimensions, const int16_t *row, float ratio, size_t *begin,
                            size_t end, const int32_t *packed, int32_t least, int32_t *center);

    /* All scores of these points: scores[i * stride + c] of point i with center c, aligned to 64
     * bytes, for c in begin .. end-1 and on to the end of the panel; places without a center score
     * below IMP_LEAST_SCORE. `scores` has room for IMP_NEAREST_POINTS rows. */
    void (*nearest_scores)(size_t points, size_t dimensions, const int16_t *rows, float ratio,
                           size_t begin, size_t end, const int32_t *packed, int32_t *scores,
                           size_t stride);

    /* The same in half the time with 8-bit coordinates, from -127 to 127 steps, if the processor
     * has instructions for it (nearest_bytes_pay()). nearest_extent() is the largest |x - origin|
     * of a coordinate; nearest_round_bytes() writes imp_row_bytes() bytes. */
    bool (*nearest_bytes_pay)(void);
    float (*nearest_extent)(size_t dimensions, const float *x, const float *origin);
    float (*nearest_round_bytes)(size_t dimensions, const float *x, const float *origin,
                                 float per_step, uint8_t *row);
    size_t (*nearest_panel_bytes)(size_t dimensions);
    double (*nearest_pack_bytes)(size_t count, size_t dimensions, const float *centers,
                                 const bool *there, int32_t *panel);
    void (*nearest_scores_bytes)(size_t points, size_t dimensions, const uint8_t *rows, float ratio,
                                 size_t begin, size_t end, const int32_t *packed, int32_t *scores,
                                 size_t stride);

    /* Takes the scores of one point in groups of at least one row; each score has a number. Finds
     * the two highest of every slot and the number of the highest. Returns the largest of all.
     * Scores and numbers are aligned to 64 bytes. */
    size_t lanes;
    int32_t (*nearest_maxima)(size_t groups, const imp_slot_group *group, const int32_t *scores,
                              const int32_t *number, const imp_slots *slots);

    /* Lists which of `count` scores, a multiple of `lanes`, are at least `least`; returns how many.
     * `which` has room for `count` numbers. */
    size_t (*nearest_over)(size_t count, const int32_t *scores, int32_t least, uint32_t *which);

    /* Lists the leaders of the slots whose best score is at least `least`, which is not below
     * IMP_LEAST_SCORE, and their classes, of which there is one per slot. False if, as far as this
     * can tell, a second best is no more than `apart` below. `count` is a multiple of `lanes`, and
     * there is room for so many. */
    bool (*nearest_leaders)(size_t count, const imp_slots *slots, const int32_t *class,
                            int32_t least, int32_t apart, uint32_t *leader, uint32_t *leader_class,
                            size_t *found);

    /* share[i] = exp(offset + slope * (scores[i] - zero_score)), 0 where a score is below
     * IMP_LEAST_SCORE, for a multiple of `lanes` scores, none of which exceeds zero_score by more
     * than a few, within IMP_SHARE_ERROR and `slope` of it, both relative, as scores are halved.
     * Adds the shares of at most limit / 2^s to tail[s]; returns how many of these sums are then
     * above `most`. `scores` and `share` are aligned to 64 bytes. */
    size_t (*nearest_shares)(size_t count, const int32_t *scores, int32_t zero_score, float slope,
                             float offset, float limit, float most, float *share,
                             float tail[IMP_TAIL_STEPS]);

    /* Replaces the shares of those slots whose best score is at least `least`, which
     * nearest_leaders() lists, by exact[0], exact[1], ... `count` is a multiple of `lanes`, and so
     * many more than are needed may be read from `exact`. */
    void (*replace_shares)(size_t count, const int32_t *best, int32_t least, const float *exact,
                           float *share);

    /* distances[i] = |x - row which[i] of means|^2, to the same bits in every variant. */
    void (*distances)(size_t dimensions, const float *x, const double *means, const uint32_t *which,
                      size_t count, double *distances);

    /* The same from one mean to many points: distances[i] = |row which[i] of rows - mean|^2. */
    void (*distances_from)(size_t dimensions, const double *mean, const float *rows,
                           const uint32_t *which, size_t count, double *distances);

    /* The same from many points to four means each: distances[i] = |row row[i / 4] of rows - row
     * which[i] of means|^2, for 4 * fours pairs, with room for a multiple of `lanes`. */
    void (*distances_in_fours)(size_t dimensions, const float *rows, const uint32_t *row,
                               const double *means, const uint32_t *which, size_t fours,
                               double *distances);

    /* density[i] = offset - distance[i] / divisor, but no less than -DBL_MAX, to the same bits in
     * every variant. Both are aligned to 64 bytes and have room for a multiple of `lanes`. */
    void (*densities)(size_t count, const double *distance, double offset, double divisor,
                      double *density);

    /* How many of the values, none of which is NaN, are the largest; *first is the first of these.
     * Twice `lanes` more than `count` can be read. */
    size_t (*largest)(size_t count, const double *value, size_t *first);

    /* share[i] = exp(score[i] - most), where no exponent is above 80, to a few units in the last
     * place of a float. Both arrays have room for `lanes` more than `count`. */
    void (*shares)(size_t count, const double *score, double most, float *share);

    /* scaled[i] = share[i], divided by the sum of all. Returns how many of the results are at least
     * that of `chosen`. */
    size_t (*scale_shares)(size_t count, const float *share, size_t chosen, float *scaled);

    /* Copies floats that will not be read soon, past the caches where the processor can do so. */
    void (*write_apart)(size_t count, const float *from, float *to);

    /* Softmax in double precision, in place; `most` is the largest score. */
    void (*normalize)(size_t count, double most, double *score);

    /* score[i] = exp(score[i]), in place; none is above 0. */
    void (*exponentials)(size_t count, double *score);

    /* sum(dimensions) += z[0] * row which[0] + z[1] * row which[1] + ..., where the right side is
     * summed first. */
    void (*weighted_sum)(size_t dimensions, const float *rows, const uint32_t *which,
                         const double *z, size_t count, double *sum);

    /* Adds dimensions begin .. end-1 of each row, one after the other, to those of row cluster[i]
     * of `sums`, to the same bits in every variant. */
    void (*add_rows)(size_t dimensions, size_t begin, size_t end, const float *rows,
                     const int32_t *cluster, size_t count, double *sums);

    /* First layer, 1..IMP_FIRST_MAX_CHANNELS input channels; taps = 9 * channels in the order
     * (channel, row, column) of PyTorch's weights. Computes the sums of the patches (taps) and
     * their Gram matrix (taps, taps); both are overwritten. */
    void (*first_moments)(const imp_padded *in, double *sums, double *products);

    /* pooled = relu(scale * maxpool(conv(in)) + bias) for weights (taps, 64) and scale >= 0;
     * winner, if not NULL, receives which of the four pixels was the maximum (0..3), or 4 where
     * ReLU is closed. */
    void (*first_forward)(const imp_padded *in, const float *weights, const float *scale,
                          const float *bias, float *pooled, uint8_t *winner);

    /* Sums over pooled pixels the gradient, sum_dz[64], and the gradient times the winning pixel's
     * patch, products (taps, 64); both are overwritten. Needs 12 * row floats of scratch.
     */
    void (*first_backward)(const imp_padded *in, const float *dpooled, const uint8_t *winner,
                           double *sum_dz, double *products, float *scratch);
} imp_kernels;

/* Which of the two tile sizes needs fewer multiplications on maps of that size; ties go to 0, the
 * smaller tiles, which have a smaller rounding error. */
static inline size_t imp_tile_size(size_t height, size_t width)
{
    size_t four = ((height + 3) / 4) * ((width + 3) / 4),
           six = ((height + 5) / 6) * ((width + 5) / 6);
    return six * 64 < four * 36;
}

/* The transform points of such a tile. */
static inline size_t imp_tile_points(size_t height, size_t width)
{
    return imp_tile_size(height, width) ? 64 : IMP_POINTS;
}

static inline const imp_winograd *imp_winograd_for(const imp_kernels *kernels, size_t height,
                                                   size_t width)
{
    return kernels->winograd[imp_tile_size(height, width)];
}

/* The best table for this machine, or the one named by the environment variable IMP_ISA. Fails with
 * a sentence if that name is unknown or this machine cannot run it. */
imp_status imp_kernels_choose(const imp_kernels **out, imp_error *error);

/* The table of that name, or NULL when this build or this machine does not have it. */
const imp_kernels *imp_kernels_find(const char *name);

#endif
