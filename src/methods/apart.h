/* apart.h - whether two groups of points are two: what points that made neither of them say. */
#ifndef IMP_METHODS_APART_H
#define IMP_METHODS_APART_H

#include <stddef.h>

/* How much better two Gaussians of one variance explain numbers on a line than one does, in nats.
 * They begin at 0 and 1, where the means of the groups are; numbers beyond -1 and 2 count as these.
 * t(count) is changed, share(count) is scratch. About 0 for numbers of one Gaussian, however the
 * groups were cut out of it. */
double imp_evidence_of_two(double *t, size_t count, double *share);

#endif
