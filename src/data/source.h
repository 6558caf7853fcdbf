/*
 * source.h - a folder or an archive as a sorted list of named files.
 *
 * Names are paths below the folder (or inside the archive) with "/" between their parts, sorted
 * bytewise so that the order is the same on every machine. They are bytes, normally UTF-8, in any
 * locale; an archive with a name that cannot be read is refused. Hidden files are left out.
 * Archives are never extracted to disk.
 */
#ifndef IMP_DATA_SOURCE_H
#define IMP_DATA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

/* Where the content of a file of a small archive is in memory. */
typedef struct imp_piece {
    size_t begin, size;
} imp_piece;

typedef struct imp_source {
    char *path;
    bool archive;
    char **names; /* (count), sorted */
    size_t count;
    size_t capacity;   /* of `names` and `pieces`, while they are collected */
    uint32_t *members; /* archives: (count), the index in `names` of the n-th file */

    /* Folders: sub-folders without pictures, not counting those inside another. */
    size_t empty_count;
    char *empty; /* the bytewise first of them, or NULL */

    /* A small archive is unpacked while it is listed, which saves a second pass. */
    uint8_t *kept;     /* the contents of all files, or NULL */
    imp_piece *pieces; /* (count), by the order in the archive; meaningless without `kept` */
} imp_source;

/* The most bytes one file may have. */
#define IMP_FILE_LIMIT ((size_t)1 << 30)

/* Opens a folder or a zip, tar, tar.gz archive and lists its files. Release with
 * imp_source_clear(). On failure *source is zeroed: IMP_EIO if it cannot be read, IMP_EFORMAT if it
 * is neither or broken. */
imp_status imp_source_open(imp_source *source, const char *path, imp_error *error);

/* The unpacked size up to which an archive is small. */
#define IMP_KEPT_LIMIT ((size_t)256 << 20)

/* The same with another limit for small archives. */
imp_status imp_source_open_keeping(imp_source *source, const char *path, size_t kept_limit,
                                   imp_error *error);

/* Releases everything and zeroes the struct; harmless on a zeroed one. */
void imp_source_clear(imp_source *source);

/* Handles one file: its bytes, valid during the call, or NULL and a fault if it could not be read.
 * Called from several threads at once. */
typedef void imp_source_visit(size_t member, const uint8_t *bytes, size_t size,
                              const imp_error *fault, void *context);

/* Reads every file whose `wanted` is true, in any order, on up to `threads` threads. Fails only if
 * an archive is damaged, so that later files cannot be reached, or no longer holds the files that
 * were listed; some files may have been visited then. */
imp_status imp_source_read(const imp_source *source, const bool *wanted, int threads,
                           imp_source_visit *visit, void *context, imp_error *error);

/* FOLDER/NAME, whether or not the folder ends in slashes; NULL without memory. Release it with
 * imp_release(). */
char *imp_source_join(const char *folder, const char *name);

/* The index of a name, or `count` if there is none. */
size_t imp_source_find(const imp_source *source, const char *name);

/* Whether the name is that of a picture, such as "a.png" or "A.JPEG". */
bool imp_source_is_picture(const char *name);

/* These suffixes for messages: ".png, .jpg, .jpeg". */
typedef struct imp_endings {
    char text[160];
} imp_endings;
imp_endings imp_source_picture_endings(void);

/* What to add to a message about formats that this build lacks the libraries for: "" if none. */
imp_endings imp_source_absent_formats(void);

/* Whether the name is that of an archive, such as "a.zip" or "A.TAR.GZ"; and these suffixes for
 * messages. */
bool imp_source_is_archive(const char *name);
const char *imp_source_archive_endings(void);

/* Archives often hold everything below one folder of the same name: the length of that prefix, with
 * the slash; 0 if there is none or it is a class itself, with all pictures directly in it. With
 * `any` every file counts as a picture. */
size_t imp_source_common_folder(const imp_source *source, bool any);

/* The sub-folder whose pictures have no class. */
#define IMP_UNLABELED_FOLDER "_unlabeled"

/* Whether a picture of that name below a folder of classes has none: it is beside the sub-folders,
 * or in IMP_UNLABELED_FOLDER. */
bool imp_source_is_unlabeled(const char *name);

/* "a.svg": a picture by its name, but of a kind that is not read. */
bool imp_source_is_foreign_picture(const char *name);

enum { IMP_FOREIGN_NAMES = 10 };

/* Pictures that were passed over since they are of kinds that are not read. */
typedef struct imp_foreign {
    size_t count;
    char names[IMP_FOREIGN_NAMES][200]; /* of the first, cut to fit */
} imp_foreign;

/* Counts the file if it is such a picture. */
void imp_foreign_note(imp_foreign *foreign, const char *name);

/* ---- the two kinds, used by source.c ---- */

/* Adds a copy of the name; false without memory. `piece` may be NULL. */
bool imp_source_add(imp_source *source, const char *name, const imp_piece *piece);

imp_status imp_source_list_folder(imp_source *source, imp_error *error);
imp_status imp_source_list_archive(imp_source *source, size_t kept_limit, imp_error *error);
imp_status imp_source_read_folder(const imp_source *source, const bool *wanted, int threads,
                                  imp_source_visit *visit, void *context, imp_error *error);
imp_status imp_source_read_archive(const imp_source *source, const bool *wanted, int threads,
                                   imp_source_visit *visit, void *context, imp_error *error);

#endif
