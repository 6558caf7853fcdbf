/*
 * watch.h - notices when a rank is gone, and ends the job with a sentence that names it.
 *
 * A thread of rank 0 watches its connections with all other ranks (meeting.h), and a thread of each
 * other rank that with rank 0. A connection that ends without a farewell means that the process at
 * its other end was ended, or that its host cannot be reached any more.
 */
#ifndef IMP_MPI_WATCH_H
#define IMP_MPI_WATCH_H

#include <stdbool.h>

#include "base/ranks.h"

typedef struct imp_watch imp_watch;

/* Begins to watch; all ranks call it together. hosts[r] is the name of rank r's host and must last
 * as long as the watch. The sentence is written to the file `stream`. Returns NULL if there is
 * nobody to watch, or if the system cannot; the launcher then has to notice. */
imp_watch *imp_watch_begin(const imp_ranks *ranks, const char **hosts, int stream);

/* Takes leave of the other ranks and frees `watch`, which may be NULL. Returns whether a rank was
 * lost, which has been told then. */
bool imp_watch_end(imp_watch *watch);

#endif
