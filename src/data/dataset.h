/*
 * dataset.h - the inside of an imp_dataset: flat arrays that are either owned or mapped from a
 * pack.
 *
 * Pictures are stored once, sorted by name; a class is a range of them. A turned class is another
 * view of the same range. The public face is <imp/dataset.h>.
 */
#ifndef IMP_DATA_DATASET_H
#define IMP_DATA_DATASET_H

#include <imp/dataset.h>

#include "base/labels.h"
#include "data/fault.h"
#include "data/source.h"

typedef struct imp_class {
    char *name;
    uint32_t super_class; /* its number, or IMP_NO_SUPER_CLASS */
    imp_split split;
    uint32_t turns;         /* quarter turns, counter-clockwise */
    uint32_t first_picture; /* the range of stored pictures it shows */
    uint32_t count;
    uint32_t first_image; /* the numbers its images have */
} imp_class;

#define IMP_NO_SUPER_CLASS UINT32_MAX

enum { IMP_FINGERPRINT_BYTES = 32 };

struct imp_dataset {
    char kind[16];
    uint32_t size, channels;
    bool by_points; /* its classes are parts of classes, "7", "7@val" and "7@test" */
    bool inverted;  /* values are 255 - v of what the files have, or of glyphs in bright ink */
    size_t class_count, super_count, picture_count, image_count;
    imp_class *classes;
    char **super_classes;

    const uint32_t *picture_names; /* (picture_count): where in picture_text a name begins */
    const char *picture_text;
    size_t picture_text_size;
    const uint8_t *pixels; /* (picture_count, channels, size, size) */
    const float *vectors;  /* instead, in a set of vectors: (picture_count, channels); else NULL */

    uint8_t fingerprint[IMP_FINGERPRINT_BYTES];
    char fingerprint_text[2 * IMP_FINGERPRINT_BYTES + 1];
    imp_size_range sizes;
    imp_fault **faults;
    size_t fault_count;
    size_t unlabeled; /* pictures of a folder that are in no class, and left out */
    imp_foreign foreign;
    float mean[3], deviation[3];

    /* Behind the const pointers above: memory of its own, or a mapped pack. */
    void *owned_names, *owned_text, *owned_pixels, *owned_vectors;
    void *map;
    size_t map_size;
};

/* Refuses a set of vectors for `what`, which is done with pictures. */
imp_status imp_dataset_need_pictures(const imp_dataset *dataset, const char *what,
                                     imp_error *error);

/* Bytes of one stored picture. */
static inline size_t imp_picture_bytes(const imp_dataset *dataset)
{
    return (size_t)dataset->channels * dataset->size * dataset->size;
}

static inline const char *imp_picture_name(const imp_dataset *dataset, size_t picture)
{
    return dataset->picture_text + dataset->picture_names[picture];
}

/* Whether a picture of that name lies below whatever folder it is put in: no part of the path is
 * empty, "." or "..". All names of a dataset are such paths, since it may be exported. */
bool imp_is_path_below(const char *name);

/* How to read a plane of size x size turned counter-clockwise: where its first pixel comes from,
 * and the steps to the next one on the right and to the next one below. */
static inline ptrdiff_t imp_turn_steps(uint32_t size, uint32_t turns, ptrdiff_t *right,
                                       ptrdiff_t *down)
{
    ptrdiff_t side = (ptrdiff_t)size;
    *right = turns == 0 ? 1 : turns == 1 ? side : turns == 2 ? -1 : -side;
    *down = turns == 0 ? side : turns == 1 ? -1 : turns == 2 ? -side : 1;
    return turns == 0   ? 0
           : turns == 1 ? side - 1
           : turns == 2 ? side * side - 1
                        : side * (side - 1);
}

/* Copies a picture of `channels` planes of `size` x `size` bytes, turned counter-clockwise. */
void imp_turn(const uint8_t *from, uint32_t channels, uint32_t size, uint32_t turns, uint8_t *to);

/* Adds the classes that quarter turns make; `rotations` is 4. On failure nothing is changed. */
imp_status imp_dataset_rotate(imp_dataset *dataset, imp_error *error);

/* Numbers the images of all classes in order. */
imp_status imp_dataset_number(imp_dataset *dataset, imp_error *error);

/* Assigns every class to a split as imp_dataset_options.split says. Checked on return: every class
 * is in exactly one split or none. */
imp_status imp_dataset_apply_split(imp_dataset *dataset, const char *split, uint64_t seed,
                                   imp_error *error);

/* A split of classes, and one of the points of every class, that suit any set. */
#define IMP_USUAL_SPLIT "classes:0.64/0.16/0.2"
#define IMP_USUAL_POINTS_SPLIT "points:0.6/0.2/0.2"

/* Whether a split cuts classes into parts, "points:A/B/C". */
bool imp_split_is_of_points(const char *split);

/* Deals the points of every class out as such a split says: *splits is new, (points), and
 * IMP_SPLIT_NONE for those without a label. Release it whatever is returned. */
imp_status imp_split_points(const char *split, uint64_t seed, const imp_labels *labels,
                            imp_split **splits, imp_error *error);

/* Whether a split is dealt out among turned classes, and so is applied after the rotation. */
bool imp_split_is_of_turns(const char *split);

/* Refuses a dataset in which a turned class is in another split than the upright one, for `what`
 * knows upright ones only. */
imp_status imp_dataset_check_turns(const imp_dataset *dataset, const char *what, imp_error *error);

/* The split of an Omniglot class by its name, IMP_SPLIT_NONE for a name Omniglot does not have. */
imp_split imp_omniglot_vinyals(const char *class_name);
imp_split imp_omniglot_lake(const char *class_name);

/* Fills in fingerprint and fingerprint_text from the digest of every picture's bytes,
 * (picture_count, IMP_FINGERPRINT_BYTES). */
void imp_dataset_set_fingerprint(imp_dataset *dataset, const uint8_t *digests);
void imp_fingerprint_pixels(const uint8_t *pixels, size_t size, uint8_t *digest);
void imp_fingerprint_format(imp_dataset *dataset);

/* What imp_dataset_kind() would say of the dataset that imp_dataset_open() takes `name` for; of a
 * pack that cannot be read, "pack". Nothing but the beginning of a pack is read. */
typedef struct imp_kind {
    char text[16];
} imp_kind;
imp_kind imp_dataset_kind_of(const char *name);

/* Where the data lies that imp_dataset_open() takes `name` for; NULL where it is not read at all.
 */
const char *imp_dataset_path(const char *name);

/* Asked now and then by work that takes long: whether to go on. Any failure ends the work. */
typedef imp_status imp_go_on(imp_error *error);

/* Writes every picture as the PNG file FOLDER/NAME, or FOLDER/NAME.png where the name has another
 * ending; two pictures that would become the same file are refused before anything is written.
 * Pictures come out as they are in their files, whether or not they were inverted, and glyphs,
 * which have none, as ink on paper. The folder must be new or empty. After a failure, of `go_on`
 * too, which may be NULL, all that was made is removed. */
imp_status imp_dataset_export(const imp_dataset *dataset, const char *folder, imp_go_on *go_on,
                              imp_error *error);

/* imp_dataset_pack() that asks whether to go on; `go_on` may be NULL. */
imp_status imp_dataset_pack_while(const imp_dataset *dataset, const char *path, imp_go_on *go_on,
                                  imp_error *error);

/* ---- the kinds, used by dataset_open.c ----
 *
 * Each fills a zeroed dataset with base classes (no turns) and the source's own split. What they
 * leave behind on failure is freed by the caller through imp_dataset_free(). */
imp_status imp_open_omniglot(imp_dataset *dataset, const char *path,
                             const imp_dataset_options *options, imp_error *error);
imp_status imp_open_folder(imp_dataset *dataset, const char *path,
                           const imp_dataset_options *options, imp_error *error);
imp_status imp_open_csv(imp_dataset *dataset, const char *path, const imp_dataset_options *options,
                        imp_error *error);
imp_status imp_open_mini_imagenet(imp_dataset *dataset, const char *path,
                                  const imp_dataset_options *options, imp_error *error);
imp_status imp_open_glyphs(imp_dataset *dataset, const imp_dataset_options *options,
                           imp_error *error);
imp_status imp_open_vectors(imp_dataset *dataset, const char *path,
                            const imp_dataset_options *options, imp_error *error);
imp_status imp_open_pack(imp_dataset *dataset, const char *path, const imp_dataset_options *options,
                         imp_error *error);

/* Whether the file begins as a pack does. */
bool imp_is_pack(const char *path);

/* The kind of dataset that was packed; false where the file's beginning is no sound pack's. */
bool imp_pack_kind(const char *path, imp_kind *kind);

#endif
