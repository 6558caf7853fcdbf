/*
 * events.h - the numbers of a run as a file that TensorBoard reads, beside the run's own logs.
 *
 * Such a file is a sequence of records: a length, its checksum, a message of Protocol Buffers, its
 * checksum. A resumed run begins another file, which says from which update on it replaces what
 * was written before.
 */
#ifndef IMP_TRAIN_EVENTS_H
#define IMP_TRAIN_EVENTS_H

#include <imp/train.h>

typedef struct imp_events {
    int descriptor; /* -1 when closed */
    char path[4200];
} imp_events;

/* Begins a new file in `folder`, for the updates after `update`. */
imp_status imp_events_open(imp_events *events, const char *folder, uint64_t update,
                           imp_error *error);

/* Writes the numbers of a line; those that are not there are left out. */
imp_status imp_events_write(imp_events *events, const imp_train_line *line, imp_error *error);

/* Harmless on a closed one. */
void imp_events_close(imp_events *events);

#endif
