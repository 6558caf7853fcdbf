/*
 * episode.h - drawing few-shot tasks from a dataset.
 *
 * An episode is a small classification task: supports with labels, queries to be classified and,
 * in semi-supervised tasks, unlabelled images, some of which may belong to none of the classes
 * (distractors). No image appears twice in it.
 *
 * An episode is determined by (seed, purpose, index) and nothing else: test episode 4711 is the
 * same on any machine, thread or process and can be drawn alone. Episodes of two purposes never use
 * the same random numbers.
 */
#ifndef IMP_EPISODE_H
#define IMP_EPISODE_H

#include <imp/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum imp_episode_kind {
    IMP_EPISODE_CLASSES,       /* the label is the class */
    IMP_EPISODE_SUPER_CLASSES, /* the label is the super-class, whose modes are classes */
    IMP_EPISODE_UNSUPERVISED   /* unlabelled images of some classes, nothing else */
} imp_episode_kind;

typedef enum imp_purpose { IMP_FOR_TRAINING, IMP_FOR_VALIDATION, IMP_FOR_TESTING } imp_purpose;

/* Which classes may be drawn. */
typedef enum imp_pool {
    IMP_POOL_OF_PURPOSE, /* training: the training split, and so on */
    IMP_POOL_TRAIN,
    IMP_POOL_VALIDATION,
    IMP_POOL_TEST,
    IMP_POOL_ALL /* all three splits, e.g. trained and held-out modes together */
} imp_pool;

/* How each picture is changed at random; all zero: not at all. */
typedef struct imp_augmentation {
    double flip; /* the probability of a horizontal flip */
    double
        shift; /* moved horizontally and vertically by up to this fraction of the side, 0 to 0.5 */
    double turn;   /* rotated by up to this many degrees either way, 0 to 180 */
    double zoom;   /* enlarged by a factor between 1 / (1 + zoom) and 1 + zoom, 0 to 3 */
    double shear;  /* slanted by up to this fraction of the height, 0 to 1 */
    double colour; /* brightness, contrast and saturation multiplied by 1 - colour to 1 + colour, 0
                      to 1 */
    double stroke; /* strokes made thicker or thinner by up to this fraction of a pixel on each
                      side, 0 to 1; ink is taken to have high values */
} imp_augmentation;

/* "0:" says what a value of zero means. */
typedef struct imp_episode_options {
    size_t struct_size; /* sizeof(imp_episode_options): lets the struct grow */
    imp_episode_kind kind;
    imp_purpose purpose;
    imp_pool pool;
    uint64_t seed;

    uint32_t way; /* classes or super-classes; 0: 5, or 10 for super-classes and unsupervised */
    uint32_t fewest_way;  /* 0: way; otherwise every episode draws its way between the two */
    uint32_t modes;       /* classes per super-class; 0: 10 */
    uint32_t shot;        /* supports per class; 0: 1 */
    uint32_t fewest_shot; /* 0: shot; otherwise every episode draws its shot between the two */
    bool unbalanced;      /* every class draws its own shot */
    uint32_t queries; /* per class; 0: 5 in training and for super-classes, otherwise 15, or as many
                         as the class has left */

    uint32_t unlabeled;      /* unlabelled images per class; 0: none, or 5 for unsupervised */
    uint32_t distractors;    /* further classes (or super-classes) that contribute only unlabelled
                                images, as many as each of the others */
    double labeled_fraction; /* in training, this fraction of a class's images is labelled, the same
                                ones in every episode: supports and queries come from it, unlabelled
                                images from the rest; 0: 1, and unlabelled images come from the same
                                images */
    uint64_t labeled_seed;

    /* Used by imp_feed_open() and imp_episode_augmented() only. Where a picture moves away from its
     * edge, the gap is filled with paper in inverted datasets and by reflection in others. */
    imp_augmentation augment;
} imp_episode_options;

/* The defaults: all zero, which is 5-way 1-shot training episodes. `size` is the caller's
 * sizeof(imp_episode_options).
 */
IMP_API void imp_episode_options_init(imp_episode_options *options, size_t size);

static inline imp_episode_options imp_episode_defaults(void)
{
    imp_episode_options options;
    imp_episode_options_init(&options, sizeof options);
    return options;
}

/* The images are in one list: supports, then queries, then unlabelled ones. Supports and queries
 * are ordered by class, unlabelled images are shuffled. */
typedef struct imp_episode {
    uint64_t index;
    imp_episode_kind kind;
    size_t way; /* labels are 0 .. way-1 */
    size_t supports, queries, unlabeled;
    uint32_t *images; /* (supports + queries + unlabeled): image numbers in the dataset */
    int32_t *labels;  /* same; -1 for unlabelled images */
    int32_t
        *truth;    /* same; the true label of every image; distractor classes are way, way+1, ... */
    size_t groups; /* way + distractor classes */
    uint32_t *classes; /* (groups): the class or super-class of each label */
} imp_episode;

/* The number of images in all three parts. */
static inline size_t imp_episode_size(const imp_episode *episode)
{
    return episode->supports + episode->queries + episode->unlabeled;
}

/* Draws episode `index`. Release it with imp_episode_clear().
 *
 * Every class that might be drawn is checked, so whether drawing succeeds does not depend on
 * chance. On failure *episode is zeroed: IMP_EINVAL names the option, or the class and its counts
 * ("Greek/character07 has 20 images; 1 + 5 + 20 are needed"); IMP_ENOMEM. */
IMP_API imp_status imp_episode_draw(const imp_dataset *dataset, const imp_episode_options *options,
                                    uint64_t index, imp_episode *episode, imp_error *error);

/* Releases the lists and zeroes the struct; harmless on a zeroed one. */
IMP_API void imp_episode_clear(imp_episode *episode);

/* Writes the pixels of all images in order to `pixels`: (images, channels, size, size), scaled to
 * 0..1 and then normalised as the dataset's options say. */
IMP_API void imp_episode_pixels(const imp_dataset *dataset, const imp_episode *episode,
                                float *pixels);

/* The same, with the pictures changed as options->augment says. The changes depend only on the seed
 * and purpose of the options and the index of the episode. On failure nothing is written:
 * IMP_EINVAL for an augmentation out of range, IMP_ENOMEM. */
IMP_API imp_status imp_episode_augmented(const imp_dataset *dataset,
                                         const imp_episode_options *options,
                                         const imp_episode *episode, float *pixels,
                                         imp_error *error);

/* ---- drawing ahead ---- */

/* An episode with its pixels. */
typedef struct imp_task {
    imp_episode episode;
    float *pixels;
} imp_task;

/* A thread that draws, assembles and augments the episodes first, first + 1, ... while the caller
 * works on earlier ones; if no thread can be started, each is made on request. The dataset must
 * outlive the feed. Only one thread at a time may use it. */
typedef struct imp_feed imp_feed;

/* `ahead` episodes are kept ready (at least 1). On failure *out is NULL: whatever
 * imp_episode_draw() returns for the first episode, or IMP_ENOMEM. */
IMP_API imp_status imp_feed_open(const imp_dataset *dataset, const imp_episode_options *options,
                                 uint64_t first, size_t ahead, imp_feed **out, imp_error *error);

/* The next task, in order; it belongs to the feed and stays valid until the next call. On failure
 * *task is NULL. */
IMP_API imp_status imp_feed_next(imp_feed *feed, const imp_task **task, imp_error *error);

/* Stops the thread and frees everything. NULL is allowed. */
IMP_API void imp_feed_close(imp_feed *feed);

/* ---- episode files: JSON Lines, so that two programs can score the identical tasks ---- */

/* Writes the episode as one line of JSON, with images and classes by name. On success *text is a
 * new zero-terminated string; free it with imp_episode_text_free(). On failure it is NULL:
 * IMP_EUNSUPPORTED for a name that is not UTF-8 or a picture's name longer than 4095 bytes;
 * IMP_ENOMEM. */
IMP_API imp_status imp_episode_to_json(const imp_dataset *dataset, const imp_episode *episode,
                                       char **text, imp_error *error);
IMP_API void imp_episode_text_free(char *text);

/* Draws episodes first .. first + count - 1 and writes them to a file, atomically: one line about
 * the data, with its fingerprint, then one line per episode. */
IMP_API imp_status imp_episodes_save(const imp_dataset *dataset, const imp_episode_options *options,
                                     uint64_t first, size_t count, const char *path,
                                     imp_error *error);

/* The episodes of a file. */
typedef struct imp_episodes {
    imp_episode *episodes;
    size_t count;
} imp_episodes;

/* Reads such a file; another program may have written it. The dataset must have the fingerprint and
 * the rotations that the file states. Labels must agree with the classes of the images, every label
 * needs supports, and no image may appear twice in an episode. Release with imp_episodes_clear().
 * On failure *out is zeroed and the sentence names the line. */
IMP_API imp_status imp_episodes_load(const imp_dataset *dataset, const char *path,
                                     imp_episodes *out, imp_error *error);
IMP_API void imp_episodes_clear(imp_episodes *episodes);

#ifdef __cplusplus
}
#endif

#endif
