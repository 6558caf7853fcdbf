/*
 * metric.c - the learner of the paper: embeds all images of a task as one batch, and lets a method
 * cluster and classify the embeddings.
 *
 * Besides the network it learns the method's parameters. In training, batch norm uses the task's
 * own statistics; in evaluation the embeddings come from the frozen network.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "learners/learner.h"
#include "learners/view.h"
#include "methods/method.h"
#include "nn/model_file.h"
#include "nn/statistics.h"

typedef struct metric {
    imp_method *method;
    float *embeddings, *gradient; /* (capacity, dimensions) */
    size_t capacity;
} metric;

/* ---- creating ---- */

/* The method's parameters as the learner's. */
static imp_status list_parameters(imp_learner *learner, const imp_method *method, imp_error *error)
{
    const imp_method_parameter *from = imp_method_parameters(method, &learner->parameter_count);
    learner->parameters =
        imp_allocate_zeroed(learner->parameter_count, sizeof *learner->parameters);
    if (!learner->parameters)
        return imp_fail_memory(error, "the method's parameters");
    for (size_t p = 0; p < learner->parameter_count; p++) {
        imp_learner_parameter *to = &learner->parameters[p];
        *to = (imp_learner_parameter){.name = from[p].name,
                                      .rank = from[p].rank,
                                      .offset = from[p].offset,
                                      .count = from[p].count};
        memcpy(to->shape, from[p].shape, sizeof from[p].shape);
    }
    return IMP_OK;
}

static imp_status create(imp_learner *learner, imp_error *error)
{
    metric *own = imp_allocate_zeroed(1, sizeof *own);
    learner->state = own;
    if (!own)
        return imp_fail_memory(error, "a learner");
    const imp_learner_options *options = &learner->options;
    imp_status status =
        imp_method_create(options->method ? options->method : imp_method_at(0)->name,
                          &options->method_options, &own->method, error);
    if (!status && learner->network) /* it will be trained */
        status = imp_method_check_gradient(own->method, error);
    if (status)
        return status;
    learner->values = imp_method_values(own->method, &learner->value_count);
    return list_parameters(learner, own->method, error);
}

static void release(imp_learner *learner)
{
    metric *own = learner->state;
    if (own) {
        imp_method_free(own->method);
        imp_release(own->embeddings);
        imp_release(own->gradient);
    }
    imp_release(learner->parameters);
    imp_release(own);
}

static imp_rule learned(const imp_learner *learner)
{
    const metric *own = learner->state;
    return imp_method_learned(own->method);
}

/* ---- training ---- */

static imp_status reserve(metric *own, size_t images, size_t dimensions, imp_error *error)
{
    if (images <= own->capacity)
        return IMP_OK;
    size_t floats;
    float *embeddings = NULL, *gradient = NULL;
    if (imp_multiply(images, dimensions, &floats)) {
        embeddings = imp_allocate(floats, sizeof *embeddings);
        gradient = imp_allocate(floats, sizeof *gradient);
    }
    if (!embeddings || !gradient) {
        imp_release(embeddings);
        imp_release(gradient);
        return imp_fail_memory(error, "the embeddings of an episode");
    }
    imp_release(own->embeddings);
    imp_release(own->gradient);
    own->embeddings = embeddings;
    own->gradient = gradient;
    own->capacity = images;
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

static imp_status step(imp_learner *learner, const imp_task *task, imp_step *step, imp_error *error)
{
    metric *own = learner->state;
    imp_network *network = learner->network;
    const imp_episode *episode = &task->episode;
    size_t images = imp_episode_size(episode);
    imp_status status = reserve(own, images, learner->dimensions, error);
    double begin = imp_clock();
    imp_network_set_step(network,
                         episode->index); /* so that dropout, if any, is the same after resuming */
    if (!status)
        status = imp_network_forward_apart(network, task->pixels, images, own->embeddings, error);
    double embedded = imp_clock();
    if (status)
        return status;

    imp_episode_view view = imp_view_of(episode, own->embeddings, learner->dimensions);
    imp_method_result result;
    status = imp_method_run(own->method, &view, true, &result, error);
    if (status)
        return status;
    if (!isfinite(result.loss))
        return imp_fail(error, IMP_EINVAL, "the loss is %g", result.loss);

    gather_gradient(&view, &result, own->gradient);
    double differentiated = imp_clock();
    imp_network_clear_gradients(network);
    status = imp_network_backward(network, own->gradient, error);
    double end = imp_clock();
    if (status)
        return status;
    *step = (imp_step){.network_gradient = imp_network_gradients(network),
                       .value_gradient = result.parameter_gradient,
                       .statistics = imp_network_statistics(network, &(size_t){0}),
                       .outcome = {.loss = result.loss,
                                   .accuracy = imp_episode_accuracy(episode, result.predictions),
                                   .clusters = result.cluster_count,
                                   .images = images,
                                   .network_seconds = embedded - begin + end - differentiated,
                                   .method_seconds = differentiated - embedded}};
    return IMP_OK;
}

/* ---- evaluation ---- */

static imp_status predict(imp_learner *learner, const imp_task *task, const float *embeddings,
                          imp_solution *answer, imp_error *error)
{
    metric *own = learner->state;
    imp_episode_view view = imp_view_of(&task->episode, embeddings, learner->dimensions);
    imp_method_result result;
    imp_status status = imp_method_run(own->method, &view, false, &result, error);
    if (status)
        return status;
    *answer = (imp_solution){.predictions = result.predictions,
                             .open_predictions = result.open_predictions,
                             .loss = result.loss,
                             .lambda = result.lambda,
                             .clusters = result.cluster_count};
    for (size_t c = 0; c < result.cluster_count; c++)
        answer->class_clusters += result.cluster_label[c] >= 0;
    return IMP_OK;
}

const imp_learner_kind imp_learner_metric = {
    .info = {.name = "metric",
             .summary = "embeds the images and classifies the embeddings by a method",
             .by_method = true,
             .embeds = true},
    .prefix = IMP_METHOD_PREFIX,
    .create = create,
    .release = release,
    .learned = learned,
    .step = step,
    .predict = predict,
};
