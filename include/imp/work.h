/*
 * work.h - hears of work that grows with the square of the points, before it begins.
 *
 * Fitting, adding and clustering compare every point with every cluster. Usually there are few
 * clusters; but a small lambda makes a cluster of nearly every point, and then twice as many points
 * take four times as long.
 */
#ifndef IMP_WORK_H
#define IMP_WORK_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Work that is about to begin. The numbers are estimates from a sample of the points. */
typedef struct imp_work {
    size_t points;
    size_t clusters;      /* that there will be */
    double distances;     /* from points to clusters, in a pass over the points */
    size_t passes;        /* 0: as many as it takes */
    const char *sentence; /* all this in one sentence, valid during the call */
} imp_work;

/* Returns whether to begin. */
typedef bool imp_work_notice(const imp_work *work, void *context);

/* Sets what imp_mixture_fit(), imp_mixture_add() and imp_cluster() call in this thread before work
 * that grows with the square of the points and will take more than a moment. If it returns false,
 * the work is not begun and they fail with IMP_EIO. NULL, the initial value: nothing is called, and
 * nothing is estimated. Results do not depend on it. */
IMP_API void imp_notice_work(imp_work_notice *notice, void *context);

#ifdef __cplusplus
}
#endif

#endif
