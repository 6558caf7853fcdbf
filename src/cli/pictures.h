/*
 * pictures.h - shared by the commands on pictures: their options, the model, and pictures as
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
     .otherwise = "built in",                                                                      \
     .help = "model for embedding pictures, or points if it was trained on vectors"},              \
    {IMP_OPTION_TEXT(settings, member.embedder), .name = "embedder", .argument = "COMMAND",        \
     .help = "or a program that embeds files; --model may be one of its vectors "                  \
             "(docs/embedders.md)"},                                                               \
    {IMP_OPTION_FLAG(settings, member.skip_broken), .name = "skip-broken",                         \
     .help = "leave out files that cannot be read, and list them"},                                \
    {IMP_OPTION_REST},                                                                             \
    {IMP_OPTION_INTEGER(settings, member.threads), .name = "threads", .argument = "N",             \
     .integers = {0, 1024}, .initial = "0", .help = "threads; 0: one per core"},                   \
    {IMP_OPTION_NUMBER(settings, member.patience), .name = "embedder-timeout",                     \
     .argument = "SECONDS", .numbers = {0.1, 1e6}, .initial = "300",                               \
     .help = "how long an embedder may be silent before it counts as hung"},                       \
    {IMP_OPTION_FLAG(settings, member.no_cache), .name = "no-cache",                               \
     .help = "do not cache an embedder's vectors in $XDG_CACHE_HOME/imp"},                         \
    {IMP_OPTION_CHOICE(settings, member.ink), .name = "ink", .argument = "KIND",                   \
     .choices = imp_ink_names, .initial = "own",                                                   \
     .help = "invert pictures; own: as in training, but models of drawings invert only "           \
             "pictures on a light background"}
/* clang-format on */

/* Which of these options, except --threads, was given although it has no meaning without pictures:
 * "--model"; NULL: none. */
const char *imp_only_for_pictures(const imp_picture_settings *settings);

/* Whether `path`, which may be NULL, is a folder or, for pictures, an archive. A folder of points,
 * .npy files without pictures or folders beside them, does not count. */
bool imp_is_folder(const char *path);
bool imp_is_folder_or_archive(const char *path);

/* Whether it is a .npy file, by its name, or a folder of points. */
bool imp_is_points(const char *path);

/* Each of these returns IMP_GO_ON or, after printing an error that names `command`, the exit
 * status. */

/* Opens the model; free it with imp_model_free(). After a failure *model is NULL. */
int imp_open_model(const char *command, const imp_picture_settings *settings, imp_model **model);

/* Pictures and a row of floats for each. */
typedef struct imp_embedded {
    imp_gallery gallery;
    imp_rows rows;         /* which lie in: */
    imp_spill room;        /* a row of it for each picture that was gathered */
    imp_spill_place place; /* where they may go; zeroed: they stay in memory */
} imp_embedded;

/* Collects pictures, or files of any kind for an embedder: `paths` are pictures, folders and
 * archives. */
int imp_gather_pictures(const char *command, const imp_picture_settings *settings, char **paths,
                        int count, imp_embedded *pictures);

/* The pictures of a folder whose sub-folders are classes; warns of sub-folders without pictures. */
int imp_gather_classes(const char *command, const imp_picture_settings *settings,
                       const char *folder, imp_embedded *pictures);

/* Reports pictures that were ignored because of their format, if any; `more` may be NULL. */
void imp_tell_passed_over(const char *command, const imp_gallery *gallery, const imp_gallery *more);

/* The word for an item in tables: "picture", or "file" for an embedder. */
const char *imp_picture_word(const imp_picture_settings *settings);

/* The model's name. */
const char *imp_model_word(const imp_picture_settings *settings, const imp_model *model);

/* Adds the list of ignored pictures to a report. */
void imp_passed_over_to_json(const imp_gallery *gallery, const imp_gallery *more, json_t *object);

/* Embeds what was collected, with progress on a terminal. Ctrl-C ends it and leaves nothing behind.
 * It fails if all pictures are broken. */
int imp_embed_pictures(const char *command, const imp_picture_settings *settings,
                       const imp_model *model, imp_embedded *pictures);

/* Prints on stderr the options with which `imp fit` and `imp classify` treat the model's vectors
 * like its pictures, and with which `imp train` records the embedder they come from. */
void imp_tell_mixture(const imp_model *model);

/* Warns if the built-in model, which knows only drawings, was used for mostly coloured pictures
 * (imp_gallery_coloured()). Returns the warning, or NULL. */
const char *imp_tell_coloured(const char *command, const imp_picture_settings *settings,
                              size_t coloured, size_t count);

/* May be called on a zeroed struct. */
void imp_embedded_clear(imp_embedded *pictures);

#endif
