/* npy.c - any bytes at all as a .npy file: an array or a sentence, never a crash or a leak. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    imp_array array;
    imp_error error = {0};
    imp_status status = imp_npy_parse(data, size, &array, &error);

    /* What was accepted must be what the bytes say; what was refused must say why. */
    if (status == IMP_OK) {
        imp_npy_header header;
        size_t bytes = array.count * imp_dtype_size(array.dtype);
        if (array.data == NULL || bytes > size || array.rank > IMP_MAX_RANK ||
            imp_npy_parse_header(data, size, &header, NULL))
            abort();
        if (!header.fortran && memcmp(array.data, data + size - bytes, bytes) != 0)
            abort();
    } else if (array.data != NULL || error.status != status || error.message[0] == '\0') {
        abort();
    }
    imp_array_clear(&array);
    return 0;
}
