/*
 * webp.c - decodes WebP pictures with libwebp; the first frame of an animation.
 */
#include "data/image.h"

#ifdef IMP_WITH_WEBP

#include <webp/decode.h>
#include <webp/demux.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/orientation.h"

static imp_status broken(imp_error *error)
{
    return imp_fail(error, IMP_EFORMAT, "broken WebP: it is damaged or cut off");
}

/* One frame, or a whole file of one. */
static imp_status decode_frame(const uint8_t *bytes, size_t size, size_t pixel_limit,
                               imp_image *image, imp_error *error)
{
    WebPBitstreamFeatures about;
    if (WebPGetFeatures(bytes, size, &about) != VP8_STATUS_OK)
        return broken(error);
    imp_status status =
        imp_image_check_size((uint32_t)about.width, (uint32_t)about.height, pixel_limit, error);
    if (!status)
        status = imp_image_create(image, (uint32_t)about.width, (uint32_t)about.height, 3, error);
    if (status)
        return status;
    size_t count = (size_t)about.width * (size_t)about.height;
    uint8_t *rgba = imp_allocate(count, 4);
    if (!rgba)
        status = imp_fail_memory(error, "a WebP picture");
    else if (!WebPDecodeRGBAInto(bytes, size, rgba, 4 * count, 4 * about.width))
        status = broken(error);
    else
        imp_image_lay_on_white(rgba, count, image->pixels);
    imp_release(rgba);
    if (status)
        imp_image_clear(image);
    return status;
}

imp_status imp_webp_decode(const uint8_t *bytes, size_t size, size_t pixel_limit, imp_image *image,
                           imp_error *error)
{
    *image = (imp_image){0};
    WebPData data = {bytes, size};
    WebPDemuxer *file = WebPDemux(&data);
    if (!file)
        return broken(error);
    WebPIterator frame;
    WebPChunkIterator exif;
    int orientation = 1;
    imp_status status;
    if (WebPDemuxGetFrame(file, 1, &frame)) {
        status = decode_frame(frame.fragment.bytes, frame.fragment.size, pixel_limit, image, error);
        WebPDemuxReleaseIterator(&frame);
    } else {
        status = broken(error);
    }
    if (!status && WebPDemuxGetChunk(file, "EXIF", 1, &exif)) {
        orientation = imp_exif_orientation(exif.chunk.bytes, exif.chunk.size);
        WebPDemuxReleaseChunkIterator(&exif);
    }
    WebPDemuxDelete(file);
    if (!status) {
        status = imp_image_orient(image, orientation, error);
        if (status)
            imp_image_clear(image);
    }
    return status;
}

#endif
