/*
 * gif.c - GIF pictures through giflib: the first frame, on white.
 */
#include "data/image.h"

#ifdef IMP_WITH_GIF

#include <gif_lib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct decoder {
    const uint8_t *next;
    size_t left;
} decoder;

static int read_bytes(GifFileType *gif, GifByteType *to, int wanted)
{
    decoder *state = gif->UserData;
    size_t count = (size_t)wanted < state->left ? (size_t)wanted : state->left;
    memcpy(to, state->next, count);
    state->next += count;
    state->left -= count;
    return (int)count;
}

static imp_status broken(const GifFileType *gif, imp_error *error)
{
    const char *text = GifErrorString(gif->Error);
    return imp_fail(error, IMP_EFORMAT, "broken GIF: %s", text ? text : "it holds no picture");
}

/* Finds the first frame; *transparent becomes the index of its transparent colour, or -1. */
static imp_status find_frame(GifFileType *gif, int *transparent, imp_error *error)
{
    GifRecordType kind;
    *transparent = -1;
    for (;;) {
        int code;
        GifByteType *data;
        if (DGifGetRecordType(gif, &kind) != GIF_OK || kind == TERMINATE_RECORD_TYPE)
            return broken(gif, error);
        if (kind == IMAGE_DESC_RECORD_TYPE)
            return DGifGetImageDesc(gif) == GIF_OK ? IMP_OK : broken(gif, error);
        if (kind != EXTENSION_RECORD_TYPE || DGifGetExtension(gif, &code, &data) != GIF_OK)
            return broken(gif, error);
        while (data) {
            GraphicsControlBlock about;
            if (code == GRAPHICS_EXT_FUNC_CODE && data[0] >= 4 &&
                DGifExtensionToGCB(data[0], data + 1, &about) == GIF_OK)
                *transparent = about.TransparentColor;
            if (DGifGetExtensionNext(gif, &data) != GIF_OK)
                return broken(gif, error);
        }
    }
}

static void put_line(const GifFileType *gif, const GifPixelType *line, int y, int transparent,
                     imp_image *image)
{
    const ColorMapObject *map = gif->Image.ColorMap ? gif->Image.ColorMap : gif->SColorMap;
    uint8_t *to =
        image->pixels + ((size_t)(gif->Image.Top + y) * image->width + (size_t)gif->Image.Left) * 3;
    for (int x = 0; x < gif->Image.Width; x++, to += 3)
        if (line[x] != transparent && line[x] < map->ColorCount) {
            const GifColorType *colour = &map->Colors[line[x]];
            to[0] = colour->Red;
            to[1] = colour->Green;
            to[2] = colour->Blue;
        }
}

static imp_status read_lines(GifFileType *gif, int transparent, imp_image *image, imp_error *error)
{
    static const int starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2}; /* of interlaced pictures */
    int width = gif->Image.Width, height = gif->Image.Height;
    GifPixelType *line = imp_allocate((size_t)width, sizeof *line);
    imp_status status = line ? IMP_OK : imp_fail_memory(error, "a GIF picture");
    for (int pass = 0; pass < (gif->Image.Interlace ? 4 : 1) && !status; pass++)
        for (int y = gif->Image.Interlace ? starts[pass] : 0; y < height && !status;
             y += gif->Image.Interlace ? steps[pass] : 1) {
            if (DGifGetLine(gif, line, width) != GIF_OK)
                status = broken(gif, error);
            else
                put_line(gif, line, y, transparent, image);
        }
    imp_release(line);
    return status;
}

static imp_status decode(GifFileType *gif, size_t pixel_limit, imp_image *image, imp_error *error)
{
    int transparent;
    imp_status status = find_frame(gif, &transparent, error);
    if (status)
        return status;
    const GifImageDesc *frame = &gif->Image;
    int width = gif->SWidth, height = gif->SHeight;
    if (frame->Left < 0 || frame->Top < 0 || frame->Width <= 0 || frame->Height <= 0 ||
        frame->Left + frame->Width > width || frame->Top + frame->Height > height)
        return imp_fail(error, IMP_EFORMAT,
                        "broken GIF: its first frame is outside of the picture");
    if (!frame->ColorMap && !gif->SColorMap)
        return imp_fail(error, IMP_EFORMAT, "broken GIF: it has no colours");
    status = imp_image_check_size((uint32_t)width, (uint32_t)height, pixel_limit, error);
    if (!status)
        status = imp_image_create(image, (uint32_t)width, (uint32_t)height, 3, error);
    if (status)
        return status;
    memset(image->pixels, 255, (size_t)width * (size_t)height * 3);
    return read_lines(gif, transparent, image, error);
}

imp_status imp_gif_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                          imp_error *error)
{
    *image = (imp_image){0};
    decoder state = {bytes, size};
    int fault = 0;
    GifFileType *gif = DGifOpen(&state, read_bytes, &fault);
    if (!gif)
        return fault == D_GIF_ERR_NOT_ENOUGH_MEM
                   ? imp_fail_memory(error, "a GIF picture")
                   : imp_fail(error, IMP_EFORMAT, "broken GIF: %s", GifErrorString(fault));
    imp_status status = decode(gif, pixel_limit, image, error);
    DGifCloseFile(gif, NULL);
    if (status)
        imp_image_clear(image);
    return status;
}

#endif
