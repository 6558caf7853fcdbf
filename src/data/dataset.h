/*
 * dataset.h - the inside of an imp_dataset: flat arrays, either owned or mapped from a pack.
 *
 * Pictures are stored once, sorted by name; a class is a range of them. A rotated class is another
 * view of the same range. The public interface is <imp/dataset.h>.
 */
#ifndef IMP_DATA_DATASET_H
#define IMP_DATA_DATASET_H

#include <imp/dataset.h>

#include "base/labels.h"
#include "base/npy_map.h"
#include "data/fault.h"
#include "data/source.h"

typedef struct imp_class {
    char *name;
    uint32_t super_class; /* its number, or IMP_NO_SUPER_CLASS */
    imp_split split;
    uint32_t turns;         /* quarter turns, counter-clockwise */
    uint32_t first_picture; /* the range of stored pictures it shows */
    uint32_t count;
    uint32_t first_image; /* the numbers of its images */
} imp_class;

#define IMP_NO_SUPER_CLASS UINT32_MAX

enum { IMP_FINGERPRINT_BYTES = 32 };

struct imp_dataset {
    char kind[16];
    uint32_t size, channels;
    bool by_points; /* its classes are parts of classes, "7", "7@val" and "7@test" */
    bool inverted;  /* values are 255 - v of those in the files, or glyphs with bright ink */
    size_t class_count, super_count, picture_count, image_count;
    imp_class *classes;
    char **super_classes;

    const uint32_t *picture_names; /* (picture_count): where in picture_text a name begins */
    const char *picture_text;
    size_t picture_text_size;
    const uint8_t *pixels; /* (picture_count, channels, size, size) */

    /* Instead of names and pixels, in a set of vectors; else NULL. */
    const uint32_t *rows; /* (picture_count): the number of its row in the files */
    int row_digits;       /* in the name of a point, "CLASS/000123" */

    uint8_t fingerprint[IMP_FINGERPRINT_BYTES];
    char fingerprint_text[2 * IMP_FINGERPRINT_BYTES + 1];
    imp_size_range sizes;
    imp_fault **faults;
    size_t fault_count;
    size_t unlabeled; /* pictures of a folder without a class, which are left out */
    imp_foreign foreign;
    float mean[3], deviation[3];

    /* What the const pointers above point into: owned memory, or a mapped pack. */
    void *owned_names, *owned_text, *owned_pixels, *owned_rows;
    void *map;
    size_t map_size;
    imp_npy_map vector_map; /* files whose rows are vectors, */
    float *owned_vectors;   /* or the vectors in memory: (picture_count, channels) */
};

static inline bool imp_dataset_has_vectors(const imp_dataset *dataset)
{
    return dataset->rows != NULL;
}

/* The numbers of a point, (channels), in a set of vectors. */
static inline const float *imp_dataset_vector(const imp_dataset *dataset, size_t point)
{
    return dataset->owned_vectors ? dataset->owned_vectors + point * dataset->channels
                                  : imp_npy_map_row(&dataset->vector_map, dataset->rows[point]);
}

/* Refuses a set of vectors for `what`, which needs pictures. */
imp_status imp_dataset_need_pictures(const imp_dataset *dataset, const char *what,
                                     imp_error *error);

/* Bytes of one stored picture. */
static inline size_t imp_picture_bytes(const imp_dataset *dataset)
{
    return (size_t)dataset->channels * dataset->size * dataset->size;
}

/* Of a picture; points have their names from imp_point_name(). */
static inline const char *imp_picture_name(const imp_dataset *dataset, size_t picture)
{
    return dataset->picture_text + dataset->picture_names[picture];
}

/* Whether a name stays below the folder it is exported to: no part of the path is empty, "." or
 * "..". All names of a dataset are such paths. */
bool imp_is_path_below(const char *name);

/* How to read a plane of size x size rotated counter-clockwise: the index of the first pixel, and
 * the steps to the next one on the right and to the next one below. */
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

/* Copies a picture of `channels` planes of `size` x `size` bytes, rotated counter-clockwise. */
void imp_turn(const uint8_t *from, uint32_t channels, uint32_t size, uint32_t turns, uint8_t *to);

/* Adds the classes rotated by quarter turns. On failure nothing is changed. */
imp_status imp_dataset_rotate(imp_dataset *dataset, imp_error *error);

/* Numbers the images of all classes in order. */
imp_status imp_dataset_number(imp_dataset *dataset, imp_error *error);

/* Assigns every class to one split or none, as imp_dataset_options.split says. */
imp_status imp_dataset_apply_split(imp_dataset *dataset, const char *split, uint64_t seed,
                                   imp_error *error);

/* Default splits, of classes and of the points of every class. */
#define IMP_USUAL_SPLIT "classes:0.64/0.16/0.2"
#define IMP_USUAL_POINTS_SPLIT "points:0.6/0.2/0.2"

/* Whether a split divides classes, "points:A/B/C". */
bool imp_split_is_of_points(const char *split);

/* Divides the points of every class as such a split says: *splits is new, (points), an imp_split in
 * a byte, with IMP_SPLIT_NONE for those without a label. Release it even on failure. */
imp_status imp_split_points(const char *split, uint64_t seed, const imp_labels *labels,
                            uint8_t **splits, imp_error *error);

/* Whether a split treats rotated classes separately, and so is applied after rotation. */
bool imp_split_is_of_turns(const char *split);

/* Refuses a dataset in which a rotated class is in another split than the upright one, because
 * `what` stores only upright ones. */
imp_status imp_dataset_check_turns(const imp_dataset *dataset, const char *what, imp_error *error);

/* The split of an Omniglot class by its name, IMP_SPLIT_NONE for a name Omniglot does not have. */
imp_split imp_omniglot_vinyals(const char *class_name);
imp_split imp_omniglot_lake(const char *class_name);

/* Fills in fingerprint and fingerprint_text from the digest of every picture's bytes,
 * (picture_count, IMP_FINGERPRINT_BYTES). */
void imp_dataset_set_fingerprint(imp_dataset *dataset, const uint8_t *digests);
void imp_fingerprint_pixels(const uint8_t *pixels, size_t size, uint8_t *digest);
void imp_fingerprint_format(imp_dataset *dataset);

/* What imp_dataset_kind() would return for the dataset `name`; for a pack that cannot be read,
 * "pack". Reads nothing but the beginning of a pack. */
typedef struct imp_kind {
    char text[16];
} imp_kind;
imp_kind imp_dataset_kind_of(const char *name);

/* The path of the dataset `name`; NULL if it is not read from files.
 */
const char *imp_dataset_path(const char *name);

/* Called from time to time by long operations; a failure stops them. */
typedef imp_status imp_go_on(imp_error *error);

/* Writes every picture as the PNG file FOLDER/NAME, or FOLDER/NAME.png where the name has another
 * ending; two pictures that would become the same file are refused before anything is written.
 * Pictures come out as they are in their files, even if the dataset inverted them, and glyphs,
 * which have no files, as dark ink on light paper. The folder must be new or empty. After a
 * failure, including one of `go_on` (may be NULL), everything written is removed. */
imp_status imp_dataset_export(const imp_dataset *dataset, const char *folder, imp_go_on *go_on,
                              imp_error *error);

/* imp_dataset_pack() that can be stopped; `go_on` may be NULL. */
imp_status imp_dataset_pack_while(const imp_dataset *dataset, const char *path, imp_go_on *go_on,
                                  imp_error *error);

/* ---- the kinds, used by dataset_open.c ----
 *
 * Each fills a zeroed dataset with base classes (not rotated) and the source's own split. On
 * failure the caller frees the dataset with imp_dataset_free(). */
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

/* The name of a point of a set of vectors, as snprintf() writes it; and the point of that name, the
 * first `length` bytes, or picture_count. */
int imp_point_name(const imp_dataset *dataset, size_t point, char *text, size_t room);
size_t imp_point_find(const imp_dataset *dataset, const char *name, size_t length);

/* Whether the file begins as a pack does. */
bool imp_is_pack(const char *path);

/* The kind of dataset that was packed; false if the file does not begin like a valid pack. */
bool imp_pack_kind(const char *path, imp_kind *kind);

#endif
