/*
 * system_calls.h - stands between the library and the system's calls on files: lets one of them
 * fail, or tells somebody what each has changed.
 *
 * The linker puts it there (--wrap), so that only calls out of our own objects come by.
 */
#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H

#include <stdbool.h>
#include <stddef.h>

/* Lets call number n from now fail, from 1; 0: none. */
void system_calls_fail(size_t n);

/* The name of the call that failed since, or NULL if there were not so many. None fails then. */
const char *system_calls_end(void);

typedef enum change_kind {
    CHANGE_CREATE, /* path, inode */
    CHANGE_WRITE,  /* inode, offset, data, size */
    CHANGE_CUT,    /* inode, size */
    CHANGE_SYNC,   /* inode: of a file, or of a folder with `path` */
    CHANGE_RENAME, /* path, to, inode */
    CHANGE_LINK,   /* path, to, inode */
    CHANGE_UNLINK, /* path */
    CHANGE_FOLDER, /* path */
} change_kind;

/* What a call has done to the file system. */
typedef struct file_change {
    change_kind kind;
    const char *path, *to;
    size_t inode, offset, size;
    const void *data;
} file_change;

/* Calls `listener` with every change from now on; NULL: nobody. */
void system_calls_tell(void (*listener)(const file_change *what, void *context), void *context);

#endif
