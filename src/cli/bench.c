/*
 * bench.c - `imp bench`: how fast a network trains and embeds on this machine.
 *
 * These are absolute figures; `make bench` compares with other libraries in interleaved runs.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/bench_serve.h"
#include "cli/cli.h"
#include "cli/measure.h"

typedef struct settings {
    const char *network;
    int64_t images, channels, size, threads;
    double seconds;
    bool json, serve;
} settings;

static const imp_option options[] = {
    {IMP_OPTION_HEADING("What is timed")},
    {IMP_OPTION_TEXT(settings, network), .name = "network", .argument = "LAYERS",
     .initial = "conv4", .help = "conv4, or layers like conv3x3:32,bn,relu,pool,flatten"},
    {IMP_OPTION_INTEGER(settings, images), .name = "images", .argument = "N",
     .integers = {1, 100000}, .initial = "120", .help = "images per step"},
    {IMP_OPTION_INTEGER(settings, channels), .name = "channels", .argument = "C",
     .integers = {1, 64}, .initial = "1", .help = "channels of an image"},
    {IMP_OPTION_INTEGER(settings, size), .name = "size", .argument = "PIXELS",
     .integers = {1, 4096}, .initial = "28", .help = "height and width of an image"},
    {IMP_OPTION_HEADING("How")},
    {IMP_OPTION_INTEGER(settings, threads), .name = "threads", .argument = "N",
     .integers = {0, 1024}, .initial = "0", .help = "threads; 0: one per core"},
    {IMP_OPTION_NUMBER(settings, seconds), .name = "seconds", .argument = "S", .numbers = {0, 3600},
     .initial = "2", .help = "how long to repeat each step"},
    {IMP_OPTION_HEADING("Output")},
    {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "write JSON"},
    {IMP_OPTION_FLAG(settings, serve), .name = "serve",
     .help = "answer the requests of bench/run.py on standard input"},
    {IMP_OPTION_END}};

static const char *const examples[] = {"imp bench", "imp bench --channels 3 --size 84 --images 100",
                                       NULL};

const imp_usage imp_bench_usage = {
    .command = "bench",
    .summary = "Time training and embedding on this machine",
    .details = "Times a training step (forward and backward pass, without loss and optimizer) and "
               "the embedding of a batch by a frozen network, and prints images per second. Other "
               "work on this machine affects the figures.",
    .options = options,
    .examples = examples,
};

static json_t *result_json(const imp_measure_result *r)
{
    return json_pack("{s:f, s:f, s:I, s:f, s:f}", "images_per_second", r->images_per_second,
                     "most_images_per_second", r->most, "steps", (json_int_t)r->steps,
                     "resident_mb", r->resident_mb, "faults_per_step", r->faults_per_step);
}

static void print_json(const settings *s, const imp_measure_result *train,
                       const imp_measure_result *eval)
{
    json_t *report = json_pack(
        "{s:s, s:s, s:s, s:I, s:[I,I,I], s:I, s:o, s:o}", "version", imp_version(), "isa",
        train->isa, "network", s->network, "images", (json_int_t)s->images, "input",
        (json_int_t)s->channels, (json_int_t)s->size, (json_int_t)s->size, "threads",
        (json_int_t)train->threads, "train", result_json(train), "eval", result_json(eval));
    json_dumpf(report, stdout, JSON_INDENT(2));
    fputc('\n', stdout);
    json_decref(report);
}

static void print_row(const char *what, const imp_measure_result *r)
{
    printf("%-16s%12.0f%14.0f%10zu%12.0f\n", what, r->images_per_second, r->most, r->steps,
           r->resident_mb);
}

int imp_command_bench(int argc, char **argv)
{
    settings s = {0};
    int operands, status = imp_parse(&imp_bench_usage, argc, argv, &s, &operands);
    if (status != IMP_GO_ON)
        return status;
    if (s.serve)
        return imp_bench_serve();

    imp_measure_task task = {.description = s.network,
                             .training = true,
                             .images = (size_t)s.images,
                             .channels = (size_t)s.channels,
                             .height = (size_t)s.size,
                             .width = (size_t)s.size,
                             .threads = (int)s.threads,
                             .seconds = s.seconds};
    imp_measure_result train, eval;
    imp_error error;
    imp_status failed = imp_measure(&task, &train, &error);
    task.training = false;
    if (!failed)
        failed = imp_measure(&task, &eval, &error);
    if (failed)
        return imp_complain(IMP_EXIT_FAILURE, "bench", "%s", error.message);

    if (s.json) {
        print_json(&s, &train, &eval);
        return EXIT_SUCCESS;
    }
    printf("%s, %lld images of %lldx%lldx%lld, %s, %d threads\n\n", s.network, (long long)s.images,
           (long long)s.channels, (long long)s.size, (long long)s.size, train.isa, train.threads);
    printf("%-16s%12s%14s%10s%12s\n", "step", "images/s", "fastest", "steps", "memory MB");
    print_row("training", &train);
    print_row("evaluation", &eval);
    return EXIT_SUCCESS;
}
