/* chart.c - draws line charts with cairo. */
#include "draw/chart.h"

#include <math.h>

#include "base/error.h"
#include "draw/axis.h"
#include "draw/canvas.h"
#include "draw/palette.h"

/* Pixels. */
enum {
    WIDTH = 800,
    HEIGHT = 500,
    LEAST_SIDE = 200,
    MARGIN = 20,
    TITLE = 18, /* letters */
    LABEL = 14,
    SMALL = 12,
    ROW = 22,       /* of the legend */
    SMALL_ROW = 16, /* of the markers' labels */
    SWATCH = 34,
    GAP = 24,
    TICK = 5,
    MARK = 4 /* radius */
};

#define LARGEST 1e150 /* below the square root of the largest double */

static const double ink = 0.15, soft = 0.4, pale = 0.88; /* grays of text, markers, the grid */

typedef struct plot {
    const imp_chart *chart;
    imp_canvas canvas;
    imp_palette palette;
    double left, right, top, bottom; /* of the area between the axes */
    imp_axis x, y;
} plot;

static void use_gray(const plot *on, double gray)
{
    cairo_set_source_rgb(on->canvas.cairo, gray, gray, gray);
}

static double x_of(const plot *on, double value)
{
    return on->left + imp_axis_place(&on->x, value) * (on->right - on->left);
}

static double y_of(const plot *on, double value)
{
    return on->bottom - imp_axis_place(&on->y, value) * (on->bottom - on->top);
}

/* ---- checks and ranges ---- */

typedef struct range {
    double low, high;
} range;

static void include(range *all, double value)
{
    all->low = fmin(all->low, value);
    all->high = fmax(all->high, value);
}

static double half_width_at(const imp_chart_series *series, size_t i)
{
    return series->half_width ? series->half_width[i] : NAN;
}

static imp_status check_point(const imp_chart *chart, size_t s, size_t i, const char *path,
                              imp_error *error)
{
    const imp_chart_series *series = &chart->series[s];
    double x = series->x[i], half_width = half_width_at(series, i);
    if (!(fabs(x) < LARGEST) || fabs(series->y[i]) >= LARGEST)
        return imp_fail(error, IMP_EINVAL,
                        "cannot draw '%s': point %zu of series %zu is not finite, or too large",
                        path, i, s);
    if (chart->log_x && x <= 0)
        return imp_fail(error, IMP_EINVAL,
                        "cannot draw '%s': point %zu of series %zu is at %g, but a logarithmic "
                        "axis has only positive values",
                        path, i, s, x);
    if (half_width < 0 || half_width >= LARGEST)
        return imp_fail(error, IMP_EINVAL,
                        "cannot draw '%s': the half-width of point %zu of series %zu is %g", path,
                        i, s, half_width);
    return IMP_OK;
}

/* The range of all series with their bands and of the markers, or an error. */
static imp_status measure(const imp_chart *chart, range *x, range *y, const char *path,
                          imp_error *error)
{
    *x = *y = (range){INFINITY, -INFINITY};
    for (size_t s = 0; s < chart->series_count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++) {
            imp_status status = check_point(chart, s, i, path, error);
            if (status)
                return status;
            double half_width = half_width_at(&chart->series[s], i);
            double value = chart->series[s].y[i], reach = isnan(half_width) ? 0 : half_width;
            if (isnan(value))
                continue;
            include(x, chart->series[s].x[i]);
            include(y, value - reach);
            include(y, value + reach);
        }
    if (!(x->low <= x->high))
        return imp_fail(error, IMP_EINVAL, "cannot draw '%s': it has no points", path);
    for (size_t i = 0; i < chart->marker_count; i++) {
        double at = chart->markers[i].x;
        if (!(fabs(at) < LARGEST) || (chart->log_x && at <= 0))
            return imp_fail(error, IMP_EINVAL, "cannot draw '%s': marker %zu cannot be at %g", path,
                            i, at);
        include(x, at);
    }
    return IMP_OK;
}

/* ---- the series ---- */

static void use_colour(const plot *on, size_t series, double opacity)
{
    size_t colour = on->chart->series[series].colour;
    colour = (colour > 0 ? colour - 1 : series) % IMP_PALETTE_SIZE;
    imp_palette_use(&on->palette, on->canvas.cairo, (int32_t)colour, opacity);
}

/* Strokes the current path as the series' line. */
static void stroke(const plot *on, const imp_chart_series *series)
{
    static const double dashes[] = {7, 5};
    cairo_t *cairo = on->canvas.cairo;
    cairo_set_dash(cairo, dashes, series->dashed ? 2 : 0, 0);
    cairo_set_line_width(cairo, 2);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(cairo);
    cairo_set_dash(cairo, NULL, 0, 0);
}

/* The end of the points from `begin` on that have a y and, for a band, a half-width. */
static size_t end_of_run(const imp_chart_series *series, size_t begin, bool band)
{
    size_t end = begin;
    while (end < series->count && !isnan(series->y[end]) &&
           !(band && isnan(half_width_at(series, end))))
        end++;
    return end;
}

static void draw_band(const plot *on, size_t s)
{
    const imp_chart_series *series = &on->chart->series[s];
    cairo_t *cairo = on->canvas.cairo;
    use_colour(on, s, 0.18);
    for (size_t begin = 0, end; series->half_width && begin < series->count; begin = end + 1) {
        end = end_of_run(series, begin, true);
        for (size_t i = begin; i < end; i++)
            cairo_line_to(cairo, x_of(on, series->x[i]),
                          y_of(on, series->y[i] + series->half_width[i]));
        for (size_t i = end; i-- > begin;)
            cairo_line_to(cairo, x_of(on, series->x[i]),
                          y_of(on, series->y[i] - series->half_width[i]));
        cairo_fill(cairo);
    }
}

static void draw_line(const plot *on, size_t s)
{
    const imp_chart_series *series = &on->chart->series[s];
    use_colour(on, s, 1);
    for (size_t begin = 0, end; begin < series->count; begin = end + 1) {
        end = end_of_run(series, begin, false);
        for (size_t i = begin; i < end; i++)
            cairo_line_to(on->canvas.cairo, x_of(on, series->x[i]), y_of(on, series->y[i]));
        stroke(on, series);
        bool alone = end == begin + 1; /* a line of one point would be invisible */
        for (size_t i = begin; i < end && (series->marks || alone); i++)
            imp_canvas_dot(&on->canvas, x_of(on, series->x[i]), y_of(on, series->y[i]), MARK);
    }
}

/* Bands are drawn below all lines. Marks at the edge of the area may extend a little beyond it. */
static void draw_series(const plot *on)
{
    cairo_t *cairo = on->canvas.cairo;
    cairo_save(cairo);
    cairo_rectangle(cairo, on->left - MARK, on->top - MARK, on->right - on->left + 2 * MARK,
                    on->bottom - on->top + 2 * MARK);
    cairo_clip(cairo);
    for (size_t s = on->chart->series_count; s-- > 0;)
        draw_band(on, s);
    for (size_t s = on->chart->series_count; s-- > 0;)
        draw_line(on, s);
    cairo_restore(cairo);
}

/* ---- around them ---- */

/* A line one pixel wide, aligned to the pixels. */
static void rule(const plot *on, double x1, double y1, double x2, double y2)
{
    cairo_t *cairo = on->canvas.cairo;
    cairo_set_line_width(cairo, 1);
    cairo_move_to(cairo, floor(x1) + 0.5, floor(y1) + 0.5);
    cairo_line_to(cairo, floor(x2) + 0.5, floor(y2) + 0.5);
    cairo_stroke(cairo);
}

/* Short ticks at 1, 2, ... 9 times the powers of ten show that an axis is logarithmic. */
static void draw_small_ticks(const plot *on)
{
    for (int power = (int)floor(log10(on->x.low)); power <= log10(on->x.high); power++)
        for (int digit = 1; digit < 10; digit++) {
            double at = imp_axis_place(&on->x, digit * pow(10, power));
            double x = on->left + at * (on->right - on->left);
            if (at >= 0 && at <= 1)
                rule(on, x, on->bottom, x, on->bottom + 0.5 * TICK);
        }
}

static void draw_axes(const plot *on)
{
    imp_canvas_font(&on->canvas, SMALL, false);
    for (size_t i = 0; i < on->y.tick_count; i++) {
        double y = y_of(on, on->y.ticks[i]);
        use_gray(on, pale);
        rule(on, on->left, y, on->right, y);
        use_gray(on, ink);
        imp_canvas_text(&on->canvas, imp_axis_text(&on->y, i).text, on->left - 8, y + 4,
                        IMP_ALIGN_RIGHT);
    }
    for (size_t i = 0; i < on->x.tick_count; i++) {
        double x = x_of(on, on->x.ticks[i]);
        use_gray(on, ink);
        rule(on, x, on->bottom, x, on->bottom + TICK);
        imp_canvas_text(&on->canvas, imp_axis_text(&on->x, i).text, x, on->bottom + TICK + 14,
                        IMP_ALIGN_CENTRE);
    }
    use_gray(on, ink);
    rule(on, on->left, on->bottom, on->right, on->bottom);
    if (on->x.logarithmic)
        draw_small_ticks(on);
}

static void draw_titles(const plot *on)
{
    const imp_chart *chart = on->chart;
    cairo_t *cairo = on->canvas.cairo;
    use_gray(on, ink);
    imp_canvas_font(&on->canvas, TITLE, true);
    imp_canvas_text(&on->canvas, chart->title, on->left, MARGIN + 12, IMP_ALIGN_LEFT);
    imp_canvas_font(&on->canvas, LABEL, false);
    imp_canvas_text(&on->canvas, chart->x_title, 0.5 * (on->left + on->right),
                    on->bottom + TICK + 38, IMP_ALIGN_CENTRE);
    cairo_save(cairo);
    cairo_translate(cairo, MARGIN + 8, 0.5 * (on->top + on->bottom));
    cairo_rotate(cairo, -0.5 * M_PI);
    imp_canvas_text(&on->canvas, chart->y_title, 0, 0, IMP_ALIGN_CENTRE);
    cairo_restore(cairo);
}

/* The markers' lines with their labels above the area, where no series can hide them: to the right
 * of their lines, or to the left if there is no room, and one row higher than the next one if they
 * would touch. Returns the number of rows; draws only if asked to. */
static int place_markers(const plot *on, bool draw)
{
    enum { AWAY = 5, LEVELS = 4 };
    static const double dashes[] = {3, 3};
    cairo_t *cairo = on->canvas.cairo;
    double previous_begin = INFINITY, previous_end = -INFINITY;
    int level = 0, rows = 0;
    imp_canvas_font(&on->canvas, SMALL, false);
    use_gray(on, soft);
    for (size_t i = on->chart->marker_count; i-- > 0;) {
        const imp_chart_marker *marker = &on->chart->markers[i];
        double x = x_of(on, marker->x), width = imp_text_width(marker->label, SMALL, false);
        double begin = x + width + AWAY > on->right ? x - width - AWAY : x + AWAY;
        bool touches = begin < previous_end + AWAY && begin + width > previous_begin - AWAY;
        level = marker->label && touches ? (level + 1) % LEVELS : 0;
        int own_rows = marker->label ? level + 1 : 0;
        if (own_rows > rows)
            rows = own_rows;
        previous_begin = begin;
        previous_end = begin + width;
        if (!draw)
            continue;
        cairo_set_dash(cairo, dashes, 2, 0);
        rule(on, x, on->top - own_rows * SMALL_ROW, x, on->bottom);
        cairo_set_dash(cairo, NULL, 0, 0);
        imp_canvas_text(&on->canvas, marker->label, begin, on->top - level * SMALL_ROW - 5,
                        IMP_ALIGN_LEFT);
    }
    return rows;
}

/* Draws the legend in rows from `top` on; returns its bottom. */
static double draw_legend(const plot *on, double top)
{
    enum { LINE = SWATCH - 8 };
    cairo_t *cairo = on->canvas.cairo;
    double x = on->left, middle = top + 0.5 * ROW;
    bool any = false;
    imp_canvas_font(&on->canvas, LABEL, false);
    for (size_t s = 0; s < on->chart->series_count; s++) {
        const imp_chart_series *series = &on->chart->series[s];
        if (!series->name)
            continue;
        double width = SWATCH + imp_text_width(series->name, LABEL, false);
        if (any && x + width > on->right) {
            x = on->left;
            middle += ROW;
        }
        any = true;
        use_colour(on, s, 1);
        cairo_move_to(cairo, x, middle);
        cairo_line_to(cairo, x + LINE, middle);
        stroke(on, series);
        if (series->marks)
            imp_canvas_dot(&on->canvas, x + 0.5 * LINE, middle, MARK);
        use_gray(on, ink);
        imp_canvas_text(&on->canvas, series->name, x + SWATCH, middle + 5, IMP_ALIGN_LEFT);
        x += width + GAP;
    }
    return any ? middle + 0.5 * ROW : top;
}

/* ---- the picture ---- */

static double widest_tick(const imp_axis *axis)
{
    double widest = 0;
    for (size_t i = 0; i < axis->tick_count; i++)
        widest = fmax(widest, imp_text_width(imp_axis_text(axis, i).text, SMALL, false));
    return widest;
}

/* Room above and below the series; but if nothing is negative, the axis may start at zero. */
static void give_room(range *y)
{
    double room = 0.05 * (y->high - y->low);
    y->low = y->low >= 0 && y->low < room ? 0 : y->low - room;
    y->high += room;
}

/* Chooses the axes and the area between them; draws the legend, which determines its top. */
static void lay_out(plot *on, range x, range y, int width, int height)
{
    enum { X_TICK_ROOM = 90, Y_TICK_ROOM = 65 };
    const imp_chart *chart = on->chart;
    bool fixed = chart->y_low != chart->y_high;
    int x_ticks = width / X_TICK_ROOM, y_ticks = height / Y_TICK_ROOM;
    if (fixed)
        y = (range){chart->y_low, chart->y_high};
    else
        give_room(&y);
    on->y = imp_axis_linear(y.low, y.high, y_ticks);
    on->x = chart->log_x ? imp_axis_logarithmic(x.low, x.high, x_ticks)
                         : imp_axis_linear(x.low, x.high, x_ticks);
    on->left = MARGIN + (chart->y_title ? ROW : 0) + widest_tick(&on->y) + 8;
    on->right = width - MARGIN - 0.5 * widest_tick(&on->x);
    on->bottom = height - MARGIN - ROW - (chart->x_title ? ROW : 0);
    on->top = draw_legend(on, MARGIN + (chart->title ? ROW + 2 : 0)) + 10;
    on->top += place_markers(on, false) * SMALL_ROW;
}

/* The size of a chart. */
static int width_of(const imp_chart *chart)
{
    return chart->width ? chart->width : WIDTH;
}

static int height_of(const imp_chart *chart)
{
    return chart->height ? chart->height : HEIGHT;
}

/* Whether it can be drawn, and the ranges of its axes. */
static imp_status check(const imp_chart *chart, range *x, range *y, const char *path,
                        imp_error *error)
{
    imp_status status = measure(chart, x, y, path, error);
    if (!status && (width_of(chart) < LEAST_SIDE || height_of(chart) < LEAST_SIDE))
        status = imp_fail(error, IMP_EINVAL,
                          "cannot draw '%s': a chart needs at least %d pixels per side", path,
                          LEAST_SIDE);
    if (!status &&
        !(chart->y_low <= chart->y_high && chart->y_low > -LARGEST && chart->y_high < LARGEST))
        status = imp_fail(error, IMP_EINVAL, "cannot draw '%s': its y axis cannot go from %g to %g",
                          path, chart->y_low, chart->y_high);
    return status;
}

static void draw(plot *on, const imp_chart *chart, range x, range y, int width, int height)
{
    on->chart = chart;
    lay_out(on, x, y, width, height);
    draw_axes(on);
    draw_titles(on);
    place_markers(on, true);
    draw_series(on);
}

imp_status imp_chart_save(const imp_chart *chart, const char *path, imp_error *error)
{
    return imp_charts_save(chart, 1, 1, path, error);
}

imp_status imp_charts_save(const imp_chart *charts, size_t count, size_t columns, const char *path,
                           imp_error *error)
{
    range x, y;
    int width = width_of(charts), height = height_of(charts);
    imp_status status = IMP_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = check(&charts[i], &x, &y, path, error);
    plot on = {0};
    size_t rows = (count + columns - 1) / columns, across = count < columns ? count : columns;
    if (!status)
        status = imp_canvas_open(&on.canvas, path, (int)across * width, (int)rows * height, error);
    if (status)
        return status;
    imp_palette_init(&on.palette);
    for (size_t i = 0; i < count; i++) {
        check(&charts[i], &x, &y, path, NULL); /* as before */
        cairo_save(on.canvas.cairo);
        cairo_translate(on.canvas.cairo, (double)(i % columns) * width,
                        (double)(i / columns) * height);
        draw(&on, &charts[i], x, y, width, height);
        cairo_restore(on.canvas.cairo);
    }
    return imp_canvas_save(&on.canvas, error);
}

imp_status imp_chart_svg(const imp_chart *chart, uint8_t **bytes, size_t *size, imp_error *error)
{
    range x, y;
    int width = width_of(chart), height = height_of(chart);
    plot on = {0};
    *bytes = NULL;
    imp_status status = check(chart, &x, &y, "a chart", error);
    if (!status)
        status = imp_canvas_open_memory(&on.canvas, width, height, error);
    if (status)
        return status;
    imp_palette_init(&on.palette);
    draw(&on, chart, x, y, width, height);
    return imp_canvas_take(&on.canvas, bytes, size, error);
}
