/*
 * jpeg.c - decodes JPEG pictures with libjpeg-turbo.
 *
 * libjpeg continues after damage and fills the rest with gray; a few-shot learner would then learn
 * from garbage. Damage that loses picture data is an error here; stray bytes between markers are
 * not.
 */
#include <setjmp.h>
#include <stdio.h>

#include <jerror.h>
#include <jpeglib.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/image.h"
#include "data/orientation.h"

/* A progressive file of a few kilobytes can ask for thousands of passes over a large picture. */
enum { MOST_SCANS = 200, EXIF_MARKER = JPEG_APP0 + 1 };

typedef struct decoder {
    struct jpeg_decompress_struct jpeg; /* must be first: the callbacks get only a pointer to it */
    struct jpeg_error_mgr manager;
    struct jpeg_progress_mgr progress;
    jmp_buf back;
    imp_image image;
    imp_status status; /* of a fault found here, not by libjpeg */
    char fault[JMSG_LENGTH_MAX];
    JSAMPLE *cmyk; /* one row, if the picture is CMYK */
} decoder;

static void on_error(j_common_ptr jpeg)
{
    decoder *state = (decoder *)jpeg;
    jpeg->err->format_message(jpeg, state->fault);
    longjmp(state->back, 1);
}

static void on_message(j_common_ptr jpeg, int level)
{
    int code = jpeg->err->msg_code;
    if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM &&
        code != JWRN_JFIF_MAJOR)
        on_error(jpeg);
}

static void on_progress(j_common_ptr jpeg)
{
    decoder *state = (decoder *)jpeg;
    if (state->jpeg.input_scan_number > MOST_SCANS) {
        snprintf(state->fault, sizeof state->fault, "it has more than %d scans", MOST_SCANS);
        longjmp(state->back, 1);
    }
}

/* Converts CMYK to RGB. Nearly all files are Adobe's and store inverted values. */
static void mix_inks(const JSAMPLE *cmyk, size_t count, bool inverted, uint8_t *rgb)
{
    for (size_t i = 0; i < count; i++, cmyk += 4, rgb += 3)
        for (size_t c = 0; c < 3; c++) {
            unsigned ink = inverted ? cmyk[c] : 255u - cmyk[c];
            unsigned black = inverted ? cmyk[3] : 255u - cmyk[3];
            rgb[c] = (uint8_t)((ink * black + 127) / 255);
        }
}

/* Reads the header, allocates, reads the rows. Sets state->status if the file is refused. */
static void read_picture(decoder *state, const uint8_t *bytes, size_t size, size_t pixel_limit,
                         imp_error *error)
{
    struct jpeg_decompress_struct *jpeg = &state->jpeg;
    jpeg_create_decompress(jpeg);
    state->progress.progress_monitor = on_progress;
    jpeg->progress = &state->progress;
    jpeg_mem_src(jpeg, bytes, size);
    jpeg_save_markers(jpeg, EXIF_MARKER, 0xFFFF);
    jpeg_read_header(jpeg, TRUE);

    state->status = imp_image_check_size(jpeg->image_width, jpeg->image_height, pixel_limit, error);
    if (state->status)
        return;
    bool gray = jpeg->jpeg_color_space == JCS_GRAYSCALE;
    bool print = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
    jpeg->out_color_space = gray ? JCS_GRAYSCALE : print ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(jpeg);
    state->status = imp_image_create(&state->image, jpeg->output_width, jpeg->output_height,
                                     gray ? 1 : 3, error);
    if (state->status)
        return;

    size_t stride = (size_t)jpeg->output_width * state->image.channels;
    if (print)
        state->cmyk = imp_allocate(jpeg->output_width, 4);
    if (print && !state->cmyk) {
        state->status = imp_fail_memory(error, "a JPEG picture");
        return;
    }
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = state->image.pixels + jpeg->output_scanline * stride;
        jpeg_read_scanlines(jpeg, print ? &state->cmyk : &row, 1);
        if (print)
            mix_inks(state->cmyk, jpeg->output_width, jpeg->saw_Adobe_marker, row);
    }
    int orientation = 1;
    for (jpeg_saved_marker_ptr note = jpeg->marker_list; note && orientation == 1;
         note = note->next)
        orientation = imp_exif_orientation(note->data, note->data_length);
    jpeg_finish_decompress(jpeg); /* discards the EXIF data */
    state->status = imp_image_orient(&state->image, orientation, error);
}

static imp_status decode(decoder *state, const uint8_t *bytes, size_t size, size_t pixel_limit,
                         imp_error *error)
{
    if (setjmp(state->back) != 0)
        return state->manager.msg_code == JERR_OUT_OF_MEMORY
                   ? imp_fail_memory(error, "a JPEG picture")
                   : imp_fail(error, IMP_EFORMAT, "broken JPEG: %s", state->fault);
    read_picture(state, bytes, size, pixel_limit, error);
    return state->status;
}

imp_status imp_jpeg_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                           imp_error *error)
{
    *image = (imp_image){0};
    decoder state = {.status = IMP_OK};
    state.jpeg.err = jpeg_std_error(&state.manager);
    state.manager.error_exit = on_error;
    state.manager.emit_message = on_message;

    imp_status status = decode(&state, bytes, size, pixel_limit, error);
    jpeg_destroy_decompress(&state.jpeg);
    imp_release(state.cmyk);
    if (!status)
        *image = state.image;
    else
        imp_image_clear(&state.image);
    return status;
}
