/* rounding.c - the step that points are counted in, and what that loses. */
#include "methods/rounding.h"

#include <float.h>
#include <math.h>

/* Lengths between which floats neither lose digits nor overflow when squared. */
#define LEAST_LENGTH 1e-15
#define MOST_LENGTH 1e15

imp_rounding imp_choose_rounding(const imp_frame *frame, double longest)
{
    double d = (double)frame->dimensions;
    double step =
        fmax(longest, frame->reach / 2) / IMP_LONGEST_ROW; /* so that |c|^2 / 2 fits, too */
    double center_step = frame->reach / IMP_LONGEST_ROW;
    double length = step * IMP_LONGEST_ROW;
    imp_rounding by = {.usable = d <= IMP_MOST_DIMENSIONS && length > LEAST_LENGTH &&
                                 length < MOST_LENGTH,
                       .per_step = 1 / step,
                       .ratio = center_step / step,
                       .unit = 2 * step * center_step};
    /* Rows x and c are without the fractions e and f of a step, so that a product xc lacks
     * (x + e)f + ec, in which |e| and |f| are at most: */
    double lost = IMP_MOST_ROUNDING * sqrt(d);
    by.error = by.unit * (lost * (IMP_LONGEST_ROW + lost) + IMP_HALF_SQUARE_ERROR);
    by.per_length = by.unit * lost / step;
    by.per_square = (d + 8) * FLT_EPSILON; /* of |x|^2, a sum of floats */
    return by;
}

void imp_round_points(const imp_frame *frame, imp_rounded *points)
{
    size_t d = frame->dimensions;
    double longest = 0;
    for (size_t r = 0; r < points->count; r++) {
        points->square[r] = frame->kernels->nearest_square(d, points->point[r], frame->origin);
        points->length[r] = sqrt(points->square[r]);
        points->inside[r] = points->length[r] < 0.99 * frame->radius;
        if (points->inside[r])
            longest = fmax(longest, points->length[r]);
    }
    points->by = imp_choose_rounding(frame, longest);
    for (size_t r = 0; r < points->count; r++) {
        points->inside[r] = points->inside[r] && points->by.usable;
        if (points->inside[r])
            frame->kernels->nearest_round(d, points->point[r], frame->origin,
                                          (float)points->by.per_step,
                                          points->rows + r * imp_row_halves(d));
    }
}
