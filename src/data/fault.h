/*
 * fault.h - why a picture could not be read, kept until all have been tried.
 *
 * Threads that read pictures keep faults and go on. Lack of memory is no fault of a picture, but is
 * kept as one, since a thread has no other way to tell.
 */
#ifndef IMP_DATA_FAULT_H
#define IMP_DATA_FAULT_H

#include <stdbool.h>

#include <imp/status.h>

typedef struct imp_fault {
    imp_status status;
    const char *sentence;
} imp_fault;

/* The fault, with "NAME: " before its sentence if `name` is not NULL. Never NULL: without memory
 * for it, it is one of lack of memory. Give it back with imp_fault_release(). */
imp_fault *imp_fault_keep(const char *name, const imp_error *error);

/* Whether it was memory that lacked; false for NULL. */
bool imp_fault_is_memory(const imp_fault *fault);

/* NULL is allowed. */
void imp_fault_release(imp_fault *fault);

#endif
