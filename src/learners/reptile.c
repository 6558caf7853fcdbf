/*
 * reptile.c - Reptile (Nichol, Achiam and Schulman 2018): learns initial parameters near those of
 * many tasks, by moving them towards the result of ordinary training on each task.
 *
 * The network gets a linear classification head. Training on a task is a number of steps of Adam
 * without momentum on small batches of its supports; the optimizer gets the difference between
 * initial and trained parameters as the gradient. With SGD at rate 1, falling to 0 over the run,
 * that is the authors' interpolation. Adam's averages are reset for every task, so that a step
 * depends only on the task.
 */
#include <string.h>

#include <imp/optimizer.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/rooms.h"
#include "learners/classifier.h"

enum { INNER_RATE, INNER_STEPS, INNER_BATCH, TEST_STEPS, TEST_BATCH, TRANSDUCTIVE };

static const imp_option_info options[] = {
    [INNER_RATE] = IMP_OPTION_INNER_RATE(0.001),
    [INNER_STEPS] = IMP_OPTION_INNER_STEPS(5),
    [INNER_BATCH] = {.name = "inner-batch",
                     .help = "batch size of a step in training",
                     .kind = IMP_INTEGER,
                     .least = 1,
                     .most = 1000000,
                     .initial = 10},
    [TEST_STEPS] = IMP_OPTION_TEST_STEPS(50),
    [TEST_BATCH] = {.name = "test-batch",
                    .help = "batch size of a step in evaluation",
                    .kind = IMP_INTEGER,
                    .least = 1,
                    .most = 1000000,
                    .initial = 5},
    [TRANSDUCTIVE] = {.name = "transductive",
                      .help =
                          "normalise all queries of a task together, not each with the supports",
                      .kind = IMP_FLAG,
                      .most = 1},
};

typedef struct reptile {
    imp_classifier classifier;
    imp_optimizer *adam;
    float *theta;  /* (parameters): trained on the task */
    float *back;   /* (parameters): initial minus trained */
    float *pixels; /* (capacity) images of a batch */
    int32_t *labels;
    uint32_t *order; /* of the supports */
    size_t capacity;
    int32_t *predictions; /* (query_capacity) */
    size_t query_capacity;
} reptile;

static imp_status make(imp_learner *learner, reptile *own, imp_error *error)
{
    imp_status status = imp_classifier_make(&own->classifier, learner, error);
    if (status)
        return status;
    size_t count = own->classifier.count;
    imp_optimizer_options adam = imp_optimizer_defaults(IMP_ADAM);
    adam.beta1 = 0;
    status = imp_optimizer_create(count, &adam, &own->adam, error);
    if (status)
        return status;
    own->theta = imp_allocate(count, sizeof *own->theta);
    own->back = imp_allocate(count, sizeof *own->back);
    bool enough = own->theta && own->back;
    return enough ? IMP_OK : imp_fail_memory(error, "a learner");
}

static imp_status create(imp_learner *learner, imp_error *error)
{
    reptile *own = imp_allocate_zeroed(1, sizeof *own);
    learner->state = own;
    return own ? make(learner, own, error) : imp_fail_memory(error, "a learner");
}

static size_t image_floats(const imp_learner *learner)
{
    const imp_network_options *images = imp_network_options_of(learner->network);
    return images->channels * images->height * images->width;
}

enum { BATCH_ROOMS = 3 };

static void list_batch(const imp_learner *learner, reptile *own, size_t images,
                       imp_room rooms[BATCH_ROOMS])
{
    const imp_room all[BATCH_ROOMS] = {IMP_ROOM(own->pixels, images, image_floats(learner)),
                                       IMP_ROOM(own->labels, images, 1),
                                       IMP_ROOM(own->order, images, 1)};
    memcpy(rooms, all, sizeof all);
}

static void release(imp_learner *learner)
{
    reptile *own = learner->state;
    if (!own)
        return;
    imp_room batch[BATCH_ROOMS];
    list_batch(learner, own, 0, batch);
    imp_rooms_release(batch, BATCH_ROOMS);
    imp_classifier_clear(&own->classifier, learner);
    imp_optimizer_free(own->adam);
    imp_release(own->theta);
    imp_release(own->back);
    imp_release(own->predictions);
    imp_release(own);
}

/* Makes room for a batch of all supports and a query. */
static imp_status reserve(const imp_learner *learner, reptile *own, size_t images, imp_error *error)
{
    imp_room batch[BATCH_ROOMS];
    list_batch(learner, own, images, batch);
    return imp_rooms_reserve(batch, BATCH_ROOMS, images, &own->capacity)
               ? IMP_OK
               : imp_fail_memory(error, "the images of an episode");
}

/* Starts a task, with the learner's parameters as theta. */
static imp_status begin(imp_learner *learner, const imp_task *task, bool training,
                        imp_batch *supports, imp_batch *queries, imp_error *error)
{
    reptile *own = learner->state;
    imp_status status =
        imp_classifier_begin(&own->classifier, learner, task, training, supports, queries, error);
    if (!status)
        status = reserve(learner, own, supports->images + 1, error);
    imp_classifier_read(&own->classifier, learner, own->theta);
    size_t count;
    float *state = imp_optimizer_state(own->adam, &count);
    memset(state, 0, count * sizeof *state);
    imp_optimizer_set_steps(own->adam, 0);
    return status;
}

/* The next supports in a random order, which is reshuffled when exhausted. */
static imp_batch draw(const imp_learner *learner, reptile *own, const imp_batch *supports,
                      size_t images, size_t *next, imp_random *random)
{
    size_t image = image_floats(learner);
    if (images > supports->images)
        images = supports->images;
    for (size_t i = 0; i < images; i++) {
        if (*next == 0)
            imp_random_shuffle(random, own->order, supports->images);
        uint32_t from = own->order[*next];
        memcpy(own->pixels + i * image, supports->pixels + from * image, image * sizeof(float));
        own->labels[i] = supports->labels[from];
        *next = (*next + 1) % supports->images;
    }
    return (imp_batch){own->pixels, own->labels, images, supports->way};
}

/* Trains theta on the supports. */
static imp_status train(imp_learner *learner, const imp_batch *supports, size_t steps,
                        size_t images, imp_error *error)
{
    reptile *own = learner->state;
    imp_random random =
        imp_random_start(learner->options.seed, IMP_STREAM_BATCHES, own->classifier.step);
    for (size_t i = 0; i < supports->images; i++)
        own->order[i] = (uint32_t)i;
    size_t next = 0;
    double loss;
    imp_status status = IMP_OK;
    for (size_t k = 0; k < steps && !status; k++) {
        imp_batch batch = draw(learner, own, supports, images, &next, &random);
        status = imp_classifier_gradient(&own->classifier, own->theta, &batch, &loss, error);
        if (k == 0) /* running statistics follow the unadapted network */
            imp_classifier_note(&own->classifier);
        if (!status)
            imp_optimizer_step(own->adam, own->theta,
                               imp_network_gradients(own->classifier.network),
                               learner->own[INNER_RATE]);
    }
    return status;
}

static imp_status step(imp_learner *learner, const imp_task *task, imp_step *step, imp_error *error)
{
    reptile *own = learner->state;
    imp_classifier *classifier = &own->classifier;
    double beginning = imp_clock(), loss = 0;
    imp_batch supports, queries;
    imp_status status = begin(learner, task, true, &supports, &queries, error);
    if (!status)
        status = train(learner, &supports, (size_t)learner->own[INNER_STEPS],
                       (size_t)learner->own[INNER_BATCH], error);
    if (!status) /* only for the log */
        status = imp_classifier_predict(classifier, own->theta, &queries, &loss, error);
    if (status)
        return status;
    imp_classifier_read(classifier, learner, own->back);
    for (size_t i = 0; i < classifier->count; i++)
        own->back[i] -= own->theta[i];
    imp_classifier_split(classifier, own->back, step);
    step->outcome =
        (imp_outcome){.loss = loss,
                      .accuracy = imp_episode_accuracy(&task->episode, classifier->predictions),
                      .images = supports.images + queries.images,
                      .network_seconds = imp_clock() - beginning};
    return IMP_OK;
}

/* Predicts each query in a batch with all supports. */
static imp_status predict_one_by_one(imp_learner *learner, const imp_batch *supports,
                                     const imp_batch *queries, double *loss, imp_error *error)
{
    reptile *own = learner->state;
    size_t image = image_floats(learner), last = supports->images;
    imp_batch batch = {own->pixels, own->labels, last + 1, supports->way};
    imp_status status = IMP_OK;
    memcpy(own->pixels, supports->pixels, last * image * sizeof(float));
    memcpy(own->labels, supports->labels, last * sizeof *own->labels);
    *loss = 0;
    for (size_t q = 0; q < queries->images && !status; q++) {
        double all;
        memcpy(own->pixels + last * image, queries->pixels + q * image, image * sizeof(float));
        own->labels[last] = queries->labels[q];
        status = imp_classifier_predict(&own->classifier, own->theta, &batch, &all, error);
        own->predictions[q] = own->classifier.predictions[last];
        *loss += own->classifier.losses[last] / (double)queries->images;
    }
    return status;
}

static imp_status reserve_predictions(reptile *own, size_t queries, imp_error *error)
{
    const imp_room predictions = IMP_ROOM(own->predictions, queries, 1);
    return imp_rooms_reserve(&predictions, 1, queries, &own->query_capacity)
               ? IMP_OK
               : imp_fail_memory(error, "the images of an episode");
}

static imp_status predict(imp_learner *learner, const imp_task *task, const float *embeddings,
                          imp_solution *answer, imp_error *error)
{
    (void)embeddings;
    reptile *own = learner->state;
    imp_batch supports, queries;
    imp_status status = begin(learner, task, false, &supports, &queries, error);
    if (!status)
        status = reserve_predictions(own, queries.images, error);
    if (!status)
        status = train(learner, &supports, (size_t)learner->own[TEST_STEPS],
                       (size_t)learner->own[TEST_BATCH], error);
    if (status)
        return status;
    answer->predictions = own->predictions;
    if (learner->own[TRANSDUCTIVE] == 0)
        return predict_one_by_one(learner, &supports, &queries, &answer->loss, error);
    answer->predictions = own->classifier.predictions;
    return imp_classifier_predict(&own->classifier, own->theta, &queries, &answer->loss, error);
}

const imp_learner_kind imp_learner_reptile = {
    .info = {.name = "reptile",
             .summary = "trains the network and a linear head on the supports, from weights near "
                        "those of many tasks",
             .batch_norm = "statistics of each batch",
             .options = options,
             .option_count = sizeof options / sizeof *options},
    .prefix = "learner.",
    .create = create,
    .release = release,
    .step = step,
    .predict = predict,
};
