/* classify.c - `imp classify`: queries by a few labelled points, with any of the methods. */
#include "cli/classify.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

typedef imp_classify_settings settings;

static const imp_option options[] = {
    {IMP_OPTION_HEADING("Points (.npy files) or folders of pictures")},
    IMP_POINT_OPTIONS(settings, files,
                      "; or a folder, whose sub-folders are classes of pictures and their names "
                      "the answers",
                      "integers from 0 on", "; or pictures"),
    {IMP_OPTION_TEXT(settings, query), .name = "query", .argument = "FILE", .once = true,
     .help = "points to classify; pictures stand on the command line instead"},
    {IMP_OPTION_HEADING("Pictures")},
    IMP_PICTURE_OPTIONS(settings, pictures),
    {IMP_OPTION_HEADING("Method")},
    {IMP_OPTION_TEXT(settings, method), .name = "method", .argument = "NAME",
     .otherwise = "imp, or the model's",
     .help = "imp, imp-tied, prototypes, neighbors, soft-kmeans, soft-kmeans-cluster, "
             "soft-kmeans-masked, dp-means, map-dp or em"},
    {IMP_OPTION_FLAG(settings, open_set), .name = "open-set",
     .help = "let unlabelled clusters answer \"none of these\", which is class -1"},
    {IMP_OPTION_REST},
    IMP_PARAMETER_OPTIONS(settings, parameters, ", 100 for soft-kmeans-cluster",
                          ", or the model's"),
    {IMP_OPTION_FLAG(settings, learn_sigma), .name = "learn-sigma",
     .help = "prototypes: take --sigma-l for the variance instead of 1"},
    {IMP_OPTION_FLAG(settings, no_prior), .name = "no-prior",
     .help = "em: without the Chinese restaurant process prior"},
    {IMP_OPTION_INTEGER(settings, seed), .name = "seed", .argument = "N",
     .integers = {0, INT64_MAX}, .initial = "1", .help = "of soft-kmeans-masked's first weights"},
    {IMP_OPTION_HEADING("Output")},
    {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "write JSON"},
    {IMP_OPTION_TEXT(settings, html), .name = "html", .argument = "FILE",
     .help = "pictures: also write a page that shows them by their answers"},
    {IMP_OPTION_END}};

static const char *const examples[] = {
    "imp classify --support animals new.jpg more-pictures",
    "imp classify --support animals new --unlabeled heap --open-set --html a.html",
    "imp classify --support s.npy --labels y.npy --unlabeled u.npy --query q.npy", NULL};

const imp_usage imp_classify_usage = {
    .command = "classify",
    .summary = "Classify pictures or points by a few labelled ones",
    .details =
        "Reads labelled pictures or points, unlabelled ones if there are any, and queries, makes "
        "clusters of them by one of the paper's methods and prints the class of every query with "
        "its probability. Points are rows of .npy files, in whatever embedding they come; pictures "
        "are embedded by a model. Pictures that stand in the support folder itself, or in its "
        "sub-folder _unlabeled, have no label. Nothing is kept; imp fit keeps what was learned.",
    .operands = "[PICTURE|FOLDER...]",
    .most = INT_MAX,
    .options = options,
    .examples = examples,
};

static const char *const command = "classify";

static const char *method_of(const settings *given)
{
    return given->method ? given->method : "imp";
}

static int print_json(const settings *given, const imp_episode_view *episode,
                      const imp_method_result *result)
{
    json_t *object = imp_json_begin(), *clusters = json_array(), *probabilities = json_array();
    for (size_t c = 0; c < result->cluster_count; c++) {
        json_t *cluster = json_object();
        json_object_set_new(cluster, "label", json_integer(result->cluster_label[c]));
        json_object_set_new(cluster, "sigma", imp_json_number(result->cluster_sigma[c]));
        json_object_set_new(cluster, "weight", imp_json_number(result->cluster_weight[c]));
        json_object_set_new(
            cluster, "mean",
            imp_json_floats(result->cluster_mean + c * episode->dimensions, episode->dimensions));
        json_array_append_new(clusters, cluster);
    }
    for (size_t q = 0; q < episode->query_count; q++)
        json_array_append_new(
            probabilities,
            imp_json_floats(result->probabilities + q * result->outcomes, result->outcomes));
    json_object_set_new(object, "method", json_string(method_of(given)));
    json_object_set_new(object, "lambda", imp_json_number(result->lambda));
    json_object_set_new(object, "clusters", clusters);
    json_object_set_new(object, "predictions",
                        imp_json_integers(result->predictions, episode->query_count));
    json_object_set_new(object, "probabilities", probabilities);
    return imp_json_print(command, object);
}

static void print_table(const settings *given, const imp_episode_view *episode,
                        const imp_method_result *result)
{
    printf("%s: %zu cluster%s of %zu class%s", method_of(given), result->cluster_count,
           result->cluster_count == 1 ? "" : "s", episode->way, episode->way == 1 ? "" : "es");
    if (!isnan(result->lambda))
        printf(", lambda %.6g", result->lambda);
    printf("\n\n%8s  %8s  %s\n", "query", "class", "probability");
    for (size_t q = 0; q < episode->query_count; q++) {
        int32_t class = result->predictions[q];
        size_t outcome = class < 0 ? episode->way : (size_t) class;
        float probability = result->probabilities[q * result->outcomes + outcome];
        if (class < 0)
            printf("%8zu  %8s  %11.4f\n", q, "none", probability);
        else
            printf("%8zu  %8d  %11.4f\n", q, (int)class, probability);
    }
}

void imp_classify_options(const imp_classify_settings *given, double lambda,
                          imp_method_options *method_options)
{
    const imp_parameters *parameters = &given->parameters;
    if (!isnan(parameters->alpha))
        method_options->alpha = parameters->alpha;
    if (!isnan(parameters->sigma_l))
        method_options->sigma_l = parameters->sigma_l;
    if (!isnan(parameters->sigma_u))
        method_options->sigma_u = parameters->sigma_u;
    if (parameters->cluster_steps > 0)
        method_options->cluster_steps = (size_t)parameters->cluster_steps;
    if (parameters->lambda)
        method_options->lambda = lambda;
    method_options->learn_sigma |= given->learn_sigma;
    method_options->no_prior |= given->no_prior;
    method_options->open_set = given->open_set;
    method_options->seed = (uint64_t)given->seed;
}

void imp_tell_open_set(const imp_classify_settings *given, const imp_method_result *result,
                       const char *what, const char *argument)
{
    if (!given->open_set)
        return;
    for (size_t c = 0; c < result->cluster_count; c++)
        if (result->cluster_label[c] < 0)
            return;
    imp_complain(EXIT_SUCCESS, command,
                 "--open-set has nothing to go by: no cluster is without a label; give %s that "
                 "belong to no class with --unlabeled %s",
                 what, argument);
}

static int classify(const settings *given, double lambda, const imp_episode_view *episode)
{
    imp_method_options method_options;
    imp_method_options_init(&method_options, method_of(given));
    imp_classify_options(given, lambda, &method_options);

    imp_method *method;
    imp_method_result result;
    imp_error error;
    imp_status status = imp_method_create(method_of(given), &method_options, &method, &error);
    if (status == IMP_OK)
        status = imp_method_run(method, episode, false, &result, &error);
    if (status == IMP_OK)
        imp_tell_open_set(given, &result, "points", "FILE");
    int exit_status = EXIT_SUCCESS;
    if (status != IMP_OK)
        exit_status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    else if (given->json)
        exit_status = print_json(given, episode, &result);
    else
        print_table(given, episode, &result);
    imp_method_free(method);
    return exit_status;
}

static int classify_points(const settings *given, double lambda)
{
    if (!given->files.support || !given->files.labels || !given->query)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "needs --support FOLDER PICTURE..., or for points --support FILE, "
                            "--labels FILE and --query FILE");
    imp_labeled_rows points;
    imp_rows queries = {0};
    int status = imp_read_labeled_rows(command, &given->files, &points);
    if (status == IMP_GO_ON)
        status = imp_read_rows(command, given->query, &queries);
    if (status == IMP_GO_ON && queries.dimensions != points.rows.dimensions)
        status = imp_complain(IMP_EXIT_FAILURE, command,
                              "%s: its points have %zu dimensions, the supports have %zu",
                              given->query, queries.dimensions, points.rows.dimensions);
    if (status == IMP_GO_ON) {
        imp_episode_view episode = {
            .dimensions = points.rows.dimensions,
            .way = imp_count_classes(points.labels, points.rows.count),
            .support = points.rows.values,
            .support_label = points.labels,
            .support_count = points.rows.count,
            .query = queries.values,
            .query_count = queries.count,
        };
        if (episode.way == 0)
            status = imp_complain(IMP_EXIT_FAILURE, command,
                                  "%s: no point has a label; every class needs at least one",
                                  given->files.labels);
        else
            status = classify(given, lambda, &episode);
    }
    free(queries.values);
    imp_labeled_rows_clear(&points);
    return status;
}

int imp_command_classify(int argc, char **argv)
{
    settings given = {.parameters = IMP_NO_PARAMETERS};
    int operands;
    int status = imp_parse(&imp_classify_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    double lambda;
    status = imp_read_lambda(command, given.parameters.lambda, &lambda);
    if (status != IMP_GO_ON)
        return status;
    bool points = given.files.labels || given.query;
    if (!points && (operands > 0 || imp_is_folder(given.files.support)))
        return imp_classify_pictures(&given, lambda, argv + 1, operands);
    if (points && imp_is_folder(given.files.support))
        return imp_complain(IMP_EXIT_USAGE, command,
                            "--labels and --query go with points; of the folder '%s' the "
                            "sub-folders are the labels, and the pictures to classify stand on the "
                            "command line",
                            given.files.support);
    if (operands > 0)
        return imp_complain(IMP_EXIT_USAGE, command, "unexpected argument '%s'", argv[1]);
    if (given.html)
        return imp_complain(IMP_EXIT_USAGE, command, "--html shows pictures, not points");
    const char *option = imp_only_for_pictures(&given.pictures);
    if (option || given.pictures.threads > 0)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "%s goes with pictures; points are classified as they are",
                            option ? option : "--threads");
    return classify_points(&given, lambda);
}
