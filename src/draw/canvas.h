/*
 * canvas.h - a white sheet to draw on with cairo, written as PNG or SVG according to its extension.
 *
 * The same drawing gives the same bytes every time, on machines with the same cairo and fonts. If
 * no font is installed, cairo uses its own stroke font.
 */
#ifndef IMP_DRAW_CANVAS_H
#define IMP_DRAW_CANVAS_H

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>

#include <imp/status.h>

#include "base/file.h"

/* IMP_EINVAL for a path that ends in neither .png nor .svg. For commands to check before they
 * compute what the picture shows. */
imp_status imp_picture_check(const char *path, imp_error *error);

typedef struct imp_canvas {
    cairo_t *cairo; /* in pixels from the upper left; it records errors while drawing */
    cairo_surface_t *surface;
    const char *path; /* owned by the caller; NULL: kept in memory */
    bool is_svg;
    imp_writer writer;
    imp_error fault; /* of the writer */
    size_t matched;  /* see canvas.c */
    uint8_t *bytes;  /* the bytes in memory so far */
    size_t size, room;
} imp_canvas;

/* Begins a sheet of width x height pixels, which must not be moved. On failure there is nothing to
 * clear: IMP_EINVAL for another extension or a size that cairo cannot draw, IMP_EIO for a path that
 * cannot be written, IMP_ENOMEM. */
imp_status imp_canvas_open(imp_canvas *canvas, const char *path, int width, int height,
                           imp_error *error);

/* The same for an SVG in memory. */
imp_status imp_canvas_open_memory(imp_canvas *canvas, int width, int height, imp_error *error);

/* Ends the sheet and returns it as *size bytes; release them with imp_release(). NULL on failure:
 * IMP_EINVAL for text that was not UTF-8, IMP_ENOMEM. */
imp_status imp_canvas_take(imp_canvas *canvas, uint8_t **bytes, size_t *size, imp_error *error);

/* Writes the file atomically and ends the sheet, even on failure; the file is then unchanged:
 * IMP_EINVAL for text that was not UTF-8, IMP_EIO, IMP_ENOMEM. */
imp_status imp_canvas_save(imp_canvas *canvas, imp_error *error);

typedef enum imp_align { IMP_ALIGN_LEFT, IMP_ALIGN_CENTRE, IMP_ALIGN_RIGHT } imp_align;

/* Sets the font for text that follows. */
void imp_canvas_font(const imp_canvas *canvas, double size, bool bold);

/* Writes text in the current font and colour, on the base line y, aligned to x; NULL: nothing. */
void imp_canvas_text(const imp_canvas *canvas, const char *text, double x, double y,
                     imp_align align);

/* The width of text in pixels; 0 for NULL, or if it is unknown. */
double imp_text_width(const char *text, double size, bool bold);

/* Fills a circle in the current colour. */
void imp_canvas_dot(const imp_canvas *canvas, double x, double y, double radius);

#endif
