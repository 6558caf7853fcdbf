/*
 * chart.h - a line chart of several series as a picture, with a legend above the plot.
 */
#ifndef IMP_DRAW_CHART_H
#define IMP_DRAW_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

/* A line from point to point, in the given order. */
typedef struct imp_chart_series {
    const char *name;         /* UTF-8, for the legend; NULL: not shown there */
    const double *x, *y;      /* (count): where y is NAN, the line has a gap */
    const double *half_width; /* (count): shades y -+ half_width where that is not NAN; NULL: no
                                 band */
    size_t count;
    bool marks;    /* a dot at every point */
    bool dashed;   /* for comparisons */
    size_t colour; /* of draw/palette.h, from 1; 0: the series' own */
} imp_chart_series;

/* A vertical line that marks an event; the range is widened to include it. */
typedef struct imp_chart_marker {
    double x;
    const char *label; /* UTF-8; NULL: none */
} imp_chart_marker;

typedef struct imp_chart {
    const char *title, *x_title, *y_title; /* UTF-8; NULL: none */
    const imp_chart_series *series;        /* the first is drawn on top */
    size_t series_count;                   /* at least 1 */
    const imp_chart_marker *markers;
    size_t marker_count;
    bool log_x;           /* a logarithmic x axis */
    double y_low, y_high; /* the range of the y axis; if equal (both 0, say), that of the
                             series and their bands, with some room */
    int width, height;    /* in pixels; 0: 800 and 500 */
} imp_chart;

/* Writes the picture atomically, as PNG or SVG according to the extension of `path`
 * (draw/canvas.h), the same bytes every time.
 *
 * On failure the file is unchanged: IMP_EINVAL for another extension, no series or no points, an x
 * or a y of 1e150 or more, an x that is NAN, or not positive on a logarithmic axis, a half-width
 * that is negative or as large, a range or size that leaves no room to draw, or text that is not
 * UTF-8; IMP_EIO; IMP_ENOMEM. */
imp_status imp_chart_save(const imp_chart *chart, const char *path, imp_error *error);

/* The same for several charts on one sheet, `columns` of them side by side, all of the size of the
 * first. */
imp_status imp_charts_save(const imp_chart *charts, size_t count, size_t columns, const char *path,
                           imp_error *error);

/* A chart as an SVG in memory, of *size bytes; release it with imp_release(). NULL on failure. */
imp_status imp_chart_svg(const imp_chart *chart, uint8_t **bytes, size_t *size, imp_error *error);

#endif
