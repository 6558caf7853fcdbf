/*
 * rule.h - the numbers of Algorithm 1, as methods, mixtures and clusterings are given them and tell
 * them.
 *
 * A rule that is given may leave any of them open, with IMP_AUTO. A rule that a result tells has
 * them as they were used.
 */
#ifndef IMP_RULE_H
#define IMP_RULE_H

#include <stddef.h>

#include <imp/export.h>
#include <imp/option.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A part of other structs, so it does not grow. */
typedef struct imp_rule {
    double alpha;   /* concentration of the Dirichlet process: a larger one makes more clusters;
                       from 1e-300 to 1e300 */
    double sigma_l; /* variance of clusters with a label, from 1e-30 to 1e30 */
    double sigma_u; /* of clusters without one, likewise */
    double lambda;  /* squared distance beyond which a point starts a cluster; at least 0 */
    double steps;   /* how often the clustering is repeated: a whole number from 1 to 1e6 */
} imp_rule;

/* The rule that leaves everything open: imp_rule rule = IMP_RULE_AUTO; */
#define IMP_RULE_AUTO                                    \
    {                                                    \
        IMP_AUTO, IMP_AUTO, IMP_AUTO, IMP_AUTO, IMP_AUTO \
    }

/* The same numbers as named options, in the order of the members: alpha, sigma-l, sigma-u, lambda,
 * cluster-steps. NULL after the last. */
IMP_API const imp_option_info *imp_rule_option_at(size_t index);

#ifdef __cplusplus
}
#endif

#endif
