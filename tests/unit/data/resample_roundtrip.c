/* resample_roundtrip.c - decodes and resamples a picture for check_pillow.py:
 * resample_roundtrip PICTURE WIDTH HEIGHT CHANNELS writes the raw pixels to standard output. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/image.h"

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    unsigned char *bytes;
    size_t size;
    imp_image image, out;
    imp_error error;
    if (imp_file_read(argv[1], 1 << 24, &bytes, &size, &error) != IMP_OK ||
        imp_image_decode(bytes, size, IMP_PIXEL_LIMIT, &image, &error) != IMP_OK ||
        imp_image_convert(&image, (uint32_t)atoi(argv[4]), &error) != IMP_OK ||
        imp_image_resample(&image, (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]), &out,
                           &error) != IMP_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    size_t total = (size_t)out.width * out.height * out.channels;
    size_t written = fwrite(out.pixels, 1, total, stdout);
    imp_image_clear(&image);
    imp_image_clear(&out);
    imp_release(bytes);
    return written == total ? 0 : 1;
}
