/*
 * pictures.h - what the commands on pictures share: their options, the model, and pictures as
 * points.
 */
#ifndef IMP_CLI_PICTURES_H
#define IMP_CLI_PICTURES_H

#include "base/spill.h"
#include "cli/vectors.h"
#include "data/gallery.h"
#include "model/embed.h"
#include "model/model.h"

typedef struct imp_picture_settings {
    const char *model;    /* NULL: the built-in one, or the embedder */
    const char *embedder; /* NULL: none */
    double patience;
    bool no_cache;
    int ink; /* an imp_ink */
    int64_t threads;
    bool skip_broken;
} imp_picture_settings;

/* clang-format off */
#define IMP_PICTURE_OPTIONS(settings, member)                                                      \
    {IMP_OPTION_TEXT(settings, member.model), .name = "model", .argument = "FILE",                 \
     .otherwise = "built in",                                           \
     .help = "the model that embeds pictures, or points if it was trained on vectors"},                                                    \
    {IMP_OPTION_TEXT(settings, member.embedder), .name = "embedder", .argument = "COMMAND",        \
     .help = "or a program that embeds files; a model of its vectors may go with it (docs/embedders.md)"},              \
    {IMP_OPTION_FLAG(settings, member.skip_broken), .name = "skip-broken",                         \
     .help = "leave out what cannot be read, and say which"},                                      \
    {IMP_OPTION_REST},                                                                             \
    {IMP_OPTION_INTEGER(settings, member.threads), .name = "threads", .argument = "N",             \
     .integers = {0, 1024}, .initial = "0", .help = "0 is one per core"},                          \
    {IMP_OPTION_NUMBER(settings, member.patience), .name = "embedder-timeout",                     \
     .argument = "SECONDS", .numbers = {0.1, 1e6}, .initial = "300",                               \
     .help = "without a word from the embedder, after which it counts as hung"},                   \
    {IMP_OPTION_FLAG(settings, member.no_cache), .name = "no-cache",                               \
     .help = "neither use nor keep an embedder's vectors in $XDG_CACHE_HOME/imp"},                 \
    {IMP_OPTION_CHOICE(settings, member.ink), .name = "ink", .argument = "KIND",                   \
     .choices = imp_ink_names, .initial = "own",                                                   \
     .help = "invert pictures; own does as in training, and for models of drawings inverts those " \
             "on a light ground"}
/* clang-format on */

/* Which of these options, --threads aside, was given though it means nothing without pictures:
 * "--model"; NULL: none. */
const char *imp_only_for_pictures(const imp_picture_settings *settings);

/* Whether there is a folder at `path`, which may be NULL; or, for pictures, an archive in its
 * place. A folder of points, .npy files with neither pictures nor folders beside them, is none of
 * these. */
bool imp_is_folder(const char *path);
bool imp_is_folder_or_archive(const char *path);

/* Whether it is a .npy file, by its name, or a folder of points. */
bool imp_is_points(const char *path);

/* Each of these returns IMP_GO_ON, or the status to exit with after a sentence. `command` is named
 * in the sentence. */

/* Opens the model, to be freed with imp_model_free(). After a failure *model is NULL. */
int imp_open_model(const char *command, const imp_picture_settings *settings, imp_model **model);

/* Pictures and a row of floats for each. */
typedef struct imp_embedded {
    imp_gallery gallery;
    imp_rows rows;         /* which lie in: */
    imp_spill room;        /* a row of it for each picture that was gathered */
    imp_spill_place place; /* where they may go; zeroed: they stay in memory */
} imp_embedded;

/* Gathers pictures, or files of any kind for an embedder: `paths` are pictures, and folders and
 * archives of pictures. */
int imp_gather_pictures(const char *command, const imp_picture_settings *settings, char **paths,
                        int count, imp_embedded *pictures);

/* The pictures of a folder whose sub-folders are classes; says which of them have no pictures. */
int imp_gather_classes(const char *command, const imp_picture_settings *settings,
                       const char *folder, imp_embedded *pictures);

/* Says which pictures of kinds that are not read were passed over, if any were; `more` may be
 * NULL. */
void imp_tell_passed_over(const char *command, const imp_gallery *gallery, const imp_gallery *more);

/* What the pictures are called in tables: "picture", or "file" for an embedder. */
const char *imp_picture_word(const imp_picture_settings *settings);

/* What the model is called. */
const char *imp_model_word(const imp_picture_settings *settings, const imp_model *model);

/* Adds the list of them to a report. */
void imp_passed_over_to_json(const imp_gallery *gallery, const imp_gallery *more, json_t *object);

/* Embeds what was gathered, with progress on a terminal. Ctrl-C ends it; nothing is left behind.
 * Where nothing is left because all of it is broken, that is a failure. */
int imp_embed_pictures(const char *command, const imp_picture_settings *settings,
                       const imp_model *model, imp_embedded *pictures);

/* Says on stderr which options make `imp fit` and `imp classify` take vectors of the model as they
 * take its pictures, and by which `imp train` remembers whose vectors they are. */
void imp_tell_mixture(const imp_model *model);

/* Says so if the built-in model, which knows drawings, was used for pictures of which most, by
 * imp_gallery_coloured(), are coloured. Returns the sentence, or NULL where there is none. */
const char *imp_tell_coloured(const char *command, const imp_picture_settings *settings,
                              size_t coloured, size_t count);

/* Harmless on a zeroed one. */
void imp_embedded_clear(imp_embedded *pictures);

#endif
