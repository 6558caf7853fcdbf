/* question.c - chooses questions. */
#include "base/random.h"
#include "label/state.h"

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

/* What the suggester asks next. */
static imp_question suggested(const imp_label_state *state)
{
    imp_suggestion next;
    size_t found = 0;
    if (!state->suggester || imp_suggester_next(state->suggester, 1, &next, &found, NULL) != IMP_OK)
        return (imp_question){draw(state), IMP_ASK_UNSURE, 1};
    if (found == 0)
        return (imp_question){IMP_NO_ITEM, IMP_ASK_UNSURE, 0};
    imp_question question = {.item = state->item[next.point],
                             .kind = next.reason == IMP_SUGGEST_TYPICAL ? IMP_ASK_TYPICAL
                                                                        : IMP_ASK_UNSURE};
    const int32_t *group = imp_suggester_groups(state->suggester);
    for (size_t p = 0; p < state->points; p++)
        question.group_size += group[p] == next.group;
    return question;
}

imp_question imp_label_state_question(const imp_label_state *state)
{
    if (state->asked % IMP_DRAW_EVERY == IMP_DRAW_EVERY - 1)
        return (imp_question){draw(state), IMP_ASK_DRAWN, 1};
    return suggested(state);
}
