/*
 * variants.h - the declarations of one variant's kernel functions; kernels.h says what each does.
 */
#ifndef IMP_KERNELS_VARIANTS_H
#define IMP_KERNELS_VARIANTS_H

#include "kernels/kernels.h"
#include "kernels/vector.h"

enum {
    NEAREST_VECTORS = LANES == 16 ? 4 : 2, /* vectors of centers in a register block */
    NEAREST_WIDTH = NEAREST_VECTORS * LANES
};

extern const imp_winograd VARIANT(winograd4), VARIANT(winograd6);
void VARIANT(pool_forward)(size_t count, const float *selected, const imp_norm *norm,
                           float *pooled);
void VARIANT(pool_backward_sums)(size_t count, const float *selected, const float *pooled,
                                 const float *dpooled, const imp_norm *norm, double *sum_dz,
                                 double *sum_dz_xhat);
size_t VARIANT(convolve_points)(size_t channels);
void VARIANT(convolve_weights)(const float *weights, size_t inputs, size_t outputs, bool adjoint,
                               const float *scale, size_t begin, size_t end, float *packed);
void VARIANT(convolve)(const imp_maps *maps, size_t inputs, size_t outputs, const float *in,
                       const float *weights, const float *bias, float slope, float *out,
                       float *scratch);
void VARIANT(convolve_input)(const imp_maps *maps, size_t channels, const float *in, size_t first,
                             size_t begin, size_t end, float *v);
void VARIANT(convolve_gradient)(const imp_maps *maps, size_t channels, const float *dout,
                                size_t first, size_t begin, size_t end, float *dm);
void VARIANT(convolve_outer)(size_t point, size_t inputs, size_t outputs, size_t count,
                             const float *v, const float *dm, bool fresh, float *du);
void VARIANT(convolve_weight_gradient)(const float *du, size_t inputs, size_t outputs, size_t begin,
                                       size_t end, float *dweights);
void VARIANT(norm_moments)(size_t pixels, size_t channels, const float *x, double *mean,
                           double *deviation, float *scratch);
void VARIANT(norm_forward)(const imp_channel_norm *norm, size_t pixels, const float *x, float *out);
void VARIANT(norm_backward_sums)(const imp_channel_norm *norm, size_t pixels, const float *x,
                                 const float *dout, double *sum_dz, double *sum_dz_x,
                                 float *scratch);
void VARIANT(norm_backward)(const imp_channel_norm *norm, size_t pixels, const float *x,
                            const float *dout, float *din);
void VARIANT(multiply)(size_t m, size_t n, size_t k, const float *a, size_t a_row, size_t a_column,
                       const float *b, size_t b_row, float *c, size_t c_row);
void VARIANT(first_moments)(const imp_padded *in, double *sums, double *products);
void VARIANT(first_forward)(const imp_padded *in, const float *weights, const float *scale,
                            const float *bias, float *pooled, uint8_t *winner);
void VARIANT(first_backward)(const imp_padded *in, const float *dpooled, const uint8_t *winner,
                             double *sum_dz, double *products, float *scratch);
float VARIANT(nearest_square)(size_t dimensions, const float *x, const float *origin);
float VARIANT(nearest_round)(size_t dimensions, const float *x, const float *origin, float per_step,
                             int16_t *row);
size_t VARIANT(nearest_panel)(size_t dimensions);
double VARIANT(nearest_pack)(size_t count, size_t dimensions, const float *centers,
                             const bool *there, int32_t *panel);
void VARIANT(nearest)(size_t points, size_t dimensions, const int16_t *rows, float ratio,
                      size_t begin, size_t end, const int32_t *packed, int32_t *leaders,
                      int32_t *center, int32_t *best, int32_t *second);
bool VARIANT(nearest_close)(const int32_t *leaders, size_t point, int32_t least, int32_t *center,
                            size_t *count);
size_t VARIANT(nearest_above)(size_t dimensions, const int16_t *row, float ratio, size_t *begin,
                              size_t end, const int32_t *packed, int32_t least, int32_t *center);
void VARIANT(nearest_scores)(size_t points, size_t dimensions, const int16_t *rows, float ratio,
                             size_t begin, size_t end, const int32_t *packed, int32_t *scores,
                             size_t stride);
float VARIANT(nearest_extent)(size_t dimensions, const float *x, const float *origin);
float VARIANT(nearest_round_bytes)(size_t dimensions, const float *x, const float *origin,
                                   float per_step, uint8_t *row);
size_t VARIANT(nearest_panel_bytes)(size_t dimensions);
double VARIANT(nearest_pack_bytes)(size_t count, size_t dimensions, const float *centers,
                                   const bool *there, int32_t *panel);
bool VARIANT(nearest_bytes_pay)(void);
void VARIANT(nearest_scores_bytes)(size_t points, size_t dimensions, const uint8_t *rows,
                                   float ratio, size_t begin, size_t end, const int32_t *packed,
                                   int32_t *scores, size_t stride);
int32_t VARIANT(nearest_maxima)(size_t groups, const imp_slot_group *group, const int32_t *scores,
                                const int32_t *number, const imp_slots *slots);
size_t VARIANT(nearest_over)(size_t count, const int32_t *scores, int32_t least, uint32_t *which);
bool VARIANT(nearest_leaders)(size_t count, const imp_slots *slots, const int32_t *class,
                              int32_t least, int32_t apart, uint32_t *leader,
                              uint32_t *leader_class, size_t *found);
void VARIANT(replace_shares)(size_t count, const int32_t *best, int32_t least, const float *exact,
                             float *share);
size_t VARIANT(nearest_shares)(size_t count, const int32_t *scores, int32_t zero_score, float slope,
                               float offset, float limit, float most, float *share,
                               float tail[IMP_TAIL_STEPS]);
void VARIANT(distances)(size_t dimensions, const float *x, const double *means,
                        const uint32_t *which, size_t count, double *distances);
void VARIANT(distances_from)(size_t dimensions, const double *mean, const float *rows,
                             const uint32_t *which, size_t count, double *distances);
void VARIANT(distances_in_fours)(size_t dimensions, const float *rows, const uint32_t *row,
                                 const double *means, const uint32_t *which, size_t fours,
                                 double *distances);
void VARIANT(densities)(size_t count, const double *distance, double offset, double divisor,
                        double *density);
size_t VARIANT(largest)(size_t count, const double *value, size_t *first);
void VARIANT(shares)(size_t count, const double *score, double most, float *share);
size_t VARIANT(scale_shares)(size_t count, const float *share, size_t chosen, float *scaled);
void VARIANT(write_apart)(size_t count, const float *from, float *to);
void VARIANT(normalize)(size_t count, double most, double *score);
void VARIANT(exponentials)(size_t count, double *score);
void VARIANT(weighted_sum)(size_t dimensions, const float *rows, const uint32_t *which,
                           const double *z, size_t count, double *sum);
void VARIANT(add_rows)(size_t dimensions, size_t begin, size_t end, const float *rows,
                       const int32_t *cluster, size_t count, double *sums);

#endif
