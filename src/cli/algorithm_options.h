/*
 * algorithm_options.h - the point files that every command of Algorithm 1 accepts.
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
    const char *support, *labels, *unlabeled; /* the first view of each, or NULL */
    imp_texts supports, more;                 /* views of labelled and of unlabelled points */
    const struct imp_model *model;            /* embeds all points, or NULL */
} imp_point_files;

/* The option of commands that can embed points first. */
#define IMP_POINT_MODEL_OPTION(settings, member)                            \
    {                                                                       \
        IMP_OPTION_TEXT(settings, member),                                  \
            .name = "model", .argument = "FILE",                            \
            .help = "a model trained on vectors, to embed the points first" \
    }

/* After parsing: points support and unlabeled to the first view of each. */
static inline void imp_point_files_settle(imp_point_files *files)
{
    files->support = files->supports.count > 0 ? files->supports.items[0] : NULL;
    files->unlabeled = files->more.count > 0 ? files->more.items[0] : NULL;
}

/* clang-format off */
/* `classes` says what labels may be; `or_support` and `or_unlabeled` say what else those options
 * accept, "" for nothing. */
#define IMP_POINT_OPTIONS(settings, member, or_support, classes, or_unlabeled)                     \
    {IMP_OPTION_TEXTS(settings, member.supports), .name = "support", .argument = "FILE",           \
     .help = "labelled points, one per row" or_support "; repeat for more views"},     \
    {IMP_OPTION_TEXT(settings, member.labels), .name = "labels", .argument = "FILE",               \
     .once = true, .help = "their classes, " classes "; -1: unlabelled"},               \
    {IMP_OPTION_TEXTS(settings, member.more), .name = "unlabeled", .argument = "FILE",             \
     .help = "unlabelled points" or_unlabeled "; repeat for more views"}
/* clang-format on */

#endif
