/*
 * trained_on.h - the data that a run or a model knows: the pictures, and how their classes are
 * split.
 *
 * A fingerprint alone would let a run go on, or a model be tested, where its training classes are
 * called testing ones: the same pictures can be split in many ways, and a pack brings its own.
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

/* IMP_EINVAL unless these are the pictures that are known and, if it is known, this the split. */
imp_status imp_trained_on_check(const imp_trained_on *known, const imp_dataset *dataset,
                                imp_error *error);

#endif
