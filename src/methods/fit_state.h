/*
 * fit_state.h - a fit of a mixture that may be stopped between blocks of its points and go on.
 *
 * What is chosen by some of the points is chosen again, in the same way; the passes over all of
 * them go on from the file that the fit left (cluster_state.h).
 */
#ifndef IMP_METHODS_FIT_STATE_H
#define IMP_METHODS_FIT_STATE_H

#include "methods/cluster_state.h"
#include "methods/mixture.h"

typedef struct imp_fit_state {
    const char *path; /* where it leaves how far it was */
    bool resume;      /* it goes on from what is there */
    bool stopped;     /* the crew failed because somebody wants to go on later; the crew says so */

    imp_cluster_print print; /* the rest is the fit's: of points and options, */
    imp_cluster_state at;    /* and how far it is */
} imp_fit_state;

/* For all of these, `fit` may be NULL: then the fit cannot be stopped, and nothing is done. */

/* Before the rest, with the points as they are given. */
imp_status imp_fit_state_begin(imp_fit_state *fit, const imp_point_source *source,
                               const imp_mixture_options *options, imp_error *error);

static inline bool imp_fit_state_resumes(const imp_fit_state *fit)
{
    return fit && fit->resume;
}

/* Takes the clusters, the sample if it was begun, and the assignment, unless that is NULL, of a fit
 * that goes on. As imp_cluster_state_load(). */
imp_status imp_fit_state_take(imp_fit_state *fit, imp_mixture *mixture, int32_t *assignment,
                              size_t points, imp_error *error);

/* Keeps these of a fit that was stopped, and returns `status`, with where to go on as the error;
 * what goes wrong is told instead. */
imp_status imp_fit_state_keep(const imp_fit_state *fit, imp_status status,
                              const imp_mixture *mixture, const int32_t *assignment, size_t points,
                              imp_error *error);

#endif
