/*
 * cluster.c - imp's DP-means for the clustering comparison, called through the public header, so
 * that no process start and no reading of files is timed. bench/README.md describes the protocol.
 */
#include "peer.h"

#include <imp/imp.h>
#include <math.h>
#include <omp.h>

enum { LONGEST_PATH = 500, MOST_CALLS = 1000 };

#define LEAST_SECONDS 0.3 /* a call that is over sooner is repeated */

/* The points asked for last; asking for the same file again reads nothing. */
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
        p->x = malloc(n * d * sizeof *p->x);
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

/* The instruction set that imp chooses here, as its networks tell it. */
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

static void cluster(points *p, const char *path, double lambda, size_t passes, int threads,
                    const char *means)
{
    const char *wrong = load(p, path);
    if (wrong) {
        unavailable(wrong);
        return;
    }
    omp_set_num_threads(threads);
    imp_cluster_options options;
    imp_cluster_options_init(&options);
    options.rule = IMP_CLUSTER_DP_MEANS;
    options.lambda = lambda;
    options.steps = passes;
    options.order = IMP_ORDER_GIVEN;
    imp_clustering *result = NULL;
    imp_error error;
    double times[MOST_CALLS], sum = 0;
    size_t calls = 0;
    resident_reset();
    while (sum < LEAST_SECONDS && calls < MOST_CALLS) {
        imp_clustering_free(result);
        double begin = seconds_now();
        if (imp_cluster(p->x, p->n, p->d, &options, &result, &error)) {
            unavailable(error.message);
            return;
        }
        times[calls] = seconds_now() - begin;
        sum += times[calls++];
    }
    double seconds = median(times, calls), peak = resident_peak_mb();
    if (means && !save_means(result, means)) {
        unavailable("the means could not be written");
    } else {
        printf("{\"peer\":\"imp-%s\",\"what\":\"cluster\",\"n\":%zu,\"d\":%zu,\"threads\":%d,"
               "\"lambda\":%.9g,\"clusters\":%zu,\"passes\":%zu,\"converged\":%s,"
               "\"seconds\":%.7f,\"calls\":%zu,\"seconds_per_pass\":%.7f,\"objective\":%.9g,"
               "\"distance_per_point\":%.9g,\"beyond_mb\":%.1f}\n",
               isa(), p->n, p->d, threads, lambda, result->clusters, result->steps,
               result->converged ? "true" : "false", seconds, calls,
               seconds / (double)result->steps, result->objective,
               (result->objective - lambda * (double)result->clusters) / (double)p->n,
               peak - p->resident);
    }
    imp_clustering_free(result);
}

int main(void)
{
    char line[2 * LONGEST_PATH], path[LONGEST_PATH], means[LONGEST_PATH];
    points p = {.x = NULL};
    while (fgets(line, sizeof line, stdin)) {
        double lambda;
        size_t passes;
        int threads, words;
        if (strncmp(line, "quit", 4) == 0)
            break;
        words =
            sscanf(line, "cluster %499s %lf %zu %d %499s", path, &lambda, &passes, &threads, means);
        if (strncmp(line, "hello", 5) == 0)
            printf("{\"peer\":\"imp-%s\",\"version\":\"%s\",\"isa\":\"%s\"}\n", isa(),
                   imp_version(), isa());
        else if (words >= 4 && passes > 0 && threads > 0)
            cluster(&p, path, lambda, passes, threads, words == 5 ? means : NULL);
        else
            unavailable("this peer answers hello, cluster FILE LAMBDA PASSES THREADS [MEANS] and "
                        "quit");
        fflush(stdout);
    }
    free(p.x);
    return 0;
}
