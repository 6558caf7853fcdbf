/*
 * log.h - log.jsonl and log.csv: a line for every so many updates.
 *
 * A checkpoint remembers how long the two files were. What a killed run wrote after its last
 * checkpoint is cut off when the run is resumed, so that no line is missing and none is there
 * twice.
 */
#ifndef IMP_TRAIN_LOG_H
#define IMP_TRAIN_LOG_H

#include <imp/status.h>

#include "train/progress.h"

typedef struct imp_log {
    int json, csv; /* file descriptors, -1 when closed */
    uint64_t json_bytes, csv_bytes;
    size_t csv_columns;
    char *folder; /* for sentences */
} imp_log;

/* Opens the two files in `folder` and cuts them to the given lengths; 0 and 0 begin a new log. A
 * file that is gone is begun again. IMP_EIO also when another process is writing them, IMP_EFORMAT
 * when one is shorter than it should be. On failure *log is closed. */
imp_status imp_log_open(imp_log *log, const char *folder, uint64_t json_bytes, uint64_t csv_bytes,
                        imp_error *error);

/* Takes no memory. */
imp_status imp_log_write(imp_log *log, const imp_train_line *line, imp_error *error);

/* Flushes to disk: what was written is there before the checkpoint that counts on it. */
imp_status imp_log_flush(imp_log *log, imp_error *error);

/* Harmless on a closed log. */
void imp_log_close(imp_log *log);

#endif
