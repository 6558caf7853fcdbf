/*
 * pack_write.c - writes a dataset as one file that can be mapped.
 */
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/checksum.h"
#include "data/pack.h"

bool imp_pack_layout_of(const imp_pack_header *header, imp_pack_layout *layout)
{
    /* Counts are 32 bits wide: only the pixels and the texts can overflow. */
    uint64_t picture = (uint64_t)header->size * header->size, pixels;
    if (__builtin_mul_overflow(picture, header->channels, &picture) ||
        __builtin_mul_overflow(picture, header->pictures, &pixels) || pixels > INT64_MAX / 2 ||
        header->text_size > INT64_MAX / 4)
        return false;
    layout->blocks = (pixels + IMP_PACK_BLOCK - 1) / IMP_PACK_BLOCK;
    layout->block_checksums = sizeof *header;
    layout->classes = layout->block_checksums + layout->blocks * sizeof(uint64_t);
    layout->super_names = layout->classes + (uint64_t)header->classes * sizeof(imp_pack_class);
    layout->picture_names =
        layout->super_names + (uint64_t)header->super_classes * sizeof(uint32_t);
    layout->text = layout->picture_names + (uint64_t)header->pictures * sizeof(uint32_t);
    layout->table_end = layout->text + header->text_size;
    layout->pixels = (layout->table_end + IMP_PACK_PAGE - 1) / IMP_PACK_PAGE * IMP_PACK_PAGE;
    layout->end = layout->pixels + pixels;
    return true;
}

uint64_t imp_pack_header_checksum(const imp_pack_header *header)
{
    return imp_checksum(header, offsetof(imp_pack_header, header_checksum));
}

/* Appends a string; the order is pictures, super-classes, classes. */
static uint32_t add_text(char *text, size_t *used, const char *name)
{
    size_t length = strlen(name) + 1, offset = *used;
    memcpy(text + offset, name, length);
    *used += length;
    return (uint32_t)offset;
}

static size_t count_text(const imp_dataset *dataset, size_t *classes)
{
    size_t total = dataset->picture_text_size;
    for (size_t i = 0; i < dataset->super_count; i++)
        total += strlen(dataset->super_classes[i]) + 1;
    *classes = 0;
    for (size_t i = 0; i < dataset->class_count; i++)
        if (dataset->classes[i].turns == 0) {
            total += strlen(dataset->classes[i].name) + 1;
            ++*classes;
        }
    return total;
}

/* Fills the zeroed bytes from the beginning of the file to the pixels. */
static void fill_table(const imp_dataset *dataset, const imp_pack_layout *layout, uint8_t *file)
{
    uint64_t *checksums = (uint64_t *)(file + layout->block_checksums);
    for (size_t block = 0; block < layout->blocks; block++)
        checksums[block] = imp_checksum(dataset->pixels + block * (size_t)IMP_PACK_BLOCK,
                                        imp_pack_block_size(layout, block));

    char *text = (char *)file + layout->text;
    size_t used = dataset->picture_text_size;
    memcpy(text, dataset->picture_text, used);
    memcpy(file + layout->picture_names, dataset->picture_names,
           dataset->picture_count * sizeof *dataset->picture_names);

    uint32_t *super_names = (uint32_t *)(file + layout->super_names);
    for (size_t i = 0; i < dataset->super_count; i++)
        super_names[i] = add_text(text, &used, dataset->super_classes[i]);

    imp_pack_class *classes = (imp_pack_class *)(file + layout->classes);
    for (size_t i = 0; i < dataset->class_count; i++) {
        const imp_class *entry = &dataset->classes[i];
        if (entry->turns != 0)
            continue;
        *classes++ = (imp_pack_class){
            .name = add_text(text, &used, entry->name),
            .super_class = entry->super_class,
            .split = (uint32_t)entry->split,
            .first_picture = entry->first_picture,
            .count = entry->count,
        };
    }
}

/* Writes block by block, so that it can be stopped in between. */
static imp_status write_pixels(const imp_dataset *dataset, const imp_pack_layout *layout,
                               imp_writer *writer, imp_go_on *go_on, imp_error *error)
{
    imp_status status = IMP_OK;
    for (size_t block = 0; block < layout->blocks && !status; block++) {
        status = imp_writer_write(writer, dataset->pixels + block * (size_t)IMP_PACK_BLOCK,
                                  imp_pack_block_size(layout, block), error);
        if (!status && go_on != NULL)
            status = go_on(error);
    }
    return status;
}

imp_status imp_dataset_pack(const imp_dataset *dataset, const char *path, imp_error *error)
{
    return imp_dataset_pack_while(dataset, path, NULL, error);
}

imp_status imp_dataset_pack_while(const imp_dataset *dataset, const char *path, imp_go_on *go_on,
                                  imp_error *error)
{
    imp_status status = imp_dataset_need_pictures(dataset, "a pack", error);
    if (!status)
        status = imp_dataset_check_turns(dataset, "a pack", error);
    if (status)
        return status;
    size_t classes, text_size = count_text(dataset, &classes);
    imp_pack_header header = {
        .magic = IMP_PACK_MAGIC,
        .version = IMP_PACK_VERSION,
        .size = dataset->size,
        .channels = dataset->channels,
        .classes = (uint32_t)classes,
        .super_classes = (uint32_t)dataset->super_count,
        .pictures = (uint32_t)dataset->picture_count,
        .inverted = dataset->inverted,
        .text_size = text_size,
    };
    memcpy(header.sizes, &dataset->sizes, sizeof header.sizes);
    memcpy(header.kind, dataset->kind, sizeof header.kind);
    memcpy(header.kind_rest, dataset->kind + sizeof header.kind, sizeof header.kind_rest);
    memcpy(header.fingerprint, dataset->fingerprint, sizeof header.fingerprint);
    imp_pack_layout layout;
    if (!imp_pack_layout_of(&header, &layout) || text_size > UINT32_MAX)
        return imp_fail(error, IMP_EUNSUPPORTED, "the dataset is too large to pack");

    uint8_t *table = imp_allocate_zeroed(layout.pixels, 1);
    if (table == NULL)
        return imp_fail_memory(error, "packing a dataset");
    fill_table(dataset, &layout, table);
    header.table_checksum =
        imp_checksum(table + sizeof header, (size_t)layout.pixels - sizeof header);
    header.header_checksum = imp_pack_header_checksum(&header);
    memcpy(table, &header, sizeof header);

    imp_writer writer;
    status = imp_writer_open(&writer, path, error);
    if (!status)
        status = imp_writer_write(&writer, table, (size_t)layout.pixels, error);
    if (!status)
        status = write_pixels(dataset, &layout, &writer, go_on, error);
    if (!status)
        status = imp_writer_commit(&writer, error);
    imp_writer_abandon(&writer);
    imp_release(table);
    return status;
}
