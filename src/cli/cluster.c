/* cluster.c - `imp cluster`: clusters points or pictures without labels. */
#define _POSIX_C_SOURCE 200809L /* strdup */

#include "cli/cluster.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/memory.h"
#include "cli/destination.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/labelings.h"
#include "cli/progress.h"
#include "data/source.h"
#include "methods/cluster.h"
#include "methods/contingency.h"
#include "methods/method.h"

typedef imp_cluster_settings settings;

/* In the order of imp_cluster_order. */
static const char *const orders[] = {"auto", "given", "random", "farthest-first", NULL};

static const imp_option options[] = {
    {IMP_OPTION_HEADING("Clustering")},
    {IMP_OPTION_METHOD(settings, method), .unsupervised = true, .initial = "imp"},
    {IMP_OPTION_NUMBER(settings, rule.lambda), .name = "lambda", .argument = "X", .like = "lambda",
     .initial = "auto",
     .help = "squared distance beyond which a new cluster starts; auto: chosen from the points, or "
             "by --clusters, --validation or the model"},
    {IMP_OPTION_INTEGER(settings, clusters), .name = "clusters", .argument = "K",
     .integers = {0, INT32_MAX}, .initial = "0",
     .help = "number of clusters; 0: found from the points"},
    {IMP_OPTION_TEXT(settings, labels), .name = "labels", .argument = "FILE",
     .help = "known classes of some points, -1 for the others; a cluster has at most one class"},
    {IMP_OPTION_REST},
    {IMP_OPTION_FLAG(settings, resume), .name = "resume",
     .help = "continue where Ctrl-C stopped it, from the file left beside the output"},
    {IMP_OPTION_TEXT(settings, must_link), .name = "must-link", .argument = "FILE",
     .help = "pairs of points in the same cluster: an array (pairs, 2) of indices"},
    {IMP_OPTION_TEXT(settings, cannot_link), .name = "cannot-link", .argument = "FILE",
     .help = "pairs of points in different clusters"},
    {IMP_OPTION_NUMBER(settings, rule.sigma_u), .name = "sigma", .argument = "S", .like = "sigma-u",
     .initial = "auto",
     .help = "imp: variance of a cluster; auto: estimated from the points, 5 with --lambda, or the "
             "model's"},
    {IMP_OPTION_NUMBER(settings, rule.steps), .name = "steps", .argument = "N",
     .like = "cluster-steps", .initial = "auto",
     .help = "passes over the points; auto: 5 for imp, until convergence for dp-means"},
    {IMP_OPTION_CHOICE(settings, order), .name = "order", .argument = "ORDER", .choices = orders,
     .initial = "auto",
     .help = "order in which points are processed if lambda is given; may change the clusters; "
             "auto: farthest-first for pictures, else given"},
    {IMP_OPTION_INTEGER(settings, seed), .name = "seed", .argument = "N",
     .integers = {0, INT64_MAX}, .initial = "1", .help = "seed of the random order"},
    {IMP_OPTION_TEXT(settings, validation), .name = "validation", .argument = "FILE",
     .help = "labelled points on which to choose lambda by adjusted mutual information"},
    {IMP_OPTION_TEXT(settings, validation_labels), .name = "validation-labels", .argument = "FILE",
     .help = "their true labels; points labelled -1 are left out"},
    {IMP_OPTION_HEADING("Pictures")},
    {IMP_OPTION_TEXT(settings, copy_to), .name = "copy-to", .argument = "FOLDER",
     .help = "also copy the pictures to this new folder, with a sub-folder per group"},
    {IMP_OPTION_TEXT(settings, link_to), .name = "link-to", .argument = "FOLDER",
     .help = "the same with symbolic links"},
    {IMP_OPTION_TEXT(settings, html), .name = "html", .argument = "FILE",
     .help = "also show the groups on a page"},
    IMP_PICTURE_OPTIONS(settings, pictures),
    {IMP_OPTION_HEADING("Output")},
    {IMP_OPTION_TEXT(settings, truth), .name = "truth", .argument = "FILE",
     .help =
         "true labels, to evaluate the clusters; for accuracy and confusion matrix a cluster is "
         "of the class of most of its points; points labelled -1 are not counted"},
    {IMP_OPTION_TEXT(settings, output), .name = "output", .letter = 'o', .argument = "FILE",
     .help = "write each point's cluster to this .npy file, not to standard output"},
    IMP_MEMORY_OPTION(settings, memory, "per-point data"),
    {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "write JSON"},
    {IMP_OPTION_END}};

static const char *const examples[] = {
    "imp cluster drawings --copy-to sorted --html groups.html",
    "imp cluster x.npy --clusters 20 --truth y.npy",
    "imp cluster vectors --method dp-means --lambda 40 -o y.npy  # a folder of .npy", NULL};

const imp_usage imp_cluster_usage = {
    .command = "cluster",
    .summary = "Cluster pictures or points without labels",
    .details = "Clusters pictures or points without labels. A point farther than a threshold, "
               "lambda, from all clusters starts a new one, so the number of clusters follows from "
               "the data, unless --clusters sets it. If true labels are given, the clusters are "
               "evaluated against them. Unless lambda is given, it is chosen by splitting a sample "
               "of the points: one half is divided into small groups, and the other half tells "
               "which of them are separate. --validation chooses it on labelled points instead, "
               "and for pictures it comes from the model's training.",
    .operands = "POINTS.npy|FOLDER|ARCHIVE",
    .fewest = 1,
    .most = INT_MAX, /* so that more than one gets a clearer error */
    .options = options,
    .examples = examples,
};

static const char *const command = "cluster";

/* The labelled points and their clusters. */
typedef struct known {
    int32_t *truth, *found; /* NULL without labels to compare with */
    int32_t *answer;        /* the class of most points of the cluster */
    size_t count;
} known;

static imp_labelings compare(const known *labeled, size_t clusters)
{
    return (imp_labelings){labeled->truth, labeled->found, labeled->answer, labeled->count,
                           clusters};
}

/* Answers with the class of most points of each cluster, the first of several. */
static imp_status answer_by_most(const known *points, imp_error *error)
{
    size_t n = points->count, classes, clusters;
    imp_contingency *table = NULL;
    int32_t *class = NULL, *cluster = NULL;
    imp_status status = imp_contingency_create(points->truth, points->found, n, &table, error);
    if (!status)
        status = imp_distinct_labels(points->truth, n, &class, &classes, error);
    if (!status)
        status = imp_distinct_labels(points->found, n, &cluster, &clusters, error);
    uint32_t *best = status ? NULL : imp_allocate_zeroed(clusters, sizeof *best); /* pairs */
    if (!status && !best)
        status = imp_fail_memory(error, "the classes of clusters");
    for (size_t p = 0; !status && p < table->pairs; p++) {
        uint32_t *most = &best[table->pair_cluster[p]];
        if (table->pair_cluster[*most] != table->pair_cluster[p] ||
            table->pair_size[p] > table->pair_size[*most])
            *most = (uint32_t)p;
    }
    for (size_t i = 0; i < n && !status; i++)
        points->answer[i] =
            class[table->pair_class[best[imp_label_rank(cluster, clusters, points->found[i])]]];
    imp_contingency_free(table);
    imp_release(class);
    imp_release(cluster);
    imp_release(best);
    return status;
}

static int find_known(const settings *given, const imp_clustering *clustering,
                      const int32_t *labels, known *points)
{
    *points = (known){0};
    if (!labels)
        return IMP_GO_ON;
    points->truth = malloc(clustering->points * sizeof *points->truth);
    points->found = malloc(clustering->points * sizeof *points->found);
    points->answer = malloc(clustering->points * sizeof *points->answer);
    if (!points->truth || !points->found || !points->answer)
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    for (size_t i = 0; i < clustering->points; i++)
        if (labels[i] != -1) {
            points->truth[points->count] = labels[i];
            points->found[points->count++] = clustering->assignment[i];
        }
    if (points->count == 0)
        return imp_complain(IMP_EXIT_FAILURE, command,
                            "%s: every label is -1, so there is nothing to evaluate against",
                            given->truth);
    imp_error error;
    return answer_by_most(points, &error)
               ? imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message)
               : IMP_GO_ON;
}

/* In the order of imp_cluster_choice. */
static const char *const choices[] = {"given", "apart", "wanted", "gap", "likely"};

static int print_json(const settings *given, const imp_clustering *found, const known *labeled)
{
    json_t *object = imp_json_begin(), *sizes = json_array(), *means = json_array();
    for (size_t c = 0; c < found->clusters; c++) {
        json_array_append_new(sizes, json_integer((json_int_t)found->cluster_size[c]));
        json_array_append_new(
            means, imp_json_floats(found->mean + c * found->dimensions, found->dimensions));
    }
    json_object_set_new(object, "method", json_string(given->method));
    json_object_set_new(object, "lambda", imp_json_number(found->lambda));
    if (!imp_method_find(given->method)->hard)
        json_object_set_new(object, "sigma", imp_json_number(found->sigma));
    json_object_set_new(object, "clusters", json_integer((json_int_t)found->clusters));
    if (!given->output)
        json_object_set_new(object, "assignments",
                            imp_json_integers(found->assignment, found->points));
    json_object_set_new(object, "sizes", sizes);
    json_object_set_new(object, "means", means);
    json_object_set_new(object, "objective", imp_json_number(found->objective));
    json_object_set_new(object, "steps", json_integer((json_int_t)found->steps));
    json_object_set_new(object, "converged", json_boolean(found->converged));
    json_t *choice = json_object();
    json_object_set_new(choice, "by", json_string(choices[found->choice]));
    json_object_set_new(choice, "sampled", json_integer((json_int_t)found->sampled));
    json_object_set_new(choice, "groups", json_integer((json_int_t)found->groups));
    json_object_set_new(choice, "apart", imp_json_number(found->apart));
    json_object_set_new(object, "choice", choice);
    if (found->cluster_label)
        json_object_set_new(object, "labels",
                            imp_json_integers(found->cluster_label, found->clusters));
    if (labeled->truth) {
        json_t *metrics = json_object();
        json_object_set_new(object, "metrics", metrics);
        const imp_labelings labelings = compare(labeled, found->clusters);
        int status = imp_labelings_to_json(command, &labelings, metrics);
        if (status != IMP_GO_ON) {
            json_decref(object);
            return status;
        }
    }
    return imp_json_print(command, object);
}

static int print_table(const settings *given, const imp_clustering *found, const known *labeled)
{
    printf("%s: %zu cluster%s of %zu points, lambda %.6g, objective %.6g, %zu pass%s%s\n",
           given->method, found->clusters, found->clusters == 1 ? "" : "s", found->points,
           found->lambda, found->objective, found->steps, found->steps == 1 ? "" : "es",
           found->converged ? "" : ", not converged");
    if (labeled->truth) {
        putchar('\n');
        const imp_labelings labelings = compare(labeled, found->clusters);
        int status = imp_labelings_print(command, &labelings);
        if (status != IMP_GO_ON)
            return status;
    }
    printf("\n%8s  %8s\n", "cluster", "size");
    for (size_t c = 0; c < found->clusters; c++)
        if (found->cluster_label && found->cluster_label[c] >= 0)
            printf("%8zu  %8zu  of class %d\n", c, found->cluster_size[c],
                   (int)found->cluster_label[c]);
        else
            printf("%8zu  %8zu\n", c, found->cluster_size[c]);
    if (given->output)
        return EXIT_SUCCESS;
    printf("\n%8s  %8s\n", "point", "cluster");
    for (size_t i = 0; i < found->points; i++)
        printf("%8zu  %8d\n", i, (int)found->assignment[i]);
    return EXIT_SUCCESS;
}

/* Leaves out the points of label -1. */
static void drop_unlabeled(imp_labeled_rows *points)
{
    size_t left = 0, d = points->rows.dimensions;
    for (size_t i = 0; i < points->rows.count; i++)
        if (points->labels[i] != -1) {
            points->labels[left] = points->labels[i];
            memmove(points->rows.values + left++ * d, points->rows.values + i * d,
                    d * sizeof *points->rows.values);
        }
    points->rows.count = left;
}

/* Chooses lambda on the labelled points of --validation. */
static int tune(const settings *given, size_t dimensions, imp_cluster_options *cluster_options)
{
    imp_labeled_rows points = {0};
    size_t count = 0;
    int status = imp_read_rows(command, given->validation, &points.rows);
    if (status == IMP_GO_ON)
        status = imp_read_labels(command, given->validation_labels, &points.labels, &count);
    if (status == IMP_GO_ON && count != points.rows.count)
        status = imp_complain(
            IMP_EXIT_FAILURE, command, "%s has %zu labels for the %zu points of %s; each needs one",
            given->validation_labels, count, points.rows.count, given->validation);
    if (status != IMP_GO_ON) {
        imp_labeled_rows_clear(&points);
        return status;
    }
    drop_unlabeled(&points);
    imp_labeled_points episode = {points.rows.values, points.labels, points.rows.count};
    imp_error error;
    if (points.rows.dimensions != dimensions)
        status = imp_complain(IMP_EXIT_FAILURE, command,
                              "%s: its points have %zu dimensions, but those to cluster have %zu",
                              given->validation, points.rows.dimensions, dimensions);
    else if (episode.count == 0)
        status = imp_complain(IMP_EXIT_FAILURE, command,
                              "%s has no points with a label in %s; choosing lambda needs some",
                              given->validation, given->validation_labels);
    else if (imp_cluster_tune(&episode, 1, dimensions, cluster_options,
                              &cluster_options->rule.lambda, &error) != IMP_OK)
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    imp_labeled_rows_clear(&points);
    return status;
}

imp_cluster_options imp_cluster_options_from(const imp_cluster_settings *given)
{
    imp_cluster_options cluster_options = imp_cluster_defaults();
    cluster_options.method = given->method;
    cluster_options.rule = given->rule;
    cluster_options.clusters = (size_t)given->clusters;
    cluster_options.order = (imp_cluster_order)given->order;
    cluster_options.seed = (uint64_t)given->seed;
    cluster_options.threads = (int)given->pictures.threads;
    return cluster_options;
}

/* Reports on stderr, in one line, how the number of clusters was chosen. */
static void tell(const settings *given, const imp_clustering *found)
{
    switch (found->choice) {
    case IMP_CLUSTER_APART:
        imp_complain(
            EXIT_SUCCESS, command,
            "%zu of %zu points chose: %zu groups of one half became %zu cluster%s that the "
            "other half can tell apart",
            found->sampled, found->points, found->groups, found->clusters,
            found->clusters == 1 ? "" : "s");
        break;
    case IMP_CLUSTER_LIKELY:
        imp_complain(EXIT_SUCCESS, command,
                     "%zu of %zu points chose: they are most likely spherical noise around %zu "
                     "centers",
                     found->sampled, found->points, found->clusters);
        break;
    case IMP_CLUSTER_GAP:
        imp_complain(EXIT_SUCCESS, command,
                     "the largest gap in the distances of %zu points chose %zu cluster%s",
                     found->points, found->clusters, found->clusters == 1 ? "" : "s");
        break;
    case IMP_CLUSTER_WANTED:
        if (found->clusters != (size_t)given->clusters)
            imp_complain(EXIT_SUCCESS, command,
                         "only %zu of %lld clusters were made: points coincide, or clusters lost "
                         "all their points to others",
                         found->clusters, (long long)given->clusters);
        break;
    case IMP_CLUSTER_GIVEN:
        break;
    }
}

/* Appends the pairs of a file. */
static int read_pairs(const char *path, bool apart, imp_cluster_pair **pairs, size_t *count)
{
    imp_rows rows;
    int status = imp_read_rows(command, path, &rows);
    if (status != IMP_GO_ON)
        return status;
    imp_cluster_pair *all = realloc(*pairs, (*count + rows.count + 1) * sizeof *all);
    if (!all)
        status = imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    else
        *pairs = all;
    if (status == IMP_GO_ON && rows.dimensions != 2)
        status = imp_complain(IMP_EXIT_FAILURE, command,
                              "%s has %zu columns; pairs of points need 2", path, rows.dimensions);
    for (size_t i = 0; i < rows.count && status == IMP_GO_ON; i++) {
        float a = rows.values[2 * i], b = rows.values[2 * i + 1];
        /* Larger integers are not exact as floats. */
        if (!(a >= 0 && b >= 0 && a <= 0x1p24F && b <= 0x1p24F && a == floorf(a) && b == floorf(b)))
            status = imp_complain(IMP_EXIT_FAILURE, command,
                                  "%s: pair %zu is (%g, %g); points are indices from 0 to 16777216",
                                  path, i, a, b);
        else
            all[(*count)++] = (imp_cluster_pair){(uint32_t)a, (uint32_t)b, apart};
    }
    free(rows.values);
    return status;
}

/* What is known about the points: labels and pairs. */
typedef struct told {
    int32_t *labels, *truth; /* NULL: nothing */
    imp_cluster_pair *pairs;
    size_t pair_count;
} told;

/* One for each point. */
static int read_labels(const char *path, const char *points, size_t wanted, int32_t **labels)
{
    size_t count;
    if (!path)
        return IMP_GO_ON;
    int status = imp_read_labels(command, path, labels, &count);
    if (status == IMP_GO_ON && count != wanted)
        status = imp_complain(IMP_EXIT_FAILURE, command,
                              "%s has %zu labels for the %zu points of %s; each needs one", path,
                              count, wanted, points);
    return status;
}

static int read_told(const settings *given, const char *points, size_t count, told *said)
{
    int status = read_labels(given->labels, points, count, &said->labels);
    if (status == IMP_GO_ON)
        status = read_labels(given->truth, points, count, &said->truth);
    if (status == IMP_GO_ON && given->must_link)
        status = read_pairs(given->must_link, false, &said->pairs, &said->pair_count);
    if (status == IMP_GO_ON && given->cannot_link)
        status = read_pairs(given->cannot_link, true, &said->pairs, &said->pair_count);
    return status;
}

/* ---- many points ---- */

static bool proceed(const imp_cluster_progress *progress, void *context)
{
    char more[40];
    snprintf(more, sizeof more, ", %zu clusters", progress->clusters);
    imp_pass_show(context, progress->pass, progress->passes, progress->done, progress->points,
                  more);
    return !imp_interrupted();
}

static imp_status write_block(const int32_t *assignment, size_t begin, size_t count, void *context,
                              imp_error *error)
{
    (void)begin;
    return imp_writer_write(context, assignment, count * sizeof *assignment, error);
}

static int write_output(const settings *given, const imp_clustering *found)
{
    imp_writer writer;
    imp_error error;
    if (!given->output || !imp_job_writes())
        return IMP_GO_ON;
    imp_status status = imp_writer_open(&writer, given->output, &error);
    if (!status)
        status = imp_npy_begin(&writer, IMP_INT32, 1, &found->points, &error);
    if (!status)
        status = imp_clustering_each(found, write_block, &writer, &error);
    if (!status)
        status = imp_writer_commit(&writer, &error);
    return status ? imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message) : IMP_GO_ON;
}

/* Beside the output: how far a clustering was that is interrupted. To be freed; NULL where none is
 * left, or memory runs out. */
static char *state_of(const settings *given)
{
    if (!given->output || imp_job_ranks() || given->labels || given->must_link ||
        given->cannot_link)
        return NULL;
    return imp_state_file(given->output);
}

/* Clusters with what has room beside the output. */
static int find_clusters(const settings *given, const imp_point_source *points,
                         const imp_cluster_options *cluster_options, imp_clustering **found)
{
    imp_error error;
    char *folder = imp_scratch_folder(given->output), *state = state_of(given);
    imp_lock lock = {-1};
    imp_pass_line own = imp_pass_start();
    const imp_cluster_means means = {
        .ranks = imp_job_ranks(),
        .place = {.folder = folder, .memory = (size_t)given->memory << 20},
        .proceed = proceed,
        .context = &own,
        .state = state,
        .resume = given->resume};
    int status = IMP_GO_ON;
    if (given->resume && !state)
        status = imp_complain(IMP_EXIT_USAGE, command,
                              "--resume goes with -o FILE and one process, and with neither labels "
                              "nor pairs");
    else if (given->resume && imp_lock_take(&lock, state, &error))
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    imp_interrupt_catch();
    imp_status failed = status == IMP_GO_ON
                            ? imp_cluster_source(points, cluster_options, &means, found, &error)
                            : IMP_OK;
    imp_progress_end(&own.line);
    if (failed && imp_interrupted() && state)
        status = imp_complain(IMP_EXIT_INTERRUPTED, command, "interrupted: %s", error.message);
    else if (failed)
        status = imp_complain(imp_interrupted() ? IMP_EXIT_INTERRUPTED : IMP_EXIT_FAILURE, command,
                              "%s", imp_interrupted() ? "interrupted" : error.message);
    imp_lock_release(&lock);
    free(folder);
    free(state);
    return status;
}

static int cluster(const settings *given, const imp_point_source *points, const told *said)
{
    imp_cluster_options cluster_options = imp_cluster_options_from(given);
    cluster_options.label = said->labels;
    cluster_options.pairs = said->pairs;
    cluster_options.pair_count = said->pair_count;
    if (given->validation) {
        int status = tune(given, points->dimensions, &cluster_options);
        if (status != IMP_GO_ON)
            return status;
    }
    imp_clustering *found;
    int status = find_clusters(given, points, &cluster_options, &found);
    if (status != IMP_GO_ON)
        return status;
    tell(given, found);
    known labeled;
    status = find_known(given, found, said->truth, &labeled);
    if (status == IMP_GO_ON)
        status = write_output(given, found);
    if (status == IMP_GO_ON && given->resume)
        imp_state_remove(given->output);
    if (status == IMP_GO_ON)
        status =
            given->json ? print_json(given, found, &labeled) : print_table(given, found, &labeled);
    free(labeled.truth);
    free(labeled.found);
    free(labeled.answer);
    imp_clustering_free(found);
    return status;
}

int imp_command_cluster(int argc, char **argv)
{
    settings given = {.rule = IMP_RULE_AUTO};
    int operands;
    int status = imp_parse(&imp_cluster_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    if (imp_source_is_picture(argv[1]) && !imp_is_folder(argv[1]))
        return imp_complain(IMP_EXIT_USAGE, command,
                            "'%s' is a picture; give the folder that holds the pictures", argv[1]);
    if (operands > 1)
        return imp_complain(IMP_EXIT_USAGE, command, "unexpected argument '%s'", argv[2]);
    if (!isnan(given.rule.lambda) && (given.clusters > 0 || given.validation))
        return imp_complain(IMP_EXIT_USAGE, command,
                            "--lambda %g excludes --clusters and --validation, which choose "
                            "lambda; give one or the other",
                            given.rule.lambda);
    if (given.clusters > 0 && given.validation)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "--clusters and --validation both choose lambda; give one of them");
    if (!given.validation != !given.validation_labels)
        return imp_complain(
            IMP_EXIT_USAGE, command,
            "--validation FILE and --validation-labels FILE must be given together");
    if (imp_is_folder_or_archive(argv[1]) && imp_job_ranks())
        return imp_complain(IMP_EXIT_USAGE, command,
                            "imp-mpi clusters points; turn pictures into points with imp embed");
    if (imp_is_folder_or_archive(argv[1]) && (given.output || given.resume))
        return imp_complain(IMP_EXIT_USAGE, command,
                            "-o and --resume are for points; for pictures use --copy-to or --html");
    if (imp_is_folder_or_archive(argv[1]))
        return imp_cluster_pictures(&given, argv[1]);
    if (given.copy_to || given.link_to || given.html)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "--copy-to, --link-to and --html need a folder of pictures");
    const char *option = imp_only_for_pictures(&given.pictures);
    if (option)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "%s is for pictures; points are clustered as they are", option);

    imp_point_file points;
    told said = {0};
    const imp_destination output = {"-o", "a .npy file", given.output};
    const char *inputs[] = {
        argv[1],          given.labels,           given.truth, given.must_link, given.cannot_link,
        given.validation, given.validation_labels};
    if (given.output)
        status = imp_check_files(command, &output, 1);
    if (status == IMP_GO_ON)
        status = imp_check_inputs(command, given.output, inputs, sizeof inputs / sizeof *inputs);
    if (status != IMP_GO_ON)
        return status;
    status = imp_point_file_open(command, argv[1], false, &points);
    if (status == IMP_GO_ON)
        status = read_told(&given, argv[1], points.source.count, &said);
    if (status == IMP_GO_ON)
        status = cluster(&given, &points.source, &said);
    imp_point_file_close(&points);
    free(said.labels);
    free(said.truth);
    free(said.pairs);
    return status;
}
