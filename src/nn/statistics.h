/*
 * statistics.h - updates batch norm's running statistics separately from the forward pass.
 *
 * A training pass does not depend on the running statistics; only evaluation does. So passes may
 * run in any order, or in several processes, and the running statistics are updated in a fixed
 * order of batches afterwards.
 */
#ifndef IMP_NN_STATISTICS_H
#define IMP_NN_STATISTICS_H

#include <imp/network.h>

/* imp_network_forward() that leaves the running statistics as they are. */
imp_status imp_network_forward_apart(imp_network *network, const float *images, size_t count,
                                     float *embeddings, imp_error *error);

/* The means and unbiased variances of the last pass, *count of them; valid until the next one. */
const double *imp_network_statistics(const imp_network *network, size_t *count);

/* Moves the running statistics towards those of a batch. Together with imp_network_forward_apart()
 * this does what imp_network_forward() does, to the bit. */
void imp_network_follow(imp_network *network, const double *statistics);

/* Copies to `to`, which begins with the layers of `from`, the state that is not learned: running
 * statistics, and the tensors of the layer standard. */
void imp_network_take_state(imp_network *to, const imp_network *from);

#endif
