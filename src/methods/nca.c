/*
 * nca.c - neighbourhood components analysis (Goldberger et al.) in the place of nearest neighbours.
 *
 * Every labelled point is a cluster, as in neighbors, but a class is as probable as all its points
 * together: a query's probabilities of its neighbours are a softmax over all of them, and those of
 * a class are summed up. Loss and predictions are by these sums. Unlabelled points are ignored.
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
             .summary = "every labelled point is a cluster, and a class the sum of its own",
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
