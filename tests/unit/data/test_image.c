/*
 * test_image.c - pictures of every kind come out right, and broken ones never crash.
 */
#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <imp/memory.h>

#include "base/memory.h"
#include "data/image.h"
#include "failing_allocator.h"
#include "pictures.h"
#include "scratch.h"

static imp_image decode(picture_bytes picture)
{
    imp_image image;
    imp_error error;
    imp_status status =
        imp_image_decode(picture.bytes, picture.size, IMP_PIXEL_LIMIT, &image, &error);
    if (status != IMP_OK)
        fail_msg("%s", error.message);
    free(picture.bytes);
    return image;
}

static void gray_of_every_depth(void **state)
{
    (void)state;
    /* One row of four pixels: black, two steps, white. */
    const struct {
        int depth;
        uint8_t row[8];
        uint8_t expected[4];
    } cases[] = {
        {1, {0x50}, {0, 255, 0, 255}},
        {2, {0x1B}, {0, 85, 170, 255}},
        {4, {0x05, 0xAF}, {0, 85, 170, 255}},
        {8, {0, 85, 170, 255}, {0, 85, 170, 255}},
        /* 16 bits are rounded, not cut: 0x01FF is 1.99 of 255. */
        {16, {0, 0, 0x01, 0xFF, 0x80, 0x80, 0xFF, 0xFF}, {0, 2, 128, 255}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int interlaced = 0; interlaced < 2; interlaced++) {
            imp_image image = decode(picture_png(4, 1, PNG_COLOR_TYPE_GRAY, cases[i].depth,
                                                 interlaced, 0, cases[i].row));
            assert_int_equal(image.channels, 1);
            assert_memory_equal(image.pixels, cases[i].expected, 4);
            imp_image_clear(&image);
        }
}

static void black_and_white_of_every_width(void **state)
{
    (void)state;
    uint8_t rows[3 * 4];
    for (size_t i = 0; i < sizeof rows; i++)
        rows[i] = (uint8_t)(151 * i + 77);
    for (uint32_t width = 1; width <= 32; width++) {
        uint32_t stride = (width + 7) / 8;
        imp_image image = decode(picture_png(width, 3, PNG_COLOR_TYPE_GRAY, 1, 0, 0, rows));
        for (uint32_t y = 0; y < 3; y++)
            for (uint32_t x = 0; x < width; x++) {
                int bit = rows[y * stride + x / 8] >> (7 - x % 8) & 1;
                assert_int_equal(image.pixels[y * width + x], 255 * bit);
            }
        imp_image_clear(&image);
    }
}

static void palettes_of_every_depth(void **state)
{
    (void)state;
    const struct {
        int depth;
        uint8_t row[4];
    } cases[] = {{1, {0x40}}, {2, {0x10}}, {4, {0x01}}, {8, {0, 1}}};
    const uint8_t expected[] = {0, 0, 255, 1, 2, 254};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        imp_image image =
            decode(picture_png(2, 1, PNG_COLOR_TYPE_PALETTE, cases[i].depth, 0, 0, cases[i].row));
        assert_int_equal(image.channels, 3);
        assert_memory_equal(image.pixels, expected, sizeof expected);
        imp_image_clear(&image);
    }
}

static void transparency_is_laid_on_white(void **state)
{
    (void)state;
    const uint8_t gray_alpha[] = {0, 255, 0, 0, 100, 128};
    imp_image image = decode(picture_png(3, 1, PNG_COLOR_TYPE_GRAY_ALPHA, 8, 0, 0, gray_alpha));
    assert_int_equal(image.channels, 1);
    const uint8_t expected_gray[] = {0, 255, (100 * 128 + 255 * 127 + 127) / 255};
    assert_memory_equal(image.pixels, expected_gray, 3);
    imp_image_clear(&image);

    const uint8_t rgba[] = {10, 20, 30, 255, 10, 20, 30, 0};
    image = decode(picture_png(2, 1, PNG_COLOR_TYPE_RGB_ALPHA, 8, 1, 0, rgba));
    const uint8_t expected_rgb[] = {10, 20, 30, 255, 255, 255};
    assert_int_equal(image.channels, 3);
    assert_memory_equal(image.pixels, expected_rgb, 6);
    imp_image_clear(&image);

    const uint8_t indices[] = {0, 1};
    image = decode(picture_png(2, 1, PNG_COLOR_TYPE_PALETTE, 8, 0, 1, indices));
    const uint8_t expected_palette[] = {255, 255, 255, 1, 2, 254};
    assert_memory_equal(image.pixels, expected_palette, 6);
    imp_image_clear(&image);
}

static void rgb_of_16_bits(void **state)
{
    (void)state;
    const uint8_t row[] = {0xFF, 0xFF, 0x80, 0x80, 0x00, 0x00};
    imp_image image = decode(picture_png(1, 1, PNG_COLOR_TYPE_RGB, 16, 0, 0, row));
    const uint8_t expected[] = {255, 128, 0};
    assert_memory_equal(image.pixels, expected, 3);
    imp_image_clear(&image);
}

static void jpegs(void **state)
{
    (void)state;
    for (int progressive = 0; progressive < 2; progressive++)
        for (int components = 1; components <= 3; components += 2) {
            imp_image image = decode(picture_jpeg(19, 11, components, 77, progressive));
            assert_int_equal(image.width, 19);
            assert_int_equal(image.height, 11);
            assert_int_equal(image.channels, components);
            for (size_t i = 0; i < 19u * 11u * (size_t)components; i++)
                assert_in_range(image.pixels[i], 76, 78);
            imp_image_clear(&image);
        }
}

static void cmyk_becomes_rgb(void **state)
{
    (void)state;
    picture_bytes cmyk = picture_jpeg(8, 8, 4, 50, 0);
    imp_image image;
    assert_int_equal(imp_image_decode(cmyk.bytes, cmyk.size, IMP_PIXEL_LIMIT, &image, NULL),
                     IMP_OK);
    assert_int_equal(image.channels, 3);
    /* libjpeg writes Adobe's marker: 50 of 255 of the light is left by the ink, and by black. */
    for (size_t i = 0; i < 3 * 64; i++)
        assert_in_range(image.pixels[i], 9, 11);
    imp_image_clear(&image);
    free(cmyk.bytes);
}

/* Nothing but the whole file decodes, and no piece of it crashes. */
static void every_truncation_is_refused(void **state)
{
    (void)state;
    picture_bytes files[] = {picture_ramp(9, 7, 3), picture_jpeg(16, 16, 3, 9, 0),
                             picture_jpeg(16, 16, 1, 9, 1)};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        for (size_t size = 0; size < files[i].size; size++) {
            /* A copy of its own, so that reading behind it is seen. */
            uint8_t *piece = malloc(size > 0 ? size : 1);
            memcpy(piece, files[i].bytes, size);
            imp_image image;
            imp_error error;
            imp_status status = imp_image_decode(piece, size, IMP_PIXEL_LIMIT, &image, &error);
            /* A JPEG that lacks only its end marker is whole for the reader. */
            if (status == IMP_OK) {
                assert_true(i > 0 && size >= files[i].size - 2);
                imp_image_clear(&image);
            } else {
                assert_true(strlen(error.message) > 10);
                assert_null(image.pixels);
            }
            free(piece);
        }
        free(files[i].bytes);
    }
}

static void every_flipped_byte_is_survived(void **state)
{
    (void)state;
    picture_bytes files[] = {picture_ramp(9, 7, 3), picture_jpeg(16, 16, 3, 9, 0)};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        for (size_t at = 0; at < files[i].size; at++)
            for (int bit = 0; bit < 8; bit += 3) {
                files[i].bytes[at] ^= (uint8_t)(1 << bit);
                imp_image image;
                if (imp_image_decode(files[i].bytes, files[i].size, 1 << 16, &image, NULL) ==
                    IMP_OK)
                    imp_image_clear(&image);
                files[i].bytes[at] ^= (uint8_t)(1 << bit);
            }
        free(files[i].bytes);
    }
}

static void the_pixel_limit_holds_before_memory_is_taken(void **state)
{
    (void)state;
    picture_bytes files[] = {picture_ramp(100, 100, 0), picture_jpeg(100, 100, 3, 5, 0)};
    for (size_t i = 0; i < 2; i++) {
        imp_image image;
        imp_error error;
        assert_int_equal(imp_image_decode(files[i].bytes, files[i].size, 9999, &image, &error),
                         IMP_EUNSUPPORTED);
        assert_string_equal(error.message, "the picture is 100 x 100 pixels, and at most 9999 "
                                           "pixels are allowed");
        assert_int_equal(imp_image_decode(files[i].bytes, files[i].size, 10000, &image, &error),
                         IMP_OK);
        imp_image_clear(&image);
        free(files[i].bytes);
    }
}

static void other_files_are_named_as_such(void **state)
{
    (void)state;
    imp_image image;
    imp_error error;
    assert_int_equal(imp_image_decode((const uint8_t *)"II*\n12", 6, 100, &image, &error),
                     IMP_EFORMAT);
    assert_string_equal(
        error.message,
        "the file is not a picture of a known kind (PNG, JPEG, WebP, HEIF, TIFF, GIF, BMP)");
    assert_int_equal(imp_image_decode((const uint8_t *)"", 0, 100, &image, &error), IMP_EFORMAT);
    assert_string_equal(error.message, "the file is empty");
}

static void what_is_saved_reads_back(void **state)
{
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        imp_image image, back;
        imp_error error;
        assert_int_equal(imp_image_create(&image, 13, 5, channels, NULL), IMP_OK);
        for (size_t i = 0; i < 65u * channels; i++)
            image.pixels[i] = (uint8_t)(37 * i);
        scratch_path path = scratch_file(state, "a.png");
        assert_int_equal(imp_png_save(path.text, &image, &error), IMP_OK);
        FILE *file = fopen(path.text, "rb");
        uint8_t bytes[4096];
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        assert_int_equal(imp_image_decode(bytes, size, 65, &back, &error), IMP_OK);
        assert_int_equal(back.channels, channels);
        assert_memory_equal(image.pixels, back.pixels, 65u * channels);
        assert_int_equal(scratch_entries(state), 1);
        imp_image_clear(&image);
        imp_image_clear(&back);
    }
}

static void conversion_planes_and_inversion(void **state)
{
    (void)state;
    const uint8_t rgb[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
    imp_image image = decode(picture_png(4, 1, PNG_COLOR_TYPE_RGB, 8, 0, 0, rgb));
    uint8_t planes[12];
    imp_image_to_planes(&image, true, planes);
    const uint8_t expected[] = {0, 255, 255, 0, 255, 0, 255, 0, 255, 255, 0, 0};
    assert_memory_equal(planes, expected, sizeof expected);
    assert_int_equal(imp_image_convert(&image, 1, NULL), IMP_OK);
    const uint8_t gray[] = {76, 150, 29, 255};
    assert_memory_equal(image.pixels, gray, sizeof gray);
    assert_int_equal(imp_image_convert(&image, 3, NULL), IMP_OK);
    assert_int_equal(image.pixels[3], 150);
    assert_int_equal(image.pixels[5], 150);
    imp_image_clear(&image);
}

static uint32_t crc_of(const uint8_t *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

/* The text of a comment is not even unpacked: a few bytes of it could be megabytes. */
static void comments_take_no_memory(void **state)
{
    (void)state;
    /* "x", zero, method 0, and a zlib stream of 64 "a". */
    static const uint8_t comment[] = {0,    0,    0,    15,   'z',  'T',  'X',  't',  'x',
                                      0,    0,    0x78, 0x9C, 0x4B, 0x4C, 0xA4, 0x0C, 0x00,
                                      0x00, 0x14, 0x8D, 0x18, 0x41, 0,    0,    0,    0};
    enum { HEAD = 8 + 25, COMMENTS = 20 };
    picture_bytes plain = picture_ramp(9, 7, 3);
    uint8_t *bytes = malloc(plain.size + COMMENTS * sizeof comment);
    memcpy(bytes, plain.bytes, HEAD);
    for (size_t i = 0; i < COMMENTS; i++) {
        uint8_t *chunk = bytes + HEAD + i * sizeof comment;
        memcpy(chunk, comment, sizeof comment);
        uint32_t crc = crc_of(comment + 4, sizeof comment - 8);
        for (int b = 0; b < 4; b++)
            chunk[sizeof comment - 4 + b] = (uint8_t)(crc >> (24 - 8 * b));
    }
    memcpy(bytes + HEAD + COMMENTS * sizeof comment, plain.bytes + HEAD, plain.size - HEAD);

    const picture_bytes files[] = {plain, {bytes, plain.size + COMMENTS * sizeof comment}};
    size_t calls[2];
    for (size_t i = 0; i < 2; i++) {
        failing_allocator memory = {0};
        failing_allocator_install(&memory, 0);
        imp_image image;
        assert_int_equal(imp_image_decode(files[i].bytes, files[i].size, 100, &image, NULL),
                         IMP_OK);
        imp_image_clear(&image);
        calls[i] = memory.calls;
        failing_allocator_end(&memory);
        free(files[i].bytes);
    }
    assert_int_equal(calls[0], calls[1]);
}

static void *allocate_at_most(size_t size, size_t alignment, void *context)
{
    const size_t *most = context;
    return size <= *most ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                         : NULL;
}

static void release_any(void *pointer, void *context)
{
    (void)context;
    free(pointer);
}

/* A picture of one column may have as many rows as pixels are allowed; widened as a whole it would
 * not fit in memory. */
static void a_tall_picture_is_widened_row_by_row(void **state)
{
    (void)state;
    enum { ROWS = 1 << 20 };
    size_t most = (size_t)8 * ROWS;
    imp_set_allocator(&(imp_allocator){allocate_at_most, release_any, &most});
    imp_image image, out;
    assert_int_equal(imp_image_create(&image, 1, ROWS, 1, NULL), IMP_OK);
    for (size_t y = 0; y < ROWS; y++)
        image.pixels[y] = y < ROWS / 2 ? 40 : 200;
    assert_int_equal(imp_image_resample(&image, 28, 28, &out, NULL), IMP_OK);
    for (size_t i = 0; i < 28 * 28; i++)
        assert_int_equal(out.pixels[i], i < 28 * 14 ? 40 : 200);
    imp_image_clear(&image);
    imp_image_clear(&out);
    imp_set_allocator(NULL);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    const uint8_t rgba[] = {10, 20, 30, 255, 10, 20, 30, 0};
    picture_bytes png = picture_png(2, 1, PNG_COLOR_TYPE_RGB_ALPHA, 8, 0, 0, rgba);
    picture_bytes jpeg = picture_jpeg(8, 8, 3, 9, 0);
    const picture_bytes files[] = {png, jpeg};
    for (size_t i = 0; i < 2; i++) {
        failing_allocator memory = {0};
        while (failing_allocator_next(&memory)) {
            imp_image image = {0}, out = {0};
            imp_error error;
            imp_status status =
                imp_image_decode(files[i].bytes, files[i].size, 100, &image, &error);
            if (status == IMP_OK)
                status = imp_image_convert(&image, 1, &error);
            if (status == IMP_OK)
                status = imp_image_resample(&image, 3, 3, &out, &error);
            imp_image_clear(&out);
            if (status == IMP_OK)
                status = imp_image_resample(&image, 9, 1, &out, &error);
            imp_image_clear(&image);
            imp_image_clear(&out);
            failing_allocator_expect(&memory, status);
        }
    }
    free(png.bytes);
    free(jpeg.bytes);
}

/* A picture of one value with one pixel of another in the middle. */
static imp_image spot(uint32_t width, uint32_t height, uint32_t channels, uint8_t ground,
                      uint8_t ink)
{
    imp_image image;
    assert_int_equal(imp_image_create(&image, width, height, channels, NULL), IMP_OK);
    memset(image.pixels, ground, (size_t)width * height * channels);
    size_t middle = (size_t)(height / 2) * width + width / 2;
    memset(image.pixels + middle * channels, ink, channels);
    return image;
}

static void the_ground_is_what_the_edges_are(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        imp_image dark = spot(5, 4, channels, 100, 255), light = spot(5, 4, channels, 200, 0);
        assert_false(imp_image_on_light(&dark));
        assert_true(imp_image_on_light(&light));
        imp_image_clear(&dark);
        imp_image_clear(&light);
    }
    /* Where everything is edge, everything counts, and once. */
    static const uint32_t sides[][2] = {{1, 1}, {1, 9}, {9, 1}, {2, 2}, {2, 9}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        imp_image image = spot(sides[i][0], sides[i][1], 1, 127, 127);
        assert_false(imp_image_on_light(&image));
        image.pixels[(size_t)image.width * image.height - 1] = 255;
        assert_true(imp_image_on_light(&image));
        imp_image_clear(&image);
    }
}

static void preparing_converts_resamples_and_inverts(void **state)
{
    (void)state;
    imp_image image = spot(6, 4, 3, 250, 250);
    uint8_t planes[4];
    assert_int_equal(imp_image_prepare(&image, 2, 1, true, planes, NULL), IMP_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(planes[i], 5);
    imp_image_clear(&image);

    const uint8_t row[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    image = decode(picture_png(2, 2, PNG_COLOR_TYPE_RGB, 8, 0, 0, row));
    uint8_t rgb[12];
    assert_int_equal(imp_image_prepare(&image, 2, 3, false, rgb, NULL), IMP_OK);
    assert_memory_equal(rgb, ((uint8_t[]){1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12}), 12);
    imp_image_clear(&image);
}

static void what_is_encoded_reads_back(void **state)
{
    (void)state;
    imp_image image = spot(70, 50, 3, 30, 220), again;
    uint8_t *bytes;
    size_t size;
    assert_int_equal(imp_png_encode(&image, &bytes, &size, NULL), IMP_OK);
    assert_int_equal(imp_image_decode(bytes, size, IMP_PIXEL_LIMIT, &again, NULL), IMP_OK);
    assert_int_equal(again.width, 70);
    assert_int_equal(again.height, 50);
    assert_memory_equal(again.pixels, image.pixels, 70 * 50 * 3);
    imp_release(bytes);
    imp_image_clear(&again);

    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_status status = imp_png_encode(&image, &bytes, &size, NULL);
        imp_release(bytes);
        failing_allocator_expect(&memory, status);
    }
    imp_image_clear(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gray_of_every_depth),
        cmocka_unit_test(black_and_white_of_every_width),
        cmocka_unit_test(palettes_of_every_depth),
        cmocka_unit_test(transparency_is_laid_on_white),
        cmocka_unit_test(rgb_of_16_bits),
        cmocka_unit_test(jpegs),
        cmocka_unit_test(cmyk_becomes_rgb),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_flipped_byte_is_survived),
        cmocka_unit_test(the_pixel_limit_holds_before_memory_is_taken),
        cmocka_unit_test(other_files_are_named_as_such),
        cmocka_unit_test_setup_teardown(what_is_saved_reads_back, scratch_setup, scratch_teardown),
        cmocka_unit_test(conversion_planes_and_inversion),
        cmocka_unit_test(the_ground_is_what_the_edges_are),
        cmocka_unit_test(preparing_converts_resamples_and_inverts),
        cmocka_unit_test(what_is_encoded_reads_back),
        cmocka_unit_test(comments_take_no_memory),
        cmocka_unit_test(a_tall_picture_is_widened_row_by_row),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
