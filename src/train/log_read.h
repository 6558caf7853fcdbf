/*
 * log_read.h - reads the log of a run, which may still be growing.
 */
#ifndef IMP_TRAIN_LOG_READ_H
#define IMP_TRAIN_LOG_READ_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/train.h>

/* Reads all complete lines of the run's log.jsonl. Release *lines with imp_release(). On failure it
 * is NULL: IMP_EIO if there is no log, IMP_EFORMAT for an invalid line. */
imp_status imp_log_read(const char *folder, imp_train_line **lines, size_t *count,
                        imp_error *error);

/* Whether a process is training in the folder right now. */
bool imp_log_is_written(const char *folder);

#endif
