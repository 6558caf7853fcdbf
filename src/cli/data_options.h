/*
 * data_options.h - the options that every command with a dataset shares, and opening it.
 *
 *     typedef struct settings { imp_data_settings data; ... } settings;
 *
 *     static const imp_option options[] = {IMP_DATA_OPTIONS(settings, data), ...,
 * {IMP_OPTION_END}};
 */
#ifndef IMP_CLI_DATA_OPTIONS_H
#define IMP_CLI_DATA_OPTIONS_H

#include <imp/dataset.h>

#include "cli/options.h"
#include "data/source.h"
#include "settings/settings.h"

typedef struct imp_data_settings {
    int64_t size, rotations, split_seed, threads;
    int colour, ink;
    const char *split;
    int64_t alphabets, fewest_characters, most_characters, drawings, glyph_seed;
} imp_data_settings;

/* clang-format off */
#define IMP_DATA_OPTIONS(settings, member)                                                         \
    {IMP_OPTION_HEADING("Data")},                                                                  \
    {IMP_OPTION_INTEGER(settings, member.size), .name = "size", .argument = "N",                   \
     .integers = {0, 4096}, .initial = "0",                                                        \
     .help = "picture side in pixels; 0: the source's own"},                                       \
    {IMP_OPTION_TEXT(settings, member.split), .name = "split", .argument = "SPLIT",                \
     .initial = "own",                                                                             \
     .help = "own, vinyals, lake, lists:FOLDER or classes:A/B/C (also super-classes:, modes:, "    \
             "turned-modes:)"},                                                                    \
    {IMP_OPTION_REST},                                                                             \
    {IMP_OPTION_CHOICE(settings, member.colour), .name = "colour", .argument = "KIND",             \
     .choices = imp_colour_names, .initial = "own", .help = "make pictures gray or RGB"},          \
    {IMP_OPTION_CHOICE(settings, member.ink), .name = "ink", .argument = "KIND",                   \
     .choices = imp_ink_names, .initial = "own",                                                   \
     .help = "invert pictures; own inverts Omniglot's"},                                           \
    {IMP_OPTION_INTEGER(settings, member.rotations), .name = "rotations", .argument = "N",         \
     .integers = {1, 4}, .initial = "1",                                                           \
     .help = "4: rotations by 90 degrees are classes, too"},                                       \
    {IMP_OPTION_INTEGER(settings, member.split_seed), .name = "split-seed", .argument = "N",       \
     .integers = {0, INT64_MAX}, .initial = "0", .help = "seed of the random split"},              \
    {IMP_OPTION_INTEGER(settings, member.threads), .name = "threads", .argument = "N",             \
     .integers = {0, 1024}, .initial = "0", .help = "threads; 0: one per core"},                   \
    {IMP_OPTION_HEADING("Synthetic data: glyphs")},                                                \
    {IMP_OPTION_REST},                                                                             \
    {IMP_OPTION_INTEGER(settings, member.alphabets), .name = "alphabets", .argument = "N",         \
     .integers = {1, 1000000}, .initial = "50", .help = "number of alphabets"},                    \
    {IMP_OPTION_INTEGER(settings, member.fewest_characters), .name = "fewest-characters",          \
     .argument = "N", .integers = {1, 1000000}, .initial = "20", .help = "per alphabet"},          \
    {IMP_OPTION_INTEGER(settings, member.most_characters), .name = "most-characters",              \
     .argument = "N", .integers = {1, 1000000}, .initial = "40", .help = "per alphabet"},          \
    {IMP_OPTION_INTEGER(settings, member.drawings), .name = "drawings", .argument = "N",           \
     .integers = {1, 1000000}, .initial = "20", .help = "drawings per character"},                 \
    {IMP_OPTION_INTEGER(settings, member.glyph_seed), .name = "glyph-seed", .argument = "N",       \
     .integers = {0, INT64_MAX}, .initial = "0", .help = "seed of the alphabets"}
/* clang-format on */

/* What help texts call the dataset argument. */
#define IMP_DATA_OPERAND "DATA"

/* Opens the dataset `name`. Returns IMP_GO_ON or, after printing an error, the exit status. */
int imp_data_open(const char *command, const char *name, const imp_data_settings *settings,
                  bool skip_broken, imp_dataset **out);

/* "BEFORE3 pictures in formats that are not read: 'a.svg', ...": a line, or nothing if there are
 * none. */
void imp_print_foreign(const char *before, const imp_foreign *foreign, FILE *to);

#endif
