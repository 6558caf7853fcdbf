/*
 * cluster.c - imp's clustering, fitting and predicting for comparisons, called through the public
 * headers, so that no process start and no reading of files is timed. bench/README.md describes the
 * protocol.
 */
#include "peer.h"

#include <imp/imp.h>
#include <math.h>
#include <stdbool.h>
#include <sys/mman.h>

enum { LONGEST_PATH = 500, MOST_CALLS = 1000 };

#define LEAST_SECONDS 2 /* shorter calls are repeated: the first one also starts threads */

/* Memory on huge pages, as NumPy's large arrays are, which the other peers work on. */
static void *large_array(size_t size)
{
    const size_t page = (size_t)1 << 21;
    size_t whole = (size + page - 1) / page * page;
    void *memory = aligned_alloc(page, whole);
    if (memory)
        madvise(memory, whole, MADV_HUGEPAGE);
    return memory;
}

/* The points of the last request; the same file is not read again. */
typedef struct points {
    char path[LONGEST_PATH];
    float *x;
    size_t n, d;
    double resident; /* MiB, once they were read */
} points;

/* Resident memory in MiB now. */
static double resident_mb(void)
{
    char line[256];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return (double)kib / 1024.0;
}

/* The header of a NumPy file of float32 rows; leaves `f` at the first value. */
static const char *read_header(FILE *f, size_t *n, size_t *d)
{
    unsigned char start[10];
    char header[1024] = "";
    if (fread(start, 1, sizeof start, f) != sizeof start || memcmp(start, "\x93NUMPY\x01", 7) != 0)
        return "not a NumPy file of version 1";
    size_t length = start[8] + 256u * start[9];
    if (length >= sizeof header || fread(header, 1, length, f) != length)
        return "a NumPy header cut short or too long";
    const char *shape = strstr(header, "'shape': (");
    if (!strstr(header, "'<f4'") || !strstr(header, "'fortran_order': False") || !shape ||
        sscanf(shape, "'shape': (%zu, %zu)", n, d) != 2 || *n == 0 || *d == 0)
        return "not rows of float32";
    return NULL;
}

/* NULL, or what is wrong. */
static const char *load(points *p, const char *path)
{
    if (strcmp(p->path, path) == 0)
        return NULL;
    free(p->x);
    *p = (points){.x = NULL};
    FILE *f = fopen(path, "rb");
    if (!f)
        return "no such file";
    size_t n, d;
    const char *wrong = read_header(f, &n, &d);
    if (!wrong) {
        p->x = large_array(n * d * sizeof *p->x);
        if (!p->x)
            wrong = "out of memory";
        else if (fread(p->x, d * sizeof *p->x, n, f) != n)
            wrong = "a NumPy file cut short";
    }
    fclose(f);
    if (wrong)
        return wrong;
    snprintf(p->path, sizeof p->path, "%s", path);
    p->n = n;
    p->d = d;
    p->resident = resident_mb();
    return NULL;
}

/* The means as a NumPy file, for the peers to start from. */
static int save_means(const imp_clustering *c, const char *path)
{
    char text[100];
    snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %zu), }",
             c->clusters, c->dimensions);
    FILE *f = fopen(path, "wb");
    if (!f)
        return 0;
    /* ten bytes, and a text that fills them up to 128 and ends its line */
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fprintf(f, "%-117s\n", text);
    size_t values = c->clusters * c->dimensions;
    size_t written = fwrite(c->mean, sizeof *c->mean, values, f);
    return fclose(f) == 0 && written == values;
}

/* The instruction set that imp chooses here, as its networks report it. */
static const char *isa(void)
{
    static char name[32];
    imp_network_options options = {
        .size = sizeof options, .channels = 1, .height = 1, .width = 1, .threads = 1};
    imp_network *network;
    imp_error error;
    if (imp_network_create("linear:1", &options, &network, &error))
        return "unknown";
    snprintf(name, sizeof name, "%s", imp_network_isa(network));
    imp_network_free(network);
    return name;
}

static void unavailable(const char *why)
{
    printf("{\"peer\":\"imp\",\"unavailable\":\"%s\"}\n", why);
}

/* A parsed request. */
typedef struct question {
    char path[LONGEST_PATH], out[LONGEST_PATH];
    double lambda, sigma;
    size_t passes, labeled, classes;
    int threads;
} question;

/* The work to time: it is repeated, and `result` is that of the last repetition. */
typedef struct work {
    const points *p;
    const question *q;
    const char *method;
    imp_clustering *clustering;
    imp_mixture *mixture;
    int32_t *labels;
    imp_mixture_predictions predictions;
    imp_error error;
} work;

typedef imp_status action(work *w);

/* The median seconds of the work, and the mean CPU seconds; negative after a failure, which has
 * then been reported. */
static double timed(action *act, work *w, size_t *calls, double *peak, double *cpu)
{
    double times[MOST_CALLS], sum = 0;
    clock_t before = clock();
    resident_reset();
    for (*calls = 0; sum < LEAST_SECONDS && *calls < MOST_CALLS; sum += times[(*calls)++]) {
        double begin = seconds_now();
        if (act(w)) {
            unavailable(w->error.message);
            return -1;
        }
        times[*calls] = seconds_now() - begin;
    }
    *peak = resident_peak_mb();
    *cpu = (double)(clock() - before) / CLOCKS_PER_SEC / (double)*calls;
    return median(times, *calls);
}

static imp_status cluster_once(work *w)
{
    imp_cluster_options options = imp_cluster_defaults();
    options.method = w->method;
    options.rule.lambda = w->q->lambda;
    if (w->q->sigma > 0)
        options.rule.sigma_u = w->q->sigma;
    options.rule.steps = (double)w->q->passes;
    options.order = IMP_ORDER_GIVEN;
    options.threads = w->q->threads;
    imp_clustering_free(w->clustering);
    return imp_cluster(w->p->x, w->p->n, w->p->d, &options, &w->clustering, &w->error);
}

static void cluster(const points *p, const question *q, const char *method)
{
    work w = {.p = p, .q = q, .method = method};
    size_t calls;
    double peak, cpu, seconds = timed(cluster_once, &w, &calls, &peak, &cpu);
    const imp_clustering *result = w.clustering;
    if (seconds >= 0 && q->out[0] && !save_means(result, q->out))
        unavailable("the means could not be written");
    else if (seconds >= 0)
        printf("{\"peer\":\"imp-%s\",\"what\":\"%s\",\"n\":%zu,\"d\":%zu,\"threads\":%d,"
               "\"lambda\":%.9g,\"clusters\":%zu,\"passes\":%zu,\"converged\":%s,"
               "\"seconds\":%.7f,\"cpu_seconds\":%.7f,\"calls\":%zu,\"seconds_per_pass\":%.7f,"
               "\"objective\":%.9g,"
               "\"distance_per_point\":%.9g,\"beyond_mb\":%.1f}\n",
               isa(), method, p->n, p->d, q->threads, q->lambda, result->clusters, result->steps,
               result->converged ? "true" : "false", seconds, cpu, calls,
               seconds / (double)result->steps, result->objective,
               (result->objective - q->lambda * (double)result->clusters) / (double)p->n,
               peak - p->resident);
    imp_clustering_free(w.clustering);
}

static imp_status fit_once(work *w)
{
    imp_mixture_options options = imp_mixture_defaults();
    options.rule.lambda = w->q->lambda;
    options.rule.sigma_l = options.rule.sigma_u = w->q->sigma;
    imp_mixture_free(w->mixture);
    return imp_mixture_fit(w->p->x, w->labels, w->p->n, w->p->d, &options, &w->mixture, &w->error);
}

/* The first rows have labels, of all classes in turn. */
static void fit(const points *p, const question *q)
{
    work w = {.p = p, .q = q, .labels = malloc(p->n * sizeof *w.labels)};
    for (size_t i = 0; i < p->n; i++)
        w.labels[i] = i < q->labeled ? (int32_t)(i % q->classes) : IMP_UNLABELED;
    size_t calls;
    double peak, cpu, seconds = timed(fit_once, &w, &calls, &peak, &cpu);
    if (seconds >= 0 && q->out[0] && imp_mixture_save(w.mixture, q->out, &w.error))
        unavailable(w.error.message);
    else if (seconds >= 0)
        printf("{\"peer\":\"imp-%s\",\"what\":\"fit\",\"n\":%zu,\"d\":%zu,\"labelled\":%zu,"
               "\"clusters\":%zu,\"seconds\":%.7f,\"cpu_seconds\":%.7f,\"calls\":%zu,\"beyond_mb\":"
               "%.1f}\n",
               isa(), p->n, p->d, q->labeled, imp_mixture_summarize(w.mixture).clusters, seconds,
               cpu, calls, peak - p->resident);
    imp_mixture_free(w.mixture);
    free(w.labels);
}

static imp_status predict_once(work *w)
{
    return imp_mixture_predict(w->mixture, w->p->x, w->p->n, w->p->d, false, &w->predictions,
                               &w->error);
}

/* Memory that has been touched before, as in a program that predicts repeatedly. NULL if there is
 * none. */
static void *resident(size_t size)
{
    void *memory = large_array(size);
    return memory ? memset(memory, 1, size) : NULL;
}

/* Label, probabilities, distance and deciding cluster of every point, by the mixture in q->out. */
static void predict(const points *p, const question *q)
{
    work w = {.p = p, .q = q};
    if (imp_mixture_load(q->out, &w.mixture, &w.error)) {
        unavailable(w.error.message);
        return;
    }
    imp_mixture_summary summary = imp_mixture_summarize(w.mixture);
    w.predictions = (imp_mixture_predictions){
        .label = resident(p->n * sizeof(int32_t)),
        .probability = resident(p->n * summary.classes * sizeof(float)),
        .distance = resident(p->n * sizeof(float)),
        .cluster = resident(p->n * sizeof(int32_t)),
    };
    size_t calls;
    double peak, cpu, seconds = timed(predict_once, &w, &calls, &peak, &cpu), distance = 0;
    for (size_t i = 0; i < p->n; i += 100)
        distance += w.predictions.distance[i];
    if (seconds >= 0)
        printf("{\"peer\":\"imp-%s\",\"what\":\"predict\",\"n\":%zu,\"d\":%zu,\"clusters\":%zu,"
               "\"classes\":%zu,\"seconds\":%.7f,\"cpu_seconds\":%.7f,\"calls\":%zu,\"distance_per_"
               "point\":%.9g,"
               "\"beyond_mb\":%.1f}\n",
               isa(), p->n, p->d, summary.clusters, summary.classes, seconds, cpu, calls,
               distance / (double)((p->n + 99) / 100), peak - p->resident);
    free(w.predictions.label);
    free(w.predictions.probability);
    free(w.predictions.distance);
    free(w.predictions.cluster);
    imp_mixture_free(w.mixture);
}

/* Answers a line that is neither hello nor quit. */
static void answer(points *p, const char *line)
{
    question q = {.out = ""};
    int hard = sscanf(line, "cluster %499s %lf %zu %d %499s", q.path, &q.lambda, &q.passes,
                      &q.threads, q.out);
    int soft = hard >= 4 ? 0
                         : sscanf(line, "soft %499s %lf %lf %zu %d %499s", q.path, &q.lambda,
                                  &q.sigma, &q.passes, &q.threads, q.out);
    bool clusters = (hard >= 4 || soft >= 5) && q.passes > 0 && q.threads > 0;
    bool fits = !clusters && sscanf(line, "fit %499s %lf %lf %zu %zu %499s", q.path, &q.lambda,
                                    &q.sigma, &q.labeled, &q.classes, q.out) >= 5;
    bool predicts = !clusters && !fits && sscanf(line, "predict %499s %499s", q.path, q.out) == 2;
    if (!clusters && !fits && !predicts) {
        unavailable(
            "this peer answers hello, cluster FILE LAMBDA PASSES THREADS [MEANS], soft FILE "
            "LAMBDA SIGMA PASSES THREADS [MEANS], fit FILE LAMBDA SIGMA LABELLED CLASSES "
            "[MIXTURE], predict FILE MIXTURE and quit");
        return;
    }
    const char *wrong = load(p, q.path);
    if (wrong)
        unavailable(wrong);
    else if (clusters)
        cluster(p, &q, hard >= 4 ? "dp-means" : "imp");
    else if (fits)
        fit(p, &q);
    else
        predict(p, &q);
}

int main(void)
{
    char line[3 * LONGEST_PATH];
    points p = {.x = NULL};
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "quit", 4) == 0)
            break;
        if (strncmp(line, "hello", 5) == 0)
            printf("{\"peer\":\"imp-%s\",\"version\":\"%s\",\"isa\":\"%s\"}\n", isa(),
                   imp_version(), isa());
        else
            answer(&p, line);
        fflush(stdout);
    }
    free(p.x);
    return 0;
}
