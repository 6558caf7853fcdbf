/*
 * statistics.h - batch norm's running statistics, apart from the forward pass that moves them.
 *
 * What a pass computes does not depend on the running statistics, only what comes after training
 * does. So passes may be made in any order, or by several processes, and the running statistics
 * follow their batches in one order afterwards.
 */
#ifndef IMP_NN_STATISTICS_H
#define IMP_NN_STATISTICS_H

#include <imp/network.h>

/* imp_network_forward() that leaves the running statistics as they are. */
imp_status imp_network_forward_apart(imp_network *network, const float *images, size_t count,
                                     float *embeddings, imp_error *error);

/* The means and unbiased variances of the last pass, *count of them; good until the next one. */
const double *imp_network_statistics(const imp_network *network, size_t *count);

/* Moves the running statistics towards those of a batch. After imp_network_forward_apart() it is
 * what imp_network_forward() does, to the bit. */
void imp_network_follow(imp_network *network, const double *statistics);

/* Gives `to`, which begins with the layers of `from`, what these know of the data without having
 * learned it: running statistics, and what the layer standard was told. */
void imp_network_take_state(imp_network *to, const imp_network *from);

#endif
