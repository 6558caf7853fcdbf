/* jpeg_write.c - encodes JPEG, for thumbnails on pages. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/image.h"

typedef struct encoder {
    struct jpeg_compress_struct jpeg; /* must be first: the callback gets only a pointer to it */
    struct jpeg_error_mgr manager;
    jmp_buf back;
    char fault[JMSG_LENGTH_MAX];
    unsigned char *bytes; /* libjpeg's own, from malloc() */
    unsigned long size;
} encoder;

static void on_error(j_common_ptr jpeg)
{
    encoder *state = (encoder *)jpeg;
    jpeg->err->format_message(jpeg, state->fault);
    longjmp(state->back, 1);
}

static void compress(encoder *state, const imp_image *image, int quality)
{
    struct jpeg_compress_struct *jpeg = &state->jpeg;
    jpeg_create_compress(jpeg);
    jpeg_mem_dest(jpeg, &state->bytes, &state->size);
    jpeg->image_width = image->width;
    jpeg->image_height = image->height;
    jpeg->input_components = (int)image->channels;
    jpeg->in_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, quality, TRUE);
    jpeg->optimize_coding = TRUE;
    jpeg_start_compress(jpeg, TRUE);
    for (size_t y = 0; y < image->height; y++) {
        JSAMPROW row = (JSAMPROW)(image->pixels + y * image->width * image->channels);
        jpeg_write_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_compress(jpeg);
}

imp_status imp_jpeg_encode(const imp_image *image, int quality, uint8_t **bytes, size_t *size,
                           imp_error *error)
{
    encoder *state = imp_allocate_zeroed(1, sizeof *state);
    *bytes = NULL;
    *size = 0;
    if (!state)
        return imp_fail_memory(error, "a picture");
    imp_status status = IMP_OK;
    state->jpeg.err = jpeg_std_error(&state->manager);
    state->manager.error_exit = on_error;
    if (setjmp(state->back) == 0) {
        compress(state, image, quality);
        *bytes = imp_allocate(state->size, 1);
        *size = state->size;
        if (*bytes)
            memcpy(*bytes, state->bytes, state->size);
        else
            status = imp_fail_memory(error, "a picture");
    } else {
        status = imp_fail(error, IMP_EIO, "a JPEG cannot be written: %s", state->fault);
    }
    jpeg_destroy_compress(&state->jpeg);
    free(state->bytes);
    imp_release(state);
    return status;
}
