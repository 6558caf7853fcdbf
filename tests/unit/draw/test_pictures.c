/*
 * test_pictures.c - scatter plots and charts as files: what they hold, that they are the same every
 * time, and what is refused.
 */
#include <cairo.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "draw/chart.h"
#include "draw/palette.h"
#include "draw/scatter.h"
#include "scratch.h"

/* ---- small pictures ---- */

static const imp_scatter_point points[] = {{-1, -1, 0, IMP_MARK_DOT},
                                           {1, -1, 1, IMP_MARK_SUPPORT},
                                           {1, 1, 2, IMP_MARK_QUERY},
                                           {0, 0, -1, IMP_MARK_CLUSTER}};
static const char *const names[] = {"alpha", "bêta", "surface12", "delta"};

static imp_scatter small_scatter(const imp_scatter_panel panels[2])
{
    return (imp_scatter){.panels = panels, .panel_count = 2, .names = names, .name_count = 4};
}

static const imp_scatter_panel panels[] = {
    {.title = "One", .subtitle = "of two", .points = points, .count = 4, .radius = 0.5},
    {.points = points, .count = 1}};

static const double xs[] = {1, 10, 100, 1000}, ys[] = {1, 2, NAN, 3}, bands[] = {0.5, 0.2, 0, NAN};
static const imp_chart_series series[] = {
    {.name = "one", .x = xs, .y = ys, .half_width = bands, .count = 4, .marks = true},
    {.name = "two", .x = xs, .y = xs, .count = 2, .dashed = true}};
static const imp_chart_marker markers[] = {{20, "here"}, {25, "and here"}, {900, NULL}};

static imp_chart small_chart(void)
{
    return (imp_chart){.title = "Title",
                       .x_title = "x",
                       .y_title = "y",
                       .series = series,
                       .series_count = 2,
                       .markers = markers,
                       .marker_count = 3,
                       .log_x = true};
}

/* ---- reading them ---- */

typedef struct picture {
    unsigned char *bytes;
    size_t size;
} picture;

static picture load(const char *path)
{
    picture loaded;
    assert_int_equal(imp_file_read(path, 10 << 20, &loaded.bytes, &loaded.size, NULL), IMP_OK);
    return loaded;
}

static void assert_same_files(const char *one, const char *other)
{
    picture a = load(one);
    assert_true(scratch_holds(other, a.bytes, a.size));
    imp_release(a.bytes);
}

static bool is_colour(const unsigned char *pixel, imp_colour colour)
{
    uint32_t value;
    memcpy(&value, pixel, sizeof value);
    return fabs((value >> 16 & 255) - 255 * colour.red) <= 1 &&
           fabs((value >> 8 & 255) - 255 * colour.green) <= 1 &&
           fabs((value & 255) - 255 * colour.blue) <= 1;
}

/* How many pixels of a PNG have a colour. */
static size_t pixels_of(const char *path, imp_colour colour)
{
    cairo_surface_t *surface = cairo_image_surface_create_from_png(path);
    assert_int_equal(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
    const unsigned char *data = cairo_image_surface_get_data(surface);
    size_t stride = (size_t)cairo_image_surface_get_stride(surface), found = 0;
    size_t width = (size_t)cairo_image_surface_get_width(surface);
    size_t height = (size_t)cairo_image_surface_get_height(surface);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            found += is_colour(data + y * stride + x * 4, colour);
    cairo_surface_destroy(surface);
    return found;
}

/* ---- the tests ---- */

static void test_same_bytes(void **state)
{
    imp_scatter scatter = small_scatter(panels);
    imp_chart chart = small_chart();
    static const char *const endings[] = {"png", "svg"};
    for (size_t e = 0; e < 2; e++) {
        scratch_path paths[4];
        for (size_t i = 0; i < 4; i++) {
            char name[16];
            snprintf(name, sizeof name, "%zu.%s", i, endings[e]);
            paths[i] = scratch_file(state, name);
            assert_int_equal(i < 2 ? imp_scatter_save(&scatter, paths[i].text, NULL)
                                   : imp_chart_save(&chart, paths[i].text, NULL),
                             IMP_OK);
        }
        assert_same_files(paths[0].text, paths[1].text);
        assert_same_files(paths[2].text, paths[3].text);
    }
    assert_int_equal(scratch_entries(state), 8);
}

static void test_kinds_of_files(void **state)
{
    imp_chart chart = small_chart();
    scratch_path png = scratch_file(state, "a.png"), svg = scratch_file(state, "a.svg");
    assert_int_equal(imp_chart_save(&chart, png.text, NULL), IMP_OK);
    assert_int_equal(imp_chart_save(&chart, svg.text, NULL), IMP_OK);
    picture a = load(png.text), b = load(svg.text);
    assert_memory_equal(a.bytes, "\x89PNG", 4);
    assert_memory_equal(b.bytes, "<?xml", 5);
    assert_non_null(strstr((const char *)b.bytes, "width=\"800px\" height=\"500px\""));
    imp_release(a.bytes);
    imp_release(b.bytes);
}

/* Each mark and each name of the legend leaves its colour, and only then. */
static void test_scatter_colours(void **state)
{
    imp_palette palette;
    imp_palette_init(&palette);
    scratch_path path = scratch_file(state, "a.png");
    imp_scatter scatter = small_scatter(panels);
    assert_int_equal(imp_scatter_save(&scatter, path.text, NULL), IMP_OK);
    assert_true(pixels_of(path.text, palette.colours[1]) > 60); /* a dot and its name */
    assert_true(pixels_of(path.text, palette.colours[3]) > 30); /* a name alone */
    assert_int_equal(pixels_of(path.text, palette.colours[4]), 0);
    scatter.name_count = 0;
    assert_int_equal(imp_scatter_save(&scatter, path.text, NULL), IMP_OK);
    assert_true(pixels_of(path.text, palette.colours[1]) > 30);
    assert_int_equal(pixels_of(path.text, palette.colours[3]), 0);
}

/* A fixed range hides what is outside of it; a gap in y is a gap in the line. */
static void test_chart_lines(void **state)
{
    imp_palette palette;
    imp_palette_init(&palette);
    scratch_path path = scratch_file(state, "a.png");
    double x[] = {0, 1, 2}, whole[] = {1, 1, 1}, gap[] = {1, NAN, 1};
    imp_chart_series line = {.x = x, .y = whole, .count = 3};
    imp_chart chart = {.series = &line, .series_count = 1};
    assert_int_equal(imp_chart_save(&chart, path.text, NULL), IMP_OK);
    assert_true(pixels_of(path.text, palette.colours[0]) > 600);
    line.y = gap;
    assert_int_equal(imp_chart_save(&chart, path.text, NULL), IMP_OK);
    size_t dots = pixels_of(path.text, palette.colours[0]);
    assert_true(dots > 10 && dots < 200);
    chart.y_low = 2;
    chart.y_high = 3;
    assert_int_equal(imp_chart_save(&chart, path.text, NULL), IMP_OK);
    assert_int_equal(pixels_of(path.text, palette.colours[0]), 0);
}

/* No two colours look alike, and none is like the paper or the gray of what has no label. */
static void test_palette(void **state)
{
    (void)state;
    imp_palette palette;
    imp_palette_init(&palette);
    for (size_t i = 0; i < IMP_PALETTE_SIZE; i++) {
        imp_colour own = palette.colours[i];
        for (size_t j = 0; j < i; j++) {
            imp_colour other = palette.colours[j];
            double apart = fabs(own.red - other.red) + fabs(own.green - other.green) +
                           fabs(own.blue - other.blue);
            assert_true(apart > 0.15);
        }
        assert_true(own.red + own.green + own.blue < 2.6);
    }
}

static void assert_refused(imp_status found, imp_status expected, const imp_error *error,
                           const char *word)
{
    assert_int_equal(found, expected);
    if (!strstr(error->message, word))
        fail_msg("'%s' lacks '%s'", error->message, word);
}

static void test_scatter_refusals(void **state)
{
    imp_error error;
    scratch_path path = scratch_file(state, "a.svg"), jpeg = scratch_file(state, "a.jpg");
    imp_scatter good = small_scatter(panels), bad = good;
    assert_refused(imp_scatter_save(&good, jpeg.text, &error), IMP_EINVAL, &error, ".png or .svg");
    assert_refused(imp_scatter_save(&good, ".png", &error), IMP_EINVAL, &error, ".png or .svg");
    scratch_path nowhere = scratch_file(state, "no/a.png");
    assert_refused(imp_scatter_save(&good, nowhere.text, &error), IMP_EIO, &error, "no/a.png");
    bad.panel_count = 0;
    assert_refused(imp_scatter_save(&bad, path.text, &error), IMP_EINVAL, &error, "0 panels");
    imp_scatter_point wild = {0, INFINITY, 0, IMP_MARK_DOT};
    imp_scatter_panel wild_panel = {.points = &wild, .count = 1};
    bad = (imp_scatter){.panels = &wild_panel, .panel_count = 1};
    assert_refused(imp_scatter_save(&bad, path.text, &error), IMP_EINVAL, &error, "not finite");
    static const char *const broken[] = {"\xff\xfe"};
    bad = (imp_scatter){.panels = panels, .panel_count = 1, .names = broken, .name_count = 1};
    assert_refused(imp_scatter_save(&bad, path.text, &error), IMP_EINVAL, &error, "UTF-8");
    assert_int_equal(scratch_entries(state), 0);
}

static void assert_chart_refused(void **state, const imp_chart *chart, const char *word)
{
    imp_error error;
    scratch_path path = scratch_file(state, "a.png");
    assert_refused(imp_chart_save(chart, path.text, &error), IMP_EINVAL, &error, word);
    assert_int_equal(scratch_entries(state), 0);
}

static void test_chart_refusals(void **state)
{
    double x[] = {-1, 2}, y[] = {1, 2}, none[] = {NAN, NAN}, wild[] = {1, INFINITY};
    double negative[] = {1, -1};
    imp_chart_series line = {.x = x, .y = y, .count = 2};
    imp_chart chart = {.series = &line, .series_count = 1};
    assert_chart_refused(state, &(imp_chart){0}, "no point");
    line.y = none;
    assert_chart_refused(state, &chart, "no point");
    line.y = wild;
    assert_chart_refused(state, &chart, "point 1 of series 0");
    line.y = y;
    line.half_width = negative;
    assert_chart_refused(state, &chart, "half-width");
    line.half_width = NULL;
    chart.log_x = true;
    assert_chart_refused(state, &chart, "logarithmic");
    chart.log_x = false;
    chart.y_low = 1;
    assert_chart_refused(state, &chart, "from 1 to 0");
    chart.y_low = 0;
    chart.width = 50;
    assert_chart_refused(state, &chart, "pixels");
    chart.width = 40000;
    assert_chart_refused(state, &chart, "40000");
    chart.width = 0;
    chart.markers = &(imp_chart_marker){.x = NAN};
    chart.marker_count = 1;
    assert_chart_refused(state, &chart, "marker 0");
}

/* What cannot be written leaves the old picture. */
static void test_old_picture_stays(void **state)
{
    scratch_path path = scratch_file(state, "a.svg");
    scratch_write(path.text, "old", 3);
    imp_chart chart = small_chart();
    chart.title = "\xc3";
    assert_int_equal(imp_chart_save(&chart, path.text, NULL), IMP_EINVAL);
    assert_true(scratch_holds(path.text, "old", 3));
    assert_int_equal(scratch_entries(state), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_bytes, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_kinds_of_files, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_scatter_colours, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_chart_lines, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_palette),
        cmocka_unit_test_setup_teardown(test_scatter_refusals, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_chart_refusals, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_old_picture_stays, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
