/*
 * dataset.h - pictures sorted into classes, ready for episodes.
 *
 * A dataset comes from a folder, an archive, CSV files, the Omniglot distribution, a packed file,
 * the built-in generator of handwritten-like characters or, with vectors in the place of pictures,
 * .npy files. Whatever it came from, it is a list of
 * classes, each with its pictures, its super-class (an alphabet, where there is one) and its split.
 * Pictures are in bytewise order of their names, "Greek/character07/0394_01.png", and classes in
 * the order of their pictures, the same on every machine. All pictures have one size and are held
 * decoded.
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
    IMP_SPLIT_NONE /* classes that no split took */
} imp_split;

/* "train", "val", "test" or "none". */
IMP_API const char *imp_split_name(imp_split split);

/* What to do about the ink of pictures. */
typedef enum imp_ink {
    IMP_INK_OWN, /* what suits them: see there */
    IMP_INK_AS_IS,
    IMP_INK_INVERT
} imp_ink;

/* Which pictures are inverted, a value v becoming 255 - v, before a network sees them. */
typedef enum imp_inversion {
    IMP_INVERT_NONE,
    IMP_INVERT_ALL,
    IMP_INVERT_LIGHT /* those on a light ground, which is told by the mean along their edges; so
                        that ink is bright in all */
} imp_inversion;

/* The built-in generator. Zero stands for the default. */
typedef struct imp_glyph_options {
    uint64_t seed;
    uint32_t alphabets;         /* 50 */
    uint32_t fewest_characters; /* 20: an alphabet has between fewest and most of them */
    uint32_t most_characters;   /* 40 */
    uint32_t drawings;          /* 20 of every character */
} imp_glyph_options;

typedef struct imp_dataset_options {
    size_t struct_size; /* sizeof(imp_dataset_options): lets the struct grow */

    /* ---- pixels ---- */
    uint32_t size;     /* side of the square all pictures are resampled to; 0: Omniglot and glyphs
                        * 28, mini-ImageNet 84, others the longer side of the first picture, at
                        * most 84 */
    uint32_t channels; /* 1: gray, 3: RGB, 0: gray if the first picture is, mini-ImageNet never */
    imp_ink ink;   /* whether to invert pictures; own: Omniglot yes (so that ink is high), others
                    * no */
    float mean[3]; /* imp_episode_pixels() gives (value - mean) / deviation, channel by channel, */
    float deviation[3]; /* of values scaled to 0..1; a deviation of 0 stands for 1 */
    size_t pixel_limit; /* pictures with more pixels are refused; 0: 64 megapixels */

    /* ---- classes ---- */
    uint32_t rotations; /* 4: every class also turned by 90, 180 and 270 degrees, as classes of the
                         * same super-class and split; 0 or 1: not */

    /* Which classes train, validate and test:
     *
     * - NULL or "own": as the source says. Omniglot: Vinyals'; mini-ImageNet and CSV: by file;
     *   glyphs: alphabets in order, 60, 20 and 20%; packs: what was packed; vectors:
     *   "classes:0.64/0.16/0.2", or "points:0.6/0.2/0.2" with fewer than 20 classes; folders:
     *   "classes:0.64/0.16/0.2", or all train where that leaves a part empty, as it does with fewer
     *   than five classes.
     * - "vinyals", "lake": Omniglot's splits by Vinyals et al. (2016) and Lake et al. (2015).
     * - "classes:A/B/C": a random part A, B, C of the classes.
     * - "super-classes:A/B/C": the same with whole super-classes.
     * - "modes:A/B/C": the same within every super-class.
     * - "turned-modes:A/B/C": the same among the classes that "own" trains on, each turn for
     * itself, so that a class and its turns may be in different splits; the others are in none.
     * Such a split fits in no lists and no pack.
     * - "points:A/B/C", of vectors: every class is cut into a random part A, B, C of its points,
     *   which are the classes "7", "7@val" and "7@test" then.
     * - "lists:FOLDER": FOLDER/train.txt, val.txt and test.txt (or split-train.txt, ...) with a
     *   class or super-class a line. What is on no list is in no split. */
    const char *split;
    uint64_t split_seed;

    imp_glyph_options glyphs;

    /* ---- work ---- */
    bool skip_broken; /* leave broken pictures out and list them, instead of failing */
    int threads;      /* 0: as many as the machine offers */
} imp_dataset_options;

/* The defaults: zeros and the struct's size, which is the caller's. */
IMP_API void imp_dataset_options_init(imp_dataset_options *options, size_t size);

static inline imp_dataset_options imp_dataset_defaults(void)
{
    imp_dataset_options options;
    imp_dataset_options_init(&options, sizeof options);
    return options;
}

/* Opens the dataset that `name` stands for: "omniglot:PATH", "mini-imagenet:PATH",
 * "csv:PATH", "folder:PATH", "pack:PATH", "vectors:POINTS,LABELS", "glyphs", or a PATH alone, whose
 * kind is found by looking (mini-ImageNet's is csv then).
 *
 * - omniglot: a folder that holds images_background and images_evaluation, as folders or zips.
 * - mini-imagenet: a folder as for csv that has all three lists, those of Ravi & Larochelle;
 *   84 x 84 pixels in RGB where the options do not say otherwise.
 * - csv: a folder that holds train.csv, val.csv and test.csv, or one of them, and the pictures: in
 *   place, in any folder below, or in images.zip, images.tar or images.tar.gz.
 * - folder: a folder or archive (zip, tar, tar.gz) of CLASS/PICTURE or SUPER-CLASS/CLASS/PICTURE.
 *   Pictures beside these folders and in one called _unlabeled are in no class, and left out.
 * - vectors: a .npy file of (points, dimensions), or a folder of such files in the order of their
 *   names, and behind a comma the labels: a .npy file of integers or texts, or a text file with a
 *   line for each point. Points labelled -1 or "" are left out. A vector is an image of 1x1 with as
 *   many channels as it has numbers; imp_episode_pixels() gives it as it is.
 * - pack: a file that imp_dataset_pack() wrote; size, channels and inversion are as packed. It is
 *   mapped and must not be changed in place while the dataset is open.
 *
 * `options` may be NULL for the defaults. On success *out is a new dataset; free it with
 * imp_dataset_free(). On failure *out is NULL and the sentence names the file, class or option;
 * a picture that cannot be taken fails with its own status, IMP_EIO, IMP_EFORMAT or
 * IMP_EUNSUPPORTED, the first of them. */
IMP_API imp_status imp_dataset_open(const char *name, const imp_dataset_options *options,
                                    imp_dataset **out, imp_error *error);

/* NULL is allowed. */
IMP_API void imp_dataset_free(imp_dataset *dataset);

/* ---- what it holds ---- */

/* "omniglot", "mini-imagenet", "csv", "folder", "vectors", "glyphs"; a pack tells what was packed.
 */
IMP_API const char *imp_dataset_kind(const imp_dataset *dataset);

/* Side of every picture, and 1 or 3; of vectors, 1 and their dimensions. */
IMP_API uint32_t imp_dataset_size(const imp_dataset *dataset);
IMP_API uint32_t imp_dataset_channels(const imp_dataset *dataset);

/* Classes and images count rotations as their own; images are numbered class by class. */
IMP_API size_t imp_dataset_classes(const imp_dataset *dataset);
IMP_API size_t imp_dataset_super_classes(const imp_dataset *dataset); /* 0: there are none */
IMP_API size_t imp_dataset_images(const imp_dataset *dataset);

typedef struct imp_class_info {
    const char *name;    /* "Greek/character07", turned "Greek/character07@90" */
    int64_t super_class; /* its number, or -1 */
    imp_split split;
    size_t first_image, images;
} imp_class_info;

/* Class `index`; the name lives as long as the dataset. */
IMP_API imp_class_info imp_dataset_class(const imp_dataset *dataset, size_t index);
IMP_API const char *imp_dataset_super_class(const imp_dataset *dataset, size_t index);

/* The class that image number `image` belongs to. */
IMP_API size_t imp_dataset_class_of(const imp_dataset *dataset, size_t image);

/* Writes the image's name, "Greek/character07/0394_01.png" or with "@90" behind it, to `text`, cut
 * to fit `room` bytes; returns its whole length. */
IMP_API size_t imp_dataset_image_name(const imp_dataset *dataset, size_t image, char *text,
                                      size_t room);

/* The number of the image of that name, or imp_dataset_images() where there is none. */
IMP_API size_t imp_dataset_find_image(const imp_dataset *dataset, const char *name);

/* Copies the image's bytes, (channels, size, size), turned as its class says; zeros of a vector. */
IMP_API void imp_dataset_image(const imp_dataset *dataset, size_t image, uint8_t *pixels);

/* 64 hexadecimal digits that name this data: SHA-256 over size, channels and, in order, every
 * picture's name and pixels. Rotations and splits do not change it. */
IMP_API const char *imp_dataset_fingerprint(const imp_dataset *dataset);

/* The pictures that skip_broken left out: each a sentence that names the file and its fault. */
IMP_API size_t imp_dataset_faults(const imp_dataset *dataset);
IMP_API const char *imp_dataset_fault(const imp_dataset *dataset, size_t index);

/* Width and height of the smallest and the largest picture before resampling, in pixels by area. */
typedef struct imp_size_range {
    uint32_t smallest[2], largest[2];
} imp_size_range;
IMP_API imp_size_range imp_dataset_sizes(const imp_dataset *dataset);

/* ---- what it can become ---- */

/* Writes the decoded pictures with their names and splits to one file that opens in milliseconds.
 * Rotations are not written; they are asked for again when the pack is opened. Atomic. */
IMP_API imp_status imp_dataset_pack(const imp_dataset *dataset, const char *path, imp_error *error);

/* Writes train.txt, val.txt and test.txt to a folder, which is made if it is not there: the lists
 * of "lists:FOLDER". */
IMP_API imp_status imp_dataset_write_split(const imp_dataset *dataset, const char *folder,
                                           imp_error *error);

/* One cell of a contact sheet: image number and a mark (0: none, 1..: a colour around it, none of
 * which is gray; IMP_SHEET_GRAY: gray). The colours repeat after a while. */
typedef struct imp_sheet_cell {
    size_t image; /* IMP_SHEET_EMPTY leaves the cell empty */
    uint32_t mark;
} imp_sheet_cell;
#define IMP_SHEET_EMPTY SIZE_MAX
#define IMP_SHEET_GRAY UINT32_MAX

/* Writes a PNG of rows x columns cells, row by row. High values are drawn dark in gray datasets, so
 * that ink looks like ink. */
IMP_API imp_status imp_contact_sheet_save(const imp_dataset *dataset, const imp_sheet_cell *cells,
                                          size_t rows, size_t columns, const char *path,
                                          imp_error *error);

/* ---- fetching ---- */

/* Called now and then with the bytes so far and in all (0: unknown). Returns false to stop. */
typedef bool imp_download_progress(const char *file, uint64_t so_far, uint64_t total,
                                   void *context);

/* Downloads the two official Omniglot zips to a folder, which is made if it is not there, from
 * `base_url` or, when NULL, from their home. A cut connection is taken up where it broke off; what
 * was fetched is kept under its final name only when size and MD5 are right. Files already there
 * and right are not fetched again. After a failure nothing half-written remains. */
IMP_API imp_status imp_download_omniglot(const char *folder, const char *base_url,
                                         imp_download_progress *progress, void *context,
                                         imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
