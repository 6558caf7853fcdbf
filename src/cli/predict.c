/* predict.c - `imp predict`: points classified by a fitted mixture. */
#include <stdlib.h>

#include "cli/mixture.h"
#include "cli/vectors.h"

typedef struct settings {
    bool open_set, json;
} settings;

static const imp_option options[] = {
    {IMP_OPTION_FLAG(settings, open_set), .name = "open-set",
     .help = "let unlabelled clusters answer \"none of these\", which is class -1"},
    {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "write JSON"},
    {IMP_OPTION_END}};

static const char *const examples[] = {"imp predict m.safetensors q.npy",
                                       "imp predict m.safetensors q.npy --open-set --json", NULL};

const imp_usage imp_predict_usage = {
    .command = "predict",
    .summary = "Classify points by a fitted mixture",
    .details =
        "Reads a mixture that imp fit or imp add wrote and points of the same dimension, and "
        "prints for every point its class, the probability, the cluster that decided and the "
        "squared distance to that cluster's mean.",
    .operands = "MIXTURE POINTS.npy",
    .fewest = 2,
    .most = 2,
    .options = options,
    .examples = examples,
};

static const char *const command = "predict";

static int print_json(const imp_mixture_predictions *found, size_t count, size_t outcomes)
{
    json_t *object = imp_json_begin(), *probabilities = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(probabilities,
                              imp_json_floats(found->probability + i * outcomes, outcomes));
    json_object_set_new(object, "predictions", imp_json_integers(found->label, count));
    json_object_set_new(object, "probabilities", probabilities);
    json_object_set_new(object, "distances", imp_json_floats(found->distance, count));
    json_object_set_new(object, "clusters", imp_json_integers(found->cluster, count));
    return imp_json_print(command, object);
}

static void print_table(const imp_mixture_predictions *found, size_t count, size_t classes,
                        size_t outcomes)
{
    printf("%8s  %8s  %11s  %8s  %s\n", "query", "class", "probability", "cluster",
           "squared distance");
    for (size_t i = 0; i < count; i++) {
        int32_t class = found->label[i];
        size_t outcome = class < 0 ? classes : (size_t) class;
        if (class < 0)
            printf("%8zu  %8s", i, "none");
        else
            printf("%8zu  %8d", i, (int)class);
        /* A mixture without classes has no probabilities to tell. */
        if (outcome < outcomes)
            printf("  %11.4f", found->probability[i * outcomes + outcome]);
        else
            printf("  %11s", "-");
        printf("  %8d  %16.6g\n", (int)found->cluster[i], found->distance[i]);
    }
}

static int predict(const settings *given, const imp_mixture *mixture, const imp_rows *points)
{
    size_t classes = imp_mixture_summarize(mixture).classes, count = points->count;
    size_t outcomes = classes + given->open_set, room = count ? count : 1;
    imp_mixture_predictions found = {
        .label = malloc(room * sizeof *found.label),
        .probability = calloc(room, (outcomes ? outcomes : 1) * sizeof *found.probability),
        .distance = malloc(room * sizeof *found.distance),
        .cluster = malloc(room * sizeof *found.cluster),
    };
    imp_error error;
    int status = EXIT_SUCCESS;
    if (!found.label || !found.probability || !found.distance || !found.cluster)
        status = imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    else if (imp_mixture_predict(mixture, points->values, count, points->dimensions,
                                 given->open_set, &found, &error) != IMP_OK)
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    else if (given->json)
        status = print_json(&found, count, outcomes);
    else
        print_table(&found, count, classes, outcomes);
    free(found.label);
    free(found.probability);
    free(found.distance);
    free(found.cluster);
    return status;
}

int imp_command_predict(int argc, char **argv)
{
    settings given = {0};
    int operands;
    int status = imp_parse(&imp_predict_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    imp_mixture *mixture;
    imp_rows points = {0};
    status = imp_mixture_read(command, argv[1], &mixture);
    if (status == IMP_GO_ON)
        status = imp_read_rows(command, argv[2], &points);
    if (status == IMP_GO_ON)
        status = predict(&given, mixture, &points);
    free(points.values);
    imp_mixture_free(mixture);
    return status;
}
