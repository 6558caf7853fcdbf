/*
 * destination.h - whether output can go where it shall, asked before the work begins.
 *
 * Embedding many pictures takes minutes; a slip in the name of the result must not cost them, and
 * must never cost a picture or anything else that the command reads.
 */
#ifndef IMP_CLI_DESTINATION_H
#define IMP_CLI_DESTINATION_H

#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"

/* A file to be written. */
typedef struct imp_destination {
    const char *option; /* that names it: "--html" */
    const char *kind;   /* what is written there: "a page" */
    const char *path;   /* NULL: it is not wanted */
} imp_destination;

/* All return IMP_GO_ON, or the status to exit with after a sentence. `command` is named in it. */

/* Whether each of the files can be written, is no picture, and is none of the others. */
int imp_check_files(const char *command, const imp_destination *files, size_t count);

/* Whether `folder` is new or empty and lies outside of `source`, whose pictures are to go there;
 * NULL: it is not wanted. */
int imp_check_folder(const char *command, const char *folder, const char *source);

/* Whether writing the file `output` leaves the `count` files and folders in `inputs` as they are:
 * it is none of them, and none that is there already in one of the folders. NULL, for `output` or
 * among the inputs, stands for nothing. */
int imp_check_inputs(const char *command, const char *output, const char *const *inputs,
                     size_t count);

/* The folder for scratch, to be freed: that of the output or, where that is NULL, that of temporary
 * files. NULL when memory runs out. */
char *imp_scratch_folder(const char *output);

/* How much of what lies there otherwise is held in memory. */
#define IMP_MEMORY_OPTION(settings, member, what)                                             \
    {                                                                                         \
        IMP_OPTION_INTEGER(settings, member),                                                 \
            .name = "memory", .argument = "MB", .integers = {0, INT32_MAX}, .initial = "256", \
            .help = what " beyond so much lie in a file beside the output"                    \
    }

#endif
