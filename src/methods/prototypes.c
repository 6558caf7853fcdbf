/*
 * prototypes.c - prototypical networks (Snell et al.): Equations 3 and 4 of the paper.
 *
 * One cluster per class at the mean of its supports, with variance 1 or a learned one. Unlabelled
 * points are ignored.
 */
#include "methods/labeled_means.h"
#include "methods/rule.h"

static imp_status decide(imp_run *run, imp_error *error)
{
    imp_status status =
        imp_clusters_add_class_means(&run->clusters, &run->points, run->way, 1, error);
    if (!status)
        status = imp_shares_add_labeled(&run->shares, &run->points, error);
    return status;
}

enum { LEARN_SIGMA };

static const imp_option_info options[] = {[LEARN_SIGMA] = IMP_OPTION_LEARN_SIGMA};

static const imp_method_kind learned = IMP_LEARNED_VARIANT("prototypes", decide);

static const imp_method_kind *variant(const double *own)
{
    return own[LEARN_SIGMA] != 0 ? &learned : &imp_kind_prototypes;
}

const imp_method_kind imp_kind_prototypes = {
    .info = {.name = "prototypes",
             .summary = "one mean per class (Snell et al.)",
             .rule = IMP_USUAL_RULE,
             .options = options,
             .option_count = sizeof options / sizeof *options},
    .variant = variant,
    .decide = decide,
    .place = imp_means_place,
    .differentiate = imp_means_differentiate,
};
