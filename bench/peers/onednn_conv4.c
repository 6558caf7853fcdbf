/*
 * onednn_conv4.c - the oneDNN peer of the speed comparison: reads requests and measures the network
 * of onednn_network.c. bench/README.md explains steps and protocol.
 *
 * usage: onednn_conv4 direct|winograd|auto|nhwc|pooling|best
 *   direct    direct convolutions
 *   winograd  Winograd wherever oneDNN has it for a layer and direction, direct elsewhere
 *   auto      the algorithm left to oneDNN
 *   nhwc      direct convolutions with activations kept in NHWC instead of oneDNN's blocked layouts
 *   pooling   direct convolutions and oneDNN's SSE implementation of forward max-pooling, which
 *             is several times faster than its first choice on some AVX2 processors
 *   best      times the first four on the configuration, the mix of the fastest algorithm per
 *             layer and direction, and the fastest of these with the other pooling; then
 *             measures the fastest
 */
#include "onednn_network.h"
#include "peer.h"

#include <math.h>

#define SSE_POOLING "jit:sse41" /* oneDNN's name of that implementation */

dnnl_engine_t engine;

typedef struct timing {
    double median, fastest, faults, resident_mb;
    int steps;
} timing;

static timing measure(const network *net, double seconds)
{
    enum { MOST_STEPS = 100000 };
    timing t = {0};
    double *times = malloc(MOST_STEPS * sizeof *times), start, now;
    if (!times)
        die("out of memory");
    for (int i = 0; i < WARM_UP_STEPS; i++)
        network_step(net);
    resident_reset();
    long faults = page_faults();
    start = now = seconds_now();
    while (t.steps < MOST_STEPS && (t.steps < LEAST_STEPS || now - start < seconds)) {
        double before = now;
        network_step(net);
        now = seconds_now();
        times[t.steps++] = now - before;
    }
    t.faults = (double)(page_faults() - faults) / t.steps;
    t.resident_mb = resident_peak_mb();
    t.median = median(times, (size_t)t.steps);
    t.fastest = times[0]; /* median() has sorted them */
    free(times);
    return t;
}

/* Median seconds that each slot's convolution and its reorders take within the whole step. */
static void profile(const network *net, double seconds_of[SLOTS])
{
    enum { STEPS = 5 };
    double times[SLOTS + 1][STEPS];
    memset(times, 0, sizeof times);
    for (int s = -1; s < STEPS; s++) /* the first one warms up */
        for (int i = 0; i < net->op_count; i++) {
            const step_op *op = &net->ops[i];
            double before = seconds_now();
            CHECK(dnnl_primitive_execute(op->primitive, net->stream, op->count, op->args));
            if (s >= 0)
                times[op->slot][s] += seconds_now() - before;
        }
    for (int slot = 0; slot < SLOTS; slot++)
        seconds_of[slot] = median(times[slot], STEPS);
}

static plan uniform_plan(const char *name, dnnl_alg_kind_t algorithm, dnnl_format_tag_t layout)
{
    plan p = {.name = name, .layout = layout};
    for (int slot = 0; slot < SLOTS; slot++)
        p.algorithm[slot] = algorithm;
    return p;
}

/* The fastest plan for this shape: the uniform ones, and the mix of their fastest slots. The
 * fastest step decides, which other load disturbs less than the median step. */
static plan best_plan(const shape *s, const plan *candidates, int count)
{
    plan mix = uniform_plan("mix", dnnl_convolution_direct, dnnl_format_tag_any), best = mix;
    double fastest[SLOTS], best_time = INFINITY;
    int mixed = 0;
    for (int i = 0; i < count; i++) {
        double of[SLOTS];
        network *net = network_new(s, &candidates[i], NULL);
        int blocked = candidates[i].layout == dnnl_format_tag_any;
        if (i > 0 && blocked && net->winograd_slots == 0) { /* the direct plan once more */
            network_free(net);
            continue;
        }
        double time = measure(net, 0.5).fastest;
        if (time < best_time) {
            best_time = time;
            best = candidates[i];
        }
        if (blocked) {
            profile(net, of);
            for (int slot = 0; slot < SLOTS; slot++)
                if (i == 0 || of[slot] < fastest[slot]) {
                    fastest[slot] = of[slot];
                    mix.algorithm[slot] = candidates[i].algorithm[slot];
                }
            mixed |= net->winograd_slots > 0;
        }
        network_free(net);
    }
    if (mixed) { /* else the mix is the direct plan */
        network *net = network_new(s, &mix, NULL);
        if (measure(net, 0.5).fastest < best_time)
            best = mix;
        network_free(net);
    }
    if (s->train) {
        plan other_pooling = best;
        other_pooling.pooling = SSE_POOLING;
        network *net = network_new(s, &best, NULL), *other = network_new(s, &other_pooling, NULL);
        if (measure(other, 0.5).fastest < measure(net, 0.5).fastest)
            best = other_pooling;
        network_free(net);
        network_free(other);
    }
    return best;
}

/* ---- protocol ---- */

static const char *isa_name(void)
{
    int isa = (int)dnnl_get_effective_cpu_isa();
    return (isa & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core ? "avx512"
           : (isa & dnnl_cpu_isa_avx2) == dnnl_cpu_isa_avx2             ? "avx2"
                                                                        : "portable";
}

static void save(FILE *file, const float *values, size_t count)
{
    if (fwrite(values, sizeof *values, count, file) != count)
        die("cannot write the check's output file");
}

static void answer_no_winograd(const char *name, const char *what)
{
    printf("{\"peer\":\"%s\",\"what\":\"%s\",\"unavailable\":\"oneDNN has no float32 Winograd "
           "convolution for this shape on %s\"}\n",
           name, what, isa_name());
}

/* `check`: one evaluation and one training step on given numbers, all results to a file. Of several
 * plans, the best for the shape is the one checked. */
static void answer_check(shape s, const plan *plans, int count, const char *name, const char *in,
                         const char *out)
{
    int winograd_slots = 0;
    FILE *input = fopen(in, "rb"), *output = fopen(out, "wb");
    if (!input || !output)
        die("cannot open %s", input ? out : in);
    for (s.train = 0; s.train < 2; s.train++) {
        plan how = count > 1 ? best_plan(&s, plans, count) : plans[0];
        rewind(input);
        network *net = network_new(&s, &how, input);
        winograd_slots += net->winograd_slots;
        network_step(net);
        save(output, net->output, output_floats(&s));
        for (int l = 0; s.train && l < LAYERS; l++) {
            save(output, net->grad_weight[l], weight_floats(&s, l));
            save(output, net->grad_scale_shift[l], 2 * FILTERS);
            save(output, net->layer[l].mean, FILTERS);
            save(output, net->layer[l].variance, FILTERS);
        }
        network_free(net);
    }
    fclose(input);
    if (fclose(output) != 0)
        die("cannot write %s", out);
    if (strcmp(plans[0].name, "winograd") == 0 && winograd_slots == 0)
        answer_no_winograd(name, "check");
    else
        printf("{\"peer\":\"%s\",\"what\":\"check\",\"n\":%d,\"c\":%d,\"h\":%d,\"w\":%d,"
               "\"threads\":%d,\"winograd_convolutions\":%d}\n",
               name, s.n, s.c, s.h, s.w, s.threads, winograd_slots);
}

static void answer_measure(shape s, const plan *how, const char *name, const char *what,
                           double seconds)
{
    network *net = network_new(&s, how, NULL);
    if (strcmp(how->name, "winograd") == 0 && net->winograd_slots == 0) {
        answer_no_winograd(name, what);
    } else {
        timing t = measure(net, seconds);
        double of[SLOTS], convolutions = 0;
        profile(net, of);
        for (int slot = 0; slot < SLOTS; slot++)
            convolutions += of[slot];
        printf(
            "{\"peer\":\"%s\",\"what\":\"%s\",\"n\":%d,\"c\":%d,\"h\":%d,\"w\":%d,"
            "\"threads\":%d,\"images_per_second\":%.2f,\"most_images_per_second\":%.2f,\"steps\":%"
            "d,\"resident_mb\":%.1f,"
            "\"faults_per_step\":%.1f,\"way\":\"%s%s%s\",\"convolutions_images_per_second\":%.2f,"
            "\"winograd_convolutions\":%d,\"implementations\":\"%s\"}\n",
            name, what, s.n, s.c, s.h, s.w, s.threads, s.n / t.median, s.n / t.fastest, t.steps,
            t.resident_mb, t.faults, how->name, how->pooling ? ", pooling " : "",
            how->pooling ? how->pooling : "", s.n / convolutions, net->winograd_slots,
            net->implementations);
    }
    network_free(net);
}

int main(int argc, char **argv)
{
    const plan plans[] = {
        uniform_plan("direct", dnnl_convolution_direct, dnnl_format_tag_any),
        uniform_plan("winograd", dnnl_convolution_winograd, dnnl_format_tag_any),
        uniform_plan("auto", dnnl_convolution_auto, dnnl_format_tag_any),
        uniform_plan("nhwc", dnnl_convolution_direct, dnnl_nhwc),
    };
    plan pooling = uniform_plan("direct", dnnl_convolution_direct, dnnl_format_tag_any);
    pooling.pooling = SSE_POOLING;
    enum { PLANS = sizeof plans / sizeof *plans };
    const char *mode = argc == 2 ? argv[1] : "";
    int best = strcmp(mode, "best") == 0, known = best;
    plan how = plans[0];
    for (int i = 0; i < PLANS; i++)
        if (strcmp(mode, plans[i].name) == 0) {
            how = plans[i];
            known = 1;
        }
    if (strcmp(mode, "pooling") == 0) {
        how = pooling;
        known = 1;
    }
    if (!known)
        die("usage: onednn_conv4 direct|winograd|auto|nhwc|pooling|best");

    CHECK(dnnl_engine_create(&engine, dnnl_cpu, 0));
    char line[4096], name[64], what[16], in[2048], out[2048];
    shape s = {0}, chosen_for = {0};
    double seconds;
    snprintf(name, sizeof name, "onednn-%s", mode);
    while (fgets(line, sizeof line, stdin)) {
        const dnnl_version_t *v = dnnl_version();
        if (strncmp(line, "quit", 4) == 0)
            break;
        if (strncmp(line, "hello", 5) == 0) {
            printf("{\"peer\":\"%s\",\"version\":\"oneDNN %d.%d.%d\",\"isa\":\"%s\"}\n", name,
                   v->major, v->minor, v->patch, isa_name());
        } else if (sscanf(line, "check %d %d %d %d %d %2047s %2047s", &s.n, &s.c, &s.h, &s.w,
                          &s.threads, in, out) == 7) {
            answer_check(s, best ? plans : &how, best ? PLANS : 1, name, in, out);
        } else if (sscanf(line, "%15s %d %d %d %d %d %lf", what, &s.n, &s.c, &s.h, &s.w, &s.threads,
                          &seconds) == 7 &&
                   (strcmp(what, "train") == 0 || strcmp(what, "eval") == 0) && s.n > 0 &&
                   s.c > 0 && s.h >= 16 && s.w >= 16 && s.threads > 0) {
            s.train = strcmp(what, "train") == 0;
            if (best && memcmp(&s, &chosen_for, sizeof s) != 0) {
                how = best_plan(&s, plans, PLANS);
                chosen_for = s;
            }
            answer_measure(s, &how, name, what, seconds);
        } else {
            printf("{\"peer\":\"%s\",\"unavailable\":\"onednn_conv4 answers hello, train, eval, "
                   "check and quit\"}\n",
                   name);
        }
        fflush(stdout);
    }
    dnnl_engine_destroy(engine);
    return 0;
}
