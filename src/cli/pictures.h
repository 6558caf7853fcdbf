/*
 * pictures.h - what the commands on pictures share: their options, the model, and pictures as
 * points.
 */
#ifndef IMP_CLI_PICTURES_H
#define IMP_CLI_PICTURES_H

#include "cli/vectors.h"
#include "data/gallery.h"
#include "train/embedder.h"
#include "train/model.h"

typedef struct imp_picture_settings {
    const char *model; /* NULL: the built-in one */
    int ink;           /* an imp_ink */
    int64_t threads;
    bool skip_broken;
} imp_picture_settings;

/* clang-format off */
#define IMP_PICTURE_OPTIONS(settings, member)                                                      \
    {IMP_OPTION_TEXT(settings, member.model), .name = "model", .argument = "FILE",                 \
     .otherwise = "built in, of handwritten characters",                                           \
     .help = "the model that embeds pictures"},                                                    \
    {IMP_OPTION_FLAG(settings, member.skip_broken), .name = "skip-broken",                         \
     .help = "leave pictures out that cannot be read, and say which, instead of stopping"},        \
    {IMP_OPTION_INTEGER(settings, member.threads), .name = "threads", .argument = "N",             \
     .integers = {0, 1024}, .initial = "0", .help = "0 is one per core"},                          \
    {IMP_OPTION_REST},                                                                             \
    {IMP_OPTION_CHOICE(settings, member.ink), .name = "ink", .argument = "KIND",                   \
     .choices = imp_ink_names, .initial = "own",                                                   \
     .help = "invert pictures; own does as in training, and for models of drawings inverts those " \
             "on a light ground"}
/* clang-format on */

/* Which of these options, --threads aside, was given though it means nothing without pictures:
 * "--model"; NULL: none. */
const char *imp_only_for_pictures(const imp_picture_settings *settings);

/* Whether there is a folder at `path`, which may be NULL. */
bool imp_is_folder(const char *path);

/* Each of these returns IMP_GO_ON, or the status to exit with after a sentence. `command` is named
 * in the sentence. */

/* Reads the model. Clear it with imp_model_clear(), also after a failure. */
int imp_read_model(const char *command, const imp_picture_settings *settings, imp_model *model);

/* Pictures and a row of floats for each. */
typedef struct imp_embedded {
    imp_gallery gallery;
    imp_rows rows;
} imp_embedded;

/* Gathers pictures: `paths` are pictures and folders of pictures. */
int imp_gather_pictures(const char *command, char **paths, int count, imp_embedded *pictures);

/* The pictures of a folder whose sub-folders are classes; says which of them have no pictures. */
int imp_gather_classes(const char *command, const char *folder, imp_embedded *pictures);

/* Says how many pictures of kinds that are not read were passed over, if any were. */
void imp_tell_passed_over(const char *command, size_t count);

/* Embeds what was gathered. Where nothing is left because all of it is broken, that is a failure.
 */
int imp_embed_pictures(const char *command, const imp_picture_settings *settings,
                       const imp_model *model, imp_embedded *pictures);

/* Says on stderr which options make `imp fit` and `imp classify` take vectors of the model as they
 * take its pictures. */
void imp_tell_mixture(const imp_model *model);

/* Says so if the built-in model, which knows drawings, was used for pictures of which most, by
 * imp_gallery_coloured(), are coloured. Returns the sentence, or NULL where there is none. */
const char *imp_tell_coloured(const char *command, const imp_picture_settings *settings,
                              size_t coloured, size_t count);

/* Harmless on a zeroed one. */
void imp_embedded_clear(imp_embedded *pictures);

#endif
