/* mixture.h - shared by the commands on fitted mixtures. */
#ifndef IMP_CLI_MIXTURE_H
#define IMP_CLI_MIXTURE_H

#include <stdbool.h>

#include <imp/mixture.h>

#include "base/lock.h"
#include "cli/options.h"
#include "cli/vectors.h"

/* What may be given instead of being chosen by cross-validation. */
typedef struct imp_choice_settings {
    int preset, metric, whitening; /* as in imp_mixture_options */
    double unlabeled_weight, open_set_rate;
} imp_choice_settings;

extern const char *const imp_preset_names[], *const imp_metric_names[],
                                                 *const imp_whitening_names[];
extern const imp_option_info imp_unlabeled_weight_info;

/* clang-format off */
#define IMP_PRESET_OPTION(settings, member)                                                        \
    {IMP_OPTION_CHOICE(settings, member.preset), .name = "preset", .argument = "NAME",             \
     .choices = imp_preset_names, .initial = "auto",                                               \
     .help = "auto: cross-validation chooses what is not given; paper: the paper's constants"}
#define IMP_MORE_CHOICE_OPTIONS(settings, member)                                                  \
    {IMP_OPTION_CHOICE(settings, member.metric), .name = "metric", .argument = "NAME",             \
     .choices = imp_metric_names, .initial = "auto",                                               \
     .help = "where points are compared: as they are, scaled, with standard features, at unit "    \
             "length, their roots so, by cosine"},                                                 \
    {IMP_OPTION_CHOICE(settings, member.whitening), .name = "whiten", .argument = "WHEN",          \
     .choices = imp_whitening_names, .initial = "auto",                                            \
     .help = "divide by the covariance within classes"},                                           \
    {IMP_OPTION_NUMBER(settings, member.unlabeled_weight), .name = "unlabeled-weight",             \
     .argument = "W", .initial = "auto", .info = &imp_unlabeled_weight_info,                       \
     .help = "what an unlabelled point counts for where a labelled one counts 1"}
/* clang-format on */

/* Output options of commands that change a mixture; the settings have `output` and `json`. */
/* clang-format off */
#define IMP_MIXTURE_OUTPUT_OPTIONS(settings)                                                       \
    {IMP_OPTION_HEADING("Output")},                                                                \
    {IMP_OPTION_TEXT(settings, output), .name = "output", .letter = 'o', .argument = "FILE",       \
     .help = "where to write the new mixture; default: replace the old one"},                      \
    {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "describe the mixture in JSON"}
/* clang-format on */

/* The mixture options for these settings. */
imp_mixture_options imp_choice_options(const imp_choice_settings *given, const imp_rule *rule);

/* Sets the views of the points in the options, if there are several. */
void imp_views_option(const imp_labeled_rows *points, imp_mixture_options *options);

/* Reports on stderr, in one line, what cross-validation chose, and warns if it could not. */
void imp_mixture_tell(const char *command, const imp_mixture *mixture);

/* Warns on stderr if there are too few labelled points to promise the open-set rate. */
void imp_mixture_tell_rate(const char *command, const imp_mixture *mixture);

/* Adds what was chosen, and why, to an object. */
void imp_choice_to_json(const imp_mixture *mixture, json_t *object);

/* Waits until no other command is changing the mixture at `path`, if there is one; returns like the
 * next. */
int imp_mixture_lock(const char *command, const char *path, imp_lock *lock);

/* Reads a mixture; returns IMP_GO_ON or, after printing an error, the exit status. */
int imp_mixture_read(const char *command, const char *path, imp_mixture **mixture);

/* Both, for a command that changes what is at `path` into what will be at `output`. Release the
 * lock and free the mixture whatever is returned. */
int imp_mixture_take(const char *command, const char *path, const char *output,
                     imp_mixture **mixture, imp_lock *lock);

/* Saves what was made, with the names of its classes, and describes it; returns the status to exit
 * with. */
int imp_mixture_finish(const char *command, imp_mixture *made, const imp_labels *names,
                       const char *output, bool json);

/* Describes a mixture on stdout; returns the exit status. */
int imp_mixture_print(const char *command, const imp_mixture *mixture, bool json);

#endif
