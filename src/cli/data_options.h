/*
 * data_options.h - the options that every command with a dataset shares, and opening it.
 *
 *     typedef struct arguments { imp_settings settings; int64_t threads; ... } arguments;
 *     #define IMP_ARGUMENTS arguments
 *
 *     static const imp_option options[] = {IMP_DATA_OPTIONS, ..., {IMP_OPTION_END}};
 */
#ifndef IMP_CLI_DATA_OPTIONS_H
#define IMP_CLI_DATA_OPTIONS_H

#include <imp/dataset.h>

#include "cli/options.h"
#include "cli/training_options.h"
#include "data/source.h"
#include "settings/settings.h"

/* clang-format off */
#define IMP_DATA_OPTIONS                                                                           \
    {IMP_OPTION_HEADING("Data")},                                                                  \
    IMP_OPTIONS_OF(IMP_READING_SETTINGS)                                                           \
    {IMP_OPTION_INTEGER(IMP_ARGUMENTS, threads), .name = "threads", .argument = "N",               \
     .integers = {0, 1024}, .initial = "0", .help = "threads; 0: one per core"}
/* clang-format on */

/* What help texts call the dataset argument. */
#define IMP_DATA_OPERAND "DATA"

/* Opens the dataset `name`. Returns IMP_GO_ON or, after printing an error, the exit status. */
int imp_data_open(const char *command, const char *name, const imp_settings *settings,
                  int64_t threads, bool skip_broken, imp_dataset **out);

/* "BEFORE3 pictures in formats that are not read: 'a.svg', ...": a line, or nothing if there are
 * none. */
void imp_print_foreign(const char *before, const imp_foreign *foreign, FILE *to);

#endif
