/* npy_ahead.c - two blocks of rows: one is in use, and a thread reads the other. */
#include "base/npy_ahead.h"

#include "base/memory.h"
#include "base/thread.h"

enum { FEW_VALUES = 1 << 18 }; /* read faster than a thread starts */

static void *read_next(void *context)
{
    imp_npy_ahead *ahead = context;
    imp_error unused; /* whoever wants these rows reads them again */
    ahead->status = ahead->array.read(ahead->array.where, ahead->begin, ahead->count,
                                      ahead->next.values, &unused);
    return NULL;
}

void imp_npy_ahead_wait(imp_npy_ahead *ahead)
{
    if (ahead->running)
        pthread_join(ahead->thread, NULL);
    ahead->running = false;
}

static bool make_room(imp_row_block *block, size_t values)
{
    if (values <= block->capacity)
        return true;
    imp_release(block->values);
    block->values = imp_allocate(values, sizeof *block->values);
    block->capacity = block->values ? values : 0;
    return block->values;
}

/* Starts to read up to `count` rows from `begin` on into `next`. */
static void start(imp_npy_ahead *ahead, const imp_row_array *array, size_t begin, size_t count)
{
    size_t left = array->rows - begin;
    ahead->array = *array;
    ahead->begin = begin;
    ahead->count = left < count ? left : count;
    if (ahead->count * array->columns >= FEW_VALUES &&
        make_room(&ahead->next, ahead->count * array->columns))
        ahead->running = imp_thread_start(&ahead->thread, NULL, read_next, ahead);
    if (!ahead->running)
        ahead->count = 0;
}

imp_status imp_npy_ahead_read(imp_npy_ahead *ahead, const imp_row_array *array, size_t begin,
                              size_t count, float *room, const float **rows, imp_error *error)
{
    size_t values = count * array->columns;
    imp_npy_ahead_wait(ahead);
    bool there = !ahead->status && begin == ahead->begin && count <= ahead->count;
    *rows = room;
    if (values < FEW_VALUES || (!there && !make_room(&ahead->next, values)))
        return array->read(array->where, begin, count, room, error);
    ahead->count = 0;
    imp_status status =
        there ? IMP_OK : array->read(array->where, begin, count, ahead->next.values, error);
    if (status)
        return status;
    imp_row_block given = ahead->next;
    ahead->next = ahead->given;
    ahead->given = given;
    *rows = given.values;
    start(ahead, array, begin + count, count);
    return IMP_OK;
}

void imp_npy_ahead_release(imp_npy_ahead *ahead)
{
    imp_npy_ahead_wait(ahead);
    imp_release(ahead->given.values);
    imp_release(ahead->next.values);
    *ahead = (imp_npy_ahead){0};
}
