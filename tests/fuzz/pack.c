/*
 * pack.c - any bytes at all as a pack: a dataset or a sentence, never a crash or a leak.
 *
 * Checksums would stop the fuzzer at the door; they are made right first, so that it gets to the
 * checks behind them.
 */
#define _GNU_SOURCE /* memfd_create */

#include "fuzz.h"

#include "data/checksum.h"
#include "data/pack.h"

static void mend_checksums(uint8_t *file, size_t size)
{
    imp_pack_header header;
    imp_pack_layout layout;
    if (size < sizeof header)
        return;
    memcpy(&header, file, sizeof header);
    memcpy(header.magic, IMP_PACK_MAGIC, sizeof header.magic);
    header.version = IMP_PACK_VERSION;
    if (imp_pack_layout_of(&header, &layout) && layout.end == size) {
        for (size_t block = 0; block < layout.blocks; block++) {
            uint64_t right = imp_checksum(file + layout.pixels + block * (size_t)IMP_PACK_BLOCK,
                                          imp_pack_block_size(&layout, block));
            memcpy(file + layout.block_checksums + block * sizeof right, &right, sizeof right);
        }
        header.table_checksum =
            imp_checksum(file + sizeof header, (size_t)layout.pixels - sizeof header);
    }
    header.header_checksum = imp_pack_header_checksum(&header);
    memcpy(file, &header, sizeof header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *mended = malloc(size > 0 ? size : 1);
    if (mended == NULL)
        abort();
    if (size > 0)
        memcpy(mended, data, size);
    mend_checksums(mended, size);
    fuzz_file file = fuzz_file_of(mended, size);
    free(mended);

    char name[60];
    snprintf(name, sizeof name, "pack:%s", file.path);
    imp_dataset_options options = imp_dataset_defaults();
    options.threads = 1;
    options.rotations = 4;
    imp_dataset *dataset;
    if (imp_dataset_open(name, &options, &dataset, NULL) == IMP_OK) {
        uint8_t *pixels = malloc(imp_picture_bytes(dataset));
        for (size_t i = 0; i < imp_dataset_images(dataset) && i < 100 && pixels != NULL; i++) {
            char image[100];
            imp_dataset_image(dataset, i, pixels);
            imp_dataset_image_name(dataset, i, image, sizeof image);
            (void)imp_dataset_find_image(dataset, image);
        }
        free(pixels);
    }
    imp_dataset_free(dataset);
    close(file.descriptor);
    return 0;
}
