/*
 * updater.c - one update: sums the gradients of its episodes, clips the sum and takes a step.
 *
 * Each episode's gradient is computed by itself and added to the sum in episode order, so the
 * episodes of an update can be distributed over processes without changing a bit.
 */
#include "train/updater.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "nn/statistics.h"

/* ---- making ---- */

static imp_status make_arrays(imp_updater *updater, imp_error *error)
{
    size_t parameters = imp_network_parameter_count(updater->network);
    updater->values = imp_allocate(updater->value_count, sizeof *updater->values);
    updater->fixed = imp_allocate_zeroed(updater->value_count, sizeof *updater->fixed);
    updater->value_gradient =
        imp_allocate_zeroed(updater->value_count, sizeof *updater->value_gradient);
    updater->network_gradient = imp_allocate_zeroed(parameters, sizeof *updater->network_gradient);
    if (!updater->values || !updater->fixed || !updater->value_gradient ||
        !updater->network_gradient)
        return imp_fail_memory(error, "the gradients");
    return IMP_OK;
}

imp_status imp_updater_make(imp_updater *updater, imp_network *network, imp_learner *learner,
                            const imp_optimizer_options *options, imp_error *error)
{
    *updater =
        (imp_updater){.network = network, .learner = learner, .value_count = learner->value_count};
    imp_status status = make_arrays(updater, error);
    if (!status)
        status = imp_optimizer_create(imp_network_parameter_count(network), options,
                                      &updater->network_optimizer, error);
    /* the learner's parameters do not decay: a sigma should not tend to 1 */
    imp_optimizer_options steady = options ? *options : imp_optimizer_defaults(IMP_RMSPROP);
    steady.weight_decay = 0;
    if (!status)
        status =
            imp_optimizer_create(updater->value_count, &steady, &updater->value_optimizer, error);
    if (status) {
        imp_updater_clear(updater);
        return status;
    }
    for (size_t i = 0; i < updater->value_count; i++)
        updater->values[i] = (float)learner->values[i];
    for (size_t p = 0; p < learner->parameter_count; p++)
        if (learner->parameters[p].followed)
            imp_updater_fix(updater, learner->parameters[p].name);
    imp_updater_publish(updater);
    return IMP_OK;
}

void imp_updater_clear(imp_updater *updater)
{
    imp_learner_free(updater->learner);
    imp_network_free(updater->network);
    imp_optimizer_free(updater->network_optimizer);
    imp_optimizer_free(updater->value_optimizer);
    imp_release(updater->values);
    imp_release(updater->fixed);
    imp_release(updater->value_gradient);
    imp_release(updater->network_gradient);
    *updater = (imp_updater){0};
}

/* ---- the learner's parameters ---- */

void imp_updater_fix(imp_updater *updater, const char *parameter)
{
    const imp_learner_parameter *found = imp_learner_parameter_of(updater->learner, parameter);
    for (size_t i = 0; found && i < found->count; i++)
        updater->fixed[found->offset + i] = true;
}

void imp_updater_publish(imp_updater *updater)
{
    for (size_t i = 0; i < updater->value_count; i++)
        updater->learner->values[i] = updater->values[i];
    imp_learner_publish(updater->learner);
}

double imp_updater_sigma(const imp_updater *updater, const char *parameter)
{
    const imp_learner_parameter *found = imp_learner_parameter_of(updater->learner, parameter);
    return found ? exp(updater->values[found->offset]) : NAN;
}

/* ---- an episode ---- */

void imp_updater_add(imp_updater *updater, const imp_step *step)
{
    size_t parameters = imp_network_parameter_count(updater->network);
    for (size_t i = 0; step->network_gradient && i < parameters; i++)
        updater->network_gradient[i] += step->network_gradient[i];
    for (size_t i = 0; step->network_gradient && i < updater->value_count; i++)
        if (!updater->fixed[i])
            updater->value_gradient[i] += (float)step->value_gradient[i];
    if (step->statistics)
        imp_network_follow(updater->network, step->statistics);
    updater->episodes++;
}

/* ---- the update ---- */

static double sum_of_squares(const float *values, size_t count)
{
    double lanes[8] = {0}; /* a fixed order of summation that compilers can still vectorise */
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t lane = 0; lane < 8; lane++)
            lanes[lane] += (double)values[i + lane] * values[i + lane];
    for (; i < count; i++)
        lanes[0] += (double)values[i] * values[i];
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

static void scale(float *values, size_t count, float factor)
{
    for (size_t i = 0; i < count; i++)
        values[i] *= factor;
}

imp_status imp_updater_update(imp_updater *updater, double rate, double clip, double *norm,
                              imp_error *error)
{
    size_t parameters = imp_network_parameter_count(updater->network);
    size_t values = updater->value_count;
    double share = 1.0 / (double)(updater->episodes > 0 ? updater->episodes : 1);
    double length = share * sqrt(sum_of_squares(updater->network_gradient, parameters) +
                                 sum_of_squares(updater->value_gradient, values));
    if (norm)
        *norm = length;
    if (!isfinite(length))
        return imp_fail(error, IMP_EINVAL, "the gradient's norm is %g", length);

    double factor = clip > 0 && length > clip ? share * clip / length : share;
    if (factor != 1) {
        scale(updater->network_gradient, parameters, (float)factor);
        scale(updater->value_gradient, values, (float)factor);
    }
    imp_optimizer_step(updater->network_optimizer, imp_network_parameters(updater->network),
                       updater->network_gradient, rate);
    imp_optimizer_step(updater->value_optimizer, updater->values, updater->value_gradient, rate);
    for (size_t i = 0; i < values; i++)
        if (updater->fixed[i])
            updater->values[i] = (float)updater->learner->values[i];
    imp_updater_publish(updater);
    memset(updater->network_gradient, 0, parameters * sizeof *updater->network_gradient);
    memset(updater->value_gradient, 0, values * sizeof *updater->value_gradient);
    updater->episodes = 0;
    return IMP_OK;
}
