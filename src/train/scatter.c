/* scatter.c - draws scatter plots with cairo. */
#include "train/scatter.h"

#include <cairo.h>
#include <math.h>

#include "base/error.h"
#include "base/file.h"

enum { PANEL = 560, MARGIN = 24, HEADER = 64 };

/* Ten colours that can be told apart, also by most who see fewer. */
static const double colours[][3] = {{0.12, 0.47, 0.71}, {1.00, 0.50, 0.05}, {0.17, 0.63, 0.17},
                                    {0.84, 0.15, 0.16}, {0.58, 0.40, 0.74}, {0.55, 0.34, 0.29},
                                    {0.89, 0.47, 0.76}, {0.09, 0.75, 0.81}, {0.74, 0.74, 0.13},
                                    {0.30, 0.30, 0.60}};

static void set_colour(cairo_t *cairo, int32_t label, double opacity)
{
    enum { COLOURS = sizeof colours / sizeof *colours };
    if (label < 0) {
        cairo_set_source_rgba(cairo, 0.5, 0.5, 0.5, opacity);
        return;
    }
    const double *colour = colours[label % COLOURS];
    cairo_set_source_rgba(cairo, colour[0], colour[1], colour[2], opacity);
}

/* From the points' units to pixels. */
typedef struct view {
    double centre_x, centre_y, scale, left;
} view;

static view view_of(const imp_scatter_panel *panel, size_t index)
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
                  .left = (double)index * PANEL};
}

static void draw_point(cairo_t *cairo, const imp_scatter_panel *panel, const view *to,
                       const imp_scatter_point *point)
{
    double x = to->left + 0.5 * PANEL + (point->x - to->centre_x) * to->scale;
    double y = HEADER + 0.5 * PANEL - (point->y - to->centre_y) * to->scale;
    cairo_new_path(cairo);
    switch (point->mark) {
    case IMP_MARK_QUERY:
        set_colour(cairo, point->label, 0.4);
        cairo_arc(cairo, x, y, 2.5, 0, 2 * M_PI);
        cairo_fill(cairo);
        break;
    case IMP_MARK_SUPPORT:
        set_colour(cairo, point->label, 1);
        cairo_arc(cairo, x, y, 4, 0, 2 * M_PI);
        cairo_fill(cairo);
        break;
    case IMP_MARK_CLUSTER:
        set_colour(cairo, point->label, 0.05);
        cairo_arc(cairo, x, y, panel->radius * to->scale, 0, 2 * M_PI);
        cairo_fill_preserve(cairo);
        set_colour(cairo, point->label, 0.7);
        cairo_set_line_width(cairo, 1.2);
        cairo_stroke(cairo);
        cairo_set_source_rgb(cairo, 0, 0, 0);
        cairo_set_line_width(cairo, 1.6);
        cairo_move_to(cairo, x - 4, y - 4);
        cairo_line_to(cairo, x + 4, y + 4);
        cairo_move_to(cairo, x - 4, y + 4);
        cairo_line_to(cairo, x + 4, y - 4);
        cairo_stroke(cairo);
        break;
    }
}

static void draw_panel(cairo_t *cairo, const imp_scatter_panel *panel, size_t index)
{
    view to = view_of(panel, index);
    cairo_save(cairo);
    cairo_rectangle(cairo, to.left, HEADER, PANEL, PANEL);
    cairo_clip(cairo);
    for (size_t i = 0; i < panel->count; i++)
        draw_point(cairo, panel, &to, &panel->points[i]);
    cairo_restore(cairo);

    cairo_set_source_rgb(cairo, 0.1, 0.1, 0.1);
    cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    cairo_set_font_size(cairo, 18);
    cairo_move_to(cairo, to.left + MARGIN, 28);
    cairo_show_text(cairo, panel->title);
    cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, 13);
    cairo_move_to(cairo, to.left + MARGIN, 50);
    cairo_show_text(cairo, panel->subtitle);
    if (index > 0) {
        cairo_set_source_rgb(cairo, 0.85, 0.85, 0.85);
        cairo_set_line_width(cairo, 1);
        cairo_move_to(cairo, to.left, MARGIN);
        cairo_line_to(cairo, to.left, HEADER + PANEL - MARGIN);
        cairo_stroke(cairo);
    }
}

/* ---- the file ---- */

typedef struct sink {
    imp_writer writer;
    imp_status status;
    imp_error *error;
} sink;

static cairo_status_t write_bytes(void *closure, const unsigned char *data, unsigned length)
{
    sink *to = closure;
    to->status = imp_writer_write(&to->writer, data, length, to->error);
    return to->status ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static imp_status write_png(cairo_surface_t *surface, const char *path, imp_error *error)
{
    sink to = {.error = error};
    imp_status status = imp_writer_open(&to.writer, path, error);
    if (status)
        return status;
    cairo_status_t written = cairo_surface_write_to_png_stream(surface, write_bytes, &to);
    if (to.status)
        return to.status;
    if (written != CAIRO_STATUS_SUCCESS) {
        imp_writer_abandon(&to.writer);
        return imp_fail(error, IMP_EIO, "cannot write '%s': %s", path,
                        cairo_status_to_string(written));
    }
    return imp_writer_commit(&to.writer, error);
}

imp_status imp_scatter_save(const imp_scatter_panel *panels, size_t count, const char *path,
                            imp_error *error)
{
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(count * PANEL), PANEL + HEADER);
    cairo_t *cairo = cairo_create(surface);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    for (size_t i = 0; i < count; i++)
        draw_panel(cairo, &panels[i], i);
    imp_status status = cairo_status(cairo) == CAIRO_STATUS_SUCCESS
                            ? write_png(surface, path, error)
                            : imp_fail(error, IMP_ENOMEM, "cannot draw '%s': %s", path,
                                       cairo_status_to_string(cairo_status(cairo)));
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return status;
}
