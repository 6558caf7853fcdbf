/* work.h - tells of work that grows with the square of the points. */
#ifndef IMP_METHODS_WORK_H
#define IMP_METHODS_WORK_H

#include <imp/work.h>

#include "methods/point_source.h"

/* Work to be estimated. */
typedef struct imp_plan_of_work {
    const imp_point_source *source;
    double lambda, lambda_u; /* thresholds of labelled points and of the others */
    size_t clusters;         /* that exist already, or will whatever the thresholds are */
    size_t passes;           /* 0: as many as it takes */
} imp_plan_of_work;

/* Calls what imp_notice_work() set if the work is quadratic and large; without it, does nothing.
 * IMP_EIO if the work is not wanted; fails as reading the source does, and with IMP_ENOMEM. */
imp_status imp_foresee(const imp_plan_of_work *plan, imp_error *error);

#endif
