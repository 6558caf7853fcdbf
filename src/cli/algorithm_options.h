/*
 * algorithm_options.h - the points that every command of Algorithm 1 takes.
 *
 *     typedef struct settings { imp_point_files files; ... } settings;
 *
 *     static const imp_option options[] = {IMP_POINT_OPTIONS(settings, files, "", "integers", ""),
 *                                          ...};
 */
#ifndef IMP_CLI_ALGORITHM_OPTIONS_H
#define IMP_CLI_ALGORITHM_OPTIONS_H

#include "cli/options.h"

typedef struct imp_point_files {
    const char *support, *labels, *unlabeled;
} imp_point_files;

/* clang-format off */
/* `classes` says which there may be; `or_support` and `or_unlabeled` what else these may be, "" where
 * they may be nothing else. */
#define IMP_POINT_OPTIONS(settings, member, or_support, classes, or_unlabeled)                     \
    {IMP_OPTION_TEXT(settings, member.support), .name = "support", .argument = "FILE",             \
     .once = true, .help = "labelled points, a row each" or_support},                              \
    {IMP_OPTION_TEXT(settings, member.labels), .name = "labels", .argument = "FILE",               \
     .once = true, .help = "their classes, " classes "; -1 is an unlabelled point"},               \
    {IMP_OPTION_TEXT(settings, member.unlabeled), .name = "unlabeled", .argument = "FILE",         \
     .once = true, .help = "more points without labels" or_unlabeled}
/* clang-format on */

#endif
