/*
 * source.h - a folder or an archive, seen as a sorted list of named files.
 *
 * Names are paths below the folder (or inside the archive) with "/" between their parts, sorted
 * bytewise so that every machine sees the same order. They are bytes, UTF-8 as a rule, whatever the
 * locale; an archive with a name that cannot be read is refused. Hidden files are left out. Nothing
 * of an archive is ever written to disk.
 */
#ifndef IMP_DATA_SOURCE_H
#define IMP_DATA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

/* Where in memory the content of a file of a small archive is. */
typedef struct imp_piece {
    size_t begin, size;
} imp_piece;

typedef struct imp_source {
    char *path;
    bool archive;
    char **names; /* (count), sorted */
    size_t count;
    size_t capacity;   /* of `names` and `pieces`, while they are collected */
    uint32_t *members; /* archives: (count), the place in `names` of the n-th file */

    /* Folders: sub-folders without pictures, not counting those inside of another. */
    size_t empty_count;
    char *empty; /* the bytewise first of them, or NULL */

    /* A small archive is unpacked while it is listed, since each pass over it costs as much. */
    uint8_t *kept;     /* the content of all files, or NULL */
    imp_piece *pieces; /* (count), by the order in the archive; meaningless without `kept` */
} imp_source;

/* The most bytes one file may have. */
#define IMP_FILE_LIMIT ((size_t)1 << 30)

/* Opens a folder or a zip, tar, tar.gz archive and lists its files. Release with
 * imp_source_clear(). On failure *source is zeroed: IMP_EIO when it cannot be read, IMP_EFORMAT
 * when it is neither or broken. */
imp_status imp_source_open(imp_source *source, const char *path, imp_error *error);

/* What an archive may unpack to and still be small. */
#define IMP_KEPT_LIMIT ((size_t)256 << 20)

/* The same with another idea of a small archive: one that unpacks to at most so many bytes. */
imp_status imp_source_open_keeping(imp_source *source, const char *path, size_t kept_limit,
                                   imp_error *error);

/* Releases everything and zeroes the struct; harmless on a zeroed one. */
void imp_source_clear(imp_source *source);

/* What happens with one file: its bytes, valid during the call, or NULL and a fault where it could
 * not be read. Called from several threads at once. */
typedef void imp_source_visit(size_t member, const uint8_t *bytes, size_t size,
                              const imp_error *fault, void *context);

/* Reads every file whose `wanted` is true, in any order, on up to `threads` threads. Fails only
 * where an archive is damaged so that the files behind the damage cannot be reached, and where it
 * no longer holds the files that were listed; those already visited stay visited. */
imp_status imp_source_read(const imp_source *source, const bool *wanted, int threads,
                           imp_source_visit *visit, void *context, imp_error *error);

/* FOLDER/NAME, whether or not the folder ends in slashes; NULL without memory. Give it back with
 * imp_release(). */
char *imp_source_join(const char *folder, const char *name);

/* The place of a name, or `count` where there is none. */
size_t imp_source_find(const imp_source *source, const char *name);

/* "a.png", "A.JPEG": what a picture's name ends in. */
bool imp_source_is_picture(const char *name);

/* Those endings for a sentence: ".png, .jpg, .jpeg". */
typedef struct imp_endings {
    char text[160];
} imp_endings;
imp_endings imp_source_picture_endings(void);

/* What to add to a sentence about formats that could be read, had their libraries been there when
 * this was built: "" if all were. */
imp_endings imp_source_absent_formats(void);

/* "a.zip", "A.TAR.GZ": what an archive's name ends in; and those endings for a sentence. */
bool imp_source_is_archive(const char *name);
const char *imp_source_archive_endings(void);

/* Archives often hold everything below one folder named as they are: how much of each name that is,
 * with the slash; 0 if there is none or it is a class itself, with all pictures right in it. With
 * `any` whatever is a file counts as a picture. */
size_t imp_source_common_folder(const imp_source *source, bool any);

/* The sub-folder whose pictures belong to no class. */
#define IMP_UNLABELED_FOLDER "_unlabeled"

/* Whether a picture of that name below a folder of classes is in none of them: it lies beside the
 * sub-folders, or in IMP_UNLABELED_FOLDER. */
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

/* Takes a copy of the name; false when memory ran out. `piece` may be NULL. */
bool imp_source_add(imp_source *source, const char *name, const imp_piece *piece);

imp_status imp_source_list_folder(imp_source *source, imp_error *error);
imp_status imp_source_list_archive(imp_source *source, size_t kept_limit, imp_error *error);
imp_status imp_source_read_folder(const imp_source *source, const bool *wanted, int threads,
                                  imp_source_visit *visit, void *context, imp_error *error);
imp_status imp_source_read_archive(const imp_source *source, const bool *wanted, int threads,
                                   imp_source_visit *visit, void *context, imp_error *error);

#endif
