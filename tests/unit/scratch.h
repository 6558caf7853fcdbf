/*
 * scratch.h - a folder of its own for each test that touches files.
 *
 * Use scratch_setup and scratch_teardown as the set-up and teardown of a cmocka test; its state is
 * then the folder's path.
 */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

int scratch_setup(void **state);
int scratch_teardown(void **state);

/* The path of `name` in the folder. */
typedef struct scratch_path {
    char text[512];
} scratch_path;
scratch_path scratch_file(void **state, const char *name);

/* How many entries the folder has: one too many is a temporary file somebody left. */
size_t scratch_entries(void **state);

/* Writes and compares whole files, without the library's help. */
void scratch_write(const char *path, const void *data, size_t size);
bool scratch_holds(const char *path, const void *data, size_t size);

#endif
