/*
 * axis.h - the range of an axis and its ticks: round values, as many as there is room for.
 */
#ifndef IMP_DRAW_AXIS_H
#define IMP_DRAW_AXIS_H

#include <stdbool.h>
#include <stddef.h>

enum { IMP_MOST_TICKS = 32 };

typedef struct imp_axis {
    double low, high; /* the range; low < high */
    bool logarithmic;
    double ticks[IMP_MOST_TICKS]; /* in the range, ascending */
    size_t tick_count;
    int decimals; /* digits that distinguish the ticks; unused on a logarithmic axis */
} imp_axis;

typedef struct imp_tick_text {
    char text[32];
} imp_tick_text;

/* An axis from `low` to `high` with about `wanted` ticks (2 .. 12) at multiples of 1, 2 or 5 times
 * a power of ten. An empty range is widened. */
imp_axis imp_axis_linear(double low, double high, int wanted);

/* The same for a logarithmic axis, 0 < low: ticks at powers of ten; over a short range also at 2
 * and 5 times those, over a long one only at some of them. */
imp_axis imp_axis_logarithmic(double low, double high, int wanted);

/* The position of a value: 0 at the low end, 1 at the high one. */
double imp_axis_place(const imp_axis *axis, double value);

/* The label of tick `index`: 0.25, 1,500 or 1e-05. */
imp_tick_text imp_axis_text(const imp_axis *axis, size_t index);

#endif
