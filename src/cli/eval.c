/*
 * eval.c - `imp eval`: the accuracy of a trained embedding on test episodes, with one or more
 * methods.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/eval_clusters.h"
#include "cli/eval_report.h"
#include "cli/job.h"
#include "cli/progress.h"
#include "cli/training_options.h"
#include "cli/vectors.h"
#include "data/checksum.h"
#include "data/survey.h"
#include "evaluate/clustering.h"
#include "evaluate/contestant.h"
#include "model/built_in_model.h"
#include "settings/choices.h"

typedef struct arguments {
    imp_settings settings;
    const char *model, *sweep;
    int64_t episodes, test_seed, threads, lambda_episodes;
    int pool, purpose, batch_norm;
    bool json, quiet, unsupervised;
} arguments;
#define IMP_ARGUMENTS arguments

/* In the order of the purposes that are not training. */
static const char *const purposes[] = {"validation", "testing", NULL};

/* What batch norm uses, and what the output calls it. */
enum { RUNNING, EPISODE };
static const char *const batch_norm_modes[] = {"running", "episode", NULL};
static const char *const statistics[] = {"running statistics", "statistics of each episode"};

/* clang-format off */
static const imp_option options[] = {
    {IMP_OPTION_HEADING("Evaluation")},
    {IMP_OPTION_TEXT(arguments, model), .name = "model", .argument = "FILE",
     .otherwise = "built in, for handwritten characters",
     .help = "a model written by 'imp train'"},
    {IMP_OPTION_INTEGER(arguments, episodes), .name = "episodes", .argument = "N",
     .integers = {1, 100000000}, .initial = "1000", .help = "number of episodes"},
    {IMP_OPTION_CHOICE(arguments, purpose), .name = "for", .argument = "PURPOSE",
     .choices = purposes, .initial = "testing", .help = "which episodes"},
    {IMP_OPTION_INTEGER(arguments, test_seed), .name = "seed", .argument = "N",
     .integers = {0, INT64_MAX}, .initial = "1", .help = "seed of the episodes"},
    {IMP_OPTION_INTEGER(arguments, threads), .name = "threads", .argument = "N",
     .integers = {0, 1024}, .initial = "0", .help = "threads; 0: one per core"},
    {IMP_OPTION_FLAG(arguments, json), .name = "json", .help = "write JSON"},
    {IMP_OPTION_REST},
    {IMP_OPTION_CHOICE(arguments, pool), .name = "pool", .argument = "SPLIT",
     .choices = imp_pool_names, .initial = "own",
     .help = "draw classes from this split; own: the split for the episodes' purpose"},
    {IMP_OPTION_CHOICE(arguments, batch_norm), .name = "batch-norm", .argument = "MODE",
     .choices = batch_norm_modes, .initial = "running",
     .help = "use running statistics from training, or the statistics of each episode's images"},
    {IMP_OPTION_TEXT(arguments, sweep), .name = "lambda-sweep", .argument = "A:B:N",
     .help = "evaluate at N evenly spaced values of lambda from A to B"},
    {IMP_OPTION_FLAG(arguments, unsupervised), .name = "unsupervised",
     .help = "cluster images without labels: --way classes (10) of --shot images each (5), "
             "with --method imp, dp-means or both"},
    {IMP_OPTION_INTEGER(arguments, lambda_episodes), .name = "lambda-episodes", .argument = "N",
     .integers = {1, 1000000}, .initial = "20",
     .help = "unsupervised: validation episodes for choosing lambda by AMI"},
    {IMP_OPTION_FLAG(arguments, quiet), .name = "quiet", .help = "no progress on stderr"},
    {IMP_OPTION_HEADING("Data"), .otherwise = "as in training"},
    IMP_OPTIONS_OF(IMP_DATA_SETTINGS)
    {IMP_OPTION_HEADING("Episodes"), .otherwise = "as in training, except the queries"},
    IMP_OPTIONS_OF(IMP_TASK_SETTINGS)
    {IMP_OPTION_HEADING("Method, or several separated by commas"), .otherwise = "as trained"},
    IMP_METHOD_OPTIONS
    IMP_LEARNER_OPTIONS
    {IMP_OPTION_END}};
/* clang-format on */

static const char *const examples[] = {
    "imp eval --model run/model.safetensors --task classes --way 20 --json",
    "imp eval --data drawings --way 5 --shot 1   # the built-in model",
    "imp eval --model run/model.safetensors --method imp,dp-means",
    "imp eval --model run/model.safetensors --unsupervised --way 100", NULL};

const imp_usage imp_eval_usage = {
    .command = "eval",
    .summary = "Measure a trained model on test episodes",
    .details =
        "Draws test episodes, embeds their images with a trained model, classifies the queries "
        "with one or more methods and prints the mean accuracy with its 95% confidence interval. "
        "If unlabelled clusters were made, it prints two accuracies: among the classes only, and "
        "open, where a query nearest to such a cluster counts as wrong. Settings that are not "
        "given are as in the model's training. For a folder the model was not trained on, pictures "
        "are preprocessed as the model expects, none are rotated, and all classes are test "
        "classes. The JSON has everything needed to repeat the evaluation.",
    .options = options,
    .examples = examples,
};

static const char command[] = "eval";

static int fail(const imp_error *error)
{
    return imp_complain(IMP_EXIT_FAILURE, command, "%s", error->message);
}

/* ---- who takes part ---- */

enum { MOST_CONTESTANTS = IMP_MOST_THRESHOLDS, NAME_ROOM = 32 };

typedef struct field {
    imp_settings settings[MOST_CONTESTANTS];
    const imp_settings *list[MOST_CONTESTANTS];
    char names[MOST_CONTESTANTS][NAME_ROOM];
    size_t count;
} field;

static int complain_sweep(const arguments *given)
{
    return imp_complain(IMP_EXIT_USAGE, command,
                        "option '--lambda-sweep' needs FROM:TO:COUNT, like 5:100:20, not '%s'",
                        given->sweep);
}

static bool add_contestant(field *all, const arguments *given, const char *name, double lambda)
{
    if (all->count == MOST_CONTESTANTS)
        return false;
    imp_settings *settings = &all->settings[all->count];
    *settings = given->settings;
    settings->method = all->names[all->count];
    snprintf(all->names[all->count], NAME_ROOM, "%s", name);
    if (!isnan(lambda))
        settings->rule.lambda = lambda;
    all->list[all->count++] = settings;
    return true;
}

/* One contestant per method, or one per method and threshold. */
static int gather(const arguments *given, field *all)
{
    imp_sweep range = {0};
    if (given->sweep && !imp_sweep_parse(given->sweep, &range))
        return complain_sweep(given);
    if (!*given->settings.method)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "option '--method' needs the name of a method");
    all->count = 0;
    for (const char *list = given->settings.method; *list;) {
        char name[NAME_ROOM];
        size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        bool fits = range.count > 0 || add_contestant(all, given, name, NAN);
        for (size_t i = 0; i < range.count && fits; i++)
            fits = add_contestant(all, given, name, imp_sweep_at(&range, i));
        if (!fits)
            return imp_complain(IMP_EXIT_USAGE, command, "methods times values of lambda exceed %d",
                                MOST_CONTESTANTS);
        list += length + (list[length] == ',');
    }
    return IMP_GO_ON;
}

/* ---- output ---- */

/* What batch norm uses. */
static const char *statistics_of(const arguments *given)
{
    const imp_learner_info *learner = imp_learner_find(given->settings.learner);
    return learner && !learner->embeds ? learner->batch_norm : statistics[given->batch_norm];
}

/* The name of the method, or of a learner without one. */
static const char *name_of(const imp_settings *settings)
{
    const imp_learner_info *learner = imp_learner_find(settings->learner);
    return learner && !learner->by_method ? learner->name : settings->method;
}

static json_t *result_json(const imp_settings *settings, const imp_evaluation *result)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "method", name_of(settings),
                     "accuracy", imp_eval_interval(result->accuracy), "open_accuracy",
                     imp_eval_interval(result->open_accuracy), "clusters",
                     imp_eval_interval(result->clusters), "clusters_per_class",
                     imp_json_number(result->clusters_per_class), "unlabeled_clusters",
                     imp_json_number(result->unlabeled_clusters), "loss",
                     imp_json_number(result->loss), "lambda", imp_json_number(result->lambda));
}

static int print_json(const arguments *given, const char *command_line, const imp_dataset *dataset,
                      const field *all, const imp_evaluation *results)
{
    json_t *list = json_array();
    for (size_t i = 0; i < all->count; i++)
        json_array_append_new(list, result_json(&all->settings[i], &results[i]));
    const imp_eval_report report = {.command_line = command_line,
                                    .model = given->model,
                                    .settings = &given->settings,
                                    .dataset = dataset,
                                    .seed = (uint64_t)given->test_seed,
                                    .episodes = (size_t)given->episodes,
                                    .statistics = statistics_of(given)};
    return imp_eval_print(&report, list);
}

static void print_accuracy(imp_interval accuracy)
{
    char text[40];
    snprintf(text, sizeof text, "%.2f%% ± %.2f", 100 * accuracy.mean, 100 * accuracy.half_width);
    printf("%19s", text); /* the sign is two bytes long */
}

static void print_table(const arguments *given, const imp_dataset *dataset, const field *all,
                        const imp_evaluation *results)
{
    printf("%lld %s episodes, seed %lld, of ", (long long)given->episodes, purposes[given->purpose],
           (long long)given->test_seed);
    imp_print_text(given->settings.data, stdout);
    printf(" (%.12s), batch norm with %s\n\n", imp_dataset_fingerprint(dataset),
           statistics_of(given));
    bool open = false;
    for (size_t i = 0; i < all->count; i++)
        open |= results[i].unlabeled_clusters > 0;
    printf("%-22s%18s%s%12s%14s%12s\n", "method", "accuracy", open ? "              open" : "",
           "clusters", "per class", "lambda");
    for (size_t i = 0; i < all->count; i++) {
        char lambda[24] = "-";
        printf("%-22s", name_of(&all->settings[i]));
        print_accuracy(results[i].accuracy);
        if (open)
            print_accuracy(results[i].open_accuracy);
        if (isfinite(results[i].lambda))
            snprintf(lambda, sizeof lambda, "%.2f", results[i].lambda);
        printf("%12.2f%14.2f%12s\n", results[i].clusters.mean, results[i].clusters_per_class,
               lambda);
    }
    if (open)
        puts("\naccuracy is among the classes only; open counts a query nearest to an unlabelled "
             "cluster as wrong");
}

static bool show(size_t done, size_t total, void *context)
{
    imp_progress_show(context, done, total, false, "episodes");
    return true; /* Ctrl-C ends the process: there is nothing to undo */
}

/* ---- the command ---- */

static int evaluate(const arguments *given, const imp_model *model, const imp_dataset *dataset,
                    const char *command_line)
{
    field *all = calloc(1, sizeof *all);
    imp_evaluation *results = calloc(MOST_CONTESTANTS, sizeof *results);
    int status = IMP_EXIT_FAILURE;
    imp_error error;
    if (!all || !results) {
        imp_complain(status, command, "out of memory");
    } else if ((status = gather(given, all)) == IMP_GO_ON) {
        imp_progress_line line = imp_progress_start(given->quiet);
        imp_evaluation_options wanted = imp_evaluation_defaults();
        wanted.purpose = (imp_purpose)(given->purpose + 1);
        wanted.pool = (imp_pool)given->pool;
        wanted.seed = (uint64_t)given->test_seed;
        wanted.episodes = (size_t)given->episodes;
        wanted.episode_statistics = given->batch_norm == EPISODE;
        wanted.threads = (int)given->threads;
        wanted.proceed = show;
        wanted.context = &line;
        imp_status failed = imp_evaluate_model_together(
            imp_job_ranks(), model, all->list, all->count, dataset, &wanted, results, &error);
        imp_progress_end(&line);
        status = failed ? fail(&error) : EXIT_SUCCESS;
        if (!failed && given->json)
            status = print_json(given, command_line, dataset, all, results);
        else if (!failed)
            print_table(given, dataset, all, results);
    }
    free(all);
    free(results);
    return status;
}

/* The same for images without labels. */
static int evaluate_clusters(const arguments *given, const imp_model *model,
                             const imp_dataset *dataset, const char *command_line)
{
    imp_sweep range = {0};
    double lambdas[IMP_MOST_THRESHOLDS];
    if (given->sweep && !imp_sweep_parse(given->sweep, &range))
        return complain_sweep(given);
    for (size_t i = 0; i < range.count; i++)
        lambdas[i] = imp_sweep_at(&range, i);
    imp_cluster_contest contest = {.encoder = model->encoder,
                                   .dataset = dataset,
                                   .settings = &given->settings,
                                   .purpose = (imp_purpose)(given->purpose + 1),
                                   .pool = (imp_pool)given->pool,
                                   .seed = (uint64_t)given->test_seed,
                                   .episodes = (size_t)given->episodes,
                                   .validation = (size_t)given->lambda_episodes,
                                   .lambdas = lambdas,
                                   .lambda_count = range.count,
                                   .threads = (int)given->threads,
                                   .network = given->batch_norm == EPISODE ? model->network : NULL,
                                   .statistics = statistics[given->batch_norm],
                                   .json = given->json,
                                   .quiet = given->quiet,
                                   .model = given->model,
                                   .command_line = command_line};
    return imp_eval_clusters(&contest);
}

/* ---- data that the model was not trained on ---- */

static bool is_typed(int argc, char **argv, const char *name)
{
    size_t length = strlen(name);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], "--", 2) == 0 && strncmp(argv[i] + 2, name, length) == 0 &&
            (argv[i][2 + length] == '\0' || argv[i][2 + length] == '='))
            return true;
    return false;
}

/* Whether the folder's pictures must be inverted for the model, as imp_model_embed_files()
 * would. */
static const char *choose_ink(const imp_model *model, const imp_survey *survey, int *ink)
{
    imp_inversion inversion = imp_model_info_of(model)->inversion;
    bool invert =
        inversion == IMP_INVERT_ALL || (inversion == IMP_INVERT_LIGHT && survey->on_light);
    *ink = invert ? IMP_INK_INVERT : IMP_INK_AS_IS;
    return !invert                         ? "as they are"
           : inversion == IMP_INVERT_LIGHT ? "inverted because the background is light"
                                           : "inverted as in training";
}

/* A model trained on super-classes and a folder without any: the task becomes its classes, 5-way
 * 1-shot unless given otherwise. */
static bool choose_task(int argc, char **argv, imp_settings *settings, const imp_survey *survey)
{
    if (!imp_settings_by_super_class(settings) || survey->super_classes > 0 ||
        is_typed(argc, argv, "task"))
        return false;
    settings->task = IMP_EPISODE_CLASSES;
    if (!is_typed(argc, argv, "way"))
        settings->way = 0;
    if (!is_typed(argc, argv, "shot"))
        settings->shot = 0;
    if (!is_typed(argc, argv, "queries"))
        settings->queries = 0;
    return true;
}

/* The data settings of training do not apply to another folder: those not given follow from the
 * model and from the pictures. */
static int meet_folder(int argc, char **argv, arguments *given, const imp_model *model)
{
    const char *path, *ink = "as typed";
    imp_settings *settings = &given->settings;
    if (!imp_names_folder(settings->data, &path) ||
        strcmp(settings->data, model->settings.data) == 0)
        return IMP_GO_ON;
    const imp_model_info *info = imp_model_info_of(model);
    imp_survey survey;
    imp_error error;
    if (imp_survey_make(&survey, path, &error) != IMP_OK)
        return fail(&error);
    if (!is_typed(argc, argv, "colour"))
        settings->colour = info->channels == 3 ? 2 : 1; /* imp_colour_names */
    if (!is_typed(argc, argv, "rotations"))
        settings->rotations = 1;
    if (!is_typed(argc, argv, "split"))
        settings->split = given->purpose == 0 ? "classes:0/1/0" : "classes:0/0/1";
    if (!is_typed(argc, argv, "ink"))
        ink = choose_ink(model, &survey, &settings->ink);
    bool other_task = choose_task(argc, argv, settings, &survey);
    if (!given->quiet)
        imp_complain(EXIT_SUCCESS, command,
                     "pictures become %zux%zu, %s, %s; %s; the split is %s%s", info->width,
                     info->height, info->channels == 3 ? "coloured" : "gray", ink,
                     settings->rotations == 1 ? "not rotated" : "rotated, too", settings->split,
                     other_task ? "; labels are classes, as there are no super-classes" : "");
    return IMP_GO_ON;
}

/* Testing on the training data would overstate the accuracy. */
static int check_strangers(const arguments *given, const imp_model *model,
                           const imp_dataset *dataset)
{
    const char *known = imp_model_info_of(model)->fingerprint;
    if (strcmp(given->settings.data, model->settings.data) == 0 || !known[0] ||
        strcmp(known, imp_dataset_fingerprint(dataset)) != 0 ||
        strcmp(given->settings.split, model->settings.split) == 0)
        return IMP_GO_ON;
    return imp_complain(IMP_EXIT_FAILURE, command,
                        "'%s' holds the pictures that the model was trained on; --split %s tests "
                        "on classes it has not seen",
                        given->settings.data, model->settings.split);
}

/* Checks that there are classes to draw from. */
static int check_classes(const arguments *given, const imp_dataset *dataset)
{
    static const imp_split own[] = {IMP_SPLIT_VALIDATION, IMP_SPLIT_TEST};
    if (given->pool != 0 || given->unsupervised)
        return IMP_GO_ON;
    size_t labels = imp_choices_labels(&given->settings, dataset, own[given->purpose]);
    if (labels > 0)
        return IMP_GO_ON;
    return imp_complain(
        IMP_EXIT_FAILURE, command,
        "'%s' has %zu classes, none of them for %s (split %s); --split classes:0/0/1 makes "
        "all of them test classes, and --pool train draws from the training classes",
        given->settings.data, imp_dataset_classes(dataset), purposes[given->purpose],
        given->settings.split);
}

/* The command line as typed, for the JSON; truncated to fit. */
static void join(int argc, char **argv, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "imp");
    for (int i = 0; i < argc && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, " %s", argv[i]);
}

static int run(int argc, char **argv, arguments *given, imp_model **model)
{
    char command_line[4000];
    imp_error error;
    join(argc, argv, command_line, sizeof command_line);
    imp_settings_init(&given->settings);
    int operands, status = imp_parse(&imp_eval_usage, argc, argv, given, &operands);
    if (status != IMP_GO_ON)
        return status;
    if (!given->model && imp_built_in_model_size == 0)
        return imp_complain(IMP_EXIT_USAGE, command, "needs --model FILE");
    if (!given->model && !is_typed(argc, argv, "data"))
        return imp_complain(IMP_EXIT_USAGE, command,
                            "give --data FOLDER to test the built-in model on, or --model FILE");
    if (imp_model_open(given->model, NULL, model, &error) != IMP_OK)
        return fail(&error);
    status = imp_job_agree(command, given->model);
    if (status != IMP_GO_ON)
        return status;

    /* The command line overrides the model's settings. */
    given->settings = imp_settings_of_model(*model);
    if (given->unsupervised)
        imp_clustering_open(&given->settings);
    status = imp_parse(&imp_eval_usage, argc, argv, given, &operands);
    if (status != IMP_GO_ON)
        return status;

    if (!given->model)
        given->model = imp_built_in_model_name;
    status = meet_folder(argc, argv, given, *model);
    if (status != IMP_GO_ON)
        return status;

    imp_dataset *dataset;
    imp_dataset_options data = imp_settings_data(&given->settings, (int)given->threads);
    if (imp_dataset_open(given->settings.data, &data, &dataset, &error) != IMP_OK)
        return fail(&error);
    const char *fingerprint = imp_dataset_fingerprint(dataset);
    if (imp_check_images(*model, &given->settings, dataset, &error) != IMP_OK ||
        imp_ranks_agree(imp_job_ranks(), "data", imp_checksum(fingerprint, strlen(fingerprint)),
                        &error) != IMP_OK)
        status = fail(&error);
    if (status == IMP_GO_ON)
        status = check_strangers(given, *model, dataset);
    if (status == IMP_GO_ON)
        status = check_classes(given, dataset);
    if (status == IMP_GO_ON)
        status = given->unsupervised ? evaluate_clusters(given, *model, dataset, command_line)
                                     : evaluate(given, *model, dataset, command_line);
    imp_dataset_free(dataset);
    return status;
}

int imp_command_eval(int argc, char **argv)
{
    arguments given = {0};
    imp_model *model = NULL;
    int status = run(argc, argv, &given, &model);
    imp_model_free(model);
    return status;
}
