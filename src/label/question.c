/* question.c - chooses questions. */
#include <stdlib.h>

#include "base/random.h"
#include "label/state.h"

enum { UNLIKE_EVERY = 12 }; /* among the questions about uncertain items */

const char *imp_question_kind_name(imp_question_kind kind)
{
    static const char *const names[] = {"typical", "drawn", "unsure", "unlike"};
    return names[kind];
}

static bool is_open(const imp_label_state *state, size_t i)
{
    return state->all.class[i] == IMP_UNKNOWN && !state->closed[i];
}

static int64_t draw(const imp_label_state *state)
{
    size_t left = 0;
    for (size_t i = 0; i < state->all.count; i++)
        left += is_open(state, i);
    if (left == 0)
        return IMP_NO_ITEM;
    imp_random random = imp_random_start(state->seed, IMP_STREAM_QUESTIONS, state->asked);
    uint32_t chosen = imp_random_below(&random, (uint32_t)left);
    for (size_t i = 0; i < state->all.count; i++)
        if (is_open(state, i) && chosen-- == 0)
            return (int64_t)i;
    return IMP_NO_ITEM;
}

/* The most typical item of the largest group in which nothing is named. */
static int64_t typical(const imp_label_state *state)
{
    const imp_label_groups *groups = &state->groups;
    typedef struct entry {
        uint32_t size;
        bool named;
        int64_t item;
    } entry;
    entry *entries = calloc(groups->count, sizeof *entries);
    if (!entries)
        return IMP_NO_ITEM; /* then the least certain */
    for (size_t g = 0; g < groups->count; g++)
        entries[g].item = IMP_NO_ITEM;
    for (size_t i = 0; i < state->all.count; i++) {
        entry *own = &entries[groups->group[i]];
        own->size++;
        own->named = own->named || state->others.class[i] != IMP_UNKNOWN;
        if (is_open(state, i) &&
            (own->item == IMP_NO_ITEM || groups->distance[i] < groups->distance[own->item]))
            own->item = (int64_t)i;
    }
    int64_t best = IMP_NO_ITEM;
    uint32_t largest = 0;
    for (size_t g = 0; g < groups->count; g++)
        if (!entries[g].named && entries[g].item != IMP_NO_ITEM && entries[g].size > largest) {
            largest = entries[g].size;
            best = entries[g].item;
        }
    free(entries);
    return best;
}

static int64_t least_sure(const imp_label_state *state)
{
    int64_t best = IMP_NO_ITEM;
    for (size_t i = 0; i < state->all.count; i++)
        if (is_open(state, i) && (best == IMP_NO_ITEM ||
                                  state->others.guess[i].margin < state->others.guess[best].margin))
            best = (int64_t)i;
    return best;
}

static int64_t most_unlike(const imp_label_state *state)
{
    int64_t best = IMP_NO_ITEM;
    for (size_t i = 0; i < state->all.count; i++)
        if (is_open(state, i) && (best == IMP_NO_ITEM || state->others.guess[i].distance >
                                                             state->others.guess[best].distance))
            best = (int64_t)i;
    return best;
}

imp_question imp_label_state_question(const imp_label_state *state)
{
    if (state->asked % IMP_DRAW_EVERY == IMP_DRAW_EVERY - 1)
        return (imp_question){draw(state), IMP_ASK_DRAWN};
    int64_t item = typical(state);
    if (item != IMP_NO_ITEM)
        return (imp_question){item, IMP_ASK_TYPICAL};
    if (state->asked % UNLIKE_EVERY == 0)
        return (imp_question){most_unlike(state), IMP_ASK_UNLIKE};
    return (imp_question){least_sure(state), IMP_ASK_UNSURE};
}
