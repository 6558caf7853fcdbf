/* arena.c - first-fit placement of arrays by lifetime. */
#include "nn/arena.h"

#include <stdbool.h>

#include "nn/layer.h"

static bool meet(const imp_span *a, const imp_span *b)
{
    return a->floats > 0 && b->floats > 0 && a->born <= b->dies && b->born <= a->dies;
}

size_t imp_arena_place(imp_span *spans, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        imp_span *span = &spans[i];
        span->at = 0;
        for (bool moved = true; moved;) { /* past any overlapping span, until there is none */
            moved = false;
            for (size_t j = 0; j < i; j++) {
                size_t end = spans[j].at + imp_lines(spans[j].floats);
                if (meet(span, &spans[j]) && span->at < end &&
                    spans[j].at < span->at + imp_lines(span->floats)) {
                    span->at = end;
                    moved = true;
                }
            }
        }
        size_t end = span->at + imp_lines(span->floats);
        used = end > used ? end : used;
    }
    return used;
}
