/*
 * state.h - everything that is known of a pile at one moment: its groups, the answers, what follows
 * from them, and what to ask next.
 *
 * It keeps two books. `all` knows every answer and says what an item is. `others` knows all but the
 * answers about items drawn at random: it asks the questions and is what the estimate looks at, so
 * that items drawn stay like any other.
 */
#ifndef IMP_LABEL_STATE_H
#define IMP_LABEL_STATE_H

#include "label/estimate.h"
#include "label/groups.h"
#include "label/labelling.h"
#include "label/question.h"

typedef struct imp_label_state {
    imp_label_groups groups;
    imp_labelling all, others;
    int32_t *drawn; /* (count): the answer about an item that was drawn, or IMP_UNKNOWN */
    bool *closed;   /* (count): not to be asked about, because it was put off or is gone */
    size_t asked;   /* questions answered so far */
    uint64_t seed;
} imp_label_state;

/* Begins with `count` points of `d` floats, which must stay. On failure there is nothing to
 * release. */
imp_status imp_label_state_create(imp_label_state *state, const float *points, size_t count,
                                  size_t d, uint64_t seed, int threads, imp_error *error);
void imp_label_state_release(imp_label_state *state);

/* These items are of `class`, or IMP_UNKNOWN to take it back; `drawn`: one item, of a question that
 * was drawn. On failure nothing has changed. */
imp_status imp_label_state_answer(imp_label_state *state, const uint32_t *items, size_t count,
                                  int32_t class, bool drawn, imp_error *error);

/* Brings guesses up to date after answers. */
void imp_label_state_look(imp_label_state *state);

imp_question imp_label_state_question(const imp_label_state *state);
imp_estimate imp_label_state_estimate(const imp_label_state *state);

#endif
