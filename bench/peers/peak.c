/*
 * peak.c - the fp32 multiply-add rate this machine reaches with everything in registers: the
 * denominator of "nominal GFLOP/s divided by peak".
 *
 * Independent chains of fused multiply-adds, enough of them to hide the latency, on one or more
 * threads at once. PEAK_ISA=avx512|avx2|portable chooses the instruction set; otherwise every one
 * the machine has is tried and the fastest counts. Speaks the protocol of bench/README.md; its own
 * request is `peak THREADS SECONDS`.
 */
#include "peer.h"

#include <immintrin.h>
#include <omp.h>

#define REPEAT 20000 /* rounds of all chains between two looks at the clock */

/* One kernel: `chains` accumulators in registers, each multiplied and added to REPEAT times. The
 * empty asm keeps the compiler from reordering or merging the chains, the sum from dropping them.
 */
#define UNROLL _Pragma("GCC unroll 32")
#define KERNEL(name, isa, vector, chains, set1, fma)                     \
    __attribute__((target(isa))) static float name(void)                 \
    {                                                                    \
        vector a[chains], x = set1(0.999f), y = set1(1e-3f);             \
        UNROLL for (int c = 0; c < (chains); c++) a[c] = set1((float)c); \
        for (int r = 0; r < REPEAT; r++) {                               \
            UNROLL for (int c = 0; c < (chains); c++)                    \
            {                                                            \
                a[c] = fma(a[c], x, y);                                  \
                __asm__("" : "+v"(a[c]));                                \
            }                                                            \
        }                                                                \
        vector sum = a[0];                                               \
        UNROLL for (int c = 1; c < (chains); c++) sum += a[c];           \
        return sum[0];                                                   \
    }

#define MULTIPLY_ADD(a, x, y) _mm_add_ps(_mm_mul_ps(a, x), y)

KERNEL(run_avx512, "avx512f", __m512, 24, _mm512_set1_ps, _mm512_fmadd_ps)
KERNEL(run_avx2, "avx2,fma", __m256, 12, _mm256_set1_ps, _mm256_fmadd_ps)
KERNEL(run_portable, "sse2", __m128, 12, _mm_set1_ps, MULTIPLY_ADD)

typedef struct kernel {
    const char *isa;
    float (*run)(void);
    double flops; /* of one call */
} kernel;

static const kernel kernels[] = {
    {"avx512", run_avx512, 2.0 * 16 * 24 * REPEAT},
    {"avx2", run_avx2, 2.0 * 8 * 12 * REPEAT},
    {"portable", run_portable, 2.0 * 4 * 12 * REPEAT},
};

static int has(const char *isa)
{
    const char *only = getenv("PEAK_ISA");
    if (only && strcmp(only, isa) != 0)
        return 0;
    if (strcmp(isa, "avx512") == 0)
        return __builtin_cpu_supports("avx512f");
    if (strcmp(isa, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return 1;
}

/* FLOP/s of all threads together: every thread works until the time is over, all start at once. */
static double measure(const kernel *k, int threads, double seconds)
{
    double total = 0;
    volatile float sink = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
    {
        float sum = k->run();
#pragma omp barrier
        double start = seconds_now(), now;
        long calls = 0;
        do {
            sum += k->run();
            calls++;
            now = seconds_now();
        } while (now - start < seconds);
        total += (double)calls * k->flops / (now - start);
#pragma omp critical
        sink += sum;
    }
    (void)sink;
    return total;
}

int main(void)
{
    enum { COUNT = sizeof kernels / sizeof *kernels };
    char line[256];
    __builtin_cpu_init();
    while (fgets(line, sizeof line, stdin)) {
        int threads;
        double seconds;
        if (strncmp(line, "quit", 4) == 0)
            break;
        if (strncmp(line, "hello", 5) == 0) {
            printf("{\"peer\":\"peak\",\"version\":\"1\",\"isa\":\"%s\"}\n",
                   has("avx512") ? "avx512"
                   : has("avx2") ? "avx2"
                                 : "portable");
        } else if (sscanf(line, "peak %d %lf", &threads, &seconds) == 2 && threads > 0) {
            double best = 0;
            const char *isa = "none";
            int tried = 0;
            for (int i = 0; i < COUNT; i++)
                tried += has(kernels[i].isa);
            for (int i = 0; i < COUNT; i++) {
                double rate =
                    has(kernels[i].isa) ? measure(&kernels[i], threads, seconds / tried) : 0;
                if (rate > best) {
                    best = rate;
                    isa = kernels[i].isa;
                }
            }
            printf("{\"peer\":\"peak\",\"what\":\"peak\",\"threads\":%d,\"isa\":\"%s\","
                   "\"gflops\":%.2f}\n",
                   threads, isa, best * 1e-9);
        } else {
            printf("{\"peer\":\"peak\",\"unavailable\":\"peak answers hello, peak THREADS SECONDS "
                   "and quit\"}\n");
        }
        fflush(stdout);
    }
    return 0;
}
