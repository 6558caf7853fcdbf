/* canvas.c - writes a cairo drawing to a file, as PNG or SVG. */
#include "draw/canvas.h"

#include <cairo-svg.h>
#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { MOST_PIXELS = 32767 }; /* pixels per side that cairo can draw */

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), wanted = strlen(ending);
    return length > wanted && strcmp(path + length - wanted, ending) == 0;
}

imp_status imp_picture_check(const char *path, imp_error *error)
{
    if (ends_in(path, ".png") || ends_in(path, ".svg"))
        return IMP_OK;
    return imp_fail(error, IMP_EINVAL, "cannot draw '%s': its name must end in .png or .svg", path);
}

static imp_status fail_drawing(const char *path, cairo_status_t fault, imp_error *error)
{
    path = path ? path : "a chart";
    switch (fault) {
    case CAIRO_STATUS_NO_MEMORY:
        return imp_fail_memory(error, "a picture");
    case CAIRO_STATUS_INVALID_STRING:
        return imp_fail(error, IMP_EINVAL, "cannot draw '%s': a string in it is not UTF-8", path);
    default:
        return imp_fail(error, IMP_EIO, "cannot draw '%s': %s", path,
                        cairo_status_to_string(fault));
    }
}

/* ---- the file ---- */

static void keep_bytes(imp_canvas *canvas, const unsigned char *data, size_t length)
{
    if (length > canvas->room - canvas->size) {
        size_t room = 2 * (canvas->size + length);
        uint8_t *larger = imp_allocate(room, 1);
        if (!larger) {
            imp_fail_memory(&canvas->fault, "a picture");
            return;
        }
        if (canvas->size > 0)
            memcpy(larger, canvas->bytes, canvas->size);
        imp_release(canvas->bytes);
        canvas->bytes = larger;
        canvas->room = room;
    }
    memcpy(canvas->bytes + canvas->size, data, length);
    canvas->size += length;
}

static cairo_status_t write_bytes(void *closure, const unsigned char *data, unsigned length)
{
    imp_canvas *canvas = closure;
    if (!canvas->fault.status && canvas->path) /* report the first error */
        imp_writer_write(&canvas->writer, data, length, &canvas->fault);
    else if (!canvas->fault.status)
        keep_bytes(canvas, data, length);
    return canvas->fault.status ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

/* The same for an SVG. Cairo names its surface "surface17", counting all surfaces of the process;
 * it is renamed to "surface", so that the same drawing has the same bytes. This cannot affect text,
 * which consists of outlines. */
static cairo_status_t write_uncounted(void *closure, const unsigned char *data, unsigned length)
{
    static const char counted[] = "surface";
    imp_canvas *canvas = closure;
    unsigned begin = 0;
    cairo_status_t status = CAIRO_STATUS_SUCCESS;
    for (unsigned i = 0; i < length && !status; i++) {
        bool whole = canvas->matched == strlen(counted);
        if (whole && isdigit(data[i])) {
            status = write_bytes(canvas, data + begin, i - begin);
            begin = i + 1;
        } else if (!whole && data[i] == counted[canvas->matched]) {
            canvas->matched++;
        } else {
            canvas->matched = data[i] == counted[0];
        }
    }
    return status ? status : write_bytes(canvas, data + begin, length - begin);
}

/* ---- the sheet ---- */

static cairo_surface_t *create_surface(imp_canvas *canvas, int width, int height)
{
    if (!canvas->is_svg)
        return cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_surface_t *surface =
        cairo_svg_surface_create_for_stream(write_uncounted, canvas, width, height);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    return surface;
}

/* The same letter shapes and widths regardless of output and desktop settings. */
static void plain_letters(cairo_t *cairo)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(cairo, options);
    cairo_font_options_destroy(options);
}

static void give_up(imp_canvas *canvas)
{
    cairo_destroy(canvas->cairo);
    cairo_surface_destroy(canvas->surface);
    if (canvas->path)
        imp_writer_abandon(&canvas->writer);
    imp_release(canvas->bytes);
}

/* Begins the sheet once its destination is known. */
static imp_status lay_out(imp_canvas *canvas, int width, int height, imp_error *error)
{
    canvas->surface = create_surface(canvas, width, height);
    canvas->cairo = cairo_create(canvas->surface);
    plain_letters(canvas->cairo);
    cairo_set_source_rgb(canvas->cairo, 1, 1, 1);
    cairo_paint(canvas->cairo);
    cairo_status_t fault = cairo_status(canvas->cairo);
    if (fault) {
        give_up(canvas);
        return fail_drawing(canvas->path, fault, error);
    }
    return IMP_OK;
}

imp_status imp_canvas_open(imp_canvas *canvas, const char *path, int width, int height,
                           imp_error *error)
{
    *canvas = (imp_canvas){.path = path, .is_svg = ends_in(path, ".svg")};
    imp_status status = imp_picture_check(path, error);
    if (!status && (width < 1 || height < 1 || width > MOST_PIXELS || height > MOST_PIXELS))
        status = imp_fail(error, IMP_EINVAL,
                          "cannot draw '%s' with %d x %d pixels; a side must have 1 to %d", path,
                          width, height, MOST_PIXELS);
    if (!status)
        status = imp_writer_open(&canvas->writer, path, error);
    return status ? status : lay_out(canvas, width, height, error);
}

imp_status imp_canvas_open_memory(imp_canvas *canvas, int width, int height, imp_error *error)
{
    *canvas = (imp_canvas){.is_svg = true};
    return lay_out(canvas, width, height, error);
}

/* Ends the drawing: all its bytes have been written. */
static imp_status finish(imp_canvas *canvas, imp_error *error)
{
    cairo_status_t fault = cairo_status(canvas->cairo);
    if (!fault && !canvas->is_svg)
        fault = cairo_surface_write_to_png_stream(canvas->surface, write_bytes, canvas);
    cairo_surface_finish(canvas->surface); /* this writes an SVG */
    if (!fault)
        fault = cairo_surface_status(canvas->surface);
    if (canvas->fault.status)
        return imp_fail(error, canvas->fault.status, "%s", canvas->fault.message);
    return fault ? fail_drawing(canvas->path, fault, error) : IMP_OK;
}

imp_status imp_canvas_save(imp_canvas *canvas, imp_error *error)
{
    imp_status status = finish(canvas, error);
    if (!status)
        status = imp_writer_commit(&canvas->writer, error);
    give_up(canvas);
    return status;
}

imp_status imp_canvas_take(imp_canvas *canvas, uint8_t **bytes, size_t *size, imp_error *error)
{
    imp_status status = finish(canvas, error);
    *bytes = status ? NULL : canvas->bytes;
    *size = status ? 0 : canvas->size;
    if (!status)
        canvas->bytes = NULL;
    give_up(canvas);
    return status;
}

/* ---- what is drawn often ---- */

static void use_font(cairo_t *cairo, double size, bool bold)
{
    cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, size);
}

void imp_canvas_font(const imp_canvas *canvas, double size, bool bold)
{
    use_font(canvas->cairo, size, bold);
}

void imp_canvas_text(const imp_canvas *canvas, const char *text, double x, double y,
                     imp_align align)
{
    if (!text)
        return;
    cairo_text_extents_t extents = {0};
    cairo_text_extents(canvas->cairo, text, &extents);
    double before = align == IMP_ALIGN_LEFT ? 0 : align == IMP_ALIGN_CENTRE ? 0.5 : 1;
    cairo_move_to(canvas->cairo, x - before * extents.x_advance, y);
    cairo_show_text(canvas->cairo, text);
    cairo_new_path(canvas->cairo);
}

double imp_text_width(const char *text, double size, bool bold)
{
    if (!text)
        return 0;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *cairo = cairo_create(surface);
    plain_letters(cairo);
    use_font(cairo, size, bold);
    cairo_text_extents_t extents = {0};
    cairo_text_extents(cairo, text, &extents);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    return extents.x_advance;
}

/* A zero-length line with round caps: less than half as long in an SVG as the curves of a
 * circle. */
void imp_canvas_dot(const imp_canvas *canvas, double x, double y, double radius)
{
    cairo_save(canvas->cairo);
    cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_width(canvas->cairo, 2 * radius);
    cairo_move_to(canvas->cairo, x, y);
    cairo_line_to(canvas->cairo, x, y);
    cairo_stroke(canvas->cairo);
    cairo_restore(canvas->cairo);
}
