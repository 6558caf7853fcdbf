/*
 * measure.c - repeats a step for a while and takes the median, which is robust to disturbed steps.
 */
#include "cli/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"

enum { WARM_UP_STEPS = 2, LEAST_STEPS = 3, MOST_STEPS = 10000, MOST_IMAGES = 1 << 20 };

/* Everything a step needs. */
typedef struct bench {
    const imp_measure_task *task;
    imp_network *network;
    imp_encoder *encoder; /* NULL when training */
    float *images, *embeddings, *gradient;
} bench;

/* On Linux, writing 5 here resets the peak of resident memory; elsewhere it is the peak so far. */
static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return;
    fputs("5", file);
    fclose(file);
}

static double peak_mb(void)
{
    char line[256];
    long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %ld", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return (double)kilobytes / 1024;
}

static long page_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static imp_status prepare(bench *b, imp_error *error)
{
    const imp_measure_task *task = b->task;
    if (task->images < 1 || task->images > MOST_IMAGES)
        return imp_fail(error, IMP_EINVAL, "%zu images cannot be timed; give 1 to %d", task->images,
                        MOST_IMAGES);
    imp_network_options options = {.size = sizeof options,
                                   .channels = task->channels,
                                   .height = task->height,
                                   .width = task->width,
                                   .threads = task->threads};
    imp_status status = imp_network_create(task->description, &options, &b->network, error);
    if (!status && !task->training)
        status = imp_encoder_create(b->network, &b->encoder, error);
    if (status)
        return status;
    size_t pixels = task->channels * task->height * task->width;
    size_t outputs = imp_network_output_size(b->network);
    b->images = imp_allocate(task->images, pixels * sizeof(float));
    b->embeddings = imp_allocate(task->images, outputs * sizeof(float));
    b->gradient = imp_allocate(task->images, outputs * sizeof(float));
    if (!b->images || !b->embeddings || !b->gradient)
        return imp_fail_memory(error, "the benchmark's images");
    imp_random random = imp_random_start(0, IMP_STREAM_DEMO, 0);
    for (size_t i = 0; i < task->images * pixels; i++)
        b->images[i] = (float)imp_random_uniform(&random);
    for (size_t i = 0; i < task->images * outputs; i++)
        b->gradient[i] = (float)(imp_random_uniform(&random) - 0.5);
    return IMP_OK;
}

static void release(bench *b)
{
    imp_release(b->images);
    imp_release(b->embeddings);
    imp_release(b->gradient);
    imp_encoder_free(b->encoder);
    imp_network_free(b->network);
}

static imp_status step(bench *b, imp_error *error)
{
    const imp_measure_task *task = b->task;
    if (b->encoder)
        return imp_encoder_encode(b->encoder, b->images, task->images, task->threads, b->embeddings,
                                  error);
    imp_network_clear_gradients(b->network);
    imp_status status =
        imp_network_forward(b->network, b->images, task->images, b->embeddings, error);
    return status ? status : imp_network_backward(b->network, b->gradient, error);
}

static imp_status repeat(bench *b, imp_measure_result *result, imp_error *error)
{
    double times[MOST_STEPS];
    imp_status status = IMP_OK;
    for (int i = 0; i < WARM_UP_STEPS && !status; i++)
        status = step(b, error);
    reset_peak();
    long faults = page_faults();
    size_t steps = 0;
    double begin = imp_clock(), last = begin;
    while (!status && steps < MOST_STEPS &&
           (steps < LEAST_STEPS || last - begin < b->task->seconds)) {
        status = step(b, error);
        double end = imp_clock();
        times[steps++] = end - last;
        last = end;
    }
    if (status)
        return status;
    result->steps = steps;
    result->faults_per_step = (double)(page_faults() - faults) / (double)steps;
    result->resident_mb = peak_mb();
    qsort(times, steps, sizeof *times, compare);
    double median = steps % 2 ? times[steps / 2] : (times[steps / 2 - 1] + times[steps / 2]) / 2;
    result->images_per_second = (double)b->task->images / median;
    result->most = (double)b->task->images / times[0];
    result->threads = imp_network_options_of(b->network)->threads;
    snprintf(result->isa, sizeof result->isa, "%s", imp_network_isa(b->network));
    return IMP_OK;
}

imp_status imp_measure(const imp_measure_task *task, imp_measure_result *result, imp_error *error)
{
    bench b = {.task = task};
    imp_status status = prepare(&b, error);
    if (!status)
        status = repeat(&b, result, error);
    release(&b);
    return status;
}
