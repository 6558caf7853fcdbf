/*
 * refine.c - the soft assignments of fitted mixtures and unsupervised clustering, which need no
 * gradient: shares are added up block by block, so that memory does not grow with points times
 * clusters.
 */
#include "methods/refine.h"

#include "methods/imp.h"

imp_status imp_refine_in_blocks(imp_clusters *clusters, const imp_points *points, imp_shares *block,
                                imp_error *error)
{
    enum { BLOCK = 1024 };
    size_t count = imp_points_count(points);
    imp_means_begin(clusters);
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        size_t end = count - begin < BLOCK ? count : begin + BLOCK;
        block->count = 0;
        imp_status status = imp_assign_softly(clusters, points, begin, end, block, error);
        if (status != IMP_OK)
            return status;
        imp_means_add(clusters, points, block);
    }
    imp_means_finish(clusters, NULL);
    return IMP_OK;
}
