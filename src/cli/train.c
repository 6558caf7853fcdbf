/*
 * train.c - `imp train`: trains an embedding on episodes, shows progress, and resumes runs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/data_options.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/progress.h"
#include "cli/training_options.h"
#include "cli/training_progress.h"
#include "data/dataset.h"
#include "settings/choices.h"
#include "settings/recipe.h"
#include "train/run_folder.h"
#include "train/trainer.h"

typedef struct arguments {
    imp_settings settings;
    const char *out, *recipe, *resume;
    int64_t threads;
    double minutes;
    bool quiet, list_recipes, skip_broken, tensorboard;
} arguments;
#define IMP_ARGUMENTS arguments

/* clang-format off */
static const imp_option options[] = {
    {IMP_OPTION_HEADING("Run")},
    {IMP_OPTION_TEXT(arguments, out), .name = "out", .argument = "FOLDER",
     .help = "folder for settings, logs, checkpoint and model"},
    {IMP_OPTION_TEXT(arguments, recipe), .name = "recipe", .argument = "NAME",
     .help = "start from the settings of a recipe, built in or a file"},
    {IMP_OPTION_TEXT(arguments, resume), .name = "resume", .argument = "FOLDER",
     .help = "continue a run that was stopped or killed"},
    {IMP_OPTION_NUMBER(arguments, minutes), .name = "minutes", .argument = "M",
     .numbers = {0, 1e6}, .initial = "0",
     .help = "fit updates and schedule into this time"},
    {IMP_OPTION_REST},
    {IMP_OPTION_FLAG(arguments, list_recipes), .name = "list-recipes",
     .help = "list the built-in recipes"},
    {IMP_OPTION_INTEGER(arguments, threads), .name = "threads", .argument = "N",
     .integers = {0, 1024}, .initial = "0",
     .help = "threads; 0: one per core; results do not depend on it"},
    {IMP_OPTION_FLAG(arguments, skip_broken), .name = "skip-broken",
     .help = "leave out pictures that cannot be read, and list them"},
    {IMP_OPTION_FLAG(arguments, tensorboard), .name = "tensorboard",
     .help = "also write TensorBoard event files to the run's folder"},
    {IMP_OPTION_FLAG(arguments, quiet), .name = "quiet", .help = "no progress on stderr"},
    {IMP_OPTION_HEADING("Data (for a folder, the command chooses what is not given)")},
    IMP_OPTIONS_OF(IMP_DATA_SETTINGS)
    {IMP_OPTION_HEADING("Episodes (likewise)")},
    IMP_OPTIONS_OF(IMP_TASK_SETTINGS)
    {IMP_OPTION_HEADING("Method (likewise)")},
    IMP_METHOD_OPTIONS
    IMP_LEARNER_OPTIONS
    {IMP_OPTION_HEADING("Training (likewise)")},
    IMP_OPTIONS_OF(IMP_TRAINING_SETTINGS)
    IMP_OPTIONS_OF(IMP_AUGMENT_SETTINGS)
    {IMP_OPTION_END}};
/* clang-format on */

static const char *const examples[] = {
    "imp train --data my-pictures --out run --minutes 10",
    "imp train --data vectors:X.npy,y.npy --network linear:64 --out run", NULL};

const imp_usage imp_train_usage = {
    .command = "train",
    .summary = "Train an embedding on few-shot episodes",
    .details =
        "Draws episodes, embeds their images, classifies their queries with a method and follows "
        "the gradient of the loss. The run is kept in a folder: settings, logs, a checkpoint, and "
        "the model that did best in validation. A first model is there within the first minute, "
        "and whenever the run is stopped. A run that was stopped with Ctrl-C or killed continues "
        "with --resume, to the same bits as if it had never stopped. It keeps its settings; only "
        "--updates can be raised, and --log-every, --checkpoint-every, --loss-limit and the path "
        "of the data changed.\n\nSettings come from the defaults, then from --recipe, then from "
        "the command line. The defaults suit a thousand classes. If --data is your own folder or "
        "archive, or a set of vectors, and there is no recipe, the command instead chooses the "
        "size and ink of the pictures, the split, way, shot, variances and number of updates to "
        "suit the data, and prints them. An episode's labels stand for classes or, with --task "
        "super-classes, for super-classes.",
    .options = options,
    .examples = examples,
};

static const char command[] = "train";

static int fail(const imp_error *error)
{
    return imp_complain(IMP_EXIT_FAILURE, command, "%s", error->message);
}

/* ---- progress ---- */

/* "5-way " in front of an accuracy, or nothing if the way is unknown. */
typedef struct way_name {
    char text[32];
} way_name;

static way_name name_way(int64_t way)
{
    way_name name = {""};
    if (way > 0)
        snprintf(name.text, sizeof name.text, "%lld-way ", (long long)way);
    return name;
}

static bool is_of_vectors(const imp_settings *settings)
{
    static const char kind[] = "vectors:";
    return strncmp(settings->data, kind, sizeof kind - 1) == 0;
}

void imp_training_describe(const imp_train_report *report, const imp_settings *settings, char *text,
                           size_t size)
{
    const imp_train_line *line = &report->line;
    way_name way = name_way(settings ? settings->way : 0);
    way_name validated = name_way(
        settings ? (settings->validation_way > 0 ? settings->validation_way : settings->way) : 0);
    int used = snprintf(text, size, "loss %.3f  %saccuracy %.1f%%  clusters %.1f", line->loss,
                        way.text, 100 * line->accuracy, line->clusters);
    if (isfinite(line->sigma_l) && used > 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, "  sigma %.2f", line->sigma_l);
    if (isfinite(line->sigma_l) && isfinite(line->sigma_u) && used > 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, "/%.2f", line->sigma_u);
    /* A resumed run knows its best validation before it has validated again. */
    if (!isnan(report->best) && isnan(report->validation) && used > 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, "  best validation %s%.1f%%",
                         validated.text, 100 * report->best);
    if (!isnan(report->validation) && used > 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, "  validation %s%.1f%% (best %.1f%%)",
                         validated.text, 100 * report->validation, 100 * report->best);
    if (!isnan(report->validation_open) && used > 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, ", open %.1f%%",
                         100 * report->validation_open);
    if (used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "  %.0f %s/s  %s left", line->images_per_second,
                 settings && is_of_vectors(settings) ? "points" : "images",
                 imp_duration_of(report->seconds_left).text);
}

typedef struct watch {
    imp_progress_line line;
    const imp_settings *settings;
    double begin; /* by imp_clock() */
    const char *folder;
    bool resumed, estimated, has_model; /* the last two: already reported */
} watch;

/* Reports once, as soon as it can be estimated, how long a long run will take. */
static void say_estimate(watch *own, const imp_train_report *report)
{
    enum { UPDATES = 3, SECONDS = 2, WORTH_SAYING = 120 };
    if (own->estimated || own->line.quiet || report->update < UPDATES ||
        imp_clock() - own->begin < SECONDS)
        return;
    own->estimated = true;
    if (!(report->seconds_left >= WORTH_SAYING))
        return;
    imp_progress_end(&own->line);
    fprintf(stderr,
            "  about %s for %llu updates; --minutes fits a run into a given time, and Ctrl-C "
            "leaves a model at any time\n",
            imp_duration_of(report->seconds_left).text, (unsigned long long)report->updates);
}

static void say_first_model(watch *own, const imp_train_report *report)
{
    if (own->has_model || !report->has_model)
        return;
    own->has_model = true;
    if (own->line.quiet || own->resumed)
        return;
    imp_progress_end(&own->line);
    fprintf(stderr, "  a first model is %s; better ones replace it\n",
            imp_training_file(own->folder, imp_model_name).text);
}

static bool proceed(const imp_train_report *report, void *context)
{
    watch *own = context;
    say_estimate(own, report);
    say_first_model(own, report);
    if (imp_progress_due(&own->line, report->new_line)) {
        char text[400];
        imp_training_describe(report, own->settings, text, sizeof text);
        imp_progress_show(&own->line, report->update, report->updates, report->new_line, text);
    }
    return !imp_interrupted();
}

static void give_notice(const char *sentence, void *context)
{
    watch *own = context;
    imp_progress_end(&own->line);
    if (!own->line.quiet || own->resumed)
        imp_complain(EXIT_SUCCESS, command, "%s", sentence);
}

/* ---- the command ---- */

static int list_recipes(void)
{
    for (size_t i = 0; imp_recipe_at(i).name; i++) {
        char summary[200];
        imp_recipe_summary(imp_recipe_at(i).text, summary, sizeof summary);
        printf("%-28s%s\n", imp_recipe_at(i).name, summary);
    }
    return EXIT_SUCCESS;
}

/* The command line overrides the recipe or the resumed run, so the parser runs twice: the first
 * pass only finds out where to start from. */
static int settle(int argc, char **argv, arguments *given)
{
    imp_settings_init(&given->settings);
    given->settings.updates = -1; /* whether it is given */
    int operands, status = imp_parse(&imp_train_usage, argc, argv, given, &operands);
    if (status != IMP_GO_ON || given->list_recipes)
        return status;
    if (given->resume && (given->recipe || given->out))
        return imp_complain(IMP_EXIT_USAGE, command,
                            "--resume cannot be combined with --recipe or --out");
    if (given->minutes > 0 && given->settings.updates >= 0)
        return imp_complain(
            IMP_EXIT_USAGE, command,
            "--minutes determines the number of updates; give either --minutes or --updates");
    if (!given->resume && !given->out)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "give --out FOLDER for a new run, or --resume FOLDER to continue one");
    imp_settings begun;
    imp_settings_init(&begun);
    imp_error error;
    imp_status failed = IMP_OK;
    if (given->resume)
        failed = imp_training_glance(given->resume, &begun, &(uint64_t){0}, &error);
    else if (given->recipe)
        failed = imp_recipe_apply(&begun, given->recipe, &error);
    else
        imp_choices_open(&begun); /* choose() sets what the command line leaves open */
    imp_settings_clear(&given->settings);
    given->settings = begun;
    if (failed)
        return fail(&error);
    return imp_parse(&imp_train_usage, argc, argv, given, &operands);
}

/* ---- settings that were not given ---- */

static void say_left_out(const imp_survey *survey, const char *what)
{
    if (survey->unlabeled > 0)
        fprintf(stderr, "  left out  %zu unlabelled %s%s not used\n", survey->unlabeled, what,
                survey->unlabeled == 1 ? " is" : "s are");
    imp_print_foreign("  left out  ", &survey->foreign, stderr);
    if (survey->empty > 0) {
        fprintf(stderr, "  left out  %zu sub-folder%s no pictures: '", survey->empty,
                survey->empty == 1 ? " has" : "s have");
        imp_print_text(survey->first_empty, stderr);
        fprintf(stderr, "'%s\n", survey->empty == 1 ? "" : ", ...");
    }
}

static void say_pictures(const imp_settings *settings, const imp_dataset *dataset)
{
    fprintf(stderr, "  pictures  %ux%u, %s%s, %s\n", imp_dataset_size(dataset),
            imp_dataset_size(dataset), imp_dataset_channels(dataset) == 1 ? "gray" : "RGB",
            dataset->inverted ? ", inverted because the background is light" : "",
            settings->rotations > 1 ? "also rotated" : "not rotated");
}

/* Prints the chosen settings of a run on the user's own folder or vectors. */
static void say_choices(const arguments *given, const imp_survey *survey,
                        const imp_dataset *dataset)
{
    const imp_settings *settings = &given->settings;
    size_t validation = imp_choices_labels(settings, dataset, IMP_SPLIT_VALIDATION);
    const char *what = imp_dataset_has_vectors(dataset) ? "point" : "picture";
    fprintf(stderr, "%zu %ss in %zu classes, %zu", survey->pictures, what, survey->classes,
            survey->smallest);
    if (survey->largest > survey->smallest)
        fprintf(stderr, " to %zu", survey->largest);
    fprintf(stderr, " in each%s; settings chosen where not given:\n",
            imp_dataset_has_vectors(dataset) ? " that trains" : "");
    say_left_out(survey, what);
    if (imp_dataset_has_vectors(dataset))
        fprintf(stderr, "  network   %u numbers to %s\n", imp_dataset_channels(dataset),
                settings->network);
    else
        say_pictures(settings, dataset);
    if (dataset->by_points)
        fprintf(stderr,
                "  split     by points, because there are few classes: parts of each train, "
                "validate and test\n            (--split %s)\n",
                strcmp(settings->split, "own") == 0 ? IMP_USUAL_POINTS_SPLIT : settings->split);
    else
        fprintf(stderr, "  split     %s%zu labels train, %zu validate, %zu test (--split %s)\n",
                imp_dataset_has_vectors(dataset) ? "by classes: " : "",
                imp_choices_labels(settings, dataset, IMP_SPLIT_TRAIN), validation,
                imp_choices_labels(settings, dataset, IMP_SPLIT_TEST), settings->split);
    fprintf(stderr, "  episodes  %lld-way %lld-shot, ", (long long)settings->way,
            (long long)settings->shot);
    if (settings->queries > 0)
        fprintf(stderr, "%lld queries of each class\n", (long long)settings->queries);
    else
        fprintf(stderr, "up to 5 queries of each class\n");
    if (given->minutes > 0)
        fprintf(stderr, "  training  as many updates as fit into %g minute%s, ", given->minutes,
                given->minutes == 1 ? "" : "s");
    else
        fprintf(stderr, "  training  %lld updates, ", (long long)settings->updates);
    if (settings->validate_every > 0 && given->minutes > 0)
        fprintf(stderr, "validated by %lld-way episodes\n", (long long)settings->validation_way);
    else if (settings->validate_every > 0)
        fprintf(stderr, "validated every %lld by %lld-way episodes\n",
                (long long)settings->validate_every, (long long)settings->validation_way);
    else
        fprintf(stderr, "not validated: the last model is kept\n");
}

/* Opens the data, choosing settings that were not given to suit it. */
static int open_data(arguments *given, imp_dataset **dataset)
{
    imp_error error;
    imp_survey survey;
    if (imp_choices_open_data(&given->settings, !given->resume && !given->recipe,
                              given->skip_broken, (int)given->threads, &survey, dataset,
                              &error) != IMP_OK)
        return fail(&error);
    for (size_t i = 0; i < (*dataset)->fault_count; i++)
        imp_complain(EXIT_SUCCESS, command, "left out: %s", (*dataset)->faults[i]->sentence);
    if (survey.pictures > 0 && !given->quiet)
        say_choices(given, &survey, *dataset);
    return IMP_GO_ON;
}

/* ---- the run ---- */

static void conclude(const arguments *given, const imp_train_result *result)
{
    const char *folder = given->resume ? given->resume : given->out;
    if (!result->finished) {
        fprintf(stderr,
                "stopped after update %llu%s; the model so far is %s; continue with: imp train "
                "--resume ",
                (unsigned long long)result->update,
                imp_interrupted() ? "" : ", because the time is up",
                imp_training_file(folder, imp_model_name).text);
        imp_print_word(folder, stderr);
        fputc('\n', stderr);
        return;
    }
    if (given->quiet)
        return;
    fprintf(stderr, "%llu update%s in %s; ", (unsigned long long)result->update,
            result->update == 1 ? "" : "s", imp_duration_of(result->seconds).text);
    if (!isnan(result->best))
        fprintf(stderr, "best validation accuracy %.1f%% at update %llu; ", 100 * result->best,
                (unsigned long long)result->best_update);
    fprintf(stderr, "the model is %s\n", imp_training_file(folder, imp_model_name).text);
}

static int train(arguments *given)
{
    imp_error error;
    imp_dataset *dataset;
    int status = open_data(given, &dataset);
    if (status != IMP_GO_ON)
        return status;
    watch own = {.line = imp_progress_start(given->quiet),
                 .settings = &given->settings,
                 .begin = imp_clock(),
                 .folder = given->resume ? given->resume : given->out,
                 .resumed = given->resume != NULL};
    imp_train_options wanted = imp_train_defaults();
    wanted.folder = own.folder;
    wanted.threads = (int)given->threads;
    wanted.proceed = proceed;
    wanted.notice = give_notice;
    wanted.minutes = given->minutes;
    wanted.tensorboard = given->tensorboard;
    wanted.context = &own;
    imp_train_result result;
    imp_interrupt_catch();
    imp_status failed = given->resume ? imp_train_resume_together(imp_job_ranks(), &given->settings,
                                                                  dataset, &wanted, &result, &error)
                                      : imp_train_together(imp_job_ranks(), &given->settings,
                                                           dataset, &wanted, &result, &error);
    imp_progress_end(&own.line);
    imp_dataset_free(dataset);
    if (failed)
        return fail(&error);
    conclude(given, &result);
    return imp_interrupted() && !result.finished ? IMP_EXIT_INTERRUPTED : EXIT_SUCCESS;
}

int imp_command_train(int argc, char **argv)
{
    arguments given = {0};
    int status = settle(argc, argv, &given);
    if (status == IMP_GO_ON)
        status = given.list_recipes ? list_recipes() : train(&given);
    imp_settings_clear(&given.settings);
    return status;
}
