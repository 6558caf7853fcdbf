/*
 * dataset_files.c - writes a dataset as a pack that opens in milliseconds, its split as lists, and
 * a contact sheet.
 *
 * Writes glyphs.pack, train.txt, val.txt, test.txt and sheet.png to the current folder.
 *
 * Last line: the pack holds the same pictures
 */
#include <string.h>

#include <imp/dataset.h>

#include "must.h"

int main(void)
{
    imp_dataset_options options = imp_dataset_defaults();
    options.glyphs.alphabets = 10;
    options.split = "classes:0.5/0.25/0.25";
    imp_dataset *dataset, *packed;
    imp_error error;
    must(imp_dataset_open("glyphs", &options, &dataset, &error), &error);

    must(imp_dataset_write_split(dataset, ".", &error), &error);
    puts("train.txt, val.txt and test.txt list the classes");

    /* A row per class, marked in the row's colour. */
    enum { ROWS = 4, COLUMNS = 8 };
    imp_sheet_cell cells[ROWS * COLUMNS];
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = 0; column < COLUMNS; column++) {
            imp_class_info about = imp_dataset_class(dataset, row);
            cells[row * COLUMNS + column] =
                (imp_sheet_cell){about.first_image + column, (uint32_t)row + 1};
        }
    must(imp_contact_sheet_save(dataset, cells, ROWS, COLUMNS, "sheet.png", &error), &error);
    puts("sheet.png shows four of them");

    must(imp_dataset_pack(dataset, "glyphs.pack", &error), &error);
    must(imp_dataset_open("glyphs.pack", NULL, &packed, &error), &error);
    bool same = strcmp(imp_dataset_fingerprint(dataset), imp_dataset_fingerprint(packed)) == 0;
    printf("the pack holds %s pictures\n", same ? "the same" : "other");
    imp_dataset_free(packed);
    imp_dataset_free(dataset);
    return 0;
}
