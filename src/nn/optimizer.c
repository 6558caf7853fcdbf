/*
 * optimizer.c - RMSProp (Tieleman & Hinton 2012), SGD and Adam (Kingma & Ba 2015), with PyTorch's
 * formulas: the gradient is divided by the root of the mean square, plus eps, and weight decay is
 * decoupled from the gradient.
 */
#include <imp/optimizer.h>

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"

struct imp_optimizer {
    imp_optimizer_options options;
    size_t count;
    size_t state_count; /* RMSProp: squares; Adam: means, then squares; SGD: none */
    uint64_t steps;
    float *state;
};

void imp_optimizer_options_init(imp_optimizer_options *options, size_t size,
                                imp_optimizer_kind kind)
{
    const imp_optimizer_options defaults = {.kind = kind,
                                            .decay = 0.9,
                                            .beta1 = 0.9,
                                            .beta2 = 0.999,
                                            .eps = kind == IMP_ADAM ? 1e-8 : 1e-10};
    imp_give_options(options, size, &defaults, sizeof defaults);
}

static imp_status check_fraction(double value, const char *name, imp_error *error)
{
    if (value >= 0 && (float)value < 1)
        return IMP_OK;
    return imp_fail(error, IMP_EINVAL,
                    "the optimizer's %s is %g; it should be at least 0 and less than 1", name,
                    value);
}

static imp_status check(const imp_optimizer_options *options, imp_error *error)
{
    if (options->kind != IMP_RMSPROP && options->kind != IMP_SGD && options->kind != IMP_ADAM)
        return imp_fail(error, IMP_EINVAL,
                        "there is no optimizer of kind %d; use IMP_RMSPROP, IMP_SGD or IMP_ADAM",
                        (int)options->kind);
    if (!((float)options->eps > 0 && isfinite(options->eps)))
        return imp_fail(
            error, IMP_EINVAL,
            "the optimizer's eps is %g; it should be finite and, in float, greater than 0",
            options->eps);
    imp_status status = check_fraction(options->decay, "decay", error);
    if (!status)
        status = check_fraction(options->beta1, "beta1", error);
    if (!status)
        status = check_fraction(options->beta2, "beta2", error);
    if (!status && !(options->weight_decay >= 0 && isfinite(options->weight_decay)))
        status = imp_fail(error, IMP_EINVAL,
                          "the optimizer's weight_decay is %g; it should be finite and at least 0",
                          options->weight_decay);
    return status;
}

imp_status imp_optimizer_create(size_t count, const imp_optimizer_options *options,
                                imp_optimizer **out, imp_error *error)
{
    *out = NULL;
    imp_optimizer_options chosen = imp_optimizer_defaults(IMP_RMSPROP);
    imp_status status =
        imp_take_options(&chosen, sizeof chosen, options, "imp_optimizer_options", error);
    if (!status)
        status = check(&chosen, error);
    if (status)
        return status;
    size_t arrays = chosen.kind == IMP_ADAM ? 2 : chosen.kind == IMP_RMSPROP ? 1 : 0, state_count;
    if (!imp_multiply(count, arrays, &state_count))
        return imp_fail_memory(error, "the optimizer");
    imp_optimizer *optimizer = imp_allocate_zeroed(1, sizeof *optimizer);
    float *state = imp_allocate_zeroed(state_count, sizeof *state);
    if (!optimizer || !state) {
        imp_release(optimizer);
        imp_release(state);
        return imp_fail_memory(error, "the optimizer");
    }
    *optimizer = (imp_optimizer){
        .options = chosen, .count = count, .state_count = state_count, .state = state};
    *out = optimizer;
    return IMP_OK;
}

void imp_optimizer_free(imp_optimizer *optimizer)
{
    if (!optimizer)
        return;
    imp_release(optimizer->state);
    imp_release(optimizer);
}

static void step_rmsprop(imp_optimizer *o, float *parameters, const float *gradients, double rate)
{
    float decay = (float)o->options.decay, rest = (float)(1 - o->options.decay);
    float eps = (float)o->options.eps, size = (float)rate;
    for (size_t i = 0; i < o->count; i++) {
        float g = gradients[i];
        o->state[i] = decay * o->state[i] + rest * g * g;
        parameters[i] -= size * g / (sqrtf(o->state[i]) + eps);
    }
}

static void step_adam(imp_optimizer *o, float *parameters, const float *gradients, double rate)
{
    float beta1 = (float)o->options.beta1, beta2 = (float)o->options.beta2;
    float rest1 = (float)(1 - o->options.beta1), rest2 = (float)(1 - o->options.beta2);
    float eps = (float)o->options.eps;
    float *mean = o->state, *square = o->state + o->count;
    /* bias correction, since the averages start at zero */
    float size = (float)(rate / (1 - pow(o->options.beta1, (double)o->steps)));
    float root = (float)sqrt(1 - pow(o->options.beta2, (double)o->steps));
    for (size_t i = 0; i < o->count; i++) {
        float g = gradients[i];
        mean[i] = beta1 * mean[i] + rest1 * g;
        square[i] = beta2 * square[i] + rest2 * g * g;
        parameters[i] -= size * mean[i] / (sqrtf(square[i]) / root + eps);
    }
}

static void step_sgd(imp_optimizer *o, float *parameters, const float *gradients, double rate)
{
    for (size_t i = 0; i < o->count; i++)
        parameters[i] -= (float)rate * gradients[i];
}

void imp_optimizer_step(imp_optimizer *optimizer, float *parameters, const float *gradients,
                        double rate)
{
    optimizer->steps++;
    if (optimizer->options.weight_decay > 0) {
        float kept = (float)(1 - rate * optimizer->options.weight_decay);
        for (size_t i = 0; i < optimizer->count; i++)
            parameters[i] *= kept;
    }
    switch (optimizer->options.kind) {
    case IMP_RMSPROP:
        step_rmsprop(optimizer, parameters, gradients, rate);
        break;
    case IMP_ADAM:
        step_adam(optimizer, parameters, gradients, rate);
        break;
    case IMP_SGD:
        step_sgd(optimizer, parameters, gradients, rate);
        break;
    }
}

float *imp_optimizer_state(imp_optimizer *optimizer, size_t *count)
{
    if (count)
        *count = optimizer->state_count;
    return optimizer->state;
}

uint64_t imp_optimizer_steps(const imp_optimizer *optimizer)
{
    return optimizer->steps;
}

void imp_optimizer_set_steps(imp_optimizer *optimizer, uint64_t steps)
{
    optimizer->steps = steps;
}
