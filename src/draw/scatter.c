/* scatter.c - draws scatter plots with cairo. */
#include "draw/scatter.h"

#include <math.h>

#include "base/error.h"
#include "draw/canvas.h"
#include "draw/palette.h"

/* Pixels. */
enum {
    PANEL = 560,
    MARGIN = 24,
    TITLE_LINE = 28, /* base lines of the titles */
    SUBTITLE_LINE = 50,
    LARGE = 18, /* letters */
    SMALL = 13,
    ROW = 19, /* of the legend */
    SWATCH = 16,
    GAP = 18
};

#define LARGEST 1e150 /* below the square root of the largest double */

/* ---- layout ---- */

/* From the points' units to pixels. */
typedef struct view {
    double centre_x, centre_y, scale, left, top;
} view;

static view view_of(const imp_scatter_panel *panel, double left, double top)
{
    double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
    for (size_t i = 0; i < panel->count; i++) {
        const imp_scatter_point *point = &panel->points[i];
        double reach = point->mark == IMP_MARK_CLUSTER ? panel->radius : 0;
        low_x = fmin(low_x, point->x - reach);
        high_x = fmax(high_x, point->x + reach);
        low_y = fmin(low_y, point->y - reach);
        high_y = fmax(high_y, point->y + reach);
    }
    double extent = fmax(fmax(high_x - low_x, high_y - low_y), 1e-9);
    return (view){.centre_x = 0.5 * (low_x + high_x),
                  .centre_y = 0.5 * (low_y + high_y),
                  .scale = (PANEL - 2.0 * MARGIN) / extent,
                  .left = left,
                  .top = top};
}

/* The legend: names in columns of equal width, read downwards. */
typedef struct legend {
    size_t rows;
    double column_width;
} legend;

static legend legend_of(const imp_scatter *scatter)
{
    if (scatter->name_count == 0)
        return (legend){0};
    double widest = 0, room = (double)scatter->panel_count * PANEL - 2 * MARGIN;
    for (size_t i = 0; i < scatter->name_count; i++)
        widest = fmax(widest, imp_text_width(scatter->names[i], SMALL, false));
    double column_width = fmin(SWATCH + widest + GAP, room);
    size_t columns = (size_t)(room / column_width);
    return (legend){.rows = (scatter->name_count + columns - 1) / columns,
                    .column_width = column_width};
}

/* The height of the titles: that of the panel with the most. */
static int header_of(const imp_scatter *scatter)
{
    int height = 0;
    for (size_t i = 0; i < scatter->panel_count; i++) {
        const imp_scatter_panel *panel = &scatter->panels[i];
        int own = panel->subtitle ? SUBTITLE_LINE + 14 : panel->title ? TITLE_LINE + 14 : 0;
        height = own > height ? own : height;
    }
    return height;
}

/* ---- drawing ---- */

/* A sheet and its colours. */
typedef struct sheet {
    imp_canvas canvas;
    imp_palette palette;
} sheet;

static void draw_cluster(const sheet *on, int32_t label, double x, double y, double radius)
{
    cairo_t *cairo = on->canvas.cairo;
    cairo_new_path(cairo);
    imp_palette_use(&on->palette, cairo, label, 0.05);
    cairo_arc(cairo, x, y, radius, 0, 2 * M_PI);
    cairo_fill_preserve(cairo);
    imp_palette_use(&on->palette, cairo, label, 0.7);
    cairo_set_line_width(cairo, 1.2);
    cairo_stroke(cairo);
    cairo_set_source_rgb(cairo, 0, 0, 0);
    cairo_set_line_width(cairo, 1.6);
    cairo_move_to(cairo, x - 4, y - 4);
    cairo_line_to(cairo, x + 4, y + 4);
    cairo_move_to(cairo, x - 4, y + 4);
    cairo_line_to(cairo, x + 4, y - 4);
    cairo_stroke(cairo);
}

static void draw_dot(const sheet *on, int32_t label, double x, double y, double radius,
                     double opacity)
{
    imp_palette_use(&on->palette, on->canvas.cairo, label, opacity);
    imp_canvas_dot(&on->canvas, x, y, radius);
}

static void draw_point(const sheet *on, const imp_scatter_panel *panel, const view *to,
                       const imp_scatter_point *point)
{
    double x = to->left + 0.5 * PANEL + (point->x - to->centre_x) * to->scale;
    double y = to->top + 0.5 * PANEL - (point->y - to->centre_y) * to->scale;
    switch (point->mark) {
    case IMP_MARK_QUERY:
        draw_dot(on, point->label, x, y, 2.5, 0.4);
        break;
    case IMP_MARK_SUPPORT:
        draw_dot(on, point->label, x, y, 4, 1);
        break;
    case IMP_MARK_CLUSTER:
        draw_cluster(on, point->label, x, y, panel->radius * to->scale);
        break;
    case IMP_MARK_DOT:
        draw_dot(on, point->label, x, y, 2, 0.8);
        break;
    }
}

static void draw_panel(const sheet *on, const imp_scatter_panel *panel, double left, double top)
{
    cairo_t *cairo = on->canvas.cairo;
    view to = view_of(panel, left, top);
    for (size_t i = 0; i < panel->count; i++)
        draw_point(on, panel, &to, &panel->points[i]);
    cairo_set_source_rgb(cairo, 0.1, 0.1, 0.1);
    imp_canvas_font(&on->canvas, LARGE, true);
    imp_canvas_text(&on->canvas, panel->title, left + MARGIN, TITLE_LINE, IMP_ALIGN_LEFT);
    imp_canvas_font(&on->canvas, SMALL, false);
    imp_canvas_text(&on->canvas, panel->subtitle, left + MARGIN, SUBTITLE_LINE, IMP_ALIGN_LEFT);
    if (left > 0) {
        cairo_set_source_rgb(cairo, 0.85, 0.85, 0.85);
        cairo_set_line_width(cairo, 1);
        cairo_move_to(cairo, left, MARGIN);
        cairo_line_to(cairo, left, top + PANEL - MARGIN);
        cairo_stroke(cairo);
    }
}

static void draw_legend(const sheet *on, const imp_scatter *scatter, legend by, double top)
{
    imp_canvas_font(&on->canvas, SMALL, false);
    for (size_t i = 0; i < scatter->name_count; i++) {
        double x = MARGIN + (double)(i / by.rows) * by.column_width;
        double y = top + (double)(i % by.rows) * ROW;
        draw_dot(on, (int32_t)(i % IMP_PALETTE_SIZE), x + 5, y + 0.5 * ROW, 4.5, 1);
        cairo_set_source_rgb(on->canvas.cairo, 0.1, 0.1, 0.1);
        imp_canvas_text(&on->canvas, scatter->names[i], x + SWATCH, y + 0.5 * ROW + 4.5,
                        IMP_ALIGN_LEFT);
    }
}

/* A row that explains the marks. */
static void explain(const sheet *on, double top)
{
    static const struct {
        imp_mark mark;
        const char *text;
    } marks[] = {{IMP_MARK_SUPPORT, "known"},
                 {IMP_MARK_QUERY, "new"},
                 {IMP_MARK_CLUSTER, "centre of a cluster, and its extent"}};
    double x = MARGIN, y = top + 0.5 * ROW;
    imp_canvas_font(&on->canvas, SMALL, false);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        double radius = marks[i].mark == IMP_MARK_CLUSTER ? 9 : 4;
        if (marks[i].mark == IMP_MARK_CLUSTER)
            draw_cluster(on, -1, x + radius, y, radius);
        else
            draw_dot(on, -1, x + 5, y, radius, marks[i].mark == IMP_MARK_SUPPORT ? 1 : 0.4);
        cairo_set_source_rgb(on->canvas.cairo, 0.1, 0.1, 0.1);
        imp_canvas_text(&on->canvas, marks[i].text, x + radius + SWATCH - 2, y + 4.5,
                        IMP_ALIGN_LEFT);
        x += radius + SWATCH + imp_text_width(marks[i].text, SMALL, false) + GAP;
    }
}

/* ---- the picture ---- */

static imp_status check(const imp_scatter *scatter, const char *path, imp_error *error)
{
    enum { MOST_PANELS = 50, MOST_NAMES = 1000 }; /* keep the picture within cairo's limits */
    if (scatter->panel_count < 1 || scatter->panel_count > MOST_PANELS)
        return imp_fail(error, IMP_EINVAL, "cannot draw '%s' with %zu panels; it needs 1 to %d",
                        path, scatter->panel_count, MOST_PANELS);
    if (scatter->name_count > MOST_NAMES)
        return imp_fail(error, IMP_EINVAL,
                        "cannot draw '%s' with a legend of %zu names; the limit is %d", path,
                        scatter->name_count, MOST_NAMES);
    for (size_t p = 0; p < scatter->panel_count; p++)
        for (size_t i = 0; i < scatter->panels[p].count; i++) {
            const imp_scatter_point *point = &scatter->panels[p].points[i];
            if (!(fabs(point->x) < LARGEST && fabs(point->y) < LARGEST))
                return imp_fail(
                    error, IMP_EINVAL,
                    "cannot draw '%s': point %zu of panel %zu is not finite, or too large", path, i,
                    p);
        }
    return IMP_OK;
}

imp_status imp_scatter_save(const imp_scatter *scatter, const char *path, imp_error *error)
{
    imp_status status = check(scatter, path, error);
    if (status)
        return status;
    int header = header_of(scatter), width = (int)scatter->panel_count * PANEL;
    legend by = legend_of(scatter);
    int rows = (int)by.rows + (scatter->explains ? 1 : 0);
    int footer = rows > 0 ? rows * ROW + MARGIN : 0;
    sheet on;
    status = imp_canvas_open(&on.canvas, path, width, header + PANEL + footer, error);
    if (status)
        return status;
    imp_palette_init(&on.palette);
    for (size_t i = 0; i < scatter->panel_count; i++)
        draw_panel(&on, &scatter->panels[i], (double)i * PANEL, header);
    draw_legend(&on, scatter, by, header + PANEL);
    if (scatter->explains)
        explain(&on, header + PANEL + (double)by.rows * ROW + 4);
    return imp_canvas_save(&on.canvas, error);
}
