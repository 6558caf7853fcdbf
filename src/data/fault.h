/*
 * fault.h - why a picture could not be read, stored until all have been tried.
 *
 * Threads that read pictures store faults and go on. Out of memory is not a fault of a picture, but
 * is stored as one, since a thread has no other way to report it.
 */
#ifndef IMP_DATA_FAULT_H
#define IMP_DATA_FAULT_H

#include <stdbool.h>

#include <imp/status.h>

typedef struct imp_fault {
    imp_status status;
    const char *sentence;
} imp_fault;

/* A fault with the error's sentence, after "NAME: " if `name` is not NULL. Never NULL: without
 * memory it is an out-of-memory fault. Release it with imp_fault_release(). */
imp_fault *imp_fault_keep(const char *name, const imp_error *error);

/* Whether it is out of memory; false for NULL. */
bool imp_fault_is_memory(const imp_fault *fault);

/* NULL is allowed. */
void imp_fault_release(imp_fault *fault);

#endif
