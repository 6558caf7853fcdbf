/*
 * first_failure.h - the first of the blocks that failed in a parallel loop, so that the error does
 * not depend on which thread was faster.
 */
#ifndef IMP_BASE_FIRST_FAILURE_H
#define IMP_BASE_FIRST_FAILURE_H

#include <pthread.h>
#include <stddef.h>

#include <imp/status.h>

typedef struct imp_first_failure {
    pthread_mutex_t mutex; /* guards what follows */
    size_t block;
    imp_status status; /* IMP_OK while none has failed */
    imp_error error;
} imp_first_failure;

void imp_first_failure_begin(imp_first_failure *first);

/* Records the result of a block; success changes nothing. Any thread may call it. */
void imp_first_failure_note(imp_first_failure *first, size_t block, imp_status status,
                            const imp_error *error);

/* After the loop: the first failure, with its sentence in `error`, or IMP_OK. */
imp_status imp_first_failure_end(imp_first_failure *first, imp_error *error);

#endif
