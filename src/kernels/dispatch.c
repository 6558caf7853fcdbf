/*
 * dispatch.c - chooses the variant: the best this machine can run, or the one IMP_ISA names.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernels/kernels.h"

extern const imp_kernels imp_kernels_portable;
#ifdef __x86_64__
extern const imp_kernels imp_kernels_avx2;
extern const imp_kernels imp_kernels_avx512;

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/* the features that cmake/variants.cmake lets the compiler use */
static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#elif defined(__aarch64__)
extern const imp_kernels imp_kernels_neon;
#endif

static bool always(void)
{
    return true;
}

typedef struct variant {
    const imp_kernels *kernels;
    bool (*runs_here)(void);
} variant;

/* best first */
static const variant variants[] = {
#ifdef __x86_64__
    {&imp_kernels_avx512, has_avx512},
    {&imp_kernels_avx2, has_avx2},
#elif defined(__aarch64__)
    {&imp_kernels_neon, always}, /* every 64-bit ARM processor has it */
#endif
    {&imp_kernels_portable, always},
};
enum { COUNT = sizeof variants / sizeof *variants };

const imp_kernels *imp_kernels_find(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(variants[i].kernels->name, name) == 0 && variants[i].runs_here())
            return variants[i].kernels;
    return NULL;
}

imp_status imp_kernels_choose(const imp_kernels **out, imp_error *error)
{
    *out = NULL;
    const char *wanted = getenv("IMP_ISA");
    for (size_t i = 0; i < COUNT; i++) {
        const variant *v = &variants[i];
        bool named = wanted && strcmp(wanted, v->kernels->name) == 0;
        if (named && !v->runs_here())
            return imp_fail(
                error, IMP_EUNSUPPORTED,
                "IMP_ISA is '%s', which this processor cannot run; unset it to use the best it can",
                wanted);
        if (named || ((!wanted || !*wanted) && v->runs_here())) {
            *out = v->kernels;
            return IMP_OK;
        }
    }
#ifdef __x86_64__
    const char *others = "avx512, avx2 or ";
#elif defined(__aarch64__)
    const char *others = "neon or ";
#else
    const char *others = "";
#endif
    return imp_fail(error, IMP_EINVAL,
                    "IMP_ISA is '%s'; it can be %sportable, or unset for the best", wanted, others);
}
