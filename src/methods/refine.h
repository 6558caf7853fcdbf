/* refine.h - steps 4 and 5 of Algorithm 1 for many points. */
#ifndef IMP_METHODS_REFINE_H
#define IMP_METHODS_REFINE_H

#include "methods/clusters.h"

/* As imp_refine_softly(), to the same means, but without keeping the shares: `block` holds those of
 * one block of points at a time. */
imp_status imp_refine_in_blocks(imp_clusters *clusters, const imp_points *points, imp_shares *block,
                                imp_error *error);

#endif
