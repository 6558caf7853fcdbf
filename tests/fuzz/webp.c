/* webp.c - any bytes at all as a WebP: a picture or a sentence, never a crash or a leak. */
#include <stdint.h>
#include <stdlib.h>

#include "data/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    imp_image image;
    imp_error error = {0};
    imp_status status = imp_webp_decode(data, size, 1 << 16, &image, &error);
    if (status == IMP_OK ? image.pixels == NULL : error.message[0] == '\0')
        abort();
    imp_image_clear(&image);
    return 0;
}
