/*
 * training_options.h - the lists of settings/settings_list.h as rows of a command's table of
 * options.
 *
 *     typedef struct arguments { imp_settings settings; ... } arguments;
 *     #define IMP_ARGUMENTS arguments
 *
 *     static const imp_option options[] = {{IMP_OPTION_HEADING("Data")},
 *                                          IMP_OPTIONS_OF(IMP_DATA_SETTINGS)
 *                                          {IMP_OPTION_HEADING("Method")},
 *                                          IMP_METHOD_OPTIONS IMP_LEARNER_OPTIONS ...};
 *
 * The parser does not set the defaults that the help states: an option that is not given leaves its
 * setting unchanged, so the command line overrides a recipe, a run or a model.
 */
#ifndef IMP_CLI_TRAINING_OPTIONS_H
#define IMP_CLI_TRAINING_OPTIONS_H

#include "cli/options.h"
#include "settings/settings.h"

#define IMP_INTEGER_OPTION(member, text, from, to, first, meaning) \
    {IMP_OPTION_INTEGER(IMP_ARGUMENTS, settings.member),           \
     .name = text,                                                 \
     .argument = "N",                                              \
     .integers = {from, to},                                       \
     .otherwise = first,                                           \
     .help = meaning},
#define IMP_NUMBER_OPTION(member, text, from, to, first, meaning) \
    {IMP_OPTION_NUMBER(IMP_ARGUMENTS, settings.member),           \
     .name = text,                                                \
     .argument = "X",                                             \
     .numbers = {from, to},                                       \
     .otherwise = first,                                          \
     .help = meaning},
#define IMP_TEXT_OPTION(member, text, placeholder, first, meaning)                           \
    {IMP_OPTION_TEXT(IMP_ARGUMENTS, settings.member), .name = text, .argument = placeholder, \
     .otherwise = first, .help = meaning},
#define IMP_CHOICE_OPTION(member, text, names, first, meaning) \
    {IMP_OPTION_CHOICE(IMP_ARGUMENTS, settings.member),        \
     .name = text,                                             \
     .argument = "KIND",                                       \
     .choices = names,                                         \
     .otherwise = first,                                       \
     .help = meaning},
#define IMP_FLAG_OPTION(member, text, meaning) \
    {IMP_OPTION_FLAG(IMP_ARGUMENTS, settings.member), .name = text, .help = meaning},

#define IMP_NO_MORE_COMMON_OPTIONS() {IMP_OPTION_REST},

#define IMP_OPTIONS_OF(list)                                                        \
    list(IMP_INTEGER_OPTION, IMP_NUMBER_OPTION, IMP_TEXT_OPTION, IMP_CHOICE_OPTION, \
         IMP_FLAG_OPTION, IMP_NO_MORE_COMMON_OPTIONS)

#define IMP_METHOD_OPTIONS                                                                      \
    {IMP_OPTION_METHOD(IMP_ARGUMENTS, settings.method), .otherwise = "imp"}, {IMP_OPTION_REST}, \
        {IMP_OPTION_RULE(IMP_ARGUMENTS, settings.rule)},                                        \
        IMP_OPTIONS_OF(IMP_METHOD_SETTINGS){IMP_OPTION_OWN(IMP_ARGUMENTS, settings.own)},

/* After the method's, since few people need another learner. */
#define IMP_LEARNER_OPTIONS                                                       \
    {IMP_OPTION_LEARNER(IMP_ARGUMENTS, settings.learner), .otherwise = "metric"}, \
        {IMP_OPTION_LEARNER_OWN(IMP_ARGUMENTS, settings.learner_own)},

#endif
