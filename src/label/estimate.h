/*
 * estimate.h - estimates how many labels would be right if labelling stopped now.
 *
 * Answers about uncertain items say nothing about how good the certain guesses are. So some
 * questions are about items drawn at random, and their answers are held out: how well the other
 * answers classify these items is how well they classify any. Items asked about since then were
 * uncertain ones, so the remaining unnamed items are more certain than the drawn ones. Items are
 * therefore stratified by certainty, and each stratum is weighted by its number of unnamed items.
 */
#ifndef IMP_LABEL_ESTIMATE_H
#define IMP_LABEL_ESTIMATE_H

#include "label/labelling.h"

enum { IMP_ESTIMATE_FROM = 12 }; /* drawn items needed for an estimate */

typedef struct imp_estimate {
    size_t drawn; /* drawn items it is based on */
    double right, least,
        most; /* fraction of the pile, with the 95% confidence interval; NAN: too few drawn */
} imp_estimate;

/* Estimates the classes that `all` gives the items. `others` has all answers except those about
 * drawn items, whose classes are in `drawn` (count); IMP_UNKNOWN for the rest. */
imp_estimate imp_estimate_of(const imp_labelling *all, const imp_labelling *others,
                             const int32_t *drawn);

#endif
