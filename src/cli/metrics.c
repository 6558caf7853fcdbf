/* metrics.c - `imp metrics`: how well two labelings agree. */
#include <stdlib.h>

#include "cli/labelings.h"
#include "cli/vectors.h"

typedef struct settings {
    bool json;
} settings;

static const imp_option options[] = {
    {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "write JSON"}, {IMP_OPTION_END}};

static const char *const examples[] = {"imp metrics truth.npy found.npy",
                                       "imp metrics truth.npy found.npy --json", NULL};

const imp_usage imp_metrics_usage = {
    .command = "metrics",
    .summary = "Measure how well labels or clusters agree with the truth",
    .details =
        "Compares two labelings of the same points: accuracy with its 95% confidence interval, "
        "purity, normalised and adjusted mutual information, the adjusted Rand index and the "
        "confusion matrix. All agree with scikit-learn. Labels are integers; equal labels need to "
        "mean the same class only for accuracy and the confusion matrix.",
    .operands = "TRUTH.npy FOUND.npy",
    .fewest = 2,
    .most = 2,
    .options = options,
    .examples = examples,
};

static const char *const command = "metrics";

static int report(const settings *given, const int32_t *truth, const int32_t *found, size_t count)
{
    const imp_labelings labelings = {truth, found, found, count, 0};
    if (!given->json)
        return imp_labelings_print(command, &labelings) == IMP_GO_ON ? EXIT_SUCCESS
                                                                     : IMP_EXIT_FAILURE;
    json_t *object = imp_json_begin();
    int status = imp_labelings_to_json(command, &labelings, object);
    if (status == IMP_GO_ON)
        return imp_json_print(command, object);
    json_decref(object);
    return status;
}

int imp_command_metrics(int argc, char **argv)
{
    settings given = {0};
    int operands;
    int status = imp_parse(&imp_metrics_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    int32_t *truth = NULL, *found = NULL;
    size_t count = 0, found_count = 0;
    status = imp_read_labels(command, argv[1], &truth, &count);
    if (status == IMP_GO_ON)
        status = imp_read_labels(command, argv[2], &found, &found_count);
    if (status == IMP_GO_ON && count != found_count)
        status = imp_complain(IMP_EXIT_FAILURE, command,
                              "%s has %zu labels and %s has %zu; they must label the same points",
                              argv[1], count, argv[2], found_count);
    if (status == IMP_GO_ON && count == 0)
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s has no labels; it needs at least 1",
                              argv[1]);
    if (status == IMP_GO_ON)
        status = report(&given, truth, found, count);
    free(truth);
    free(found);
    return status;
}
