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
    const char *support, *labels, *unlabeled; /* the first of each; NULL: none */
    imp_texts supports, more;                 /* views of labelled and of unlabelled points */
    const struct imp_model *model;            /* that embeds all of them; NULL: none does */
} imp_point_files;

/* The option of commands that may embed points before they use them. */
#define IMP_POINT_MODEL_OPTION(settings, member)                                          \
    {                                                                                     \
        IMP_OPTION_TEXT(settings, member),                                                \
            .name = "model", .argument = "FILE",                                          \
            .help = "a model that was trained on vectors, to embed the points with first" \
    }

/* What was parsed: support and unlabeled are the first of their views. */
static inline void imp_point_files_settle(imp_point_files *files)
{
    files->support = files->supports.count > 0 ? files->supports.items[0] : NULL;
    files->unlabeled = files->more.count > 0 ? files->more.items[0] : NULL;
}

/* clang-format off */
/* `classes` says which there may be; `or_support` and `or_unlabeled` what else these may be, "" where
 * they may be nothing else. */
#define IMP_POINT_OPTIONS(settings, member, or_support, classes, or_unlabeled)                     \
    {IMP_OPTION_TEXTS(settings, member.supports), .name = "support", .argument = "FILE",           \
     .help = "labelled points, a row each" or_support "; once more for another view of them"},     \
    {IMP_OPTION_TEXT(settings, member.labels), .name = "labels", .argument = "FILE",               \
     .once = true, .help = "their classes, " classes "; -1 is an unlabelled point"},               \
    {IMP_OPTION_TEXTS(settings, member.more), .name = "unlabeled", .argument = "FILE",             \
     .help = "more points without labels" or_unlabeled "; views likewise"}
/* clang-format on */

#endif
