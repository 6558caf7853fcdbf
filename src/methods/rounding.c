/* rounding.c - quantises points and bounds the error. */
#include "methods/rounding.h"

#include <float.h>
#include <math.h>

/* Lengths whose squares neither underflow nor overflow in float. */
#define LEAST_LENGTH 1e-15
#define MOST_LENGTH 1e15

/* The relative error of a float sum of squares. */
static double square_error(double dimensions)
{
    return (dimensions + 8) * FLT_EPSILON;
}

/* Measures all points from the origin; those beyond the radius get no row. Returns the largest
 * length of those inside. */
static double measure(const imp_frame *frame, imp_rounded *points)
{
    double longest = 0;
    for (size_t r = 0; r < points->count; r++) {
        points->square[r] =
            frame->kernels->nearest_square(frame->dimensions, points->point[r], frame->origin);
        points->length[r] = sqrt(points->square[r]);
        points->inside[r] = points->length[r] < 0.99 * frame->radius;
        if (points->inside[r])
            longest = fmax(longest, points->length[r]);
    }
    return longest;
}

static bool can_be_squared(double length)
{
    return length > LEAST_LENGTH && length < MOST_LENGTH;
}

/* What float rounding adds to the reported loss of a row, in steps. */
static double float_rounding(bool bytes, double dimensions)
{
    return bytes ? IMP_BYTE_ROUNDING * sqrt(dimensions) : IMP_ROW_ROUNDING;
}

double imp_lost_by_packing(double lost_square, bool bytes, double dimensions, double per_step)
{
    return (sqrt(lost_square) + float_rounding(bytes, dimensions)) / per_step;
}

/* The error of a squared distance of point r, of which its row has lost that distance and a
 * cluster's row no more than the other: with the parts e and f lost, a product xc lacks xf + ec. */
static double rounding_error(const imp_frame *frame, const imp_rounded *points, size_t r,
                             double lost, double lost_of_cluster)
{
    double relative = square_error((double)frame->dimensions);
    double length = points->length[r] * (1 + relative) + lost;
    return 2 * (lost * frame->reach + length * lost_of_cluster) + relative * points->square[r];
}

/* ---- 16 bits ---- */

void imp_round_points(const imp_frame *frame, imp_rounded *points)
{
    double d = (double)frame->dimensions, longest = measure(frame, points);
    double step =
        fmax(longest, frame->reach / 2) / IMP_LONGEST_ROW; /* so that |c|^2 / 2 fits too */
    double center_step = frame->reach / IMP_LONGEST_ROW, unit = 2 * step * center_step;
    points->by =
        (imp_rounding){.usable = d <= IMP_MOST_DIMENSIONS && can_be_squared(step * IMP_LONGEST_ROW),
                       .per_step = 1 / step,
                       .ratio = center_step / step,
                       .unit = unit};
    for (size_t r = 0; r < points->count; r++) {
        points->inside[r] = points->inside[r] && points->by.usable;
        if (!points->inside[r])
            continue;
        double square = frame->kernels->nearest_round(
            frame->dimensions, points->point[r], frame->origin, (float)points->by.per_step,
            points->rows + r * imp_row_halves(frame->dimensions));
        double lost = step * (sqrt(square * (1 + square_error(d))) + float_rounding(false, d));
        points->error[r] =
            unit * IMP_HALF_SQUARE_ERROR + rounding_error(frame, points, r, lost, frame->lost);
    }
}

/* ---- 8 bits ---- */

/* Here coordinates, not lengths, limit the step, and the error of each point is measured. */
void imp_round_points_to_bytes(const imp_frame *frame, imp_rounded *points)
{
    const imp_kernels *kernels = frame->kernels;
    double d = (double)frame->dimensions, widest = frame->extent / 2;
    double longest = measure(frame, points);
    for (size_t r = 0; r < points->count; r++)
        if (points->inside[r])
            widest = fmax(widest, kernels->nearest_extent(frame->dimensions, points->point[r],
                                                          frame->origin));
    double step = widest / IMP_LARGEST_BYTE, center_step = frame->extent / IMP_LARGEST_BYTE;
    points->by = (imp_rounding){.usable = d <= IMP_MOST_BYTES && can_be_squared(longest) &&
                                          can_be_squared(frame->reach) && can_be_squared(widest),
                                .per_step = 1 / step,
                                .ratio = center_step / step,
                                .unit = 2 * step * center_step};
    /* |c|^2 / 2 was rounded to float three times and then truncated to an integer */
    double error = 3 * FLT_EPSILON * pow(frame->reach, 2) + points->by.unit;
    for (size_t r = 0; r < points->count; r++) {
        points->inside[r] = points->inside[r] && points->by.usable;
        if (!points->inside[r])
            continue;
        uint8_t *row = (uint8_t *)points->rows + r * imp_row_bytes(frame->dimensions);
        double square = kernels->nearest_round_bytes(
            frame->dimensions, points->point[r], frame->origin, (float)points->by.per_step, row);
        double lost = step * (sqrt(square * (1 + square_error(d))) + float_rounding(true, d));
        points->error[r] = error + rounding_error(frame, points, r, lost, frame->lost_of_bytes);
    }
}
