/*
 * glyphs.c - the dataset "glyphs": all drawings of all characters of generated alphabets.
 *
 * Its own split takes whole alphabets, in order: 60% for training, 20% for validation, 20% for
 * testing. No shuffling is needed, since alphabets are random.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/catalog.h"
#include "data/glyph.h"

enum { DEFAULT_SIZE = 28, MOST = (1 << 20) - 2 };

imp_status imp_glyph_settle(imp_glyph_options *options, imp_error *error)
{
    if (options->alphabets == 0)
        options->alphabets = 50;
    if (options->drawings == 0)
        options->drawings = 20;
    if (options->fewest_characters == 0 && options->most_characters == 0) {
        options->fewest_characters = 20;
        options->most_characters = 40;
    } else if (options->fewest_characters == 0) {
        options->fewest_characters = options->most_characters < 20 ? options->most_characters : 20;
    } else if (options->most_characters == 0) {
        options->most_characters =
            options->fewest_characters > 40 ? options->fewest_characters : 40;
    }
    if (options->fewest_characters > options->most_characters)
        return imp_fail(error, IMP_EINVAL,
                        "an alphabet cannot have at least %u and at most %u characters",
                        options->fewest_characters, options->most_characters);
    if (options->alphabets > MOST || options->most_characters > MOST || options->drawings > MOST)
        return imp_fail(error, IMP_EINVAL,
                        "more than %d alphabets, characters or drawings are not supported", MOST);
    return IMP_OK;
}

imp_random imp_glyph_random(uint64_t seed, uint32_t alphabet, uint32_t character, uint32_t drawing)
{
    /* Adding 1 turns IMP_GLYPH_ALL into zero. */
    uint64_t index = (uint64_t)alphabet << 40 | (uint64_t)(character + 1) << 20 | (drawing + 1);
    return imp_random_start(seed, IMP_STREAM_GLYPHS, index);
}

/* ---- the dataset ---- */

/* Digits of the largest number, so that names sort numerically. */
static int digits_of(uint32_t most)
{
    int digits = 2;
    for (uint32_t bound = 100; most >= bound && digits < 8; bound *= 10)
        digits++;
    return digits;
}

static imp_split split_of(const imp_glyph_options *options, uint32_t alphabet)
{
    uint64_t tenths = (uint64_t)alphabet * 10;
    return tenths < (uint64_t)options->alphabets * 6   ? IMP_SPLIT_TRAIN
           : tenths < (uint64_t)options->alphabets * 8 ? IMP_SPLIT_VALIDATION
                                                       : IMP_SPLIT_TEST;
}

static imp_status add_names(imp_catalog *catalog, const imp_glyph_options *options,
                            imp_error *error)
{
    int a = digits_of(options->alphabets), c = digits_of(options->most_characters),
        d = digits_of(options->drawings);
    for (uint32_t alphabet = 0; alphabet < options->alphabets; alphabet++) {
        uint32_t characters = imp_style_of(options, alphabet).characters;
        for (uint32_t character = 0; character < characters; character++)
            for (uint32_t drawing = 0; drawing < options->drawings; drawing++) {
                char name[100];
                snprintf(name, sizeof name, "alphabet%0*u/character%0*u/%0*u.png", a, alphabet + 1,
                         c, character + 1, d, drawing + 1);
                imp_catalog_entry *entry = imp_catalog_add(catalog, name);
                if (entry == NULL)
                    return imp_fail_memory(error, "the names of the glyphs");
                entry->split = split_of(options, alphabet);
                entry->source = alphabet;
                entry->member = character;
            }
    }
    return IMP_OK;
}

typedef struct job {
    const imp_glyph_options *options;
    const imp_catalog *catalog;
    const imp_dataset *dataset;
    uint8_t *pixels, *digests;
} job;

/* Draws all drawings of one character. */
static void draw_class(size_t block, int worker, void *context)
{
    (void)worker;
    const job *work = context;
    const imp_dataset *dataset = work->dataset;
    const imp_class *entry = &dataset->classes[block];
    uint32_t alphabet = work->catalog->entries[entry->first_picture].source;
    uint32_t character = work->catalog->entries[entry->first_picture].member;
    imp_style style = imp_style_of(work->options, alphabet);
    imp_glyph glyph = imp_glyph_of(work->options, &style, alphabet, character);
    size_t bytes = imp_picture_bytes(dataset), plane = (size_t)dataset->size * dataset->size;
    for (uint32_t drawing = 0; drawing < entry->count; drawing++) {
        size_t picture = entry->first_picture + drawing;
        uint8_t *pixels = work->pixels + picture * bytes;
        imp_glyph written = imp_glyph_write(work->options, &glyph, alphabet, character, drawing);
        imp_glyph_raster(&written, dataset->size, pixels);
        for (size_t i = 0; i < plane && dataset->inverted; i++)
            pixels[i] = (uint8_t)(255 - pixels[i]);
        for (size_t channel = 1; channel < dataset->channels; channel++)
            memcpy(pixels + channel * plane, pixels, plane);
        imp_fingerprint_pixels(pixels, bytes, work->digests + picture * IMP_FINGERPRINT_BYTES);
    }
}

static imp_status draw_all(imp_dataset *dataset, const imp_catalog *catalog,
                           const imp_glyph_options *glyphs, const imp_dataset_options *options,
                           imp_error *error)
{
    size_t total;
    uint8_t *digests = imp_allocate(catalog->count, IMP_FINGERPRINT_BYTES);
    if (imp_multiply(imp_picture_bytes(dataset), catalog->count, &total))
        dataset->owned_pixels = imp_allocate(total, 1);
    if (digests == NULL || dataset->owned_pixels == NULL) {
        imp_release(digests);
        return imp_fail(error, IMP_ENOMEM, "out of memory for %zu glyphs", catalog->count);
    }
    dataset->pixels = dataset->owned_pixels;
    job work = {.options = glyphs,
                .catalog = catalog,
                .dataset = dataset,
                .pixels = dataset->owned_pixels,
                .digests = digests};
    imp_parallel(dataset->class_count, imp_parallel_threads(options->threads), draw_class, &work);
    imp_dataset_set_fingerprint(dataset, digests);
    imp_release(digests);
    return IMP_OK;
}

imp_status imp_open_glyphs(imp_dataset *dataset, const imp_dataset_options *options,
                           imp_error *error)
{
    imp_glyph_options glyphs = options->glyphs;
    imp_status status = imp_glyph_settle(&glyphs, error);
    if (status)
        return status;
    dataset->size = options->size != 0 ? options->size : DEFAULT_SIZE;
    dataset->channels = options->channels != 0 ? options->channels : 1;
    dataset->inverted = options->ink == IMP_INK_INVERT;
    dataset->sizes =
        (imp_size_range){{dataset->size, dataset->size}, {dataset->size, dataset->size}};
    imp_catalog catalog = {0};
    status = add_names(&catalog, &glyphs, error);
    if (!status)
        status = imp_catalog_check(&catalog, error);
    if (!status)
        status = imp_catalog_group(&catalog, dataset, error);
    if (!status)
        status = draw_all(dataset, &catalog, &glyphs, options, error);
    imp_catalog_clear(&catalog);
    return status;
}
