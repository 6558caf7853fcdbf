/*
 * dataset.h - pictures with classes and splits, ready for episodes.
 *
 * A dataset comes from a folder, an archive, CSV files, the Omniglot distribution, a packed file,
 * the built-in generator of handwritten-like characters or, with vectors in place of pictures, .npy
 * files. From any source it is a list of classes, each with its pictures, its split and, if it has
 * one, its super-class (such as an alphabet). Pictures are in bytewise order of their names,
 * "Greek/character07/0394_01.png", and classes in the order of their pictures, the same on every
 * machine. All pictures have one size and are held decoded.
 *
 * A dataset never changes once it is open, so any number of threads may use it at once.
 */
#ifndef IMP_DATASET_H
#define IMP_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/export.h>
#include <imp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct imp_dataset imp_dataset;

typedef enum imp_split {
    IMP_SPLIT_TRAIN,
    IMP_SPLIT_VALIDATION,
    IMP_SPLIT_TEST,
    IMP_SPLIT_NONE /* in no split */
} imp_split;

/* "train", "val", "test" or "none". */
IMP_API const char *imp_split_name(imp_split split);

/* Whether to invert pictures. */
typedef enum imp_ink {
    IMP_INK_OWN, /* as suits the data: see imp_dataset_options */
    IMP_INK_AS_IS,
    IMP_INK_INVERT
} imp_ink;

/* Which pictures are inverted, a value v becoming 255 - v, before a network sees them. */
typedef enum imp_inversion {
    IMP_INVERT_NONE,
    IMP_INVERT_ALL,
    IMP_INVERT_LIGHT /* those on a light background, judged by the mean of their edges, so that ink
                        is bright in all */
} imp_inversion;

/* Options of the built-in generator. Zero means the default, given in the comment. */
typedef struct imp_glyph_options {
    uint64_t seed;
    uint32_t alphabets;         /* 50 */
    uint32_t fewest_characters; /* 20: the number in an alphabet is drawn between fewest and most */
    uint32_t most_characters;   /* 40 */
    uint32_t drawings;          /* 20, of every character */
} imp_glyph_options;

typedef struct imp_dataset_options {
    size_t struct_size; /* sizeof(imp_dataset_options): lets the struct grow */

    /* ---- pixels ---- */
    uint32_t size; /* side of the square that all pictures are resampled to; 0: 28 for Omniglot and
                      glyphs, 84 for mini-ImageNet, otherwise the longer side of the first picture,
                      at most 84 */
    uint32_t channels; /* 1: gray, 3: RGB, 0: as the first picture, and RGB for mini-ImageNet */
    imp_ink ink;   /* IMP_INK_OWN inverts Omniglot (so that ink has high values) and nothing else */
    float mean[3]; /* imp_episode_pixels() gives (value - mean) / deviation for each channel, */
    float deviation[3]; /* with values scaled to 0..1; a deviation of 0 means 1 */
    size_t pixel_limit; /* pictures with more pixels are refused; 0: 64 megapixels */

    /* ---- classes ---- */
    uint32_t rotations; /* 4: every class is also rotated by 90, 180 and 270 degrees, which makes
                           three more classes of the same super-class and split; 0 or 1: none */

    /* Which classes train, validate and test:
     *
     * - NULL or "own": the source's own. Omniglot: that of Vinyals et al.; mini-ImageNet and CSV:
     *   by file; glyphs: 60, 20 and 20% of the alphabets, in order; packs: as packed; vectors:
     *   "classes:0.64/0.16/0.2", or "points:0.6/0.2/0.2" with fewer than 20 classes; folders:
     *   "classes:0.64/0.16/0.2", or everything for training where that would leave a part empty, as
     *   it does with fewer than five classes.
     * - "vinyals", "lake": Omniglot's splits by Vinyals et al. (2016) and Lake et al. (2015).
     * - "classes:A/B/C": random fractions A, B and C of the classes.
     * - "super-classes:A/B/C": the same with whole super-classes.
     * - "modes:A/B/C": the same within every super-class.
     * - "turned-modes:A/B/C": the same among the training classes of "own", with every rotation
     *   drawn separately, so that a class and its rotations may be in different splits; the other
     *   classes are in none. Such a split cannot be written to lists or a pack.
     * - "points:A/B/C", for vectors: the points of every class are divided into random fractions A,
     *   B and C, which become the classes "7", "7@val" and "7@test".
     * - "lists:FOLDER": FOLDER/train.txt, val.txt and test.txt (or split-train.txt, ...) with one
     *   class or super-class per line. A class on no list is in no split. */
    const char *split;
    uint64_t split_seed;

    imp_glyph_options glyphs;

    /* ---- work ---- */
    bool skip_broken; /* leave out and list broken pictures instead of failing */
    int threads;      /* 0: as many as the machine offers */
} imp_dataset_options;

/* The defaults: all zero. `size` is the caller's sizeof(imp_dataset_options). */
IMP_API void imp_dataset_options_init(imp_dataset_options *options, size_t size);

static inline imp_dataset_options imp_dataset_defaults(void)
{
    imp_dataset_options options;
    imp_dataset_options_init(&options, sizeof options);
    return options;
}

/* Opens the dataset called `name`: "omniglot:PATH", "mini-imagenet:PATH", "csv:PATH",
 * "folder:PATH", "pack:PATH", "vectors:POINTS,LABELS", "glyphs", or a PATH alone, whose kind is
 * detected (mini-ImageNet counts as csv then).
 *
 * - omniglot: a folder that holds images_background and images_evaluation, as folders or zips.
 * - mini-imagenet: a folder as for csv with all three lists of Ravi & Larochelle; 84 x 84 pixels in
 *   RGB unless the options say otherwise.
 * - csv: a folder that holds train.csv, val.csv and test.csv, or some of them, and the pictures: in
 *   the folder itself, in any folder below, or in images.zip, images.tar or images.tar.gz.
 * - folder: a folder or archive (zip, tar, tar.gz) of CLASS/PICTURE or SUPER-CLASS/CLASS/PICTURE.
 *   Pictures beside these folders, or in one called _unlabeled, have no class and are left out.
 * - vectors: a .npy file of (points, dimensions), or a folder of such files, taken in the order of
 *   their names; and, after a comma, the labels: a .npy file of integers or strings, or a text file
 *   with one line per point. Points labelled -1 or "" are left out. A vector is a 1x1 image with
 *   one channel per number; imp_episode_pixels() gives it unchanged.
 * - pack: a file that imp_dataset_pack() wrote; size, channels and inversion are as packed. It is
 *   mapped and must not be changed in place while the dataset is open.
 *
 * `options` may be NULL for the defaults. On success *out is a new dataset; free it with
 * imp_dataset_free(). On failure *out is NULL and the sentence names the file, class or option;
 * for pictures that cannot be read, the status (IMP_EIO, IMP_EFORMAT or IMP_EUNSUPPORTED) and the
 * sentence are those of the first. */
IMP_API imp_status imp_dataset_open(const char *name, const imp_dataset_options *options,
                                    imp_dataset **out, imp_error *error);

/* NULL is allowed. */
IMP_API void imp_dataset_free(imp_dataset *dataset);

/* ---- what it holds ---- */

/* "omniglot", "mini-imagenet", "csv", "folder", "vectors" or "glyphs"; for a pack, the kind of what
 * was packed.
 */
IMP_API const char *imp_dataset_kind(const imp_dataset *dataset);

/* The side of every picture, and 1 or 3 channels; for vectors, 1 and their dimensions. */
IMP_API uint32_t imp_dataset_size(const imp_dataset *dataset);
IMP_API uint32_t imp_dataset_channels(const imp_dataset *dataset);

/* Rotations count as classes and images of their own; images are numbered class by class. */
IMP_API size_t imp_dataset_classes(const imp_dataset *dataset);
IMP_API size_t imp_dataset_super_classes(const imp_dataset *dataset); /* 0: there are none */
IMP_API size_t imp_dataset_images(const imp_dataset *dataset);

typedef struct imp_class_info {
    const char *name;    /* "Greek/character07", or rotated "Greek/character07@90" */
    int64_t super_class; /* its number, or -1 */
    imp_split split;
    size_t first_image, images;
} imp_class_info;

/* Class `index`; the name lives as long as the dataset. */
IMP_API imp_class_info imp_dataset_class(const imp_dataset *dataset, size_t index);
IMP_API const char *imp_dataset_super_class(const imp_dataset *dataset, size_t index);

/* The class that image `image` belongs to. */
IMP_API size_t imp_dataset_class_of(const imp_dataset *dataset, size_t image);

/* Writes the image's name, "Greek/character07/0394_01.png" or the same followed by "@90", to
 * `text`, truncated to `room` bytes; returns its full length. */
IMP_API size_t imp_dataset_image_name(const imp_dataset *dataset, size_t image, char *text,
                                      size_t room);

/* The number of the image called `name`, or imp_dataset_images() if there is none. */
IMP_API size_t imp_dataset_find_image(const imp_dataset *dataset, const char *name);

/* Copies the image's bytes, (channels, size, size), rotated as its class says; zeros for a vector.
 */
IMP_API void imp_dataset_image(const imp_dataset *dataset, size_t image, uint8_t *pixels);

/* 64 hexadecimal digits that identify the data: the SHA-256 of the size, the channels and, in
 * order, every picture's name and pixels. Rotations and splits do not change it. */
IMP_API const char *imp_dataset_fingerprint(const imp_dataset *dataset);

/* The pictures that skip_broken left out: for each a sentence that names the file and what is wrong
 * with it. */
IMP_API size_t imp_dataset_faults(const imp_dataset *dataset);
IMP_API const char *imp_dataset_fault(const imp_dataset *dataset, size_t index);

/* Width and height, in pixels, of the pictures with the smallest and the largest area before
 * resampling. */
typedef struct imp_size_range {
    uint32_t smallest[2], largest[2];
} imp_size_range;
IMP_API imp_size_range imp_dataset_sizes(const imp_dataset *dataset);

/* ---- writing ---- */

/* Writes the decoded pictures with their names and splits to one file, atomically, that opens in
 * milliseconds. Rotations are not written; ask for them again when you open the pack. */
IMP_API imp_status imp_dataset_pack(const imp_dataset *dataset, const char *path, imp_error *error);

/* Writes train.txt, val.txt and test.txt, the lists of "lists:FOLDER", to a folder, which is
 * created if necessary. */
IMP_API imp_status imp_dataset_write_split(const imp_dataset *dataset, const char *folder,
                                           imp_error *error);

/* One cell of a contact sheet: an image number and a mark (0: none; 1 and up: a coloured frame,
 * never gray; IMP_SHEET_GRAY: a gray frame). There are more marks than colours, so colours repeat.
 */
typedef struct imp_sheet_cell {
    size_t image; /* IMP_SHEET_EMPTY leaves the cell empty */
    uint32_t mark;
} imp_sheet_cell;
#define IMP_SHEET_EMPTY SIZE_MAX
#define IMP_SHEET_GRAY UINT32_MAX

/* Writes a PNG of rows x columns cells, row by row. In gray datasets high values are drawn dark, so
 * that ink looks like ink. */
IMP_API imp_status imp_contact_sheet_save(const imp_dataset *dataset, const imp_sheet_cell *cells,
                                          size_t rows, size_t columns, const char *path,
                                          imp_error *error);

/* ---- downloading ---- */

/* Called from time to time with the bytes received so far and in total (0: unknown). Return false
 * to stop. */
typedef bool imp_download_progress(const char *file, uint64_t so_far, uint64_t total,
                                   void *context);

/* Downloads the two official Omniglot zips to a folder, which is created if necessary, from
 * `base_url` or, if that is NULL, from their official address. An interrupted transfer is resumed;
 * a file gets its final name only if its size and MD5 are right. Files that are already there and
 * right are not downloaded again. After a failure no partial file remains. */
IMP_API imp_status imp_download_omniglot(const char *folder, const char *base_url,
                                         imp_download_progress *progress, void *context,
                                         imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
