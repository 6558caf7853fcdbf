/*
 * log_read.h - the log of a run, read while it may still be written.
 */
#ifndef IMP_TRAIN_LOG_READ_H
#define IMP_TRAIN_LOG_READ_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/train.h>

/* Reads all lines of the run's log.jsonl that are whole. Release *lines with imp_release(). On
 * failure it is NULL: IMP_EIO where there is no log, IMP_EFORMAT for a line that is none. */
imp_status imp_log_read(const char *folder, imp_train_line **lines, size_t *count,
                        imp_error *error);

/* Whether a process is training in the folder at this moment. */
bool imp_log_is_written(const char *folder);

#endif
