/*
 * optimizer.h - gradient steps on a flat parameter array: RMSProp, plain SGD, Adam.
 */
#ifndef IMP_OPTIMIZER_H
#define IMP_OPTIMIZER_H

#include <stddef.h>
#include <stdint.h>

#include <imp/export.h>
#include <imp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum imp_optimizer_kind { IMP_RMSPROP, IMP_SGD, IMP_ADAM } imp_optimizer_kind;

typedef struct imp_optimizer_options {
    size_t size; /* sizeof(imp_optimizer_options) */
    imp_optimizer_kind kind;
    double decay;        /* RMSProp: decay of the mean square, in [0, 1) */
    double beta1, beta2; /* Adam: decay of the two moments, in [0, 1) */
    double eps;          /* added to the square root, > 0 */
    /* Decoupled weight decay (Loshchilov & Hutter 2019; with Adam this is AdamW): each step first
     * multiplies the parameters by 1 - rate * weight_decay. At least 0; the default is 0. */
    double weight_decay;
} imp_optimizer_options;

/* The usual values: RMSProp with decay 0.9 and eps 1e-10 as in the paper, SGD without momentum,
 * Adam with 0.9, 0.999 and 1e-8. `size` is the caller's sizeof(imp_optimizer_options). */
IMP_API void imp_optimizer_options_init(imp_optimizer_options *options, size_t size,
                                        imp_optimizer_kind kind);

static inline imp_optimizer_options imp_optimizer_defaults(imp_optimizer_kind kind)
{
    imp_optimizer_options options;
    imp_optimizer_options_init(&options, sizeof options, kind);
    return options;
}

typedef struct imp_optimizer imp_optimizer;

/* Creates an optimizer for `count` parameters; its state, the averages of past gradients, starts at
 * zero. `options` may be NULL for the paper's RMSProp. IMP_EINVAL names an option out of range. */
IMP_API imp_status imp_optimizer_create(size_t count, const imp_optimizer_options *options,
                                        imp_optimizer **out, imp_error *error);

/* NULL is allowed. */
IMP_API void imp_optimizer_free(imp_optimizer *optimizer);

/* Takes one step with learning rate `rate` against `gradients`, which are not changed. Allocates
 * nothing. */
IMP_API void imp_optimizer_step(imp_optimizer *optimizer, float *parameters, const float *gradients,
                                double rate);

/* What a checkpoint must keep: the number of steps taken and the state, a flat array of averages of
 * past gradients, which may be written to resume. `count`, which may be NULL, receives its length:
 * 0 for SGD. */
IMP_API float *imp_optimizer_state(imp_optimizer *optimizer, size_t *count);
IMP_API uint64_t imp_optimizer_steps(const imp_optimizer *optimizer);
IMP_API void imp_optimizer_set_steps(imp_optimizer *optimizer, uint64_t steps);

#ifdef __cplusplus
}
#endif

#endif
