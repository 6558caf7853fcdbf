/*
 * fault.h - why a picture could not be read: a sentence that is kept until all have been tried.
 *
 * Threads that read pictures keep faults and go on. Lack of memory is no fault of a picture, but is
 * kept as one, since a thread has no other way to tell.
 */
#ifndef IMP_DATA_FAULT_H
#define IMP_DATA_FAULT_H

#include <stdbool.h>

#include <imp/status.h>

/* The sentence, with "NAME: " before it if `name` is not NULL. Never NULL: without memory for it,
 * it is a fault of lack of memory. Give it back with imp_fault_release(), or, if it is not of lack
 * of memory, with imp_release(). */
char *imp_fault_keep(const char *name, const imp_error *error);

/* Whether it was memory that lacked; false for NULL. */
bool imp_fault_is_memory(const char *fault);

/* NULL is allowed. */
void imp_fault_release(char *fault);

#endif
