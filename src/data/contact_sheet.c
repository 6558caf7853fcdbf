/*
 * contact_sheet.c - draws many images of a dataset in one PNG.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/dataset.h"
#include "data/image.h"

enum { GAP = 2, LARGEST = 16384 };

/* Colours of the marks, chosen to be distinguishable; they repeat. */
static const uint8_t palette[][3] = {
    {0x1F, 0x77, 0xB4}, {0xFF, 0x7F, 0x0E}, {0x2C, 0xA0, 0x2C},
    {0xD6, 0x27, 0x28}, {0x94, 0x67, 0xBD}, {0x8C, 0x56, 0x4B},
    {0xE3, 0x77, 0xC2}, {0xBC, 0xBD, 0x22}, {0x17, 0xBE, 0xCF},
};

static const uint8_t *colour_of(uint32_t mark)
{
    static const uint8_t gray[] = {0x7F, 0x7F, 0x7F};
    return mark == IMP_SHEET_GRAY ? gray : palette[(mark - 1) % (sizeof palette / sizeof *palette)];
}

static void fill(imp_image *sheet, size_t left, size_t top, size_t side, const uint8_t *colour)
{
    for (size_t y = top; y < top + side; y++)
        for (size_t x = left; x < left + side; x++)
            memcpy(sheet->pixels + (y * sheet->width + x) * 3, colour, 3);
}

/* Copies one image to its place; gray ones are inverted, so that ink is dark. */
static void place(const imp_dataset *dataset, const uint8_t *planes, imp_image *sheet, size_t left,
                  size_t top)
{
    size_t size = dataset->size, plane = size * size;
    bool gray = dataset->channels == 1;
    for (size_t y = 0; y < size; y++)
        for (size_t x = 0; x < size; x++)
            for (size_t c = 0; c < 3; c++) {
                uint8_t value = planes[(gray ? 0 : c * plane) + y * size + x];
                sheet->pixels[((top + y) * sheet->width + left + x) * 3 + c] =
                    gray ? (uint8_t)(255 - value) : value;
            }
}

imp_status imp_contact_sheet_save(const imp_dataset *dataset, const imp_sheet_cell *cells,
                                  size_t rows, size_t columns, const char *path, imp_error *error)
{
    imp_status status = imp_dataset_need_pictures(dataset, "a contact sheet", error);
    if (status)
        return status;
    size_t pitch = (size_t)dataset->size + 2 * GAP;
    if (rows == 0 || columns == 0 || rows > LARGEST / pitch || columns > LARGEST / pitch)
        return imp_fail(error, IMP_EINVAL,
                        "a contact sheet of %zu x %zu images of %u pixels is empty or larger than "
                        "%d pixels",
                        rows, columns, dataset->size, LARGEST);
    imp_image sheet;
    status =
        imp_image_create(&sheet, (uint32_t)(columns * pitch), (uint32_t)(rows * pitch), 3, error);
    if (status)
        return status;
    uint8_t *planes = imp_allocate(imp_picture_bytes(dataset), 1);
    if (planes == NULL) {
        imp_image_clear(&sheet);
        return imp_fail_memory(error, "a contact sheet");
    }
    bool coloured = dataset->channels == 3;
    memset(sheet.pixels, 0xFF, (size_t)sheet.width * sheet.height * 3);
    for (size_t i = 0; i < rows * columns && !status; i++) {
        size_t left = i % columns * pitch, top = i / columns * pitch;
        if (cells[i].image == IMP_SHEET_EMPTY)
            continue;
        if (cells[i].image >= dataset->image_count) {
            status = imp_fail(error, IMP_EINVAL, "there is no image number %zu", cells[i].image);
            break;
        }
        coloured = coloured || cells[i].mark > 0;
        if (cells[i].mark > 0)
            fill(&sheet, left, top, pitch, colour_of(cells[i].mark));
        imp_dataset_image(dataset, cells[i].image, planes);
        place(dataset, planes, &sheet, left + GAP, top + GAP);
    }
    if (!status && !coloured)
        status = imp_image_convert(&sheet, 1, error); /* a third of the file */
    if (!status)
        status = imp_png_save(path, &sheet, error);
    imp_release(planes);
    imp_image_clear(&sheet);
    return status;
}
