/*
 * bench_serve.c - imp as a peer in its own speed comparison: a line in, a line of JSON out.
 * bench/README.md describes the protocol.
 */
#include "cli/bench_serve.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <imp/imp.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/measure.h"
#include "cli/measure_update.h"
#include "kernels/kernels.h"

static const char *peer_name(void)
{
    static char name[32];
    const imp_kernels *kernels;
    imp_error error;
    if (imp_kernels_choose(&kernels, &error))
        return "imp";
    snprintf(name, sizeof name, "imp-%s", kernels->name);
    return name;
}

static json_t *answer_hello(imp_error *error)
{
    const imp_kernels *kernels;
    if (imp_kernels_choose(&kernels, error))
        return NULL;
    return json_pack("{s:s, s:s, s:s}", "peer", peer_name(), "version", imp_version(), "isa",
                     kernels->name);
}

static json_t *answer_timing(const char *line, imp_error *error)
{
    char what[8], network[1024] = "conv4";
    imp_measure_task task = {.description = network};
    imp_measure_result result;
    if (sscanf(line, "%7s %zu %zu %zu %zu %d %lf %1023s", what, &task.images, &task.channels,
               &task.height, &task.width, &task.threads, &task.seconds, network) < 7) {
        imp_fail(error, IMP_EINVAL, "'%.100s' should be '%s N C H W THREADS SECONDS [NETWORK]'",
                 line, what);
        return NULL;
    }
    task.training = strcmp(what, "train") == 0;
    if (imp_measure(&task, &result, error))
        return NULL;
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:i, s:f, s:f, s:I, s:f, s:f}", "peer",
                     peer_name(), "what", what, "network", network, "n", (json_int_t)task.images,
                     "c", (json_int_t)task.channels, "h", (json_int_t)task.height, "w",
                     (json_int_t)task.width, "threads", task.threads, "images_per_second",
                     result.images_per_second, "most_images_per_second", result.most, "steps",
                     (json_int_t)result.steps, "resident_mb", result.resident_mb, "faults_per_step",
                     result.faults_per_step);
}

static json_t *answer_update(const char *line, imp_error *error)
{
    char what[16], folder[512];
    imp_update_task task = {.folder = folder};
    imp_update_result r;
    int read = sscanf(line, "update %15s %zu %d %lf %511s", what, &task.way, &task.threads,
                      &task.seconds, folder);
    task.alphabets = read > 0 && strcmp(what, "alphabets") == 0;
    if (read != 5 || (!task.alphabets && strcmp(what, "characters") != 0)) {
        imp_fail(error, IMP_EINVAL,
                 "'%.100s' should be 'update characters|alphabets WAY THREADS SECONDS FOLDER'",
                 line);
        return NULL;
    }
    if (imp_measure_update(&task, &r, error))
        return NULL;
    enum { MS = 1000 };
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:i, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
                     "s:[f,f], s:f}",
                     "peer", peer_name(), "what", "update", "task", what, "way",
                     (json_int_t)task.way, "n", (json_int_t)r.images, "threads", r.threads,
                     "updates", (json_int_t)r.updates, "update_ms", MS * r.update, "bare_ms",
                     MS * r.bare, "network_ms", MS * r.network, "feed_ms", MS * r.feed, "method_ms",
                     MS * r.method, "optimizer_ms", MS * r.optimizer, "rest_ms", MS * r.rest,
                     "overhead", r.overhead, "overhead_range", r.least_overhead, r.most_overhead,
                     "beyond_network", r.beyond);
}

/* What a `check` reads and writes: all results of the timed code, to compare with the other
 * peers'. */
typedef struct check {
    size_t images, channels, height, width;
    int threads;
    imp_network *network;
    imp_encoder *encoder;
    const float *next; /* of the input file */
    size_t left;
    float *out;
} check;

static const float *take(check *c, size_t count)
{
    if (count > c->left)
        return NULL;
    const float *array = c->next;
    c->next += count;
    c->left -= count;
    return array;
}

/* The suffixes of a layer's tensors in file order, without the bias. */
static const char *const parts[] = {"conv.weight", "bn.weight", "bn.bias", "bn.running_mean",
                                    "bn.running_var"};
enum { PARTS = sizeof parts / sizeof *parts, LAYERS = 4, MOST_IMAGES = 1 << 20 };

static imp_network_tensor tensor_named(imp_network *network, size_t layer, const char *part)
{
    char name[64];
    snprintf(name, sizeof name, "blocks.%zu.%s", layer, part);
    for (size_t i = 0; i < imp_network_tensor_count(network); i++) {
        imp_network_tensor t = imp_network_tensor_at(network, i);
        if (strcmp(t.name, name) == 0)
            return t;
    }
    return (imp_network_tensor){0};
}

static imp_status write_floats(imp_writer *writer, const float *values, size_t count,
                               imp_error *error)
{
    return imp_writer_write(writer, values, count * sizeof *values, error);
}

static imp_status run_check(check *c, imp_writer *writer, imp_error *error)
{
    size_t outputs = c->images * imp_network_output_size(c->network);
    const float *images = take(c, c->images * c->channels * c->height * c->width);
    const float *gradient = take(c, outputs);
    for (size_t layer = 0; layer < LAYERS; layer++)
        for (size_t part = 0; part < PARTS; part++) {
            imp_network_tensor t = tensor_named(c->network, layer, parts[part]);
            const float *values = take(c, t.count);
            if (!images || !gradient || !values)
                return imp_fail(error, IMP_EFORMAT, "the input file is too short for this network");
            memcpy(t.values, values, t.count * sizeof *values);
        }
    c->out = imp_allocate(outputs, sizeof *c->out);
    if (!c->out)
        return imp_fail_memory(error, "the check");
    imp_status status = imp_encoder_create(c->network, &c->encoder, error);
    if (!status)
        status = imp_encoder_encode(c->encoder, images, c->images, c->threads, c->out, error);
    if (!status)
        status = write_floats(writer, c->out, outputs, error);
    if (!status)
        status = imp_network_forward(c->network, images, c->images, c->out, error);
    if (!status)
        status = write_floats(writer, c->out, outputs, error);
    if (!status)
        status = imp_network_backward(c->network, gradient, error);
    for (size_t layer = 0; layer < LAYERS; layer++)
        for (size_t part = 0; part < PARTS && !status; part++) {
            imp_network_tensor t = tensor_named(c->network, layer, parts[part]);
            status = write_floats(writer, t.gradients ? t.gradients : t.values, t.count, error);
        }
    return status;
}

static imp_status check_files(check *c, const char *in, const char *out, imp_error *error)
{
    imp_network_options options = {.size = sizeof options,
                                   .channels = c->channels,
                                   .height = c->height,
                                   .width = c->width,
                                   .threads = c->threads};
    unsigned char *bytes;
    size_t size;
    imp_writer writer = {0};
    imp_status status = imp_file_read(in, (size_t)1 << 32, &bytes, &size, error);
    if (status)
        return status;
    c->next = (const float *)(const void *)bytes; /* imp_file_read() aligns */
    c->left = size / sizeof(float);
    status = imp_network_create("conv4", &options, &c->network, error);
    if (!status)
        status = imp_writer_open(&writer, out, error);
    if (!status)
        status = run_check(c, &writer, error);
    if (!status)
        status = imp_writer_commit(&writer, error);
    imp_writer_abandon(&writer);
    imp_release(c->out);
    imp_encoder_free(c->encoder);
    imp_network_free(c->network);
    imp_release(bytes);
    return status;
}

static json_t *answer_check(const char *line, imp_error *error)
{
    check c = {0};
    char in[512], out[512];
    if (sscanf(line, "check %zu %zu %zu %zu %d %511s %511s", &c.images, &c.channels, &c.height,
               &c.width, &c.threads, in, out) != 7) {
        imp_fail(error, IMP_EINVAL, "'%.100s' should be 'check N C H W THREADS IN OUT'", line);
        return NULL;
    }
    if (c.images < 1 || c.images > MOST_IMAGES) {
        imp_fail(error, IMP_EINVAL, "%zu images cannot be checked; give 1 to %d", c.images,
                 MOST_IMAGES);
        return NULL;
    }
    if (check_files(&c, in, out, error))
        return NULL;
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:i}", "peer", peer_name(), "what", "check",
                     "n", (json_int_t)c.images, "c", (json_int_t)c.channels, "h",
                     (json_int_t)c.height, "w", (json_int_t)c.width, "threads", c.threads);
}

static json_t *answer(const char *line, imp_error *error)
{
    if (strncmp(line, "hello", 5) == 0)
        return answer_hello(error);
    if (strncmp(line, "train ", 6) == 0 || strncmp(line, "eval ", 5) == 0)
        return answer_timing(line, error);
    if (strncmp(line, "check ", 6) == 0)
        return answer_check(line, error);
    if (strncmp(line, "update ", 7) == 0)
        return answer_update(line, error);
    imp_fail(error, IMP_EINVAL, "'%.100s' should be hello, train, eval, check, update or quit",
             line);
    return NULL;
}

int imp_bench_serve(void)
{
    char line[2048];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "quit") == 0)
            break;
        imp_error error = {0};
        json_t *reply = answer(line, &error);
        if (!reply)
            reply = json_pack("{s:s, s:s}", "peer", peer_name(), "unavailable", error.message);
        json_dumpf(reply, stdout, JSON_COMPACT);
        fputc('\n', stdout);
        fflush(stdout);
        json_decref(reply);
    }
    return EXIT_SUCCESS;
}
