/*
 * canvas.h - a white sheet to draw on with cairo, which becomes a PNG or an SVG by the ending of
 * its path.
 *
 * The same drawing gives the same bytes every time, on machines with the same cairo and fonts.
 * Where no font is installed cairo writes with strokes of its own.
 */
#ifndef IMP_DRAW_CANVAS_H
#define IMP_DRAW_CANVAS_H

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>

#include <imp/status.h>

#include "base/file.h"

/* IMP_EINVAL, with a sentence, for a path that ends in neither .png nor .svg. A command asks before
 * it sets out to compute what the picture shows. */
imp_status imp_picture_check(const char *path, imp_error *error);

typedef struct imp_canvas {
    cairo_t *cairo; /* in pixels from the upper left; what goes wrong while drawing, it remembers */
    cairo_surface_t *surface;
    const char *path; /* the caller's; NULL: it is kept in memory */
    bool is_svg;
    imp_writer writer;
    imp_error fault; /* of the writer */
    size_t matched;  /* see canvas.c */
    uint8_t *bytes;  /* what is kept in memory so far */
    size_t size, room;
} imp_canvas;

/* Takes up a sheet of width x height pixels; it must stay where it is. On failure there is nothing
 * to clear: IMP_EINVAL for another ending or a size that cairo cannot draw, IMP_EIO for a place
 * that cannot be written, IMP_ENOMEM. */
imp_status imp_canvas_open(imp_canvas *canvas, const char *path, int width, int height,
                           imp_error *error);

/* The same for an SVG that stays in memory. */
imp_status imp_canvas_open_memory(imp_canvas *canvas, int width, int height, imp_error *error);

/* Gives the sheet up as a text of *size bytes, to be released with imp_release(); NULL on failure:
 * IMP_EINVAL for a text that was not UTF-8, IMP_ENOMEM. */
imp_status imp_canvas_take(imp_canvas *canvas, uint8_t **bytes, size_t *size, imp_error *error);

/* Writes the file atomically and gives the sheet up, also on failure; the file is then as it was:
 * IMP_EINVAL for a text that was not UTF-8, IMP_EIO, IMP_ENOMEM. */
imp_status imp_canvas_save(imp_canvas *canvas, imp_error *error);

typedef enum imp_align { IMP_ALIGN_LEFT, IMP_ALIGN_CENTRE, IMP_ALIGN_RIGHT } imp_align;

/* The font of the texts that follow. */
void imp_canvas_font(const imp_canvas *canvas, double size, bool bold);

/* Writes a text in the current font and colour, on the base line y, aligned to x; NULL: nothing. */
void imp_canvas_text(const imp_canvas *canvas, const char *text, double x, double y,
                     imp_align align);

/* How wide a text is going to be, in pixels; 0 for NULL, or if it cannot be told. */
double imp_text_width(const char *text, double size, bool bold);

/* Fills a circle in the current colour. */
void imp_canvas_dot(const imp_canvas *canvas, double x, double y, double radius);

#endif
