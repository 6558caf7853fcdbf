/*
 * learner.c - one update: forward, method, backward for each episode, then clipping and a step.
 *
 * Each episode's gradient is computed on its own and added to the sum in episode order. Episodes of
 * one update may then be spread over processes without changing a bit of the sum.
 */
#include "train/learner.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "train/view.h"

/* ---- making ---- */

static imp_status make_arrays(imp_learner *learner, imp_error *error)
{
    size_t parameters = imp_network_parameter_count(learner->network);
    learner->values = imp_allocate(learner->value_count, sizeof *learner->values);
    learner->fixed = imp_allocate_zeroed(learner->value_count, sizeof *learner->fixed);
    learner->value_gradient =
        imp_allocate_zeroed(learner->value_count, sizeof *learner->value_gradient);
    learner->network_gradient = imp_allocate_zeroed(parameters, sizeof *learner->network_gradient);
    if (!learner->values || !learner->fixed || !learner->value_gradient ||
        !learner->network_gradient)
        return imp_fail_memory(error, "the gradients");
    return IMP_OK;
}

imp_status imp_learner_make(imp_learner *learner, imp_network *network, imp_method *method,
                            const imp_optimizer_options *options, imp_error *error)
{
    *learner = (imp_learner){.network = network, .method = method};
    const double *initial = imp_method_values(method, &learner->value_count);
    imp_status status = make_arrays(learner, error);
    if (!status)
        status = imp_optimizer_create(imp_network_parameter_count(network), options,
                                      &learner->network_optimizer, error);
    if (!status)
        status =
            imp_optimizer_create(learner->value_count, options, &learner->method_optimizer, error);
    if (status) {
        imp_learner_clear(learner);
        return status;
    }
    for (size_t i = 0; i < learner->value_count; i++)
        learner->values[i] = (float)initial[i];
    imp_learner_publish(learner);
    return IMP_OK;
}

void imp_learner_clear(imp_learner *learner)
{
    imp_network_free(learner->network);
    imp_method_free(learner->method);
    imp_optimizer_free(learner->network_optimizer);
    imp_optimizer_free(learner->method_optimizer);
    imp_release(learner->values);
    imp_release(learner->fixed);
    imp_release(learner->value_gradient);
    imp_release(learner->network_gradient);
    imp_release(learner->embeddings);
    imp_release(learner->embedding_gradient);
    *learner = (imp_learner){0};
}

/* ---- the method's parameters ---- */

static const imp_method_parameter *find_parameter(const imp_learner *learner, const char *name)
{
    size_t count;
    const imp_method_parameter *parameters = imp_method_parameters(learner->method, &count);
    for (size_t p = 0; p < count; p++)
        if (strcmp(parameters[p].name, name) == 0)
            return &parameters[p];
    return NULL;
}

void imp_learner_fix(imp_learner *learner, const char *parameter)
{
    const imp_method_parameter *found = find_parameter(learner, parameter);
    for (size_t i = 0; found && i < found->count; i++)
        learner->fixed[found->offset + i] = true;
}

void imp_learner_publish(imp_learner *learner)
{
    double *values = imp_method_values(learner->method, NULL);
    for (size_t i = 0; i < learner->value_count; i++)
        values[i] = learner->values[i];
}

double imp_learner_sigma(const imp_learner *learner, const char *parameter)
{
    const imp_method_parameter *found = find_parameter(learner, parameter);
    return found ? exp(learner->values[found->offset]) : NAN;
}

/* ---- an episode ---- */

static imp_status reserve(imp_learner *learner, size_t images, imp_error *error)
{
    if (images <= learner->capacity)
        return IMP_OK;
    size_t floats;
    float *embeddings = NULL, *gradient = NULL;
    if (imp_multiply(images, imp_network_output_size(learner->network), &floats)) {
        embeddings = imp_allocate(floats, sizeof *embeddings);
        gradient = imp_allocate(floats, sizeof *gradient);
    }
    if (!embeddings || !gradient) {
        imp_release(embeddings);
        imp_release(gradient);
        return imp_fail_memory(error, "the embeddings of an episode");
    }
    imp_release(learner->embeddings);
    imp_release(learner->embedding_gradient);
    learner->embeddings = embeddings;
    learner->embedding_gradient = gradient;
    learner->capacity = images;
    return IMP_OK;
}

static void gather_gradient(const imp_episode_view *view, const imp_method_result *result,
                            float *gradient)
{
    size_t row = view->dimensions * sizeof *gradient;
    float *queries = gradient + view->support_count * view->dimensions;
    float *unlabeled = queries + view->query_count * view->dimensions;
    memcpy(gradient, result->support_gradient, view->support_count * row);
    memcpy(queries, result->query_gradient, view->query_count * row);
    memcpy(unlabeled, result->unlabeled_gradient, view->unlabeled_count * row);
}

static double accuracy_of(const imp_episode_view *view, const imp_method_result *result)
{
    size_t right = 0;
    for (size_t q = 0; q < view->query_count; q++)
        right += result->predictions[q] == view->query_label[q];
    return (double)right / (double)view->query_count;
}

static void add_gradients(imp_learner *learner, const double *value_gradient)
{
    const float *gradient = imp_network_gradients(learner->network);
    size_t parameters = imp_network_parameter_count(learner->network);
    for (size_t i = 0; i < parameters; i++)
        learner->network_gradient[i] += gradient[i];
    for (size_t i = 0; i < learner->value_count; i++)
        if (!learner->fixed[i])
            learner->value_gradient[i] += (float)value_gradient[i];
    learner->episodes++;
}

imp_status imp_learner_add(imp_learner *learner, const imp_task *task, imp_outcome *outcome,
                           imp_error *error)
{
    const imp_episode *episode = &task->episode;
    size_t images = imp_episode_size(episode);
    imp_status status = reserve(learner, images, error);
    double begin = imp_clock();
    if (!status)
        status =
            imp_network_forward(learner->network, task->pixels, images, learner->embeddings, error);
    double embedded = imp_clock();
    if (status)
        return status;

    imp_episode_view view =
        imp_view_of(episode, learner->embeddings, imp_network_output_size(learner->network));
    imp_method_result result;
    status = imp_method_run(learner->method, &view, true, &result, error);
    if (status)
        return status;
    if (!isfinite(result.loss))
        return imp_fail(error, IMP_EINVAL, "the loss is %g", result.loss);

    gather_gradient(&view, &result, learner->embedding_gradient);
    double differentiated = imp_clock();
    imp_network_clear_gradients(learner->network);
    status = imp_network_backward(learner->network, learner->embedding_gradient, error);
    double end = imp_clock();
    if (status)
        return status;
    add_gradients(learner, result.parameter_gradient);
    *outcome = (imp_outcome){.loss = result.loss,
                             .accuracy = accuracy_of(&view, &result),
                             .clusters = result.cluster_count,
                             .images = images,
                             .network_seconds = embedded - begin + end - differentiated,
                             .method_seconds = differentiated - embedded};
    return IMP_OK;
}

/* ---- the update ---- */

static double sum_of_squares(const float *values, size_t count)
{
    double lanes[8] = {0}; /* a fixed order of summation that a compiler can still vectorise */
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

imp_status imp_learner_update(imp_learner *learner, double rate, double clip, double *norm,
                              imp_error *error)
{
    size_t parameters = imp_network_parameter_count(learner->network);
    size_t values = learner->value_count;
    double share = 1.0 / (double)(learner->episodes > 0 ? learner->episodes : 1);
    double length = share * sqrt(sum_of_squares(learner->network_gradient, parameters) +
                                 sum_of_squares(learner->value_gradient, values));
    if (norm)
        *norm = length;
    if (!isfinite(length))
        return imp_fail(error, IMP_EINVAL, "the gradient's norm is %g", length);

    double factor = clip > 0 && length > clip ? share * clip / length : share;
    if (factor != 1) {
        scale(learner->network_gradient, parameters, (float)factor);
        scale(learner->value_gradient, values, (float)factor);
    }
    imp_optimizer_step(learner->network_optimizer, imp_network_parameters(learner->network),
                       learner->network_gradient, rate);
    imp_optimizer_step(learner->method_optimizer, learner->values, learner->value_gradient, rate);
    imp_learner_publish(learner);
    memset(learner->network_gradient, 0, parameters * sizeof *learner->network_gradient);
    memset(learner->value_gradient, 0, values * sizeof *learner->value_gradient);
    learner->episodes = 0;
    return IMP_OK;
}
