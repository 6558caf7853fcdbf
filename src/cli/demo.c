/*
 * demo.c - `imp demo`: infinite mixture prototypes compared with prototypes, on synthetic
 * alphabets.
 *
 * Both train the same network from the same weights on the same episodes, in which a class is an
 * alphabet, whose characters look nothing alike. Needs no data and draws a picture.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "draw/canvas.h"
#include "draw/projection.h"
#include "draw/scatter.h"
#include "evaluate/evaluate.h"
#include "learners/view.h"
#include "train/fit.h"
#include "train/trainer.h"

typedef struct arguments {
    const char *picture;
    int64_t updates, episodes, seed, threads;
    bool quiet;
} arguments;

static const imp_option options[] = {
    {IMP_OPTION_TEXT(arguments, picture), .name = "picture", .argument = "FILE",
     .initial = "demo.png", .help = "picture of the embeddings to write; .png or .svg"},
    {IMP_OPTION_INTEGER(arguments, updates), .name = "updates", .argument = "N",
     .integers = {0, 1000000}, .initial = "0",
     .help = "optimizer steps for each method; 0: 250, or what a slow machine can do in a minute"},
    {IMP_OPTION_INTEGER(arguments, episodes), .name = "episodes", .argument = "N",
     .integers = {2, 1000000}, .initial = "100", .help = "test episodes"},
    {IMP_OPTION_INTEGER(arguments, seed), .name = "seed", .argument = "N",
     .integers = {0, INT64_MAX}, .initial = "1", .help = "seed of the weights and episodes"},
    {IMP_OPTION_INTEGER(arguments, threads), .name = "threads", .argument = "N",
     .integers = {0, 1024}, .initial = "0", .help = "threads; 0: one per core"},
    {IMP_OPTION_FLAG(arguments, quiet), .name = "quiet", .help = "no progress on stderr"},
    {IMP_OPTION_END}};

static const char *const examples[] = {"imp demo", "imp demo --updates 1000 --picture big.png",
                                       NULL};

const imp_usage imp_demo_usage = {
    .command = "demo",
    .summary = "Compare IMP with prototypes on synthetic alphabets, in a minute",
    .details = "Trains the same network twice on synthetic alphabets, with infinite mixture "
               "prototypes and with prototypes, tests both on unseen alphabets, prints the "
               "comparison and draws the embeddings. Needs no data.",
    .options = options,
    .examples = examples,
};

static const char command[] = "demo";

/* One of the two methods compared. */
typedef struct rival {
    const char *method, *title;
    imp_updater updater;
    imp_encoder *encoder;
    imp_train_result trained;
    imp_evaluation tested;
} rival;

enum { RIVALS = 2, IMP = 0, PROTOTYPES = 1 };

enum { WAY = 5, MODES = 6 };          /* small episodes, to finish in a minute */
enum { UPDATES = 250, SECONDS = 15 }; /* of each method's training */

static imp_settings settings_of(const arguments *given, const char *method)
{
    imp_settings settings;
    imp_settings_init(&settings);
    settings.method = method;
    settings.task = IMP_EPISODE_SUPER_CLASSES; /* alphabets */
    settings.way = WAY;
    settings.modes = MODES;
    settings.queries = 2;
    settings.learn_sigma_u = 0;
    settings.updates = given->updates;
    settings.validate_every = 0;
    settings.log_every = 10;
    settings.seed = given->seed;
    return settings;
}

/* ---- training and testing ---- */

typedef struct show {
    imp_progress_line line;
    const char *method;
} show;

static bool show_training(const imp_train_report *report, void *context)
{
    show *to = context;
    bool keep = report->update % 100 == 0;
    if (imp_progress_due(&to->line, keep)) {
        char text[200];
        snprintf(text, sizeof text, "training %s: loss %.3f  accuracy %.1f%%  %s left", to->method,
                 report->line.loss, 100 * report->line.accuracy,
                 imp_duration_of(report->seconds_left).text);
        imp_progress_show(&to->line, report->update, report->updates, keep, text);
    }
    return true; /* nothing to undo */
}

static void show_testing(size_t done, size_t total, void *context)
{
    show *to = context;
    char text[60];
    snprintf(text, sizeof text, "testing %s", to->method);
    imp_progress_show(&to->line, done, total, false, text);
}

static imp_status compete(const arguments *given, const imp_dataset *dataset, rival *one,
                          imp_error *error)
{
    show to = {.line = imp_progress_start(given->quiet), .method = one->method};
    imp_settings settings = settings_of(given, one->method);
    imp_trainer_options training = {.updater = &one->updater,
                                    .threads = (int)given->threads,
                                    .proceed = show_training,
                                    .context = &to};
    imp_status status = imp_trainer_run(&settings, dataset, &training, &one->trained, error);
    if (!status)
        status = imp_encoder_create(one->updater.network, &one->encoder, error);
    if (!status) {
        const imp_learner *learner = one->updater.learner;
        imp_contestant self = {.learner = learner->kind->info.name,
                               .options = learner->options,
                               .values = learner->values,
                               .value_count = learner->value_count};
        imp_evaluate_options testing = {.task = imp_settings_task(&settings, IMP_FOR_TESTING),
                                        .episodes = (size_t)given->episodes,
                                        .threads = (int)given->threads,
                                        .progress = show_testing,
                                        .context = &to};
        testing.task.queries = 0; /* the test's own seed */
        status = imp_evaluate(one->encoder, dataset, &self, 1, &testing, &one->tested, error);
    }
    imp_progress_end(&to.line);
    return status;
}

/* ---- the picture ---- */

static void fill_panel(const imp_projection *plane, const imp_episode *episode,
                       const imp_episode_view *view, const imp_method_result *result,
                       imp_scatter_point *points)
{
    const float *embeddings = view->support;
    size_t clusters = result->cluster_count, images = view->support_count + view->query_count;
    for (size_t i = 0; i < clusters + images; i++) {
        bool is_cluster = i < clusters; /* drawn first, so that points are on top */
        size_t image = i - clusters;
        const float *at = is_cluster ? result->cluster_mean + i * view->dimensions
                                     : embeddings + image * view->dimensions;
        double spot[2];
        imp_projection_apply(plane, at, spot);
        points[i] = (imp_scatter_point){.x = spot[0],
                                        .y = spot[1],
                                        .label = is_cluster ? result->cluster_label[i]
                                                            : episode->labels[image],
                                        .mark = is_cluster                    ? IMP_MARK_CLUSTER
                                                : image < view->support_count ? IMP_MARK_SUPPORT
                                                                              : IMP_MARK_QUERY};
    }
}

/* The plane that separates the episode's characters best: that of their means. It shows a newcomer
 * that an alphabet is not one cluster. */
static imp_status fit_plane(imp_projection *plane, const imp_dataset *dataset,
                            const imp_episode *episode, const float *embeddings, size_t d,
                            imp_error *error)
{
    size_t images = imp_episode_size(episode), count = 0;
    float *means = calloc(images, d * sizeof *means);
    size_t *members = calloc(images, sizeof *members);
    size_t *classes = malloc(images * sizeof *classes);
    if (!means || !members || !classes) {
        free(means);
        free(members);
        free(classes);
        return imp_fail_memory(error, "the picture");
    }
    for (size_t i = 0; i < images; i++) {
        size_t class = imp_dataset_class_of(dataset, episode->images[i]);
        size_t c = 0;
        while (c < count && classes[c] != class)
            c++;
        if (c == count)
            classes[count++] = class;
        members[c]++;
        for (size_t j = 0; j < d; j++)
            means[c * d + j] += (embeddings[i * d + j] - means[c * d + j]) / (float)members[c];
    }
    imp_status status = imp_projection_fit(plane, means, count, d, error);
    free(means);
    free(members);
    free(classes);
    return status;
}

/* The episode embedded and clustered by one method and projected onto the plane. */
static imp_status draw_rival(rival *one, const imp_dataset *dataset, const imp_episode *episode,
                             const float *pixels, imp_scatter_panel *panel, imp_error *error)
{
    size_t images = imp_episode_size(episode), d = imp_encoder_output_size(one->encoder);
    float *embeddings = malloc(images * d * sizeof *embeddings);
    imp_scatter_point *points = malloc(2 * images * sizeof *points);
    imp_projection plane = {0};
    imp_method_result result;
    imp_status status = embeddings && points
                            ? imp_encoder_encode(one->encoder, pixels, images, 0, embeddings, error)
                            : imp_fail_memory(error, "the picture");
    if (!status)
        status = fit_plane(&plane, dataset, episode, embeddings, d, error);
    imp_episode_view view = imp_view_of(episode, embeddings, d);
    imp_method *method = NULL;
    const imp_learner *learner = one->updater.learner;
    if (!status)
        status = imp_method_create(one->method, &learner->options.method_options, &method, error);
    if (!status) {
        memcpy(imp_method_values(method, NULL), learner->values,
               learner->value_count * sizeof *learner->values);
        status = imp_method_run(method, &view, false, &result, error);
    }
    if (!status) {
        fill_panel(&plane, episode, &view, &result, points);
        double variance = result.cluster_sigma[0];
        *panel = (imp_scatter_panel){.title = one->title,
                                     .points = points,
                                     .count = images + result.cluster_count,
                                     .radius = sqrt(variance)};
    } else {
        free(points);
    }
    imp_method_free(method);
    imp_projection_clear(&plane);
    free(embeddings);
    return status;
}

static imp_status draw_picture(const arguments *given, const imp_dataset *dataset, rival *rivals,
                               imp_error *error)
{
    enum {
        ALPHABETS = 3,
        CHARACTERS = 4,
        DRAWINGS = 5,
        NEW = 3
    }; /* few enough to take in at a glance */
    static const char *const names[ALPHABETS] = {"one alphabet, of 4 characters",
                                                 "another alphabet", "a third"};
    imp_settings settings = settings_of(given, "imp");
    imp_episode_options task = imp_settings_task(&settings, IMP_FOR_TESTING);
    task.way = ALPHABETS;
    task.modes = CHARACTERS;
    task.shot = DRAWINGS;
    task.queries = NEW;
    imp_episode episode;
    imp_status status = imp_episode_draw(dataset, &task, 0, &episode, error);
    if (status)
        return status;
    size_t side = imp_dataset_size(dataset);
    float *pixels = malloc(imp_episode_size(&episode) * side * side * sizeof *pixels);
    imp_scatter_panel panels[RIVALS] = {{0}};
    char subtitles[RIVALS][160];
    if (pixels)
        imp_episode_pixels(dataset, &episode, pixels);
    else
        status = imp_fail_memory(error, "the picture");
    for (size_t i = 0; i < RIVALS && !status; i++) {
        rival *one = &rivals[RIVALS - 1 - i]; /* the simpler method on the left */
        snprintf(subtitles[i], sizeof subtitles[i],
                 "classifies %.1f%% of new drawings of unseen alphabets right",
                 100 * one->tested.accuracy.mean);
        status = draw_rival(one, dataset, &episode, pixels, &panels[i], error);
        panels[i].subtitle = subtitles[i];
    }
    imp_scatter scatter = {.panels = panels,
                           .panel_count = RIVALS,
                           .names = names,
                           .name_count = ALPHABETS,
                           .explains = true};
    if (!status)
        status = imp_scatter_save(&scatter, given->picture, error);
    for (size_t i = 0; i < RIVALS; i++)
        free((void *)panels[i].points);
    free(pixels);
    imp_episode_clear(&episode);
    return status;
}

/* ---- the text ---- */

static void print_table(const arguments *given, const rival *rivals)
{
    printf("%d unseen synthetic alphabets at a time, of %d characters, each drawn once; %lld test "
           "episodes, %lld updates\n\n",
           WAY, MODES, (long long)given->episodes, (long long)given->updates);
    printf("%-14s%20s%20s%16s\n", "method", "accuracy", "clusters per class", "training");
    for (size_t i = 0; i < RIVALS; i++) {
        const rival *one = &rivals[i];
        char accuracy[40], seconds[24];
        snprintf(accuracy, sizeof accuracy, "%.1f%% ± %.1f", 100 * one->tested.accuracy.mean,
                 100 * one->tested.accuracy.half_width);
        snprintf(seconds, sizeof seconds, "%.1f s", one->trained.seconds);
        /* the sign is two bytes long */
        printf("%-14s%21s%20.1f%16s\n", one->method, accuracy, one->tested.clusters_per_class,
               seconds);
    }
}

static void print_words(const arguments *given, const rival *rivals)
{
    double imp = rivals[IMP].tested.accuracy.mean;
    double prototypes = rivals[PROTOTYPES].tested.accuracy.mean;
    double doubt =
        rivals[IMP].tested.accuracy.half_width + rivals[PROTOTYPES].tested.accuracy.half_width;
    printf("\nThe characters of an alphabet look nothing alike, so a single prototype lies between "
           "them, close\nto none: it gets %.1f%% of the new characters right.\n",
           100 * prototypes);
    if (imp - prototypes > doubt)
        printf("IMP made %.1f clusters per alphabet, without being told how many, and gets %.1f%%: "
               "%.1f points more\n(%s shows both embeddings with their clusters).\n",
               rivals[IMP].tested.clusters_per_class, 100 * imp, 100 * (imp - prototypes),
               given->picture);
    else
        printf("IMP made %.1f clusters per alphabet and gets %.1f%%, no clear lead after so few "
               "updates\n(%s shows both embeddings with their clusters).\n",
               rivals[IMP].tested.clusters_per_class, 100 * imp, given->picture);
    printf("Next, train for longer and save the model with 'imp train --recipe glyphs-alphabets "
           "--out run', then\ncompare with 'imp eval --model run/model.safetensors --method "
           "imp,prototypes'; or train on your own\nfolder of pictures with --data.\n");
}

/* ---- the command ---- */

/* The usual number of updates or, on a slow machine, as many as fit into a minute. */
static int settle_updates(arguments *given, const imp_dataset *dataset)
{
    if (given->updates > 0)
        return IMP_GO_ON;
    imp_error error;
    given->updates = UPDATES;
    imp_settings settings = settings_of(given, "imp");
    if (imp_fit_updates(&settings, dataset, (int)given->threads, NULL, SECONDS, &error) != IMP_OK)
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    if (settings.updates < UPDATES)
        given->updates = settings.updates;
    if (settings.updates < UPDATES && !given->quiet)
        fprintf(stderr, "%lld updates instead of %d, to finish in a minute on this machine\n",
                (long long)given->updates, UPDATES);
    return IMP_GO_ON;
}

static int run(const arguments *given, const imp_dataset *dataset, rival *rivals)
{
    imp_error error;
    for (size_t i = 0; i < RIVALS; i++)
        if (compete(given, dataset, &rivals[i], &error) != IMP_OK)
            return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    print_table(given, rivals);
    imp_status failed = draw_picture(given, dataset, rivals, &error);
    if (!failed)
        print_words(given, rivals);
    else
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    return EXIT_SUCCESS;
}

int imp_command_demo(int argc, char **argv)
{
    arguments given = {0};
    int operands, status = imp_parse(&imp_demo_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    imp_error error;
    if (imp_picture_check(given.picture, &error) != IMP_OK)
        return imp_complain(IMP_EXIT_USAGE, command, "%s", error.message);
    imp_dataset *dataset;
    imp_settings settings = settings_of(&given, "imp");
    imp_dataset_options data = imp_settings_data(&settings, (int)given.threads);
    if (imp_dataset_open(settings.data, &data, &dataset, &error) != IMP_OK)
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    rival rivals[RIVALS] = {
        [IMP] = {.method = "imp", .title = "IMP: as many clusters as an alphabet needs"},
        [PROTOTYPES] = {.method = "prototypes", .title = "Prototypes: one cluster per alphabet"}};
    status = settle_updates(&given, dataset);
    if (status == IMP_GO_ON)
        status = run(&given, dataset, rivals);
    for (size_t i = 0; i < RIVALS; i++) {
        imp_encoder_free(rivals[i].encoder);
        imp_updater_clear(&rivals[i].updater);
    }
    imp_dataset_free(dataset);
    return status;
}
