/*
 * png.c - decodes and encodes PNG pictures with libpng.
 *
 * libpng reports errors by longjmp(), so everything to be freed then is in one struct owned by the
 * function that calls setjmp(). All of libpng's memory comes from the library's allocator.
 */
#include <png.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/image.h"

/* An error message of libpng, kept until it can be reported. */
typedef struct fault {
    bool memory; /* an allocation failed; libpng reports that as a broken picture */
    char text[200];
} fault;

static void *allocate(png_structp png, png_alloc_size_t size)
{
    void *memory = imp_allocate(size, 1);
    fault *into = png_get_mem_ptr(png);
    if (memory == NULL && into != NULL)
        into->memory = true;
    return memory;
}

static void release(png_structp png, png_voidp pointer)
{
    (void)png;
    imp_release(pointer);
}

static void on_error(png_structp png, png_const_charp message)
{
    fault *into = png_get_error_ptr(png);
    size_t length = strlen(message);
    if (length >= sizeof into->text)
        length = sizeof into->text - 1;
    memcpy(into->text, message, length);
    into->text[length] = '\0';
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

/* ---- reading ---- */

/* How many compressed bytes may be read for the last rows beyond what these can need: surplus data
 * could expand a thousandfold for nothing. */
enum { SURPLUS_LIMIT = 64 << 10, IDAT = 0x49444154 };

typedef struct decoder {
    png_structp png;
    png_infop info;
    const uint8_t *next;
    size_t left;
    bool is_ending;    /* the last rows are being read, after which libpng inflates all the rest */
    size_t last_bytes; /* of compressed data read since then */
    int passes;        /* over the picture, several if interlaced */
    imp_image image;
    uint8_t *samples;  /* libpng's output: the picture, with alpha if it has one */
    png_bytepp rows;   /* of `samples` */
    size_t components; /* of a pixel in `samples` */
    bool bits;         /* `samples` holds 8 black-and-white pixels per byte */
    imp_status status; /* of a fault found here, not by libpng */
    fault fault;
} decoder;

static void read_bytes(png_structp png, png_bytep into, size_t size)
{
    decoder *state = png_get_io_ptr(png);
    if (size > state->left)
        png_error(png, "the file ends before the picture does");
    if (state->is_ending && png_get_io_chunk_type(png) == IDAT) {
        state->last_bytes += size;
        if (state->last_bytes > SURPLUS_LIMIT + 4 * png_get_rowbytes(png, state->info))
            png_error(png, "it holds far more data than its pixels need");
    }
    memcpy(into, state->next, size);
    state->next += size;
    state->left -= size;
}

/* Reads the header and allocates. Sets state->status if the picture is refused. */
static void prepare(decoder *state, size_t pixel_limit, imp_error *error)
{
    png_structp png = state->png;
    png_set_read_fn(png, state, read_bytes);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    /* Comments, profiles and the like are skipped: they change no pixel, and a few bytes can expand
     * to megabytes. */
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(png, state->info);

    uint32_t width = png_get_image_width(png, state->info);
    uint32_t height = png_get_image_height(png, state->info);
    state->status = imp_image_check_size(width, height, pixel_limit, error);
    if (state->status)
        return;

    /* Black and white, as in Omniglot, is expanded here, many times faster than by libpng. */
    state->bits = png_get_color_type(png, state->info) == PNG_COLOR_TYPE_GRAY &&
                  png_get_bit_depth(png, state->info) == 1 &&
                  !png_get_valid(png, state->info, PNG_INFO_tRNS);
    if (!state->bits)
        png_set_expand(png); /* palette to RGB, few bits to 8, a transparent colour to alpha */
    png_set_scale_16(png);
    state->passes = png_set_interlace_handling(png);
    png_read_update_info(png, state->info);

    state->components = png_get_channels(png, state->info);
    size_t stride = png_get_rowbytes(png, state->info), bytes;
    uint32_t colours = state->components < 3 ? 1 : 3;
    state->status = imp_image_create(&state->image, width, height, colours, error);
    if (state->status)
        return;
    bool fits = imp_multiply(stride, height, &bytes);
    bool direct = state->components == colours && !state->bits;
    state->rows = imp_allocate(height, sizeof *state->rows);
    state->samples = !fits ? NULL : direct ? state->image.pixels : imp_allocate(bytes, 1);
    if (state->rows == NULL || state->samples == NULL) {
        state->status = imp_fail_memory(error, "a PNG picture");
        return;
    }
    for (size_t row = 0; row < height; row++)
        state->rows[row] = state->samples + row * stride;
}

/* Expands every bit to a byte. */
static void unpack_bits(decoder *state)
{
    static const uint8_t four[16][4] = {
        {0, 0, 0, 0},     {0, 0, 0, 255},     {0, 0, 255, 0},     {0, 0, 255, 255},
        {0, 255, 0, 0},   {0, 255, 0, 255},   {0, 255, 255, 0},   {0, 255, 255, 255},
        {255, 0, 0, 0},   {255, 0, 0, 255},   {255, 0, 255, 0},   {255, 0, 255, 255},
        {255, 255, 0, 0}, {255, 255, 0, 255}, {255, 255, 255, 0}, {255, 255, 255, 255},
    };
    size_t width = state->image.width;
    for (size_t y = 0; y < state->image.height; y++) {
        const uint8_t *from = state->rows[y];
        uint8_t *to = state->image.pixels + y * width;
        for (size_t x = 0; x < width; x += 8, from++) {
            uint8_t eight[8];
            memcpy(eight, four[*from >> 4], 4);
            memcpy(eight + 4, four[*from & 15], 4);
            if (width - x >= 8)
                memcpy(to + x, eight, 8);
            else
                memcpy(to + x, eight, width - x);
        }
    }
}

/* Composites a picture with alpha on white. */
static void flatten(decoder *state)
{
    imp_image *image = &state->image;
    size_t pixels = (size_t)image->width * image->height, colours = image->channels;
    for (size_t i = 0; i < pixels; i++) {
        const uint8_t *sample = state->samples + i * (colours + 1);
        unsigned alpha = sample[colours];
        for (size_t c = 0; c < colours; c++)
            image->pixels[i * colours + c] =
                (uint8_t)((sample[c] * alpha + 255u * (255u - alpha) + 127u) / 255u);
    }
}

static void read_rows(decoder *state)
{
    size_t height = state->image.height;
    for (int pass = 1; pass <= state->passes; pass++)
        for (size_t y = 0; y < height; y++) {
            state->is_ending = pass == state->passes && y + 2 >= height;
            png_read_row(state->png, state->rows[y], NULL);
        }
    state->is_ending = true;
}

static imp_status decode(decoder *state, size_t pixel_limit, imp_error *error)
{
    if (setjmp(png_jmpbuf(state->png)) != 0)
        return state->fault.memory
                   ? imp_fail_memory(error, "a PNG picture")
                   : imp_fail(error, IMP_EFORMAT, "broken PNG: %s", state->fault.text);
    prepare(state, pixel_limit, error);
    if (state->status)
        return state->status;
    read_rows(state);
    png_read_end(state->png, NULL);
    if (state->bits)
        unpack_bits(state);
    else if (state->samples != state->image.pixels)
        flatten(state);
    return IMP_OK;
}

imp_status imp_png_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                          imp_error *error)
{
    *image = (imp_image){0};
    decoder state = {.next = bytes, .left = size};
    state.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &state.fault, on_error, on_warning,
                                         &state.fault, allocate, release);
    if (state.png != NULL)
        state.info = png_create_info_struct(state.png);
    imp_status status = state.info == NULL ? imp_fail_memory(error, "reading a PNG picture")
                                           : decode(&state, pixel_limit, error);

    if (state.samples != state.image.pixels)
        imp_release(state.samples);
    imp_release(state.rows);
    png_destroy_read_struct(&state.png, &state.info, NULL);
    if (!status)
        *image = state.image;
    else
        imp_image_clear(&state.image);
    return status;
}

/* ---- writing ---- */

typedef struct encoder {
    png_structp png;
    png_infop info;
    uint8_t *bytes; /* written so far */
    size_t size, capacity;
    fault fault;
} encoder;

static void append_bytes(png_structp png, png_bytep bytes, size_t size)
{
    encoder *state = png_get_io_ptr(png);
    if (size > state->capacity - state->size) {
        size_t capacity = 2 * state->capacity + size;
        uint8_t *larger = imp_allocate(capacity, 1);
        if (larger == NULL) {
            state->fault.memory = true;
            png_error(png, "out of memory");
        }
        if (state->size > 0)
            memcpy(larger, state->bytes, state->size);
        imp_release(state->bytes);
        state->bytes = larger;
        state->capacity = capacity;
    }
    memcpy(state->bytes + state->size, bytes, size);
    state->size += size;
}

static void flush_bytes(png_structp png)
{
    (void)png;
}

static imp_status encode(encoder *state, const imp_image *image, imp_error *error)
{
    if (setjmp(png_jmpbuf(state->png)) != 0)
        return state->fault.memory
                   ? imp_fail_memory(error, "writing a PNG picture")
                   : imp_fail(error, IMP_EINVAL, "cannot write a PNG: %s", state->fault.text);
    png_set_write_fn(state->png, state, append_bytes, flush_bytes);
    png_set_IHDR(state->png, state->info, image->width, image->height, 8,
                 image->channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(state->png, state->info);
    size_t stride = (size_t)image->width * image->channels;
    for (size_t row = 0; row < image->height; row++)
        png_write_row(state->png, image->pixels + row * stride);
    png_write_end(state->png, NULL);
    return IMP_OK;
}

imp_status imp_png_encode(const imp_image *image, uint8_t **bytes, size_t *size, imp_error *error)
{
    *bytes = NULL;
    *size = 0;
    encoder state = {0};
    state.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &state.fault, on_error, on_warning,
                                          &state.fault, allocate, release);
    if (state.png != NULL)
        state.info = png_create_info_struct(state.png);
    imp_status status = state.info == NULL ? imp_fail_memory(error, "writing a PNG picture")
                                           : encode(&state, image, error);
    png_destroy_write_struct(&state.png, &state.info);
    if (!status) {
        *bytes = state.bytes;
        *size = state.size;
    } else {
        imp_release(state.bytes);
    }
    return status;
}

imp_status imp_png_save(const char *path, const imp_image *image, imp_error *error)
{
    uint8_t *bytes;
    size_t size;
    imp_writer writer;
    imp_status status = imp_png_encode(image, &bytes, &size, error);
    if (!status)
        status = imp_writer_open(&writer, path, error);
    if (!status)
        status = imp_writer_write(&writer, bytes, size, error);
    if (!status)
        status = imp_writer_commit(&writer, error);
    imp_release(bytes);
    return status;
}
