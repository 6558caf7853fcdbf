/*
 * events.h - a run's numbers as event files for TensorBoard, besides the run's own logs.
 *
 * Such a file is a sequence of records: a length, its checksum, a Protocol Buffers message, its
 * checksum. A resumed run starts another file, which says from which update on it replaces earlier
 * ones.
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

/* Writes the numbers of a log line, leaving out missing ones. */
imp_status imp_events_write(imp_events *events, const imp_train_line *line, imp_error *error);

/* Harmless on a closed one. */
void imp_events_close(imp_events *events);

#endif
