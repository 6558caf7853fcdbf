/*
 * estimate.h - how many items would be right if one stopped now.
 *
 * Answers about the least sure say nothing of how good the sure ones are. So some questions are
 * about items drawn at random, and their answers are kept apart: what the other answers, and they
 * alone, make of these items is what they would make of any. Items that were asked about since then
 * were unsure ones, so the unnamed items that are left are surer than those drawn; items are
 * therefore sorted into strata of certainty, and each stratum counts by how many unnamed items are
 * in it now.
 */
#ifndef IMP_LABEL_ESTIMATE_H
#define IMP_LABEL_ESTIMATE_H

#include "label/labelling.h"

enum { IMP_ESTIMATE_FROM = 12 }; /* items drawn, below which nothing is said */

typedef struct imp_estimate {
    size_t drawn;              /* items that it rests on */
    double right, least, most; /* shares of the pile, with the 95% interval; NAN: too few drawn */
} imp_estimate;

/* Of the classes that `all` gives the items. `others` knows all answers but those about items
 * drawn, of which `drawn` (count) has the classes; IMP_UNKNOWN for all the rest. */
imp_estimate imp_estimate_of(const imp_labelling *all, const imp_labelling *others,
                             const int32_t *drawn);

#endif
