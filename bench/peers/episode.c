/*
 * episode.c - the cost of a method relative to the network that embeds for it: training steps of
 * Conv4 in which the two are timed separately. bench/README.md describes the protocol.
 */
#include "peer.h"

#include <imp/imp.h>
#include <math.h>

enum { SIDE = 28, PIXELS = SIDE * SIDE, MOST_STEPS = 10000, MODES = 3 };

typedef struct episode {
    size_t way, supports, queries;
    float *images, *embeddings, *gradient;
    int32_t *label;
    imp_network *network;
    imp_method *method;
} episode;

typedef struct times {
    double network, method;
} times;

/* Images of a class are one of its MODES patterns of 4x4 patches, with noise. */
static void draw(episode *e)
{
    size_t count = e->supports + e->queries;
    uint64_t state = 1;
    enum { PATCHES = (SIDE / 4) * (SIDE / 4) };
    float *patterns = malloc(e->way * MODES * PATCHES * sizeof *patterns);
    for (size_t i = 0; patterns && i < e->way * MODES * PATCHES; i++)
        patterns[i] = uniform(&state, 0, 1) < 0.3F;
    for (size_t i = 0; patterns && i < count; i++) {
        e->label[i] = (int32_t)(i % e->way);
        size_t mode = (size_t)uniform(&state, 0, MODES);
        const float *pattern = patterns + ((size_t)e->label[i] * MODES + mode) * PATCHES;
        for (size_t p = 0; p < PIXELS; p++) {
            size_t patch = p / SIDE / 4 * (SIDE / 4) + p % SIDE / 4;
            e->images[i * PIXELS + p] = pattern[patch] + uniform(&state, -0.3F, 0.3F);
        }
    }
    free(patterns);
}

static imp_status prepare(episode *e, double lambda, int threads, imp_error *error)
{
    imp_network_options options = {.size = sizeof options,
                                   .channels = 1,
                                   .height = SIDE,
                                   .width = SIDE,
                                   .seed = 1,
                                   .threads = threads};
    imp_method_options how = imp_method_defaults();
    how.rule.lambda = lambda;
    imp_status status = imp_network_create("conv4", &options, &e->network, error);
    if (!status)
        status = imp_method_create("imp", &how, &e->method, error);
    if (status)
        return status;
    size_t count = e->supports + e->queries, outputs = imp_network_output_size(e->network);
    e->images = calloc(count, PIXELS * sizeof *e->images);
    e->embeddings = calloc(count, outputs * sizeof *e->embeddings);
    e->gradient = calloc(count, outputs * sizeof *e->gradient);
    e->label = calloc(count, sizeof *e->label);
    if (!e->images || !e->embeddings || !e->gradient || !e->label) {
        snprintf(error->message, sizeof error->message, "out of memory");
        return IMP_ENOMEM;
    }
    draw(e);
    return IMP_OK;
}

static void release(episode *e)
{
    imp_network_free(e->network);
    imp_method_free(e->method);
    free(e->images);
    free(e->embeddings);
    free(e->gradient);
    free(e->label);
}

/* A training step without the optimizer: embed, cluster, classify, and the backward pass. */
static imp_status step(episode *e, times *t, imp_method_result *result, imp_error *error)
{
    size_t outputs = imp_network_output_size(e->network);
    size_t support_values = e->supports * outputs, query_values = e->queries * outputs;
    double begin = seconds_now();
    imp_network_clear_gradients(e->network);
    imp_status status =
        imp_network_forward(e->network, e->images, e->supports + e->queries, e->embeddings, error);
    double embedded = seconds_now();
    if (status)
        return status;
    imp_episode_view view = {.dimensions = outputs,
                             .way = e->way,
                             .support = e->embeddings,
                             .support_label = e->label,
                             .support_count = e->supports,
                             .query = e->embeddings + support_values,
                             .query_label = e->label + e->supports,
                             .query_count = e->queries};
    status = imp_method_run(e->method, &view, true, result, error);
    if (status)
        return status;
    memcpy(e->gradient, result->support_gradient, support_values * sizeof(float));
    memcpy(e->gradient + support_values, result->query_gradient, query_values * sizeof(float));
    double differentiated = seconds_now();
    status = imp_network_backward(e->network, e->gradient, error);
    t->network = embedded - begin + seconds_now() - differentiated;
    t->method = differentiated - embedded;
    return status;
}

static imp_status measure(episode *e, double lambda, int threads, double seconds, imp_error *error)
{
    static double network[MOST_STEPS], method[MOST_STEPS], share[MOST_STEPS];
    imp_method_result result;
    times t;
    imp_status status = prepare(e, lambda, threads, error);
    for (int i = 0; i < WARM_UP_STEPS && !status; i++)
        status = step(e, &t, &result, error);
    size_t steps = 0;
    double begin = seconds_now();
    while (!status && steps < MOST_STEPS &&
           (steps < LEAST_STEPS || seconds_now() - begin < seconds)) {
        status = step(e, &t, &result, error);
        network[steps] = t.network;
        method[steps] = t.method;
        share[steps++] = t.method / t.network;
    }
    if (status)
        return status;
    double middle = median(share, steps); /* sorts, so that the ends are the extremes */
    printf("{\"peer\":\"imp-%s\",\"what\":\"episode\",\"way\":%zu,\"supports\":%zu,"
           "\"queries\":%zu,\"dimensions\":%zu,\"threads\":%d,\"lambda\":%.6g,\"clusters\":%zu,"
           "\"loss\":%.6f,\"steps\":%zu,\"conv4_ms\":%.4f,\"method_ms\":%.4f,\"share\":%.5f,"
           "\"share_range\":[%.5f,%.5f]}\n",
           imp_network_isa(e->network), e->way, e->supports, e->queries,
           imp_network_output_size(e->network), threads, result.lambda, result.cluster_count,
           result.loss, steps, 1e3 * median(network, steps), 1e3 * median(method, steps), middle,
           share[0], share[steps - 1]);
    return IMP_OK;
}

int main(void)
{
    char line[256], lambda[32];
    while (fgets(line, sizeof line, stdin)) {
        episode e = {.way = 0};
        int threads;
        double seconds;
        imp_error error;
        if (strncmp(line, "quit", 4) == 0)
            break;
        if (strncmp(line, "hello", 5) == 0) {
            printf("{\"peer\":\"imp\",\"version\":\"%s\"}\n", imp_version());
        } else if (sscanf(line, "episode %zu %zu %zu %31s %d %lf", &e.way, &e.supports, &e.queries,
                          lambda, &threads, &seconds) == 6 &&
                   e.way > 0 && e.supports >= e.way && e.queries > 0 && threads > 0) {
            double given = strcmp(lambda, "estimated") == 0 ? NAN : atof(lambda);
            if (measure(&e, given, threads, seconds, &error))
                printf("{\"peer\":\"imp\",\"unavailable\":\"%s\"}\n", error.message);
            release(&e);
        } else {
            printf("{\"peer\":\"imp\",\"unavailable\":\"this peer answers hello, episode WAY "
                   "SUPPORTS QUERIES LAMBDA THREADS SECONDS and quit\"}\n");
        }
        fflush(stdout);
    }
    return 0;
}
