/*
 * algorithm_options.h - the options that every command of Algorithm 1 shares: its points and its
 * parameters.
 *
 *     typedef struct settings { imp_point_files files; imp_parameters given; ... } settings;
 *
 *     static const imp_option options[] = {IMP_POINT_OPTIONS(settings, files, "", "integers", ""),
 *                                          {IMP_OPTION_HEADING("Method")},
 *                                          IMP_PARAMETER_OPTIONS(settings, given, "", ""), ...};
 *
 *     settings chosen = {.given = IMP_NO_PARAMETERS};
 *
 * Parameters have no defaults here: one that is not given leaves what the library or a model says.
 */
#ifndef IMP_CLI_ALGORITHM_OPTIONS_H
#define IMP_CLI_ALGORITHM_OPTIONS_H

#include <math.h>

#include "cli/options.h"

typedef struct imp_point_files {
    const char *support, *labels, *unlabeled;
} imp_point_files;

typedef struct imp_parameters {
    double alpha, sigma_l, sigma_u; /* NAN: not given */
    const char *lambda;             /* NULL: not given */
    int64_t cluster_steps;          /* 0: not given */
} imp_parameters;

#define IMP_NO_PARAMETERS                            \
    {                                                \
        .alpha = NAN, .sigma_l = NAN, .sigma_u = NAN \
    }

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

/* `or_else` is a text behind each default, such as ", or the model's"; `or_sigma_u` is one behind
 * the default of that variance. */
#define IMP_PARAMETER_OPTIONS(settings, member, or_sigma_u, or_else)                               \
    {IMP_OPTION_NUMBER(settings, member.alpha), .name = "alpha", .argument = "X",                  \
     .numbers = {-INFINITY, INFINITY},                                                             \
     .otherwise = "0.1" or_else, .help = "concentration: a larger one makes more clusters"},       \
    {IMP_OPTION_NUMBER(settings, member.sigma_l), .name = "sigma-l", .argument = "X",              \
     .numbers = {-INFINITY, INFINITY},                                                             \
     .otherwise = "5" or_else, .help = "variance of labelled clusters"},                           \
    {IMP_OPTION_NUMBER(settings, member.sigma_u), .name = "sigma-u", .argument = "X",              \
     .numbers = {-INFINITY, INFINITY},                                                             \
     .otherwise = "5" or_sigma_u or_else, .help = "variance of unlabelled clusters"},              \
    {IMP_OPTION_TEXT(settings, member.lambda), .name = "lambda", .argument = "X|auto",             \
     .otherwise = "auto" or_else,                                                                  \
     .help = "squared distance beyond which a cluster starts; auto estimates it"},                 \
    {IMP_OPTION_INTEGER(settings, member.cluster_steps), .name = "cluster-steps",                  \
     .argument = "N", .integers = {1, 1000000},                                                    \
     .otherwise = "1" or_else, .help = "times to repeat the clustering"}
/* clang-format on */

#endif
