/*
 * dataset.c - looks at a dataset: its classes, its splits, one of its pictures.
 *
 *     dataset [DATA]      a folder, an archive, omniglot:PATH, ...; without it invented alphabets
 *
 * Last line: its name leads back to it
 */
#include <imp/dataset.h>

#include "must.h"

/* The first channel as characters, dark where the value is high. */
static void print_picture(const uint8_t *pixels, size_t size)
{
    static const char ink[] = " .:-=+*#%@";
    for (size_t y = 0; y < size; y += 2) { /* characters are twice as high as wide */
        for (size_t x = 0; x < size; x++)
            putchar(ink[pixels[y * size + x] * 9 / 255]);
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    imp_dataset_options options = imp_dataset_defaults();
    options.glyphs.alphabets = 5;
    options.skip_broken = true;
    imp_dataset *dataset;
    imp_error error;
    must(imp_dataset_open(argc > 1 ? argv[1] : "glyphs", &options, &dataset, &error), &error);

    uint32_t size = imp_dataset_size(dataset), channels = imp_dataset_channels(dataset);
    imp_size_range files = imp_dataset_sizes(dataset);
    printf("%s: %zu images of %ux%ux%u, as files up to %ux%u\n", imp_dataset_kind(dataset),
           imp_dataset_images(dataset), channels, size, size, files.largest[0], files.largest[1]);
    printf("%zu classes in %zu super-classes, fingerprint %.12s...\n", imp_dataset_classes(dataset),
           imp_dataset_super_classes(dataset), imp_dataset_fingerprint(dataset));
    for (size_t i = 0; i < imp_dataset_faults(dataset); i++)
        printf("broken: %s\n", imp_dataset_fault(dataset, i));

    size_t last_class = imp_dataset_classes(dataset) - 1;
    imp_class_info about = imp_dataset_class(dataset, last_class);
    printf("class %zu is %s, in the split %s", last_class, about.name, imp_split_name(about.split));
    if (about.super_class >= 0)
        printf(", of %s", imp_dataset_super_class(dataset, (size_t)about.super_class));
    putchar('\n');

    size_t image = about.first_image;
    char name[500];
    imp_dataset_image_name(dataset, image, name, sizeof name);
    printf("its first image is %s:\n", name);
    uint8_t *pixels = malloc((size_t)channels * size * size);
    if (!pixels)
        return EXIT_FAILURE;
    imp_dataset_image(dataset, image, pixels);
    print_picture(pixels, size);
    free(pixels);

    bool same = imp_dataset_find_image(dataset, name) == image &&
                imp_dataset_class_of(dataset, image) == last_class;
    printf("its name %s\n", same ? "leads back to it" : "is not its own");
    imp_dataset_free(dataset);
    return 0;
}
