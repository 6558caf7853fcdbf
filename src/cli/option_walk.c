/*
 * option_walk.c - iterates over the options of a command, including those that methods and learners
 * describe.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "cli/options.h"
#include "learners/learner.h"
#include "methods/method.h"
#include "methods/rule.h"

/* Appends to the help being made; truncates what does not fit. */
__attribute__((format(printf, 2, 3))) static void append(imp_option_walk *walk, const char *format,
                                                         ...)
{
    size_t used = strlen(walk->help);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(walk->help + used, sizeof walk->help - used, format, arguments);
    va_end(arguments);
}

/* Goes to the next row of the table. */
static const imp_option *pass(imp_option_walk *walk, const imp_option *made)
{
    walk->row++;
    walk->owner = walk->index = 0;
    return made;
}

/* ---- --method ---- */

static const imp_option *make_method(imp_option_walk *walk, const imp_option *row)
{
    size_t count = 0, listed = 0;
    const imp_method_info *method;
    for (size_t i = 0; (method = imp_method_at(i)); i++)
        count += !row->unsupervised || method->unsupervised;
    walk->help[0] = '\0';
    for (size_t i = 0; (method = imp_method_at(i)); i++)
        if (!row->unsupervised || method->unsupervised) {
            append(walk, "%s%s",
                   listed == 0          ? ""
                   : listed + 1 < count ? ", "
                                        : " or ",
                   method->name);
            listed++;
        }
    walk->made = *row;
    walk->made.kind = IMP_KIND_TEXT;
    walk->made.name = "method";
    walk->made.argument = "NAME";
    walk->made.help = walk->help;
    return pass(walk, &walk->made);
}

/* ---- the parameters of the rule ---- */

static bool takes_methods(const imp_usage *usage)
{
    for (const imp_option *row = usage->options; row->kind != IMP_KIND_END; row++)
        if (row->kind == IMP_KIND_METHOD)
            return true;
    return false;
}

static bool has_presets(const imp_usage *usage)
{
    for (const imp_option *row = usage->options; row->kind != IMP_KIND_END; row++)
        if (row->name && strcmp(row->name, "preset") == 0)
            return true;
    return false;
}

static double number_of(const imp_method_info *method, size_t index)
{
    imp_rule rule = method->rule;
    return *imp_rule_number(&rule, index);
}

/* What auto means: the value for the first method, and for those that differ. */
static void tell_numbers(imp_option_walk *walk, size_t index)
{
    double usual = number_of(imp_method_at(0), index);
    if (has_presets(walk->usage)) {
        if (isnan(usual))
            append(walk, "; the paper: estimated");
        else
            append(walk, "; the paper: %g", usual);
        return;
    }
    if (isnan(usual)) {
        append(walk, "; auto: estimated");
        return;
    }
    append(walk, "; auto: %g", usual);
    const imp_method_info *method;
    for (size_t i = 1; takes_methods(walk->usage) && (method = imp_method_at(i)); i++)
        if (number_of(method, index) != usual)
            append(walk, ", %g for %s", number_of(method, index), method->name);
}

static const imp_option *make_number(imp_option_walk *walk, const imp_option *row)
{
    const imp_option_info *info = imp_rule_option_at(walk->index);
    if (!info)
        return NULL;
    walk->help[0] = '\0';
    append(walk, "%s", info->help);
    tell_numbers(walk, walk->index);
    walk->made = (imp_option){.kind = IMP_KIND_NUMBER,
                              .offset = row->offset + walk->index * sizeof(double),
                              .name = info->name,
                              .argument = info->kind == IMP_INTEGER ? "N" : "X",
                              .help = walk->help,
                              .otherwise = row->otherwise ? row->otherwise : "auto",
                              .info = info};
    walk->index++;
    return &walk->made;
}

static const imp_option *make_like(imp_option_walk *walk, const imp_option *row)
{
    walk->made = *row;
    for (size_t i = 0; imp_rule_option_at(i); i++)
        if (strcmp(imp_rule_option_at(i)->name, row->like) == 0)
            walk->made.info = imp_rule_option_at(i);
    return pass(walk, &walk->made);
}

/* ---- --learner ---- */

static const imp_option *make_learner(imp_option_walk *walk, const imp_option *row)
{
    walk->help[0] = '\0';
    for (size_t i = 0; imp_learner_at(i); i++)
        append(walk, "%s%s: %s", i > 0 ? "; " : "", imp_learner_at(i)->name,
               imp_learner_at(i)->summary);
    walk->made = *row;
    walk->made.kind = IMP_KIND_TEXT;
    walk->made.name = "learner";
    walk->made.argument = "NAME";
    walk->made.help = walk->help;
    return pass(walk, &walk->made);
}

/* ---- the own options of methods and learners ---- */

/* A method or learner with options of its own. */
typedef struct owner {
    const char *name; /* NULL after the last */
    const imp_option_info *options;
    size_t count;
} owner;

static owner owner_at(imp_option_kind kind, size_t index)
{
    const imp_method_info *method = imp_method_at(index);
    const imp_learner_info *learner = imp_learner_at(index);
    if (kind == IMP_KIND_OWN && method)
        return (owner){method->name, method->options, method->option_count};
    if (kind == IMP_KIND_LEARNER_OWN && learner)
        return (owner){learner->name, learner->options, learner->option_count};
    return (owner){0};
}

static bool has_option(const owner *one, const char *name)
{
    for (size_t i = 0; i < one->count; i++)
        if (strcmp(one->options[i].name, name) == 0)
            return true;
    return false;
}

/* Whether an earlier one has an option of that name. */
static bool is_known(imp_option_kind kind, const char *name, size_t before)
{
    for (size_t i = 0; i < before; i++) {
        owner one = owner_at(kind, i);
        if (has_option(&one, name))
            return true;
    }
    return false;
}

static const imp_option *make_own(imp_option_walk *walk, const imp_option *row)
{
    owner one;
    while ((one = owner_at(row->kind, walk->owner)).name &&
           (walk->index == one.count ||
            is_known(row->kind, one.options[walk->index].name, walk->owner))) {
        bool end = walk->index == one.count;
        walk->owner += end;
        walk->index = end ? 0 : walk->index + 1;
    }
    if (!one.name)
        return NULL;
    const imp_option_info *info = &one.options[walk->index++];
    walk->help[0] = '\0';
    for (size_t i = walk->owner; (one = owner_at(row->kind, i)).name; i++)
        if (has_option(&one, info->name))
            append(walk, "%s%s", walk->help[0] ? ", " : "", one.name);
    append(walk, ": %s", info->help);
    bool flag = info->kind == IMP_FLAG;
    walk->made = (imp_option){.kind = IMP_KIND_OWN,
                              .offset = row->offset,
                              .name = info->name,
                              .argument = flag                        ? NULL
                                          : info->kind == IMP_INTEGER ? "N"
                                                                      : "X",
                              .help = walk->help,
                              .info = info};
    return &walk->made;
}

const imp_option *imp_option_next(imp_option_walk *walk)
{
    for (;;) {
        const imp_option *row = &walk->usage->options[walk->row], *made = NULL;
        switch (row->kind) {
        case IMP_KIND_END:
            return NULL;
        case IMP_KIND_METHOD:
            return make_method(walk, row);
        case IMP_KIND_RULE:
            made = make_number(walk, row);
            break;
        case IMP_KIND_LEARNER:
            return make_learner(walk, row);
        case IMP_KIND_OWN:
        case IMP_KIND_LEARNER_OWN:
            made = make_own(walk, row);
            break;
        default:
            return row->like ? make_like(walk, row) : pass(walk, row);
        }
        if (made)
            return made;
        pass(walk, NULL);
    }
}
