/* state.c - keeps the two labellings in step. */
#include "label/state.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Gives the items that are points to a suggester. */
static imp_status begin_suggesting(imp_label_state *state, const float *points, size_t count,
                                   size_t d, int threads, imp_error *error)
{
    imp_suggester_options options = imp_suggester_defaults();
    options.threads = threads;
    float *rows = imp_allocate(count * d, sizeof *rows);
    state->item = imp_allocate(count, sizeof *state->item);
    imp_status status = rows && state->item ? IMP_OK : imp_fail_memory(error, "the questions");
    for (size_t i = 0; i < count && !status; i++)
        if (!isnan(points[i * d])) {
            memcpy(rows + state->points * d, points + i * d, d * sizeof *rows);
            state->item[state->points++] = (uint32_t)i;
        }
    if (!status && state->points > 0)
        status = imp_suggester_create(rows, state->points, d, &options, &state->suggester, error);
    imp_release(rows);
    return status;
}

imp_status imp_label_state_create(imp_label_state *state, const float *points, size_t count,
                                  size_t d, uint64_t seed, int threads, imp_error *error)
{
    *state = (imp_label_state){.seed = seed};
    imp_status status = begin_suggesting(state, points, count, d, threads, error);
    if (!status)
        status = imp_label_groups_take(
            &state->groups, points, count, d,
            state->suggester ? imp_suggester_pieces(state->suggester) : NULL, state->item, error);
    double scale = state->groups.scale;
    if (!status)
        status = imp_labelling_create(&state->all, points, count, d, scale, threads, error);
    if (!status)
        status = imp_labelling_create(&state->others, points, count, d, scale, threads, error);
    state->drawn = imp_allocate(count, sizeof *state->drawn);
    state->closed = imp_allocate_zeroed(count, sizeof *state->closed);
    if (!status && (!state->drawn || !state->closed))
        status = imp_fail_memory(error, "the answers");
    for (size_t i = 0; i < count && !status; i++)
        state->drawn[i] = IMP_UNKNOWN;
    if (status)
        imp_label_state_release(state);
    return status;
}

void imp_label_state_release(imp_label_state *state)
{
    imp_label_groups_release(&state->groups);
    imp_labelling_release(&state->all);
    imp_labelling_release(&state->others);
    imp_suggester_free(state->suggester);
    imp_release(state->item);
    imp_release(state->drawn);
    imp_release(state->closed);
    *state = (imp_label_state){0};
}

/* A drawn item stays drawn when its answer is corrected; another item cannot become drawn. */
static size_t keep_apart(imp_label_state *state, const uint32_t *items, size_t count, int32_t class,
                         bool drawn, uint32_t *rest)
{
    size_t left = 0;
    for (size_t k = 0; k < count; k++) {
        bool apart = state->drawn[items[k]] != IMP_UNKNOWN ||
                     (drawn && state->others.class[items[k]] == IMP_UNKNOWN);
        if (apart)
            state->drawn[items[k]] = class;
        else
            rest[left++] = items[k];
    }
    return left;
}

imp_status imp_label_state_answer(imp_label_state *state, const uint32_t *items, size_t count,
                                  int32_t class, bool drawn, imp_error *error)
{
    uint32_t *rest = imp_allocate(count, sizeof *rest);
    if (!rest)
        return imp_fail_memory(error, "an answer");
    imp_status status = imp_labelling_reserve(&state->others, (size_t)(class + 1), error);
    if (!status)
        status = imp_labelling_answer(&state->all, items, count, class, error);
    if (!status) {
        size_t left = keep_apart(state, items, count, class, drawn, rest);
        status = imp_labelling_answer(&state->others, rest, left, class, error);
    }
    imp_release(rest);
    return status;
}

/* Tells the suggester the answers that it does not have. Those for which there is no memory wait
 * for the next look. */
static void tell_suggester(imp_label_state *state)
{
    for (size_t p = 0; p < state->points; p++) {
        uint32_t i = state->item[p];
        int32_t class = state->others.class[i];
        int32_t answer = class != IMP_UNKNOWN                                 ? class
                         : state->closed[i] || state->drawn[i] != IMP_UNKNOWN ? IMP_SKIPPED
                                                                              : IMP_UNLABELED;
        (void)imp_suggester_answer(state->suggester, p, answer, NULL);
    }
}

void imp_label_state_look(imp_label_state *state)
{
    imp_labelling_look(&state->all);
    imp_labelling_look(&state->others);
    tell_suggester(state);
}

imp_estimate imp_label_state_estimate(const imp_label_state *state)
{
    return imp_estimate_of(&state->all, &state->others, state->drawn);
}
