/* thread_ranks.c - a barrier and a table of pointers in the place of a network. */
#include "thread_ranks.h"

#include <pthread.h>
#include <string.h>

enum { MOST = 8 };

typedef struct world {
    int size;
    pthread_barrier_t barrier;
    void *bytes[MOST]; /* what each rank shows the others */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    const void *letter[MOST][MOST]; /* from, to: what waits to be received */
    void (*body)(const imp_ranks *ranks, void *context);
    void *context;
} world;

static imp_status gather(const imp_ranks *ranks, void *whole, const size_t *begin, imp_error *error)
{
    (void)error;
    world *all = ranks->context;
    all->bytes[ranks->rank] = whole;
    pthread_barrier_wait(&all->barrier);
    for (int r = 0; r < ranks->size; r++)
        if (r != ranks->rank)
            memcpy((char *)whole + begin[r], (char *)all->bytes[r] + begin[r],
                   begin[r + 1] - begin[r]);
    pthread_barrier_wait(&all->barrier);
    return IMP_OK;
}

static imp_status broadcast(const imp_ranks *ranks, int from, void *bytes, size_t size,
                            imp_error *error)
{
    (void)error;
    world *all = ranks->context;
    all->bytes[ranks->rank] = bytes;
    pthread_barrier_wait(&all->barrier);
    if (ranks->rank != from)
        memcpy(bytes, all->bytes[from], size);
    pthread_barrier_wait(&all->barrier);
    return IMP_OK;
}

/* Waits until the letter was received. */
static imp_status post(const imp_ranks *ranks, int to, const void *bytes, size_t size,
                       imp_error *error)
{
    (void)size, (void)error;
    world *all = ranks->context;
    pthread_mutex_lock(&all->mutex);
    all->letter[ranks->rank][to] = bytes;
    pthread_cond_broadcast(&all->changed);
    while (all->letter[ranks->rank][to])
        pthread_cond_wait(&all->changed, &all->mutex);
    pthread_mutex_unlock(&all->mutex);
    return IMP_OK;
}

static imp_status fetch(const imp_ranks *ranks, int from, void *bytes, size_t size,
                        imp_error *error)
{
    (void)error;
    world *all = ranks->context;
    pthread_mutex_lock(&all->mutex);
    while (!all->letter[from][ranks->rank])
        pthread_cond_wait(&all->changed, &all->mutex);
    memcpy(bytes, all->letter[from][ranks->rank], size);
    all->letter[from][ranks->rank] = NULL;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->mutex);
    return IMP_OK;
}

typedef struct member {
    world *all;
    imp_ranks ranks;
} member;

static void *run(void *argument)
{
    member *own = argument;
    own->all->body(&own->ranks, own->all->context);
    return NULL;
}

void thread_ranks_run(int size, void (*body)(const imp_ranks *ranks, void *context), void *context)
{
    world all = {.size = size, .body = body, .context = context};
    pthread_t threads[MOST];
    member members[MOST];
    pthread_barrier_init(&all.barrier, NULL, (unsigned)size);
    pthread_mutex_init(&all.mutex, NULL);
    pthread_cond_init(&all.changed, NULL);
    for (int r = 0; r < size; r++) {
        members[r] = (member){&all,
                              {.rank = r,
                               .size = size,
                               .gather = gather,
                               .broadcast = broadcast,
                               .send = post,
                               .receive = fetch,
                               .context = &all}};
        pthread_create(&threads[r], NULL, run, &members[r]);
    }
    for (int r = 0; r < size; r++)
        pthread_join(threads[r], NULL);
    pthread_barrier_destroy(&all.barrier);
    pthread_mutex_destroy(&all.mutex);
    pthread_cond_destroy(&all.changed);
}
