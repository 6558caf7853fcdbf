/*
 * power_loss.h - a file system that may forget what was not flushed.
 *
 * Records what happens in a folder, change by change, and then makes the folders that a loss of
 * power after each change could leave. Bytes are safe once their file was flushed, names once their
 * folder was; of what is not safe all may be there, none, the first of it or the last alone, bytes
 * and names independently: that is more than any real file system does, and so what holds here
 * holds there.
 */
#ifndef POWER_LOSS_H
#define POWER_LOSS_H

#include <stddef.h>

/* Begins to record what happens in the folder, whose files are safe as they are. */
void power_loss_watch(const char *folder);

typedef void power_loss_check(const char *folder, void *context);

/* Ends that, and calls `check` on every different folder that there could be, made anew at `where`
 * each time, and in the end `settled` on the one that has nothing but what was flushed. Returns how
 * many those were. */
size_t power_loss_replay(const char *where, power_loss_check *check, power_loss_check *settled,
                         void *context);

#endif
