/* standardize.h - the scale with which a network on vectors starts. */
#ifndef IMP_TRAIN_STANDARDIZE_H
#define IMP_TRAIN_STANDARDIZE_H

#include <imp/dataset.h>
#include <imp/network.h>

/* Sets the centre and scales of the layer `standard`, if the network begins with one, from up to
 * 10,000 evenly spaced training vectors. IMP_ENOMEM. */
imp_status imp_standardize(imp_network *network, const imp_dataset *dataset, imp_error *error);

#endif
