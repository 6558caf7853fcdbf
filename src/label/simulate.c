/* simulate.c - answers questions with the truth. */
#include "label/simulate.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"

static double share_right(const imp_labelling *all, const int32_t *truth)
{
    size_t right = 0;
    for (size_t i = 0; i < all->count; i++)
        right += imp_labelling_class(all, i) == truth[i] + 1; /* class 0 is "none of these" */
    return (double)right / (double)all->count;
}

static imp_status answer_all(const imp_simulation *given, imp_label_state *state,
                             const uint32_t *shuffled, imp_error *error)
{
    size_t answers = given->answers < given->count ? given->answers : given->count;
    while (state->asked < answers) {
        imp_question question = imp_label_state_question(state);
        bool drawn = question.kind == IMP_ASK_DRAWN;
        uint32_t item = shuffled ? shuffled[state->asked] : (uint32_t)question.item;
        imp_status status =
            imp_label_state_answer(state, &item, 1, given->truth[item] + 1, drawn, error);
        if (status)
            return status;
        state->asked++;
        imp_label_state_look(state);
        imp_simulated_step step = {state->asked, share_right(&state->all, given->truth),
                                   imp_label_state_estimate(state)};
        status = given->told(&step, error, given->context);
        if (status)
            return status;
    }
    return IMP_OK;
}

static uint32_t *shuffle(size_t count, uint64_t seed)
{
    uint32_t *items = imp_allocate(count, sizeof *items);
    imp_random random = imp_random_start(seed, IMP_STREAM_QUESTIONS, UINT64_MAX);
    for (size_t i = 0; i < count && items; i++)
        items[i] = (uint32_t)i;
    if (items)
        imp_random_shuffle(&random, items, count);
    return items;
}

imp_status imp_simulate(const imp_simulation *given, imp_error *error)
{
    imp_label_state state;
    imp_status status = imp_label_state_create(
        &state, given->points, given->count, given->dimensions, given->seed, given->threads, error);
    if (status)
        return status;
    uint32_t *shuffled = given->shuffled ? shuffle(given->count, given->seed) : NULL;
    if (given->shuffled && !shuffled)
        status = imp_fail_memory(error, "a random order");
    else
        status = answer_all(given, &state, shuffled, error);
    imp_release(shuffled);
    imp_label_state_release(&state);
    return status;
}
