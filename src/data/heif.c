/*
 * heif.c - decodes HEIC and HEIF pictures, as from telephones, with libheif; not AVIF (format.c).
 *
 * libheif applies the file's own rotation and mirroring; EXIF data, which may repeat them, is
 * ignored.
 */
#include "data/image.h"

#ifdef IMP_WITH_HEIF

#include <libheif/heif.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/heif_references.h"
#include "data/orientation.h"

static imp_status refuse(struct heif_error fault, imp_error *error)
{
    if (fault.code == heif_error_Memory_allocation_error &&
        fault.subcode != heif_suberror_Security_limit_exceeded)
        return imp_fail_memory(error, "a HEIF picture");
    bool kind = fault.code == heif_error_Unsupported_filetype ||
                fault.code == heif_error_Unsupported_feature;
    return imp_fail(error, kind ? IMP_EUNSUPPORTED : IMP_EFORMAT, "%s HEIF: %s",
                    kind ? "unsupported" : "broken", fault.message);
}

/* Takes the decoded picture, composited on white. */
static imp_status take(const struct heif_image *decoded, size_t pixel_limit, imp_image *image,
                       imp_error *error)
{
    int width = heif_image_get_width(decoded, heif_channel_interleaved);
    int height = heif_image_get_height(decoded, heif_channel_interleaved);
    int stride;
    const uint8_t *rows = heif_image_get_plane_readonly(decoded, heif_channel_interleaved, &stride);
    if (!rows || width <= 0 || height <= 0 || stride < 4 * width)
        return imp_fail(error, IMP_EFORMAT, "broken HEIF: it decodes to no picture");
    imp_status status = imp_image_check_size((uint32_t)width, (uint32_t)height, pixel_limit, error);
    if (!status)
        status = imp_image_create(image, (uint32_t)width, (uint32_t)height, 3, error);
    for (int y = 0; y < height && !status; y++)
        imp_image_lay_on_white(rows + (size_t)y * (size_t)stride, (size_t)width,
                               image->pixels + (size_t)y * (size_t)width * 3);
    return status;
}

static imp_status decode(struct heif_context *context, const uint8_t *bytes, size_t size,
                         size_t pixel_limit, imp_image *image, imp_error *error)
{
    struct heif_image_handle *handle = NULL;
    struct heif_image *decoded = NULL;
    struct heif_error fault =
        heif_context_read_from_memory_without_copy(context, bytes, size, NULL);
    if (fault.code == heif_error_Ok)
        fault = heif_context_get_primary_image_handle(context, &handle);
    if (fault.code != heif_error_Ok)
        return refuse(fault, error);
    int width = heif_image_handle_get_width(handle), height = heif_image_handle_get_height(handle);
    imp_status status = imp_image_check_size(width > 0 ? (uint32_t)width : 0,
                                             height > 0 ? (uint32_t)height : 0, pixel_limit, error);
    if (!status) {
        struct heif_decoding_options *options = heif_decoding_options_alloc();
        if (options)
            options->strict_decoding = 1;
        fault = heif_decode_image(handle, &decoded, heif_colorspace_RGB,
                                  heif_chroma_interleaved_RGBA, options);
        heif_decoding_options_free(options);
        status = fault.code == heif_error_Ok ? take(decoded, pixel_limit, image, error)
                                             : refuse(fault, error);
    }
    heif_image_release(decoded);
    heif_image_handle_release(handle);
    return status;
}

imp_status imp_heif_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                           imp_error *error)
{
    *image = (imp_image){0};
    imp_status status = imp_heif_check_references(bytes, size, error);
    if (status)
        return status;
    struct heif_context *context = heif_context_alloc();
    if (!context)
        return imp_fail_memory(error, "a HEIF picture");
    heif_context_set_maximum_image_size_limit(context, 1 << 14);
    heif_context_set_max_decoding_threads(context,
                                          0); /* pictures are already decoded in parallel */
    status = decode(context, bytes, size, pixel_limit, image, error);
    heif_context_free(context);
    if (status)
        imp_image_clear(image);
    return status;
}

#endif
