/*
 * create.h - new files and folders, made only where there is nothing yet.
 *
 * For output that people look through, such as copies of pictures: unlike imp_writer it does not
 * wait for the disk, and it overwrites nothing, even if somebody else writes to the same folder.
 */
#ifndef IMP_BASE_CREATE_H
#define IMP_BASE_CREATE_H

#include <stddef.h>

#include <imp/status.h>

/* Makes the folder, or takes one that is there and empty. IMP_EINVAL if it is not empty, IMP_EIO if
 * it cannot be made; those above it must be there. */
imp_status imp_create_folder(const char *path, imp_error *error);

/* Whether imp_create_folder() would succeed now; leaves things as they are. */
imp_status imp_create_folder_probe(const char *path, imp_error *error);

/* Makes a folder with those above it; that they are there already, whatever they hold, is no
 * failure. IMP_EIO if one cannot be made, IMP_EINVAL if its name is empty. */
imp_status imp_make_folders(const char *path, imp_error *error);

/* Writes a new file. IMP_EINVAL if there is something of that name, IMP_EIO if it cannot be
 * written; nothing is left over then. */
imp_status imp_create_file(const char *path, const void *data, size_t size, imp_error *error);

/* Makes a new symbolic link to `target`. Failures as for imp_create_file(). */
imp_status imp_create_link(const char *path, const char *target, imp_error *error);

#endif
