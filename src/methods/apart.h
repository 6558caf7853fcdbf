/* apart.h - whether two groups of points are distinct, judged by points held out from both. */
#ifndef IMP_METHODS_APART_H
#define IMP_METHODS_APART_H

#include <stddef.h>

/* How much better two Gaussians of equal variance explain numbers on a line than one does, in nats.
 * EM starts at 0 and 1, the means of the groups; numbers are clamped to -1 .. 2. t(count) is
 * changed, share(count) is scratch. About 0 for numbers from one Gaussian, however it was divided
 * into groups. */
double imp_evidence_of_two(double *t, size_t count, double *share);

/* The evidence required that two groups of so many points are distinct: a constant plus an amount
 * per point. Without the latter any non-Gaussian shape would be split once it has enough points. */
static inline double imp_evidence_required(size_t count)
{
    return 5 + 0.03 * (double)count;
}

#endif
