/*
 * rule.h - the parameters of Algorithm 1, as methods, mixtures and clusterings take and report
 * them.
 *
 * A caller may leave any of them open, with IMP_AUTO. A result reports them as they were used.
 */
#ifndef IMP_RULE_H
#define IMP_RULE_H

#include <stddef.h>

#include <imp/export.h>
#include <imp/option.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Embedded in other structs, so it never grows. */
typedef struct imp_rule {
    double alpha;   /* concentration of the Dirichlet process: a larger one makes more clusters;
                       from 1e-300 to 1e300 */
    double sigma_l; /* variance of clusters with a label, from 1e-30 to 1e30 */
    double sigma_u; /* variance of clusters without a label, same range */
    double lambda;  /* squared distance beyond which a point starts a new cluster; at least 0 */
    double steps;   /* clustering passes: a whole number from 1 to 1e6 */
} imp_rule;

/* Leaves everything open: imp_rule rule = IMP_RULE_AUTO; */
#define IMP_RULE_AUTO                                    \
    {                                                    \
        IMP_AUTO, IMP_AUTO, IMP_AUTO, IMP_AUTO, IMP_AUTO \
    }

/* The same parameters as named options, in the order of the members: alpha, sigma-l, sigma-u,
 * lambda, cluster-steps. NULL after the last. */
IMP_API const imp_option_info *imp_rule_option_at(size_t index);

#ifdef __cplusplus
}
#endif

#endif
