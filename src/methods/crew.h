/* crew.h - the resources for passes over many points: threads, ranks, disk space and a progress
 * callback. */
#ifndef IMP_METHODS_CREW_H
#define IMP_METHODS_CREW_H

#include <stddef.h>

#include <imp/status.h>

#include "base/ranks.h"
#include "base/spill.h"

typedef struct imp_crew {
    int threads;                  /* in this process; 0: as many as the machine offers */
    const imp_ranks *ranks;       /* NULL: this process alone */
    const imp_spill_place *place; /* for per-point data; NULL: memory */

    /* Called when points begin .. end - 1, in the order of the pass, are done. If it fails, so does
     * the pass. May be NULL. */
    imp_status (*done)(size_t begin, size_t end, void *context, imp_error *error);
    void *context;

    struct imp_fit_state *fit; /* of a fit that `done` may stop (fit_state.h); NULL: it may not */
} imp_crew;

static inline imp_status imp_crew_done(const imp_crew *crew, size_t begin, size_t end,
                                       imp_error *error)
{
    return crew->done ? crew->done(begin, end, crew->context, error) : IMP_OK;
}

#endif
