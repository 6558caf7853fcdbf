/*
 * create.h - creates files and folders, never overwriting anything.
 *
 * For output that people browse, such as copies of pictures. Unlike imp_writer it does not flush to
 * disk, and it overwrites nothing even if another process writes to the same folder.
 */
#ifndef IMP_BASE_CREATE_H
#define IMP_BASE_CREATE_H

#include <stddef.h>

#include <imp/status.h>

/* Creates the folder, or accepts one that exists and is empty. IMP_EINVAL if it is not empty,
 * IMP_EIO if it cannot be created; its parent must exist. */
imp_status imp_create_folder(const char *path, imp_error *error);

/* Whether imp_create_folder() would succeed now; changes nothing. */
imp_status imp_create_folder_probe(const char *path, imp_error *error);

/* Creates a folder and its parents; existing ones are fine, empty or not. IMP_EIO if one cannot be
 * created, IMP_EINVAL if its name is empty. */
imp_status imp_make_folders(const char *path, imp_error *error);

/* Writes a new file. IMP_EINVAL if the name is taken, IMP_EIO if it cannot be written; no partial
 * file is left then. */
imp_status imp_create_file(const char *path, const void *data, size_t size, imp_error *error);

/* Creates a symbolic link to `target`. Failures as for imp_create_file(). */
imp_status imp_create_link(const char *path, const char *target, imp_error *error);

#endif
