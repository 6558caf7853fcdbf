/*
 * feed.c - draws and assembles episodes beside the training step that uses earlier ones.
 *
 * One thread fills a ring of tasks. Episodes are named by their index, so what comes out does not
 * depend on when the thread ran. The caller holds one slot of the ring while it works on its task.
 */
#include <pthread.h>

#include "base/error.h"
#include "base/memory.h"
#include "episode/draw.h"

struct imp_feed {
    const imp_dataset *dataset;
    imp_episode_plan plan;
    imp_task *ring; /* (slots) */
    size_t slots;
    uint64_t next; /* index of the next episode to draw */

    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* Under the mutex: */
    size_t ready; /* tasks that wait for the caller */
    size_t first; /* where the first of them is */
    bool lent;    /* the caller works on the task before it */
    bool stop;
    imp_status status; /* why the thread gave up */
    imp_error error;
};

static void task_clear(imp_task *task)
{
    imp_episode_clear(&task->episode);
    imp_release(task->pixels);
    *task = (imp_task){0};
}

static imp_status make_task(const imp_feed *feed, uint64_t index, imp_task *task, imp_error *error)
{
    *task = (imp_task){0};
    imp_status status =
        imp_episode_draw_planned(feed->dataset, &feed->plan, index, &task->episode, error);
    if (status != IMP_OK)
        return status;
    size_t side = imp_dataset_size(feed->dataset), channels = imp_dataset_channels(feed->dataset);
    size_t floats;
    if (imp_multiply(imp_episode_size(&task->episode), channels * side * side, &floats))
        task->pixels = imp_allocate(floats, sizeof *task->pixels);
    if (task->pixels == NULL) {
        task_clear(task);
        return imp_fail_memory(error, "the pixels of an episode");
    }
    imp_episode_pixels(feed->dataset, &task->episode, task->pixels);
    return IMP_OK;
}

static void *run(void *argument)
{
    imp_feed *feed = argument;
    pthread_mutex_lock(&feed->mutex);
    while (!feed->stop && feed->status == IMP_OK) {
        if (feed->ready + feed->lent == feed->slots) {
            pthread_cond_wait(&feed->changed, &feed->mutex);
            continue;
        }
        size_t slot = (feed->first + feed->ready) % feed->slots;
        pthread_mutex_unlock(&feed->mutex);
        imp_task task;
        imp_error error;
        imp_status status = make_task(feed, feed->next++, &task, &error);
        pthread_mutex_lock(&feed->mutex);
        if (status == IMP_OK) {
            feed->ring[slot] = task;
            feed->ready++;
        } else {
            feed->status = status;
            feed->error = error;
        }
        pthread_cond_broadcast(&feed->changed);
    }
    pthread_mutex_unlock(&feed->mutex);
    return NULL;
}

imp_status imp_feed_open(const imp_dataset *dataset, const imp_episode_options *options,
                         uint64_t first, size_t ahead, imp_feed **out, imp_error *error)
{
    *out = NULL;
    imp_feed *feed = imp_allocate_zeroed(1, sizeof *feed);
    if (feed == NULL)
        return imp_fail_memory(error, "drawing episodes ahead");
    feed->dataset = dataset;
    feed->next = first;
    imp_status status = imp_episode_plan_make(&feed->plan, dataset, options, error);
    if (status == IMP_OK) {
        ahead = ahead > 0 ? ahead : 1;
        if (imp_add(ahead, 1, &feed->slots))
            feed->ring = imp_allocate_zeroed(feed->slots, sizeof *feed->ring);
        if (feed->ring == NULL)
            status = imp_fail_memory(error, "drawing episodes ahead");
    }
    if (status == IMP_OK) {
        pthread_mutex_init(&feed->mutex, NULL);
        pthread_cond_init(&feed->changed, NULL);
        if (pthread_create(&feed->thread, NULL, run, feed) != 0) {
            pthread_cond_destroy(&feed->changed);
            pthread_mutex_destroy(&feed->mutex);
            status = imp_fail(error, IMP_ENOMEM, "cannot start a thread to draw episodes ahead");
        }
    }
    if (status != IMP_OK) {
        imp_episode_plan_clear(&feed->plan);
        imp_release(feed->ring);
        imp_release(feed);
        return status;
    }
    *out = feed;
    return IMP_OK;
}

imp_status imp_feed_next(imp_feed *feed, const imp_task **task, imp_error *error)
{
    *task = NULL;
    pthread_mutex_lock(&feed->mutex);
    if (feed->lent) { /* the caller is done with the task it had */
        task_clear(&feed->ring[(feed->first + feed->slots - 1) % feed->slots]);
        feed->lent = false;
        pthread_cond_broadcast(&feed->changed);
    }
    while (feed->ready == 0 && feed->status == IMP_OK)
        pthread_cond_wait(&feed->changed, &feed->mutex);
    imp_status status = IMP_OK;
    if (feed->ready > 0) {
        *task = &feed->ring[feed->first];
        feed->first = (feed->first + 1) % feed->slots;
        feed->ready--;
        feed->lent = true;
    } else {
        status = imp_fail(error, feed->status, "%s", feed->error.message);
    }
    pthread_mutex_unlock(&feed->mutex);
    return status;
}

void imp_feed_close(imp_feed *feed)
{
    if (feed == NULL)
        return;
    pthread_mutex_lock(&feed->mutex);
    feed->stop = true;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->mutex);
    pthread_join(feed->thread, NULL);
    pthread_cond_destroy(&feed->changed);
    pthread_mutex_destroy(&feed->mutex);
    for (size_t i = 0; i < feed->slots; i++)
        task_clear(&feed->ring[i]);
    imp_release(feed->ring);
    imp_episode_plan_clear(&feed->plan);
    imp_release(feed);
}
