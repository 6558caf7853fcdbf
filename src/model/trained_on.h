/*
 * trained_on.h - identifies the data of a run or a model: the pictures, and the split of their
 * classes.
 *
 * A fingerprint alone could let a model be tested on its training classes: the same pictures can be
 * split in many ways, and a pack has its own split.
 */
#ifndef IMP_MODEL_TRAINED_ON_H
#define IMP_MODEL_TRAINED_ON_H

#include <imp/dataset.h>

typedef struct imp_trained_on {
    char kind[16];        /* imp_dataset_kind(); empty if unknown */
    char fingerprint[65]; /* of the pictures; empty if unknown */
    char split[65];       /* SHA-256 of each class's name and split; empty if unknown */
} imp_trained_on;

imp_trained_on imp_trained_on_of(const imp_dataset *dataset);

/* IMP_EINVAL unless pictures and split match, as far as they are known. */
imp_status imp_trained_on_check(const imp_trained_on *known, const imp_dataset *dataset,
                                imp_error *error);

#endif
