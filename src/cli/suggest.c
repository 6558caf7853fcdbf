/* suggest.c - `imp suggest`: which points to label next. */
#include <stdlib.h>

#include <imp/suggest.h>

#include "cli/mixture.h"
#include "cli/vectors.h"

typedef struct settings {
    const char *labels, *groups;
    int64_t count;
    int metric;
    bool json;
} settings;

static const imp_option options[] = {
    {IMP_OPTION_HEADING("Points")},
    {IMP_OPTION_TEXT(settings, labels), .name = "labels", .argument = "FILE",
     .help = "known classes, one per point; -1: unknown; -2: do not suggest"},
    {IMP_OPTION_TEXT(settings, groups), .name = "groups", .argument = "FILE",
     .help = "groups of the points, -1 for none; default: those of imp cluster"},
    {IMP_OPTION_CHOICE(settings, metric), .name = "metric", .argument = "NAME",
     .choices = imp_metric_names, .initial = "auto",
     .help = "metric for comparing points, as in imp fit"},
    {IMP_OPTION_HEADING("Output")},
    {IMP_OPTION_INTEGER(settings, count), .name = "count", .argument = "N",
     .integers = {1, INT32_MAX}, .initial = "10", .help = "number of points to suggest"},
    {IMP_OPTION_FLAG(settings, json), .name = "json",
     .help = "write JSON, including the guesses for all points"},
    {IMP_OPTION_END}};

static const char *const examples[] = {"imp suggest x.npy",
                                       "imp suggest x.npy --labels y.npy --count 20", NULL};

const imp_usage imp_suggest_usage = {
    .command = "suggest",
    .summary = "Suggest which points to label next",
    .details =
        "Suggests which points are most worth labelling: first the most typical point of every "
        "group, largest groups first, then the points that the labels so far leave least certain. "
        "Points are numbered from 0. imp label does the same interactively, on a page.",
    .operands = "POINTS.npy",
    .fewest = 1,
    .most = 1,
    .options = options,
    .examples = examples,
};

static const char *const command = "suggest";

static const char *reason_of(const imp_suggestion *suggestion)
{
    return suggestion->reason == IMP_SUGGEST_TYPICAL ? "typical" : "unsure";
}

static int print_json(const imp_suggester *suggester, const imp_suggestion *found, size_t count)
{
    imp_suggester_summary summary = imp_suggester_summarize(suggester);
    json_t *object = imp_json_begin(), *list = json_array();
    int32_t *labels = malloc((summary.points + 1) * sizeof *labels);
    float *sure = malloc((summary.points + 1) * sizeof *sure);
    if (!labels || !sure) {
        free(labels);
        free(sure);
        json_decref(list);
        json_decref(object);
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    }
    imp_suggester_guess(suggester, labels, sure);
    for (size_t i = 0; i < count; i++) {
        json_t *entry = json_object();
        json_object_set_new(entry, "point", json_integer((json_int_t)found[i].point));
        json_object_set_new(entry, "reason", json_string(reason_of(&found[i])));
        json_object_set_new(entry, "group", json_integer(found[i].group));
        json_object_set_new(entry, "guess", json_integer(found[i].guess));
        json_object_set_new(entry, "sure", imp_json_number(found[i].sure));
        json_array_append_new(list, entry);
    }
    json_object_set_new(object, "suggestions", list);
    json_object_set_new(object, "metric", json_string(imp_metric_name(summary.metric)));
    json_object_set_new(object, "groups", json_integer((json_int_t)summary.groups));
    json_object_set_new(object, "groups_asked", json_integer((json_int_t)summary.groups_asked));
    json_object_set_new(object, "answered", json_integer((json_int_t)summary.answered));
    json_object_set_new(object, "expected_accuracy", imp_json_number(summary.expected));
    json_object_set_new(object, "labels", imp_json_integers(labels, summary.points));
    json_object_set_new(object, "sure", imp_json_floats(sure, summary.points));
    free(labels);
    free(sure);
    return imp_json_print(command, object);
}

static int print_table(const imp_suggester *suggester, const imp_suggestion *found, size_t count)
{
    imp_suggester_summary summary = imp_suggester_summarize(suggester);
    printf("%zu of %zu points have labels, and %zu of %zu groups\n", summary.answered,
           summary.points, summary.groups_asked, summary.groups);
    if (summary.expected >= 0)
        printf("%.1f%% of the other points are expected to be guessed right\n",
               100 * summary.expected);
    printf("\n%8s  %-8s  %6s  %6s  %5s\n", "point", "why", "group", "guess", "sure");
    for (size_t i = 0; i < count; i++)
        printf("%8zu  %-8s  %6d  %6d  %5.3f\n", found[i].point, reason_of(&found[i]),
               (int)found[i].group, (int)found[i].guess, found[i].sure);
    return EXIT_SUCCESS;
}

/* One number for each point, if there is a file. */
static int read_numbers(const char *path, const char *points, size_t wanted, int32_t **numbers)
{
    size_t count;
    if (!path)
        return IMP_GO_ON;
    int status = imp_read_labels(command, path, numbers, &count);
    if (status == IMP_GO_ON && count != wanted)
        status = imp_complain(IMP_EXIT_FAILURE, command,
                              "%s has %zu numbers for the %zu points of %s; each needs one", path,
                              count, wanted, points);
    return status;
}

static int suggest(const settings *given, const imp_rows *rows, const int32_t *labels,
                   const int32_t *groups)
{
    imp_suggester_options suggester_options = imp_suggester_defaults();
    suggester_options.group = groups;
    suggester_options.metric = (imp_metric_kind)given->metric;
    imp_suggester *suggester;
    imp_error error;
    imp_status status = imp_suggester_create(rows->values, rows->count, rows->dimensions,
                                             &suggester_options, &suggester, &error);
    for (size_t i = 0; labels && i < rows->count && !status; i++)
        if (labels[i] != -1)
            status = imp_suggester_answer(suggester, i, labels[i], &error);
    size_t count = (size_t)given->count < rows->count ? (size_t)given->count : rows->count;
    imp_suggestion *found = malloc((count + 1) * sizeof *found);
    int exit_status = IMP_GO_ON;
    if (!found)
        exit_status = imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    else if (!status)
        status = imp_suggester_next(suggester, count, found, &count, &error);
    if (status && exit_status == IMP_GO_ON)
        exit_status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    if (exit_status == IMP_GO_ON)
        exit_status = given->json ? print_json(suggester, found, count)
                                  : print_table(suggester, found, count);
    free(found);
    imp_suggester_free(suggester);
    return exit_status;
}

int imp_command_suggest(int argc, char **argv)
{
    settings given = {0};
    int operands;
    int status = imp_parse(&imp_suggest_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    imp_rows rows;
    int32_t *labels = NULL, *groups = NULL;
    status = imp_read_rows(command, argv[1], &rows);
    if (status != IMP_GO_ON)
        return status;
    status = read_numbers(given.labels, argv[1], rows.count, &labels);
    if (status == IMP_GO_ON)
        status = read_numbers(given.groups, argv[1], rows.count, &groups);
    if (status == IMP_GO_ON)
        status = suggest(&given, &rows, labels, groups);
    free(rows.values);
    free(labels);
    free(groups);
    return status;
}
