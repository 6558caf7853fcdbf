/*
 * tsne_gradient.c - equation 5 of van der Maaten and Hinton:
 *
 *     dC/dy_i = 4 sum_j (p_ij - q_ij) (y_i - y_j) / (1 + |y_i - y_j|^2)
 *
 * in one pass over the pairs. With w = 1 / (1 + |y_i - y_j|^2) and Z the sum of all w, q is w / Z,
 * so the attraction sum p w (y_i - y_j) and the repulsion sum w^2 (y_i - y_j) are kept separate
 * until Z is known. Each pair is computed twice, once from either end, so that a row writes only
 * its own point.
 */
#include "draw/tsne_gradient.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"

enum { LANES = IMP_AFFINITY_LANES, BLOCK = 32 };

typedef double vec __attribute__((vector_size(LANES * sizeof(double)), may_alias));

static double sum_of(const vec *v)
{
    double sum = 0;
    for (int lane = 0; lane < LANES; lane++)
        sum += (*v)[lane];
    return sum;
}

imp_status imp_tsne_field_create(imp_tsne_field *field, const imp_affinity *affinity,
                                 imp_error *error)
{
    enum { VECTORS = 7 };
    *field = (imp_tsne_field){0};
    size_t stride = affinity->stride;
    double *all = imp_allocate_zeroed(stride, VECTORS * sizeof *all);
    if (!all)
        return imp_fail_memory(error, "points in a plane");
    *field = (imp_tsne_field){.count = affinity->count,
                              .stride = stride,
                              .place = {all, all + stride},
                              .gradient = {all + 2 * stride, all + 3 * stride},
                              .repulsion = {all + 4 * stride, all + 5 * stride},
                              .total = all + 6 * stride};
    /* The padding of the last vector is too far away to have an effect. */
    for (size_t i = affinity->count; i < stride; i++)
        field->place[0][i] = 1e150;
    return IMP_OK;
}

void imp_tsne_field_clear(imp_tsne_field *field)
{
    imp_release(field->place[0]);
    *field = (imp_tsne_field){0};
}

/* The forces on a point. */
typedef struct sums {
    vec total, attract_x, attract_y, repel_x, repel_y;
} sums;

/* Adds the vectors begin .. end-1 of a row, minus `self`, which is 1 in the point's own lane. */
static inline void add(sums *to, const imp_tsne_field *field, const double *affinities, size_t i,
                       size_t begin, size_t end, const vec *self)
{
    const vec *xs = (const vec *)field->place[0], *ys = (const vec *)field->place[1];
    const vec *ps = (const vec *)affinities;
    double x = field->place[0][i], y = field->place[1][i];
    sums all = *to;
    for (size_t j = begin; j < end; j++) {
        vec dx = x - xs[j], dy = y - ys[j];
        vec w = 1 / (1 + dx * dx + dy * dy) - *self;
        vec pw = ps[j] * w, ww = w * w;
        all.total += w;
        all.attract_x += pw * dx;
        all.attract_y += pw * dy;
        all.repel_x += ww * dx;
        all.repel_y += ww * dy;
    }
    *to = all;
}

/* The point itself, with w = 1, is subtracted before summing: afterwards it would have swamped
 * distant points. */
static void push(const imp_tsne_field *field, const double *affinities, size_t i)
{
    const vec none = {0};
    vec self = {0};
    size_t own = i / LANES, end = field->stride / LANES;
    sums all = {0};
    self[i % LANES] = 1;
    add(&all, field, affinities, i, 0, own, &none);
    add(&all, field, affinities, i, own, own + 1, &self);
    add(&all, field, affinities, i, own + 1, end, &none);
    field->total[i] = sum_of(&all.total);
    field->gradient[0][i] = sum_of(&all.attract_x);
    field->gradient[1][i] = sum_of(&all.attract_y);
    field->repulsion[0][i] = sum_of(&all.repel_x);
    field->repulsion[1][i] = sum_of(&all.repel_y);
}

typedef struct work {
    const imp_tsne_field *field;
    const imp_affinity *affinity;
} work;

static void push_block(size_t block, int worker, void *context)
{
    (void)worker;
    const work *all = context;
    size_t count = all->field->count, begin = block * BLOCK;
    size_t end = count - begin < BLOCK ? count : begin + BLOCK;
    for (size_t i = begin; i < end; i++)
        push(all->field, all->affinity->pairs + i * all->affinity->stride, i);
}

static double total_of(const imp_tsne_field *field)
{
    double total = 0;
    for (size_t i = 0; i < field->count; i++)
        total += field->total[i];
    return total;
}

void imp_tsne_gradient(imp_tsne_field *field, const imp_affinity *affinity, double exaggeration,
                       int threads)
{
    work all = {field, affinity};
    imp_parallel((field->count + BLOCK - 1) / BLOCK, threads, push_block, &all);
    double total = fmax(total_of(field), 1e-300); /* a single point has no pair */
    for (int axis = 0; axis < 2; axis++)
        for (size_t i = 0; i < field->count; i++)
            field->gradient[axis][i] =
                4 * (exaggeration * field->gradient[axis][i] - field->repulsion[axis][i] / total);
}

double imp_tsne_divergence(const imp_tsne_field *field, const imp_affinity *affinity)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < field->count; i++)
        for (size_t j = 0; j < field->count; j++) {
            double dx = field->place[0][i] - field->place[0][j];
            double dy = field->place[1][i] - field->place[1][j];
            double p = affinity->pairs[i * affinity->stride + j],
                   one_over_w = 1 + dx * dx + dy * dy;
            if (i != j)
                total += 1 / one_over_w;
            if (p > 0)
                sum += p * log(p * one_over_w);
        }
    /* The affinities sum to 1; rounding may make the divergence of a perfect plane negative. */
    return field->count > 1 ? fmax(sum + log(total), 0) : 0;
}
