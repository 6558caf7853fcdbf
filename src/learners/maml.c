/*
 * maml.c - model-agnostic meta-learning (Finn, Abbeel and Levine 2017): learns initial parameters
 * from which a few gradient steps on the supports lead to a network that classifies the queries.
 *
 * The network gets a linear classification head. Steps theta_{k+1} = theta_k - rate g(theta_k),
 * where g is the gradient of the supports' loss, lead to theta_K, at which the loss of the queries
 * is taken. Its gradient with respect to theta_0 is v_0, where v_K is the gradient with respect to
 * theta_K and
 *
 *   v_k = v_{k+1} - rate H(theta_k) v_{k+1},
 *
 * H being the exact Hessian of the supports' loss (hessian.h). First-order MAML uses v_K instead of
 * v_0.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "learners/classifier.h"

enum { INNER_RATE, INNER_STEPS, TEST_STEPS, FIRST_ORDER };

static const imp_option_info options[] = {
    [INNER_RATE] = IMP_OPTION_INNER_RATE(0.01),
    [INNER_STEPS] = IMP_OPTION_INNER_STEPS(5),
    [TEST_STEPS] = IMP_OPTION_TEST_STEPS(10),
    [FIRST_ORDER] = {.name = "first-order",
                     .help = "ignore second derivatives",
                     .kind = IMP_FLAG,
                     .most = 1},
};

typedef struct maml {
    imp_classifier classifier;
    imp_hessian *hessian; /* NULL: first order */
    size_t steps;
    float *path; /* (steps + 1, parameters): theta_0 .. theta_K; in evaluation only the first */
    float *v, *product; /* (parameters) */
} maml;

static imp_status make(imp_learner *learner, maml *own, imp_error *error)
{
    imp_status status = imp_classifier_make(&own->classifier, learner, error);
    if (!status && learner->own[FIRST_ORDER] == 0)
        status = imp_hessian_create(own->classifier.network, &own->hessian, error);
    if (status)
        return status;
    size_t count = own->classifier.count, floats;
    own->steps = (size_t)learner->own[INNER_STEPS];
    if (imp_multiply(own->steps + 1, count, &floats))
        own->path = imp_allocate(floats, sizeof *own->path);
    own->v = imp_allocate(count, sizeof *own->v);
    own->product = imp_allocate(count, sizeof *own->product);
    bool enough = own->path && own->v && own->product;
    return enough ? IMP_OK : imp_fail_memory(error, "a learner");
}

static imp_status create(imp_learner *learner, imp_error *error)
{
    maml *own = imp_allocate_zeroed(1, sizeof *own);
    learner->state = own;
    return own ? make(learner, own, error) : imp_fail_memory(error, "a learner");
}

static void release(imp_learner *learner)
{
    maml *own = learner->state;
    if (!own)
        return;
    imp_hessian_free(own->hessian);
    imp_classifier_clear(&own->classifier, learner);
    imp_release(own->path);
    imp_release(own->v);
    imp_release(own->product);
    imp_release(own);
}

/* to = from - rate * gradient */
static void descend(size_t count, const float *from, double rate, const float *gradient, float *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i] - (float)rate * gradient[i];
}

/* From theta_K back to theta_0: v is the queries' gradient with respect to the former and becomes
 * that with respect to the latter. */
static imp_status go_back(const imp_learner *learner, maml *own, const imp_batch *supports,
                          imp_error *error)
{
    size_t count = own->classifier.count;
    imp_status status = IMP_OK;
    for (size_t k = own->steps; own->hessian && k-- > 0 && !status;) {
        memset(own->product, 0, count * sizeof *own->product);
        status = imp_classifier_hessian(&own->classifier, own->hessian, own->path + k * count,
                                        own->v, supports, own->product, error);
        descend(count, own->v, learner->own[INNER_RATE], own->product, own->v);
    }
    return status;
}

static imp_status step(imp_learner *learner, const imp_task *task, imp_step *step, imp_error *error)
{
    maml *own = learner->state;
    imp_classifier *classifier = &own->classifier;
    const float *gradient = imp_network_gradients(classifier->network);
    size_t count = classifier->count;
    double begin = imp_clock(), loss = 0;
    imp_batch supports, queries;
    imp_status status =
        imp_classifier_begin(classifier, learner, task, true, &supports, &queries, error);
    imp_classifier_read(classifier, learner, own->path);
    for (size_t k = 0; k < own->steps && !status; k++) {
        float *theta = own->path + k * count;
        status = imp_classifier_gradient(classifier, theta, &supports, &loss, error);
        if (!status)
            descend(count, theta, learner->own[INNER_RATE], gradient, theta + count);
        if (k == 0) /* running statistics follow the unadapted network */
            imp_classifier_note(classifier);
    }
    if (!status)
        status = imp_classifier_gradient(classifier, own->path + own->steps * count, &queries,
                                         &loss, error);
    if (status)
        return status;
    double accuracy = imp_episode_accuracy(&task->episode, classifier->predictions);
    memcpy(own->v, gradient, count * sizeof *own->v);
    status = go_back(learner, own, &supports, error);
    imp_classifier_split(classifier, own->v, step);
    step->outcome = (imp_outcome){.loss = loss,
                                  .accuracy = accuracy,
                                  .images = supports.images + queries.images,
                                  .network_seconds = imp_clock() - begin};
    return status;
}

static imp_status predict(imp_learner *learner, const imp_task *task, const float *embeddings,
                          imp_solution *answer, imp_error *error)
{
    (void)embeddings;
    maml *own = learner->state;
    imp_classifier *classifier = &own->classifier;
    double loss = 0;
    imp_batch supports, queries;
    imp_status status =
        imp_classifier_begin(classifier, learner, task, false, &supports, &queries, error);
    imp_classifier_read(classifier, learner, own->path);
    for (size_t k = 0; k < (size_t)learner->own[TEST_STEPS] && !status; k++) {
        status = imp_classifier_gradient(classifier, own->path, &supports, &loss, error);
        if (!status)
            descend(classifier->count, own->path, learner->own[INNER_RATE],
                    imp_network_gradients(classifier->network), own->path);
    }
    if (!status)
        status = imp_classifier_predict(classifier, own->path, &queries, &loss, error);
    answer->predictions = classifier->predictions;
    answer->loss = loss;
    return status;
}

const imp_learner_kind imp_learner_maml = {
    .info = {.name = "maml",
             .summary = "adapts the network and a linear head by gradient steps on the supports, "
                        "from a learned starting point",
             .batch_norm = "statistics of each batch",
             .options = options,
             .option_count = sizeof options / sizeof *options},
    .prefix = "learner.",
    .create = create,
    .release = release,
    .step = step,
    .predict = predict,
};
