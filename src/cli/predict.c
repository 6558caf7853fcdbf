/* predict.c - `imp predict`: classifies points with a fitted mixture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/answer_truth.h"
#include "cli/class_names.h"
#include "cli/destination.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/mixture.h"
#include "cli/model_points.h"
#include "cli/point_views.h"
#include "cli/progress.h"
#include "cli/vectors.h"

typedef struct settings {
    double open_set_rate; /* NAN: the mixture's */
    const char *output, *truth, *model;
    bool open_set, json;
} settings;

static const imp_option options[] = {
    {IMP_OPTION_FLAG(settings, open_set), .name = "open-set",
     .help =
         "allow the answer \"none of these\", class -1, for points too far from all labelled ones"},
    {IMP_OPTION_NUMBER(settings, open_set_rate), .name = "open-set-rate", .argument = "R",
     .numbers = {0, 1}, .otherwise = "the mixture's",
     .help = "fraction of points of known classes that --open-set, which this implies, rejects"},
    {IMP_OPTION_TEXT(settings, output), .name = "output", .letter = 'o', .argument = "FILE",
     .help = "also write the answers, as .npy or, with another extension, as text"},
    {IMP_OPTION_TEXT(settings, truth), .name = "truth", .argument = "FILE",
     .help = "the points' true classes, to compute the accuracy"},
    IMP_POINT_MODEL_OPTION(settings, model),
    {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "write JSON"},
    {IMP_OPTION_END}};

static const char *const examples[] = {"imp predict m.safetensors q.npy",
                                       "imp predict m.safetensors q.npy --open-set --json", NULL};

const imp_usage imp_predict_usage = {
    .command = "predict",
    .summary = "Classify points with a fitted mixture",
    .details = "Reads a mixture written by imp fit or imp add and points of the same dimension, "
               "and prints every point's class, its probability, the cluster that decided and the "
               "squared distance to that cluster's mean. If the mixture has several views, give a "
               "file for each, in the same order.",
    .operands = "MIXTURE POINTS.npy [VIEW.npy...]",
    .fewest = 2,
    .most = 1 + IMP_MOST_TEXTS,
    .options = options,
    .examples = examples,
};

static const char *const command = "predict";

/* Queries being classified block by block, so that memory holds the answers of one block only. */
typedef struct job {
    const settings *given;
    const imp_mixture *mixture;
    imp_reader reader;
    bool once; /* points can be read once */
    size_t classes, outcomes;
    imp_mixture_predictions found; /* of a block */
    imp_labels names;
    imp_answer_truth truth;
    imp_labels_writer answers; /* where they are kept */
    imp_error write_error;
    imp_status write_status; /* of writing them */
    imp_progress_line line;
} job;

enum { MOST_BLOCK = 1 << 16, MOST_VALUES = 1 << 22 }; /* queries, and numbers about them */

typedef void printer(job *work, size_t begin, size_t count);

enum { SOON = 5 }; /* seconds without progress output */

/* A comma-separated list without brackets, continuing what was printed before. */
static void print_items(json_t *array, bool first)
{
    char *text = json_dumps(array, JSON_COMPACT | JSON_REAL_PRECISION(17));
    size_t length = text ? strlen(text) : 0;
    if (length > 2)
        printf("%s%.*s", first ? "" : ",", (int)(length - 2), text + 1);
    free(text);
    json_decref(array);
}

/* Keeps the answers for whoever wants them as a file, or beside the truth. */
static void note_answers(job *work, size_t begin, size_t count)
{
    if (work->answers.names && !work->write_status)
        work->write_status =
            imp_labels_append(&work->answers, work->found.label, count, &work->write_error);
    imp_truth_count(&work->truth, begin, work->found.label, count);
}

static void print_labels(job *work, size_t begin, size_t count)
{
    note_answers(work, begin, count);
    print_items(imp_classes_to_json(&work->names, work->found.label, count), begin == 0);
}

static void print_distances(job *work, size_t begin, size_t count)
{
    print_items(imp_json_floats(work->found.distance, count), begin == 0);
}

static void print_clusters(job *work, size_t begin, size_t count)
{
    print_items(imp_json_integers(work->found.cluster, count), begin == 0);
}

static void print_probabilities(job *work, size_t begin, size_t count)
{
    json_t *probabilities = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            probabilities,
            imp_json_floats(work->found.probability + i * work->outcomes, work->outcomes));
    print_items(probabilities, begin == 0);
}

static void print_table(job *work, size_t begin, size_t count)
{
    const imp_mixture_predictions *found = &work->found;
    if (begin == 0)
        printf("%8s  %8s  %11s  %8s  %s\n", "query", "class", "probability", "cluster",
               "squared distance");
    note_answers(work, begin, count);
    for (size_t i = 0; i < count; i++) {
        int32_t class = found->label[i];
        size_t outcome = class < 0 ? work->classes : (size_t) class;
        printf("%8zu  ", begin + i);
        imp_print_class(&work->names, class);
        /* A mixture without classes has no probabilities. */
        if (outcome < work->outcomes)
            printf("  %11.4f", found->probability[i * work->outcomes + outcome]);
        else
            printf("  %11s", "-");
        printf("  %8d  %16.6g\n", (int)found->cluster[i], found->distance[i]);
    }
}

/* The wanted arrays of a block's answers, with their sizes per point. */
typedef struct column {
    void *values;
    size_t size;
} column;

static size_t columns_of(const job *work, const imp_mixture_predictions *wanted, column columns[4])
{
    const column all[] = {{wanted->label, sizeof *wanted->label},
                          {wanted->probability, work->outcomes * sizeof *wanted->probability},
                          {wanted->distance, sizeof *wanted->distance},
                          {wanted->cluster, sizeof *wanted->cluster}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].values && all[i].size > 0)
            columns[count++] = all[i];
    return count;
}

/* Sends a rank's answers to rank 0, where they replace its own. */
static imp_status pass_on(const job *work, const imp_mixture_predictions *wanted, int from,
                          size_t count, imp_error *error)
{
    const imp_ranks *ranks = imp_job_ranks();
    column columns[4];
    size_t all = columns_of(work, wanted, columns);
    imp_status status = IMP_OK;
    for (size_t i = 0; i < all && !status; i++) {
        size_t bytes = count * columns[i].size;
        if (imp_job_writes())
            status = ranks->receive(ranks, from, columns[i].values, bytes, error);
        else if (ranks->rank == from)
            status = ranks->send(ranks, 0, columns[i].values, bytes, error);
    }
    return status;
}

/* Classifies one block per rank, from `begin` on, and prints the answers in order. If nothing is to
 * be printed, points are only read and not classified. */
static imp_status do_round(job *work, const imp_mixture_predictions *wanted, printer *print,
                           size_t begin, imp_error *error)
{
    const imp_ranks *ranks = imp_job_ranks();
    int rank = imp_rank_of(ranks), size = imp_ranks_any(ranks) ? ranks->size : 1;
    size_t n = work->reader.source->count, d = work->reader.source->dimensions;
    size_t most = work->reader.most, own = begin + (size_t)rank * most;
    imp_status status = IMP_OK;
    if (own < n || begin == 0) { /* even without points: the mixture checks dimensions */
        const float *rows = NULL;
        size_t from = own < n ? own : n, count = n - from < most ? n - from : most;
        status = imp_reader_read(&work->reader, from, count, &rows, error);
        if (!status)
            status = imp_mixture_predict(work->mixture, rows, print ? count : 0, d,
                                         work->given->open_set, wanted, error);
    }
    for (int r = 0; r < size && print && !status; r++) {
        size_t first = begin + (size_t)r * most;
        if (first >= n && first > 0)
            break;
        size_t count = n - first < most ? n - first : most;
        if (r > 0)
            status = pass_on(work, wanted, r, count, error);
        if (!status && imp_job_writes())
            print(work, first, count);
        if (!status && work->write_status) {
            status = work->write_status;
            *error = work->write_error;
        }
    }
    return status;
}

/* Classifies all queries, block by block; `wanted` says which answers to compute. */
static int each_block(job *work, const imp_mixture_predictions *wanted, printer *print)
{
    const imp_ranks *ranks = imp_job_ranks();
    size_t n = work->reader.source->count, begin = 0;
    size_t step = work->reader.most * (imp_ranks_any(ranks) ? (size_t)ranks->size : 1);
    double start = imp_clock();
    imp_error error;
    imp_status status;
    do {
        status = do_round(work, wanted, print, begin, &error);
        if (!status)
            status = imp_interrupt_check(&error);
        begin = n - begin < step ? n : begin + step;
        double now = imp_clock(), left = (now - start) / (double)begin * (double)(n - begin);
        if (now - start > SOON && imp_progress_due(&work->line, false)) {
            char text[80];
            snprintf(text, sizeof text, "points, %s left", imp_duration_of(left).text);
            imp_progress_show(&work->line, begin, n, false, text);
        }
    } while (begin < n && !status);
    imp_progress_end(&work->line);
    return status ? imp_complain(imp_interrupted() ? IMP_EXIT_INTERRUPTED : IMP_EXIT_FAILURE,
                                 command, "%s", error.message)
                  : IMP_GO_ON;
}

/* All arrays of the JSON object in turn; each is a pass over the queries. */
static int print_json(job *work)
{
    const imp_mixture_predictions *found = &work->found;
    const struct {
        const char *key;
        imp_mixture_predictions wanted;
        printer *print;
    } arrays[] = {
        {"predictions", {.label = found->label}, print_labels},
        {"probabilities", {.probability = found->probability}, print_probabilities},
        {"distances", {.distance = found->distance}, print_distances},
        {"clusters", {.cluster = found->cluster}, print_clusters},
    };
    json_t *more = imp_json_begin(); /* nothing can fail from here on */
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        printf("%s\"%s\":[", i == 0 ? "{" : ",", arrays[i].key);
        int status = each_block(work, &arrays[i].wanted, arrays[i].print);
        if (status != IMP_GO_ON) {
            json_decref(more);
            return status;
        }
        putchar(']');
    }
    if (imp_names_matter(&work->names))
        json_object_set_new(more, "classes", imp_names_to_json(&work->names));
    imp_truth_to_json(&work->truth, more);
    print_items(more, json_object_size(more) == 0);
    puts("}");
    return EXIT_SUCCESS;
}

static int print_answers(job *work)
{
    /* What cannot be read or asked is found before anything is printed, unless points come but
     * once. */
    int status = work->once ? IMP_GO_ON : each_block(work, &work->found, NULL);
    if (status != IMP_GO_ON)
        return status;
    if (work->given->json)
        return print_json(work);
    status = each_block(work, &work->found, print_table);
    if (status == IMP_GO_ON)
        imp_truth_print(&work->truth);
    return status == IMP_GO_ON ? EXIT_SUCCESS : status;
}

/* What the answers are called, what is true, and a file for them if they are kept. */
static int prepare(job *work, size_t count)
{
    const settings *given = work->given;
    int status = imp_names_of_mixture(command, work->mixture, &work->names);
    if (status == IMP_GO_ON)
        status = imp_truth_read(command, given->truth, count, &work->names, given->open_set,
                                &work->truth);
    imp_error error;
    /* What is begun is removed. Ranks end each other. */
    if (status == IMP_GO_ON && given->output && !imp_ranks_any(imp_job_ranks()))
        imp_interrupt_catch();
    if (status == IMP_GO_ON && given->output && imp_job_writes() &&
        imp_labels_begin(&work->answers, given->output, count, &work->names, &error))
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    return status;
}

static int keep_answers(job *work)
{
    imp_error error;
    if (work->answers.names && imp_labels_commit(&work->answers, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    return EXIT_SUCCESS;
}

static int predict(const settings *given, const imp_mixture *mixture, const imp_point_views *views)
{
    const imp_point_source *points = &views->source;
    size_t classes = imp_mixture_summarize(mixture).classes;
    job work = {.given = given,
                .mixture = mixture,
                .once = views->once,
                .classes = classes,
                .outcomes = classes + given->open_set,
                .line = imp_progress_start(false)};
    size_t room = MOST_VALUES / (points->dimensions + work.outcomes + 1) + 1;
    room = room < MOST_BLOCK ? room : MOST_BLOCK;
    work.found = (imp_mixture_predictions){
        .label = malloc(room * sizeof *work.found.label),
        .probability = calloc(room, (work.outcomes + 1) * sizeof *work.found.probability),
        .distance = malloc(room * sizeof *work.found.distance),
        .cluster = malloc(room * sizeof *work.found.cluster),
    };
    imp_error error;
    int status;
    if (!work.found.label || !work.found.probability || !work.found.distance || !work.found.cluster)
        status = imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    else if (imp_reader_create(&work.reader, points, NULL, room, &error))
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    else
        status = prepare(&work, points->count);
    if (status == IMP_GO_ON)
        status = print_answers(&work);
    if (status == EXIT_SUCCESS)
        status = keep_answers(&work);
    imp_reader_release(&work.reader);
    imp_truth_clear(&work.truth);
    imp_labels_abandon(&work.answers);
    imp_labels_clear(&work.names);
    free(work.found.label);
    free(work.found.probability);
    free(work.found.distance);
    free(work.found.cluster);
    return status;
}

/* Opens the points of all views. */
static int open_points(const settings *given, const imp_mixture *mixture, const imp_model *model,
                       const imp_texts *paths, imp_point_views *points)
{
    imp_mixture_choice choice;
    imp_mixture_choice_of(mixture, &choice, sizeof choice);
    size_t known = choice.views > 0 ? choice.views : 1;
    if (paths->count != known)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "the mixture has %zu view%s; give a file for each, in the order in "
                            "which they were fitted",
                            known, known == 1 ? "" : "s");
    /* A table needs one pass; the arrays of a JSON object need one each, and ranks one each. */
    bool once = !given->json && !imp_ranks_any(imp_job_ranks());
    int status = imp_point_views_open(command, model, paths, once, points);
    for (size_t v = 0; v < choice.views && status == IMP_GO_ON; v++) {
        size_t wanted = imp_mixture_view_at(mixture, v).dimensions;
        if (points->dimensions[v] != wanted)
            status =
                imp_complain(IMP_EXIT_FAILURE, command,
                             "%s: its points have %zu dimensions, but the mixture's view has %zu",
                             paths->items[v], points->dimensions[v], wanted);
    }
    return status;
}

int imp_command_predict(int argc, char **argv)
{
    settings given = {.open_set_rate = NAN};
    int operands;
    int status = imp_parse(&imp_predict_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    imp_mixture *mixture = NULL;
    imp_model *model = NULL;
    imp_point_views points = {0};
    imp_texts views = {.count = (size_t)operands - 1};
    const char *inputs[IMP_MOST_TEXTS + 2] = {argv[1], given.truth};
    for (size_t v = 0; v < views.count; v++)
        views.items[v] = inputs[v + 2] = argv[v + 2];
    const imp_destination output = {"-o", "a file of answers", given.output};
    status = imp_check_inputs(command, given.output, inputs, views.count + 2);
    if (status == IMP_GO_ON)
        status = imp_check_files(command, &output, 1);
    if (status == IMP_GO_ON)
        status = imp_mixture_read(command, argv[1], &mixture);
    if (status == IMP_GO_ON)
        status = imp_open_vector_model(command, given.model, &model);
    if (status == IMP_GO_ON)
        status = open_points(&given, mixture, model, &views, &points);
    imp_error error;
    given.open_set |= !isnan(given.open_set_rate);
    if (status == IMP_GO_ON && !isnan(given.open_set_rate) &&
        imp_mixture_set_open_set_rate(mixture, given.open_set_rate, &error))
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    if (status == IMP_GO_ON && given.open_set)
        imp_mixture_tell_rate(command, mixture);
    if (status == IMP_GO_ON)
        status = predict(&given, mixture, &points);
    imp_point_views_close(&points);
    imp_model_free(model);
    imp_mixture_free(mixture);
    return status;
}
