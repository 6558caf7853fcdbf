/*
 * new_kinds.h - kinds of points that none of the labelled points belongs to, found among the
 * unlabelled points of a sample.
 *
 * If unlabelled points come from the classes, they are as far from the labelled points as these are
 * from each other. If many more of them are far than that explains, groups of these are new kinds,
 * which become clusters without a label.
 */
#ifndef IMP_METHODS_NEW_KINDS_H
#define IMP_METHODS_NEW_KINDS_H

#include "methods/sample.h"

typedef struct imp_new_kinds {
    size_t count;
    int32_t *kind; /* (sample.count): the number of each point's kind, or -1 */
} imp_new_kinds;

/* Release it even on failure: IMP_ENOMEM. */
imp_status imp_new_kinds_find(const imp_sample *sample, imp_new_kinds *kinds, imp_error *error);
void imp_new_kinds_release(imp_new_kinds *kinds);

#endif
