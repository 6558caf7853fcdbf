/*
 * memory.c - a key-value memory ("Learning to remember rare events", Kaiser, Nachum, Roy and Bengio
 * 2017).
 *
 * The embedding of an image, scaled to length 1, is a query q to the memory, and the label of the
 * most similar key, by dot product, is the answer. If it is right, that key becomes the normalised
 * sum of itself and q; if it is wrong, q and its label overwrite the oldest entry or an empty one.
 * In training all images of a task, supports and queries, are presented in turn, first one of every
 * class, then a second, and each has the loss
 *
 *   max(q . K_n - q . K_p + margin, 0) - margin,
 *
 * K_p being the most similar key of its label and K_n of another one; keys are constants to the
 * gradient. Without such a pair of keys there is no loss. In evaluation the supports are presented
 * to an empty memory, and then the queries are answered without changing it. The authors search for
 * both keys among the 256 most similar ones, which most tasks do not exceed.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/rooms.h"
#include "learners/learner.h"
#include "nn/statistics.h"

enum { MEMORY_SIZE, MARGIN, AGE_NOISE };

static const imp_option_info options[] = {
    [MEMORY_SIZE] = {.name = "memory-size",
                     .help = "entries of the memory",
                     .kind = IMP_INTEGER,
                     .least = 1,
                     .most = 1000000,
                     .initial = 8192},
    [MARGIN] = {.name = "margin",
                .help = "how much more similar the right key should be than any other",
                .kind = IMP_NUMBER,
                .least = 0,
                .most = 2,
                .initial = 0.1},
    [AGE_NOISE] = {.name = "age-noise",
                   .help = "ages vary at random by up to this when the oldest entry is sought",
                   .kind = IMP_NUMBER,
                   .least = 0,
                   .most = 1000000,
                   .initial = 8},
};

typedef struct entry {
    int32_t label;
    size_t written; /* when it was last written or updated */
} entry;

typedef struct memory {
    float *embeddings, *gradient; /* (capacity, dimensions) */
    double *keys;                 /* (capacity, dimensions) of the entries */
    entry *entries;
    size_t count;         /* entries in use */
    double *q;            /* (dimensions) */
    int32_t *predictions; /* (capacity): of all images */
    uint32_t *order;      /* in which they are presented */
    size_t capacity;
} memory;

/* ---- creating ---- */

static imp_status create(imp_learner *learner, imp_error *error)
{
    memory *own = imp_allocate_zeroed(1, sizeof *own);
    learner->state = own;
    if (own)
        own->q = imp_allocate(learner->dimensions, sizeof *own->q);
    return own && own->q ? IMP_OK : imp_fail_memory(error, "a learner");
}

enum { ROOMS = 6 };

/* Arrays with one row per image of a task. */
static void list_rooms(const imp_learner *learner, size_t images, imp_room rooms[ROOMS])
{
    memory *own = learner->state;
    const imp_room all[ROOMS] = {
        IMP_ROOM(own->embeddings, images, learner->dimensions),
        IMP_ROOM(own->gradient, images, learner->dimensions),
        IMP_ROOM(own->keys, images, learner->dimensions),
        IMP_ROOM(own->entries, images, 1),
        IMP_ROOM(own->predictions, images, 1),
        IMP_ROOM(own->order, images, 1),
    };
    memcpy(rooms, all, sizeof all);
}

static void release(imp_learner *learner)
{
    memory *own = learner->state;
    if (!own)
        return;
    imp_room rooms[ROOMS];
    list_rooms(learner, 0, rooms);
    imp_rooms_release(rooms, ROOMS);
    imp_release(own->q);
    imp_release(own);
}

/* Makes room for a task: at most one entry is written per image. */
static imp_status reserve(imp_learner *learner, size_t images, imp_error *error)
{
    memory *own = learner->state;
    imp_room rooms[ROOMS];
    list_rooms(learner, images, rooms);
    return imp_rooms_reserve(rooms, ROOMS, images, &own->capacity)
               ? IMP_OK
               : imp_fail_memory(error, "the embeddings of an episode");
}

/* ---- the memory ---- */

static double *key_of(const imp_learner *learner, size_t index)
{
    const memory *own = learner->state;
    return own->keys + index * learner->dimensions;
}

static double product(size_t count, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Scales to length 1, except zeros. Returns the length. */
static double normalise(size_t count, double *to)
{
    double length = sqrt(product(count, to, to));
    for (size_t i = 0; i < count && length > 0; i++)
        to[i] /= length;
    return length;
}

/* Computes q of an embedding; returns the embedding's length. */
static double ask(const imp_learner *learner, const float *embedding)
{
    memory *own = learner->state;
    for (size_t i = 0; i < learner->dimensions; i++)
        own->q[i] = embedding[i];
    return normalise(learner->dimensions, own->q);
}

/* The entries most similar to q: of all, with the right label, and with another one; SIZE_MAX for
 * none. */
typedef struct nearest {
    size_t any, right, wrong;
    double right_similarity, wrong_similarity;
} nearest;

static nearest look_up(const imp_learner *learner, int32_t label)
{
    const memory *own = learner->state;
    nearest found = {.any = SIZE_MAX,
                     .right = SIZE_MAX,
                     .wrong = SIZE_MAX,
                     .right_similarity = -INFINITY,
                     .wrong_similarity = -INFINITY};
    for (size_t e = 0; e < own->count; e++) {
        double similarity = product(learner->dimensions, own->q, key_of(learner, e));
        bool right = own->entries[e].label == label;
        double *best = right ? &found.right_similarity : &found.wrong_similarity;
        if (similarity > *best) {
            *best = similarity;
            *(right ? &found.right : &found.wrong) = e;
        }
    }
    found.any = found.right_similarity > found.wrong_similarity ? found.right : found.wrong;
    return found;
}

/* The entry to overwrite: an empty one, otherwise the oldest. */
static size_t oldest(const imp_learner *learner, size_t now, imp_random *random)
{
    memory *own = learner->state;
    if (own->count < (size_t)learner->own[MEMORY_SIZE])
        return own->count++;
    size_t found = 0;
    double most = -INFINITY;
    for (size_t e = 0; e < own->count; e++) {
        double noise = learner->own[AGE_NOISE] * (2 * imp_random_uniform(random) - 1);
        double age = (double)(now - own->entries[e].written) + noise;
        if (age > most) {
            most = age;
            found = e;
        }
    }
    return found;
}

/* Updates the memory with q and its label. */
static void learn(imp_learner *learner, const nearest *found, int32_t label, size_t now,
                  imp_random *random)
{
    memory *own = learner->state;
    size_t d = learner->dimensions;
    bool right = found->any != SIZE_MAX && found->any == found->right;
    size_t e = right ? found->any : oldest(learner, now, random);
    double *key = key_of(learner, e);
    if (right) {
        for (size_t i = 0; i < d; i++)
            key[i] += own->q[i];
        normalise(d, key);
    } else {
        memcpy(key, own->q, d * sizeof *key);
    }
    own->entries[e] = (entry){.label = label, .written = now};
}

/* ---- tasks ---- */

/* Orders images begin .. end-1 so that one of every class comes before a second of any; returns
 * their number. */
static size_t by_showings(const int32_t *labels, size_t begin, size_t end, uint32_t *order)
{
    size_t count = 0;
    for (size_t showing = 0; count < end - begin; showing++)
        for (size_t i = begin; i < end; i++) {
            size_t before = 0; /* earlier images of its class */
            for (size_t j = begin; j < i; j++)
                before += labels[j] == labels[i];
            if (before == showing)
                order[count++] = (uint32_t)i;
        }
    return count;
}

/* Empties the memory. */
static imp_random forget(imp_learner *learner, const imp_episode *episode)
{
    memory *own = learner->state;
    own->count = 0;
    return imp_random_start(learner->options.seed, IMP_STREAM_BATCHES, episode->index);
}

/* The loss of q, and its gradient with respect to the embedding, which is q times `length`. */
static double lose(const imp_learner *learner, const nearest *found, double length, double share,
                   float *gradient)
{
    const memory *own = learner->state;
    size_t d = learner->dimensions;
    double margin = learner->own[MARGIN];
    double excess = found->wrong_similarity - found->right_similarity + margin;
    memset(gradient, 0, d * sizeof *gradient);
    if (found->right == SIZE_MAX || found->wrong == SIZE_MAX)
        return 0;
    if (!(excess > 0) || length == 0)
        return share * (excess > 0 ? excess - margin : -margin);
    const double *right = key_of(learner, found->right), *wrong = key_of(learner, found->wrong);
    double along = found->wrong_similarity - found->right_similarity; /* q . (wrong - right) */
    for (size_t i = 0; i < d; i++)
        gradient[i] = (float)(share * (wrong[i] - right[i] - along * own->q[i]) / length);
    return share * (excess - margin);
}

static imp_status step(imp_learner *learner, const imp_task *task, imp_step *step, imp_error *error)
{
    memory *own = learner->state;
    imp_network *network = learner->network;
    const imp_episode *episode = &task->episode;
    size_t images = episode->supports + episode->queries, d = learner->dimensions;
    imp_status status = reserve(learner, images, error);
    double begin = imp_clock();
    imp_network_set_step(network,
                         episode->index); /* so that dropout, if any, is the same after resuming */
    if (!status)
        status = imp_network_forward_apart(network, task->pixels, images, own->embeddings, error);
    if (status)
        return status;
    double embedded = imp_clock(), loss = 0;
    imp_random random = forget(learner, episode);
    size_t first = by_showings(episode->labels, 0, episode->supports, own->order);
    by_showings(episode->labels, episode->supports, images, own->order + first);
    for (size_t now = 0; now < images; now++) {
        size_t i = own->order[now];
        double length = ask(learner, own->embeddings + i * d);
        nearest found = look_up(learner, episode->labels[i]);
        if (!isfinite(length))
            return imp_fail(error, IMP_EINVAL, "an embedding has the length %g", length);
        own->predictions[i] = found.any == SIZE_MAX ? -1 : own->entries[found.any].label;
        loss += lose(learner, &found, length, 1 / (double)images, own->gradient + i * d);
        learn(learner, &found, episode->labels[i], now, &random);
    }
    double differentiated = imp_clock();
    imp_network_clear_gradients(network);
    status = imp_network_backward(network, own->gradient, error);
    *step = (imp_step){
        .network_gradient = imp_network_gradients(network),
        .statistics = imp_network_statistics(network, &(size_t){0}),
        .outcome = {.loss = loss,
                    .accuracy = imp_episode_accuracy(episode, own->predictions + episode->supports),
                    .clusters = own->count,
                    .images = images,
                    .network_seconds = imp_clock() - differentiated + embedded - begin,
                    .method_seconds = differentiated - embedded}};
    return status;
}

static imp_status predict(imp_learner *learner, const imp_task *task, const float *embeddings,
                          imp_solution *answer, imp_error *error)
{
    memory *own = learner->state;
    const imp_episode *episode = &task->episode;
    size_t images = episode->supports + episode->queries, d = learner->dimensions;
    imp_status status = reserve(learner, images, error);
    if (status)
        return status;
    imp_random random = forget(learner, episode);
    by_showings(episode->labels, 0, episode->supports, own->order);
    for (size_t now = 0; now < episode->supports; now++) {
        size_t i = own->order[now];
        ask(learner, embeddings + i * d);
        nearest found = look_up(learner, episode->labels[i]);
        learn(learner, &found, episode->labels[i], now, &random);
    }
    for (size_t i = episode->supports; i < images; i++) {
        double length = ask(learner, embeddings + i * d);
        nearest found = look_up(learner, episode->labels[i]);
        own->predictions[i] = found.any == SIZE_MAX ? -1 : own->entries[found.any].label;
        answer->loss += lose(learner, &found, length, 1 / (double)episode->queries, own->gradient);
    }
    answer->predictions = own->predictions + episode->supports;
    answer->clusters = answer->class_clusters = own->count;
    return IMP_OK;
}

const imp_learner_kind imp_learner_memory = {
    .info = {.name = "memory",
             .summary = "remembers the embeddings of the supports and answers with the label of "
                        "the most similar one",
             .embeds = true,
             .options = options,
             .option_count = sizeof options / sizeof *options},
    .prefix = "learner.",
    .create = create,
    .release = release,
    .step = step,
    .predict = predict,
};
