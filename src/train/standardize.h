/* standardize.h - the scale that a network on vectors begins with. */
#ifndef IMP_TRAIN_STANDARDIZE_H
#define IMP_TRAIN_STANDARDIZE_H

#include <imp/dataset.h>
#include <imp/network.h>

/* Gives the layer `standard`, where the network begins with one, the centre and the spreads of the
 * vectors that train; up to 10,000 of them, spread evenly, are looked at. IMP_ENOMEM. */
imp_status imp_standardize(imp_network *network, const imp_dataset *dataset, imp_error *error);

#endif
