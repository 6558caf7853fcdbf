/*
 * state.h - everything known about a pile: its groups, the answers, the guesses, and what to ask
 * next.
 *
 * It keeps two labellings. `all` has every answer and decides the class of an item. `others` has
 * all answers except those about items drawn at random: it chooses the questions and is what the
 * estimate measures, so that drawn items stay representative.
 */
#ifndef IMP_LABEL_STATE_H
#define IMP_LABEL_STATE_H

#include <imp/suggest.h>

#include "label/estimate.h"
#include "label/groups.h"
#include "label/labelling.h"
#include "label/question.h"

typedef struct imp_label_state {
    imp_label_groups groups;
    imp_labelling all, others;
    int32_t *drawn; /* (count): the answer about a drawn item, or IMP_UNKNOWN */
    bool *closed;   /* (count): not to be asked about, because it was skipped or is gone */
    imp_suggester *suggester; /* of the items that are points; NULL: there are none */
    uint32_t *item;           /* (points of the suggester) */
    size_t points;
    size_t asked; /* questions answered so far */
    uint64_t seed;
} imp_label_state;

/* Begins with `count` points of `d` floats, which must outlive it. On failure there is nothing to
 * release. */
imp_status imp_label_state_create(imp_label_state *state, const float *points, size_t count,
                                  size_t d, uint64_t seed, int threads, imp_error *error);
void imp_label_state_release(imp_label_state *state);

/* Records that these items belong to `class`, or IMP_UNKNOWN to undo; `drawn`: a single item, from
 * a random question. On failure nothing has changed. */
imp_status imp_label_state_answer(imp_label_state *state, const uint32_t *items, size_t count,
                                  int32_t class, bool drawn, imp_error *error);

/* Updates the guesses and the suggester after answers. */
void imp_label_state_look(imp_label_state *state);

imp_question imp_label_state_question(const imp_label_state *state);
imp_estimate imp_label_state_estimate(const imp_label_state *state);

#endif
