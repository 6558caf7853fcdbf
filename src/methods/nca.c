/*
 * nca.c - neighbourhood components analysis (Goldberger et al.), as an alternative to nearest
 * neighbours.
 *
 * Every labelled point is a cluster, as in neighbors, but the probability of a class is the sum
 * over its points of a softmax over all points. Loss and predictions use these sums. Unlabelled
 * points are ignored.
 */
#include "methods/neighbors.h"
#include "methods/rule.h"

static imp_scoring scoring(const double *own)
{
    (void)own;
    return IMP_SCORE_SUMS;
}

const imp_method_kind imp_kind_nca = {
    .info = {.name = "nca",
             .summary = "every labelled point is a cluster, and a class is the sum of its points",
             .rule = IMP_USUAL_RULE},
    .parameters = imp_sigma_parameters,
    .parameter_count = 1,
    .value_count = 1,
    .scoring = scoring,
    .initialize = imp_neighbors_initialize,
    .decide = imp_neighbors_decide,
    .place = imp_neighbors_place,
    .differentiate = imp_neighbors_differentiate,
};
