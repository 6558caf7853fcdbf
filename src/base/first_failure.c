/* first_failure.c - remembers the failure of the lowest block. */
#include "base/first_failure.h"

#include "base/error.h"

void imp_first_failure_begin(imp_first_failure *first)
{
    *first = (imp_first_failure){.status = IMP_OK};
    pthread_mutex_init(&first->mutex, NULL);
}

void imp_first_failure_note(imp_first_failure *first, size_t block, imp_status status,
                            const imp_error *error)
{
    if (!status)
        return;
    pthread_mutex_lock(&first->mutex);
    if (!first->status || block < first->block) {
        first->block = block;
        first->status = status;
        first->error = *error;
    }
    pthread_mutex_unlock(&first->mutex);
}

imp_status imp_first_failure_end(imp_first_failure *first, imp_error *error)
{
    pthread_mutex_destroy(&first->mutex);
    return first->status ? imp_fail(error, first->status, "%s", first->error.message) : IMP_OK;
}
