/*
 * peer.h - what the C peers of the speed comparison share: clock, median, memory, page faults,
 * random numbers. The line protocol they speak is described in bench/README.md.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define WARM_UP_STEPS 2
#define LEAST_STEPS 3

static inline double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of `n` > 0 values, which are sorted in place. */
static inline double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
    return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

/* Make VmHWM start again from the memory resident now. Without the right to do so, the peak of the
 * whole process is what resident_peak_mb() tells. */
static inline void resident_reset(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (f) {
        fputs("5", f);
        fclose(f);
    }
}

/* Peak resident memory in MiB since resident_reset(). */
static inline double resident_peak_mb(void)
{
    char line[256];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return (double)kib / 1024.0;
}

static inline long page_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

/* Uniform in [low, high); xorshift, its state in *state (not 0). */
static inline float uniform(uint64_t *state, float low, float high)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return low + (high - low) * (float)(*state >> 40) * 0x1p-24f;
}

#endif
