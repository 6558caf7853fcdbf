/* classifier.c - a network with a linear head: batches, cross-entropy, gradients and Hessian-vector
 * products. */
#include "learners/classifier.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rooms.h"
#include "nn/statistics.h"

/* ---- creating ---- */

static imp_status make_network(imp_classifier *classifier, const imp_learner *learner,
                               imp_error *error)
{
    const char *layers = imp_network_description(learner->network);
    size_t room = strlen(layers) + 48;
    char *description = imp_allocate(room, 1);
    if (!description)
        return imp_fail_memory(error, "a learner");
    snprintf(description, room, "%s,flatten,linear:%zu", layers, classifier->way);
    imp_network_options options = *imp_network_options_of(learner->network);
    options.seed = learner->options.seed;
    imp_status status = imp_network_create(description, &options, &classifier->network, error);
    imp_release(description);
    return status;
}

/* The head's parameters follow the network's, as its layer does. */
static imp_status make_values(const imp_classifier *classifier, imp_learner *learner,
                              imp_error *error)
{
    enum { WEIGHT, BIAS, COUNT };
    size_t way = classifier->way, d = learner->dimensions;
    learner->parameter_count = COUNT;
    learner->value_count = classifier->count - classifier->body;
    learner->parameters = imp_allocate(COUNT, sizeof *learner->parameters);
    learner->values = imp_allocate(learner->value_count, sizeof *learner->values);
    if (!learner->parameters || !learner->values)
        return imp_fail_memory(error, "a learner");
    learner->parameters[WEIGHT] = (imp_learner_parameter){
        .name = "head.weight", .rank = 2, .shape = {way, d}, .count = way * d};
    learner->parameters[BIAS] = (imp_learner_parameter){
        .name = "head.bias", .rank = 1, .shape = {way}, .offset = way * d, .count = way};
    const float *initial = imp_network_parameters(classifier->network) + classifier->body;
    for (size_t i = 0; i < learner->value_count; i++)
        learner->values[i] = initial[i];
    return IMP_OK;
}

imp_status imp_classifier_make(imp_classifier *classifier, imp_learner *learner, imp_error *error)
{
    *classifier = (imp_classifier){.way = learner->options.way > 0 ? learner->options.way : 1,
                                   .body = imp_network_parameter_count(learner->network)};
    imp_status status = make_network(classifier, learner, error);
    if (status)
        return status;
    classifier->count = imp_network_parameter_count(classifier->network);
    imp_network_statistics(classifier->network, &classifier->state_count);
    classifier->statistics =
        imp_allocate_zeroed(classifier->state_count, sizeof *classifier->statistics);
    classifier->head_gradient =
        imp_allocate(classifier->count - classifier->body, sizeof *classifier->head_gradient);
    if (!classifier->statistics || !classifier->head_gradient)
        return imp_fail_memory(error, "a learner");
    return make_values(classifier, learner, error);
}

enum { ROOMS = 6 };

/* Arrays with one row per image of a batch. */
static void list_rooms(imp_classifier *classifier, size_t images, imp_room rooms[ROOMS])
{
    const imp_room all[ROOMS] = {
        IMP_ROOM(classifier->logits, images, classifier->way),
        IMP_ROOM(classifier->moved, images, classifier->way),
        IMP_ROOM(classifier->gradient, images, classifier->way),
        IMP_ROOM(classifier->moved_gradient, images, classifier->way),
        IMP_ROOM(classifier->predictions, images, 1),
        IMP_ROOM(classifier->losses, images, 1),
    };
    memcpy(rooms, all, sizeof all);
}

void imp_classifier_clear(imp_classifier *classifier, imp_learner *learner)
{
    imp_room rooms[ROOMS];
    list_rooms(classifier, 0, rooms);
    imp_rooms_release(rooms, ROOMS);
    imp_network_free(classifier->network);
    imp_release(classifier->statistics);
    imp_release(classifier->head_gradient);
    imp_release(learner->parameters);
    imp_release(learner->values);
    *classifier = (imp_classifier){0};
}

/* ---- a task ---- */

static imp_status reserve(imp_classifier *classifier, size_t images, imp_error *error)
{
    imp_room rooms[ROOMS];
    list_rooms(classifier, images, rooms);
    return imp_rooms_reserve(rooms, ROOMS, images, &classifier->capacity)
               ? IMP_OK
               : imp_fail_memory(error, "the images of an episode");
}

imp_status imp_classifier_begin(imp_classifier *classifier, const imp_learner *learner,
                                const imp_task *task, bool training, imp_batch *supports,
                                imp_batch *queries, imp_error *error)
{
    const imp_episode *episode = &task->episode;
    if (episode->way > classifier->way)
        return imp_fail(error, IMP_EINVAL,
                        "the learner '%s' tells %zu classes apart, as many as it was trained with; "
                        "an episode of %zu is too many",
                        learner->kind->info.name, classifier->way, episode->way);
    const imp_network_options *images = imp_network_options_of(learner->network);
    size_t image = images->channels * images->height * images->width;
    *supports = (imp_batch){.pixels = task->pixels,
                            .labels = episode->labels,
                            .images = episode->supports,
                            .way = episode->way};
    *queries = (imp_batch){.pixels = task->pixels + episode->supports * image,
                           .labels = episode->labels + episode->supports,
                           .images = episode->queries,
                           .way = episode->way};
    classifier->step = episode->index;
    imp_network_take_state(classifier->network, learner->network);
    imp_network_set_dropout(classifier->network, training);
    /* a query may be added to the supports */
    size_t most = episode->supports >= episode->queries ? episode->supports + 1 : episode->queries;
    return reserve(classifier, most, error);
}

void imp_classifier_read(const imp_classifier *classifier, const imp_learner *learner,
                         float *parameters)
{
    memcpy(parameters, imp_network_parameters(learner->network),
           classifier->body * sizeof *parameters);
    for (size_t i = 0; i < learner->value_count; i++)
        parameters[classifier->body + i] = (float)learner->values[i];
}

/* ---- cross-entropy ---- */

/* Softmax of the first `way` logits of a row, into p; the rest is ignored. Returns the log-sum-exp.
 */
static double softmax(const float *logits, size_t way, double *p, int32_t *best)
{
    double most = -INFINITY, sum = 0;
    *best = 0;
    for (size_t c = 0; c < way; c++)
        if (logits[c] > most) {
            most = logits[c];
            *best = (int32_t)c;
        }
    for (size_t c = 0; c < way; c++) {
        p[c] = exp(logits[c] - most);
        sum += p[c];
    }
    for (size_t c = 0; c < way; c++)
        p[c] /= sum;
    return most + log(sum);
}

/* Loss, predictions and the gradient with respect to the logits; if `moved`, the tangent of the
 * logits, is given, also the tangent of the gradient. `p` has room for a row. */
static double cross_entropy(imp_classifier *classifier, const imp_batch *batch, const float *moved,
                            double *p)
{
    size_t way = classifier->way;
    double loss = 0, share = 1 / (double)batch->images;
    memset(classifier->gradient, 0, batch->images * way * sizeof(float));
    memset(classifier->moved_gradient, 0, batch->images * way * sizeof(float));
    for (size_t i = 0; i < batch->images; i++) {
        const float *logits = classifier->logits + i * way;
        double log_sum = softmax(logits, batch->way, p, &classifier->predictions[i]);
        classifier->losses[i] = log_sum - logits[batch->labels[i]];
        loss += share * classifier->losses[i];
        double mean = 0;
        for (size_t c = 0; moved && c < batch->way; c++)
            mean += p[c] * moved[i * way + c];
        for (size_t c = 0; c < batch->way; c++) {
            classifier->gradient[i * way + c] =
                (float)(share * (p[c] - ((size_t)batch->labels[i] == c)));
            if (moved)
                classifier->moved_gradient[i * way + c] =
                    (float)(share * p[c] * (moved[i * way + c] - mean));
        }
    }
    return loss;
}

/* The same with memory of its own. */
static imp_status measure(imp_classifier *classifier, const imp_batch *batch, const float *moved,
                          double *loss, imp_error *error)
{
    double *row = imp_allocate(batch->way, sizeof *row);
    if (!row)
        return imp_fail_memory(error, "the images of an episode");
    *loss = cross_entropy(classifier, batch, moved, row);
    imp_release(row);
    return isfinite(*loss) ? IMP_OK : imp_fail(error, IMP_EINVAL, "the loss is %g", *loss);
}

imp_status imp_classifier_predict(imp_classifier *classifier, const float *parameters,
                                  const imp_batch *batch, double *loss, imp_error *error)
{
    imp_network *network = classifier->network;
    imp_network_use_parameters(network, parameters);
    imp_network_set_step(network, classifier->step);
    imp_status status =
        imp_network_forward_apart(network, batch->pixels, batch->images, classifier->logits, error);
    return status ? status : measure(classifier, batch, NULL, loss, error);
}

imp_status imp_classifier_gradient(imp_classifier *classifier, const float *parameters,
                                   const imp_batch *batch, double *loss, imp_error *error)
{
    imp_status status = imp_classifier_predict(classifier, parameters, batch, loss, error);
    if (status)
        return status;
    imp_network_clear_gradients(classifier->network);
    return imp_network_backward(classifier->network, classifier->gradient, error);
}

imp_status imp_classifier_hessian(imp_classifier *classifier, imp_hessian *hessian,
                                  const float *parameters, const float *direction,
                                  const imp_batch *batch, float *product, imp_error *error)
{
    double loss;
    imp_hessian_set_step(hessian, classifier->step);
    imp_status status =
        imp_hessian_forward(hessian, parameters, direction, batch->pixels, batch->images,
                            classifier->logits, classifier->moved, error);
    if (!status)
        status = measure(classifier, batch, classifier->moved, &loss, error);
    if (!status)
        status = imp_hessian_backward(hessian, classifier->gradient, classifier->moved_gradient,
                                      NULL, product, error);
    return status;
}

void imp_classifier_note(imp_classifier *classifier)
{
    size_t count;
    const double *last = imp_network_statistics(classifier->network, &count);
    if (count > 0)
        memcpy(classifier->statistics, last, count * sizeof *last);
}

void imp_classifier_split(const imp_classifier *classifier, const float *gradient, imp_step *step)
{
    for (size_t i = classifier->body; i < classifier->count; i++)
        classifier->head_gradient[i - classifier->body] = gradient[i];
    step->network_gradient = gradient;
    step->value_gradient = classifier->head_gradient;
    step->statistics = classifier->statistics;
}
