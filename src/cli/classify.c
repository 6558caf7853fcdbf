/* classify.c - `imp classify`: classifies queries from a few labelled points, with any method. */
#include "cli/classify.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer_truth.h"
#include "cli/class_names.h"
#include "cli/destination.h"
#include "cli/model_points.h"
#include "methods/method.h"
#include "methods/rule.h"

typedef imp_classify_settings settings;

static const imp_option options[] = {
    {IMP_OPTION_HEADING("Points (.npy files) or folders of pictures")},
    IMP_POINT_OPTIONS(settings, files,
                      "; or a folder of pictures, whose sub-folders are the classes",
                      "integers from 0 or names", "; or pictures"),
    {IMP_OPTION_TEXTS(settings, queries), .name = "query", .argument = "FILE",
     .help = "points to classify; repeat for more views"},
    {IMP_OPTION_HEADING("Pictures")},
    IMP_PICTURE_OPTIONS(settings, pictures),
    {IMP_OPTION_HEADING("Method")},
    {IMP_OPTION_METHOD(settings, method), .otherwise = "imp, or the model's"},
    IMP_PRESET_OPTION(settings, choice),
    {IMP_OPTION_FLAG(settings, open_set), .name = "open-set",
     .help = "allow the answer \"none of these\", class -1"},
    {IMP_OPTION_REST},
    {IMP_OPTION_NUMBER(settings, choice.open_set_rate), .name = "open-set-rate", .argument = "R",
     .numbers = {0, 1}, .otherwise = "0.05",
     .help = "fraction of points of known classes that --open-set, which this implies, rejects"},
    IMP_MORE_CHOICE_OPTIONS(settings, choice),
    {IMP_OPTION_RULE(settings, rule), .otherwise = "auto, or the model's"},
    {IMP_OPTION_OWN(settings, own)},
    {IMP_OPTION_INTEGER(settings, seed), .name = "seed", .argument = "N",
     .integers = {0, INT64_MAX}, .initial = "1",
     .help = "seed of soft-kmeans-masked's initial weights"},
    {IMP_OPTION_HEADING("Output")},
    {IMP_OPTION_TEXT(settings, output), .name = "output", .letter = 'o', .argument = "FILE",
     .help = "points: also write the answers, as .npy or as text"},
    {IMP_OPTION_TEXT(settings, truth), .name = "truth", .argument = "FILE",
     .help = "points: true classes of the queries, to compute the accuracy"},
    {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "write JSON"},
    {IMP_OPTION_TEXT(settings, html), .name = "html", .argument = "FILE",
     .help = "pictures: also show the answers on a page"},
    {IMP_OPTION_REST},
    {IMP_OPTION_TEXT(settings, copy_to), .name = "copy-to", .argument = "FOLDER",
     .help = "pictures: also copy them to this new folder, with a sub-folder for each answer"},
    {IMP_OPTION_TEXT(settings, link_to), .name = "link-to", .argument = "FOLDER",
     .help = "the same with symbolic links"},
    {IMP_OPTION_TEXT(settings, csv), .name = "csv", .argument = "FILE",
     .help = "pictures: also write the answers as CSV"},
    {IMP_OPTION_END}};

static const char *const examples[] = {
    "imp classify --support animals new.jpg more-pictures",
    "imp classify --support animals new --unlabeled heap --open-set --html a.html",
    "imp classify --support s.npy --labels y.npy --unlabeled u.npy --query q.npy", NULL};

const imp_usage imp_classify_usage = {
    .command = "classify",
    .summary = "Classify pictures or points from a few labelled examples",
    .details = "Clusters labelled pictures or points, and optionally unlabelled ones, with one of "
               "the paper's methods and prints the class of every query with its probability. "
               "Points are rows of .npy files, from any embedding; pictures are embedded by a "
               "model. Pictures directly in the support folder, or in its sub-folder _unlabeled, "
               "have no label. Nothing is saved; use imp fit to save what was learned.",
    .operands = "[PICTURE|FOLDER...]",
    .most = INT_MAX,
    .options = options,
    .examples = examples,
};

static const char *const command = "classify";

static const char *method_of(const settings *given)
{
    return given->method ? given->method : imp_method_at(0)->name;
}

/* The queries, their truth and the class names. */
typedef struct desk {
    const settings *given;
    imp_labeled_rows points;
    imp_rows queries;
    imp_answer_truth truth;
    imp_episode_view episode;
} desk;

static int print_json(const desk *work, const imp_method_result *result, const imp_mixture *mixture)
{
    const imp_episode_view *episode = &work->episode;
    const imp_labels *names = &work->points.classes;
    json_t *object = imp_json_begin(), *clusters = json_array(), *probabilities = json_array();
    for (size_t c = 0; c < result->cluster_count; c++) {
        json_t *cluster = json_object();
        json_object_set_new(cluster, "label", imp_class_to_json(names, result->cluster_label[c]));
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
    json_object_set_new(object, "method", json_string(method_of(work->given)));
    json_object_set_new(object, "lambda", imp_json_number(result->lambda));
    if (mixture)
        imp_choice_to_json(mixture, object);
    if (imp_names_matter(names))
        json_object_set_new(object, "classes", imp_names_to_json(names));
    json_object_set_new(object, "clusters", clusters);
    json_object_set_new(object, "predictions",
                        imp_classes_to_json(names, result->predictions, episode->query_count));
    json_object_set_new(object, "probabilities", probabilities);
    imp_truth_to_json(&work->truth, object);
    return imp_json_print(command, object);
}

static void print_table(const desk *work, const imp_method_result *result)
{
    const imp_episode_view *episode = &work->episode;
    printf("%s: %zu cluster%s of %zu class%s", method_of(work->given), result->cluster_count,
           result->cluster_count == 1 ? "" : "s", episode->way, episode->way == 1 ? "" : "es");
    if (!isnan(result->lambda))
        printf(", lambda %.6g", result->lambda);
    printf("\n\n%8s  %8s  %s\n", "query", "class", "probability");
    for (size_t q = 0; q < episode->query_count; q++) {
        int32_t class = result->predictions[q];
        size_t outcome = class < 0 ? episode->way : (size_t) class;
        printf("%8zu  ", q);
        imp_print_class(&work->points.classes, class);
        printf("  %11.4f\n", result->probabilities[q * result->outcomes + outcome]);
    }
    imp_truth_print(&work->truth);
}

/* Counts, prints and saves the answers. */
static int finish(desk *work, const imp_method_result *result, const imp_mixture *mixture)
{
    const settings *given = work->given;
    size_t count = work->episode.query_count;
    imp_truth_count(&work->truth, 0, result->predictions, count);
    imp_error error;
    if (given->output &&
        imp_labels_save(given->output, result->predictions, count, &work->points.classes, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    if (given->json)
        return print_json(work, result, mixture);
    print_table(work, result);
    return EXIT_SUCCESS;
}

void imp_classify_options(const imp_classify_settings *given, imp_method_options *method_options)
{
    method_options->rule = imp_rule_over(&given->rule, &method_options->rule);
    for (size_t i = 0; i < IMP_MOST_OWN_OPTIONS && given->own[i].name; i++)
        (void)imp_own_set(method_options->own, imp_own_option(given->own[i].name),
                          given->own[i].value, NULL);
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
                 "--open-set has no effect, because every cluster has a label; give %s that belong "
                 "to no class with --unlabeled %s",
                 what, argument);
}

/* Whether cross-validation chooses the parameters: only for the first method, which fits mixtures,
 * and only if no option needs another. */
static bool chooses(const settings *given)
{
    return imp_method_find(method_of(given)) == imp_method_at(0) &&
           given->choice.preset == IMP_PRESET_AUTO && isnan(given->rule.alpha) &&
           !given->own[0].name;
}

/* Allocates a mixture's answers in the arrays used for a method's. */
typedef struct answers {
    int32_t *label, *prediction;
    double *sigma, *weight;
    float *mean, *probability;
} answers;

static bool answers_make(answers *room, const imp_mixture_summary *summary, size_t queries,
                         size_t outcomes)
{
    size_t clusters = summary->clusters;
    room->label = calloc(clusters, sizeof *room->label);
    room->sigma = calloc(clusters, sizeof *room->sigma);
    room->weight = calloc(clusters, sizeof *room->weight);
    room->mean = calloc(clusters * summary->dimensions, sizeof *room->mean);
    room->prediction = calloc(queries + 1, sizeof *room->prediction);
    room->probability = calloc(queries * outcomes + 1, sizeof *room->probability);
    return room->label && room->sigma && room->weight && room->mean && room->prediction &&
           room->probability;
}

static void answers_free(answers *room)
{
    free(room->label);
    free(room->sigma);
    free(room->weight);
    free(room->mean);
    free(room->prediction);
    free(room->probability);
}

static int answer(desk *work, const imp_mixture *mixture, answers *room)
{
    const settings *given = work->given;
    const imp_episode_view *episode = &work->episode;
    imp_mixture_summary summary = imp_mixture_summarize(mixture);
    size_t outcomes = episode->way + given->open_set, d = summary.dimensions;
    imp_error error;
    if (!answers_make(room, &summary, episode->query_count, outcomes))
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    const imp_mixture_predictions wanted = {.label = room->prediction,
                                            .probability = room->probability};
    if (imp_mixture_predict(mixture, episode->query, episode->query_count, d, given->open_set,
                            &wanted, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    for (size_t c = 0; c < summary.clusters; c++) {
        imp_mixture_cluster cluster = imp_mixture_cluster_at(mixture, c);
        room->label[c] = cluster.label;
        room->sigma[c] = cluster.sigma;
        room->weight[c] = cluster.weight;
        for (size_t j = 0; j < d; j++)
            room->mean[c * d + j] = (float)cluster.mean[j];
    }
    const imp_method_result result = {.outcomes = outcomes,
                                      .lambda = summary.rule.lambda,
                                      .predictions = room->prediction,
                                      .probabilities = room->probability,
                                      .cluster_count = summary.clusters,
                                      .cluster_label = room->label,
                                      .cluster_sigma = room->sigma,
                                      .cluster_weight = room->weight,
                                      .cluster_mean = room->mean};
    imp_mixture_choice choice;
    imp_mixture_choice_of(mixture, &choice, sizeof choice);
    imp_mixture_tell(command, mixture);
    if (choice.open_set_points == 0)
        imp_tell_open_set(given, &result, "points", "FILE");
    else if (given->open_set)
        imp_mixture_tell_rate(command, mixture);
    return finish(work, &result, mixture);
}

static int classify_by_choice(desk *work)
{
    const settings *given = work->given;
    const imp_episode_view *episode = &work->episode;
    imp_mixture_options mixture_options = imp_choice_options(&given->choice, &given->rule);
    imp_views_option(&work->points, &mixture_options);
    imp_mixture *mixture;
    imp_error error;
    if (imp_mixture_fit(episode->support, episode->support_label, episode->support_count,
                        episode->dimensions, &mixture_options, &mixture, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    answers room = {0};
    int status = answer(work, mixture, &room);
    answers_free(&room);
    imp_mixture_free(mixture);
    return status;
}

static int classify(desk *work)
{
    const settings *given = work->given;
    if (chooses(given))
        return classify_by_choice(work);
    if (work->points.view_count > 1)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "several views need the method imp without --preset paper and --alpha, "
                            "because cross-validation weighs them");
    imp_method_options method_options = imp_method_defaults();
    imp_classify_options(given, &method_options);

    imp_method *method;
    imp_method_result result;
    imp_error error;
    imp_status status = imp_method_create(method_of(given), &method_options, &method, &error);
    if (!status)
        status = imp_method_run(method, &work->episode, false, &result, &error);
    if (!status)
        imp_tell_open_set(given, &result, "points", "FILE");
    int exit_status = status ? imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message)
                             : finish(work, &result, NULL);
    imp_method_free(method);
    return exit_status;
}

static int read_queries(desk *work)
{
    size_t dimensions[IMP_MOST_TEXTS];
    const settings *given = work->given;
    int status = imp_read_view_rows(command, given->files.model, &given->queries, &work->queries,
                                    dimensions);
    if (status == IMP_GO_ON)
        status = imp_check_views(command, &given->queries, dimensions, &work->points);
    if (status == IMP_GO_ON)
        status = imp_truth_read(command, given->truth, work->queries.count, &work->points.classes,
                                given->open_set, &work->truth);
    return status;
}

static int classify_rows(const settings *given)
{
    if (!given->files.support || !given->files.labels || given->queries.count == 0)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "give --support FOLDER PICTURE..., or for points --support FILE, "
                            "--labels FILE and --query FILE");
    const char *inputs[IMP_MOST_TEXTS + 1] = {given->truth};
    for (size_t v = 0; v < given->queries.count; v++)
        inputs[v + 1] = given->queries.items[v];
    int status = imp_check_point_files(command, &given->files, given->output);
    if (status == IMP_GO_ON)
        status = imp_check_inputs(command, given->output, inputs, given->queries.count + 1);
    if (status != IMP_GO_ON)
        return status;
    desk work = {.given = given};
    status = imp_read_labeled_rows(command, &given->files, &work.points);
    if (status == IMP_GO_ON)
        status = read_queries(&work);
    if (status == IMP_GO_ON) {
        work.episode = (imp_episode_view){
            .dimensions = work.points.rows.dimensions,
            .way = work.points.classes.classes,
            .support = work.points.rows.values,
            .support_label = work.points.labels,
            .support_count = work.points.rows.count,
            .query = work.queries.values,
            .query_count = work.queries.count,
        };
        if (work.episode.way == 0)
            status = imp_complain(IMP_EXIT_FAILURE, command,
                                  "%s: no point has a label; every class needs at least one",
                                  given->files.labels);
        else
            status = classify(&work);
    }
    free(work.queries.values);
    imp_truth_clear(&work.truth);
    imp_labeled_rows_clear(&work.points);
    return status;
}

/* Points as they are, or embedded by a model, which then sets the default method and parameters. */
static int classify_points(const settings *given)
{
    settings known = *given;
    imp_model *model;
    int status = imp_open_vector_model(command, given->pictures.model, &model);
    if (status != IMP_GO_ON)
        return status;
    if (model) {
        const imp_model_info *info = imp_model_info_of(model);
        known.files.model = model;
        known.method = given->method ? given->method : info->method;
        known.rule = imp_rule_over(&given->rule, &info->rule);
    }
    status = classify_rows(&known);
    imp_model_free(model);
    return status;
}

static int classify_pictures(const settings *given, char **paths, int count)
{
    if (given->output || given->truth)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "-o and --truth are for points; for pictures, --csv writes the "
                            "answers, and folders named after classes are the truth");
    if (given->files.supports.count > 1 || given->files.more.count > 1)
        return imp_complain(
            IMP_EXIT_USAGE, command,
            "give one --support folder and one --unlabeled folder; several views are for points");
    return imp_classify_pictures(given, paths, count);
}

int imp_command_classify(int argc, char **argv)
{
    settings given = {.rule = IMP_RULE_AUTO, .choice.open_set_rate = NAN};
    int operands;
    int status = imp_parse(&imp_classify_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    if (isnan(given.choice.open_set_rate))
        given.choice.open_set_rate = imp_mixture_defaults().open_set_rate;
    else
        given.open_set = true;
    imp_point_files_settle(&given.files);
    bool points = given.files.labels || given.queries.count > 0;
    if (!points && (operands > 0 || imp_is_folder_or_archive(given.files.support)))
        return classify_pictures(&given, argv + 1, operands);
    if (points && imp_is_folder_or_archive(given.files.support))
        return imp_complain(IMP_EXIT_USAGE, command,
                            "--labels and --query are for points; the sub-folders of '%s' are the "
                            "labels, and the pictures to classify are arguments",
                            given.files.support);
    if (operands > 0)
        return imp_complain(IMP_EXIT_USAGE, command, "unexpected argument '%s'", argv[1]);
    if (given.html || given.csv || given.copy_to || given.link_to)
        return imp_complain(IMP_EXIT_USAGE, command,
                            given.html ? "--html shows pictures, not points"
                                       : "--csv, --copy-to and --link-to are for pictures");
    imp_picture_settings others = given.pictures;
    others.model = NULL; /* it may have been trained on vectors */
    const char *option = imp_only_for_pictures(&others);
    if (option || given.pictures.threads > 0)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "%s is for pictures; points are classified as they are",
                            option ? option : "--threads");
    return classify_points(&given);
}
