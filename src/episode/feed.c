/*
 * feed.c - draws, assembles and augments episodes during the training steps that use earlier ones.
 *
 * One thread fills a ring of tasks. Episodes are determined by their index, so the result does not
 * depend on when the thread runs, or whether there is one: without it each task is made on request.
 * The caller holds one slot of the ring while it works on its task. All memory is allocated at the
 * start, since a training run draws millions of episodes.
 */
#include <pthread.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "episode/augment.h"
#include "episode/draw.h"

struct imp_feed {
    const imp_dataset *dataset;
    imp_episode_plan plan;
    imp_drawer *drawer;
    imp_task *ring; /* (slots): each with room for the largest episode */
    float *scratch; /* a channel of a picture, for augmentation */
    size_t slots;
    imp_feed_share share;
    uint64_t next; /* index of the next episode to draw */

    bool threaded;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* Under the mutex: */
    size_t ready; /* tasks waiting for the caller */
    size_t first; /* slot of the first of them */
    bool lent;    /* the caller holds the task before it */
    bool stop;
};

static imp_status make_task(const imp_feed *feed, imp_task *task, imp_error *error)
{
    size_t images = imp_plan_most_images(&feed->plan), floats;
    size_t side = imp_dataset_size(feed->dataset), channels = imp_dataset_channels(feed->dataset);
    imp_status status =
        imp_episode_allocate(&task->episode, images, imp_plan_most_groups(&feed->plan), error);
    if (status)
        return status;
    if (imp_multiply(images, channels * side * side, &floats))
        task->pixels = imp_allocate(floats, sizeof *task->pixels);
    return task->pixels != NULL ? IMP_OK : imp_fail_memory(error, "the pixels of an episode");
}

static imp_status make_ring(imp_feed *feed, size_t ahead, imp_error *error)
{
    if (imp_add(ahead > 0 ? ahead : 1, 1, &feed->slots))
        feed->ring = imp_allocate_zeroed(feed->slots, sizeof *feed->ring);
    if (feed->ring == NULL)
        return imp_fail_memory(error, "drawing episodes ahead");
    size_t side = imp_dataset_size(feed->dataset);
    feed->scratch = imp_allocate(side * side, sizeof *feed->scratch);
    imp_status status =
        feed->scratch != NULL ? IMP_OK : imp_fail_memory(error, "drawing episodes ahead");
    for (size_t i = 0; i < feed->slots && !status; i++)
        status = make_task(feed, &feed->ring[i], error);
    return status;
}

/* All but the thread. */
static void clear(imp_feed *feed)
{
    for (size_t i = 0; feed->ring != NULL && i < feed->slots; i++) {
        imp_episode_clear(&feed->ring[i].episode);
        imp_release(feed->ring[i].pixels);
    }
    imp_release(feed->ring);
    imp_release(feed->scratch);
    imp_drawer_free(feed->drawer);
    imp_episode_plan_clear(&feed->plan);
    imp_release(feed);
}

/* The next wanted episode, at `index` or after it. */
static uint64_t find_next(const imp_feed_share *share, uint64_t index)
{
    uint64_t in_turn = index % share->of;
    if (in_turn < share->begin)
        return index + share->begin - in_turn;
    return in_turn < share->end ? index : index + share->of - in_turn + share->begin;
}

/* Makes the next episode in a slot of the ring. */
static void fill(imp_feed *feed, imp_task *task)
{
    feed->next = find_next(&feed->share, feed->next);
    imp_drawer_draw(feed->drawer, feed->next++, &task->episode);
    imp_episode_pixels(feed->dataset, &task->episode, task->pixels);
    imp_augment(feed->dataset, &feed->plan.options, &task->episode, task->pixels, feed->scratch);
}

static void *run(void *argument)
{
    imp_feed *feed = argument;
    pthread_mutex_lock(&feed->mutex);
    while (!feed->stop) {
        if (feed->ready + feed->lent == feed->slots) {
            pthread_cond_wait(&feed->changed, &feed->mutex);
            continue;
        }
        imp_task *task = &feed->ring[(feed->first + feed->ready) % feed->slots];
        pthread_mutex_unlock(&feed->mutex);
        fill(feed, task);
        pthread_mutex_lock(&feed->mutex);
        feed->ready++;
        pthread_cond_broadcast(&feed->changed);
    }
    pthread_mutex_unlock(&feed->mutex);
    return NULL;
}

imp_status imp_feed_open(const imp_dataset *dataset, const imp_episode_options *options,
                         uint64_t first, size_t ahead, imp_feed **out, imp_error *error)
{
    const imp_feed_share all = {.of = 1, .begin = 0, .end = 1};
    return imp_feed_open_share(dataset, options, first, ahead, &all, out, error);
}

imp_status imp_feed_open_share(const imp_dataset *dataset, const imp_episode_options *options,
                               uint64_t first, size_t ahead, const imp_feed_share *share,
                               imp_feed **out, imp_error *error)
{
    *out = NULL;
    imp_feed *feed = imp_allocate_zeroed(1, sizeof *feed);
    if (feed == NULL)
        return imp_fail_memory(error, "drawing episodes ahead");
    feed->dataset = dataset;
    feed->share = *share;
    feed->next = first;
    imp_status status = imp_episode_plan_make(&feed->plan, dataset, options, error);
    if (!status)
        status = imp_drawer_create(dataset, &feed->plan, &feed->drawer, error);
    if (!status)
        status = make_ring(feed, ahead, error);
    if (status) {
        clear(feed);
        return status;
    }
    pthread_mutex_init(&feed->mutex, NULL);
    pthread_cond_init(&feed->changed, NULL);
    feed->threaded = imp_thread_start(&feed->thread, NULL, run, feed);
    *out = feed;
    return IMP_OK;
}

imp_status imp_feed_next(imp_feed *feed, const imp_task **task, imp_error *error)
{
    (void)error; /* nothing can fail once memory is allocated */
    if (!feed->threaded) {
        fill(feed, feed->ring);
        *task = feed->ring;
        return IMP_OK;
    }
    pthread_mutex_lock(&feed->mutex);
    if (feed->lent) { /* the caller is done with its previous task */
        feed->lent = false;
        pthread_cond_broadcast(&feed->changed);
    }
    while (feed->ready == 0)
        pthread_cond_wait(&feed->changed, &feed->mutex);
    *task = &feed->ring[feed->first];
    feed->first = (feed->first + 1) % feed->slots;
    feed->ready--;
    feed->lent = true;
    pthread_mutex_unlock(&feed->mutex);
    return IMP_OK;
}

void imp_feed_close(imp_feed *feed)
{
    if (feed == NULL)
        return;
    pthread_mutex_lock(&feed->mutex);
    feed->stop = true;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->mutex);
    if (feed->threaded)
        pthread_join(feed->thread, NULL);
    pthread_cond_destroy(&feed->changed);
    pthread_mutex_destroy(&feed->mutex);
    clear(feed);
}
