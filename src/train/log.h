/*
 * log.h - log.jsonl and log.csv: a line for every log_every updates.
 *
 * A checkpoint records the lengths of the two files. When a killed run is resumed, lines after its
 * last checkpoint are cut off, so that none is missing or duplicated.
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

/* Opens the two files in `folder` and truncates them to the given lengths; 0 and 0 start a new log.
 * A missing file is started again. IMP_EIO also if another process is writing them, IMP_EFORMAT if
 * one is shorter than it should be. On failure *log is closed. */
imp_status imp_log_open(imp_log *log, const char *folder, uint64_t json_bytes, uint64_t csv_bytes,
                        imp_error *error);

/* Allocates nothing. */
imp_status imp_log_write(imp_log *log, const imp_train_line *line, imp_error *error);

/* Flushes to disk, before the checkpoint that relies on it. */
imp_status imp_log_flush(imp_log *log, imp_error *error);

/* Harmless on a closed log. */
void imp_log_close(imp_log *log);

#endif
