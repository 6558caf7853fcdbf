/*
 * destination.h - checks, before the work begins, that output can be written where it should go.
 *
 * Embedding many pictures takes minutes. A mistyped output name must not waste them, and must never
 * overwrite a picture or any other input.
 */
#ifndef IMP_CLI_DESTINATION_H
#define IMP_CLI_DESTINATION_H

#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"

/* A file to be written. */
typedef struct imp_destination {
    const char *option; /* the option that names it: "--html" */
    const char *kind;   /* what is written there: "a page" */
    const char *path;   /* NULL: not wanted */
} imp_destination;

/* All return IMP_GO_ON or, after printing an error that names `command`, the exit status. */

/* Whether each file can be written, is not a picture, and differs from the others. */
int imp_check_files(const char *command, const imp_destination *files, size_t count);

/* Whether `folder` is new or empty and outside `source`, whose pictures are to go there; NULL: not
 * wanted. */
int imp_check_folder(const char *command, const char *folder, const char *source);

/* Whether writing the file `output` leaves the `count` files and folders in `inputs` intact: it is
 * none of them, nor an existing file in one of the folders. A NULL `output` or input is ignored. */
int imp_check_inputs(const char *command, const char *output, const char *const *inputs,
                     size_t count);

/* The folder for scratch files: that of the output or, if that is NULL, that of temporary files.
 * Free it with free(); NULL if out of memory. */
char *imp_scratch_folder(const char *output);

/* OUTPUT.state, where a command that is interrupted leaves how far it was. Free it with free();
 * NULL if out of memory. */
char *imp_state_file(const char *output);

/* Removes that file, once the output it was kept for is written. */
void imp_state_remove(const char *output);

/* How much is held in memory before scratch files are used. */
#define IMP_MEMORY_OPTION(settings, member, what)                                             \
    {                                                                                         \
        IMP_OPTION_INTEGER(settings, member),                                                 \
            .name = "memory", .argument = "MB", .integers = {0, INT32_MAX}, .initial = "256", \
            .help = "memory for " what "; the rest goes to a file beside the output"          \
    }

#endif
