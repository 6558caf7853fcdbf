/* views.c - maps points through their views, and copies views. */
#include "methods/views.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { TOGETHER = 4096 }; /* points mapped together */

imp_status imp_views_apply(const imp_views *views, const float *x, size_t n, size_t d, float *out,
                           imp_error *error)
{
    size_t widest = 0, first = 0;
    for (size_t v = 0; v < views->count; v++)
        widest =
            views->view[v].metric.dimensions > widest ? views->view[v].metric.dimensions : widest;
    size_t room = n < TOGETHER ? n : TOGETHER;
    float *slice = imp_allocate(room * widest, sizeof *slice);
    float *rows = imp_allocate(room * widest, sizeof *rows);
    imp_status status = slice && rows ? IMP_OK : imp_fail_memory(error, "views of points");
    for (size_t v = 0; v < views->count && !status; v++) {
        const imp_view *view = &views->view[v];
        size_t width = view->metric.dimensions;
        float gain = (float)view->gain;
        for (size_t begin = 0; begin < n && !status; begin += TOGETHER) {
            size_t count = n - begin < TOGETHER ? n - begin : TOGETHER;
            for (size_t i = 0; i < count; i++)
                memcpy(slice + i * width, x + (begin + i) * d + first, width * sizeof *slice);
            status = imp_metric_apply(&view->metric, slice, NULL, count, 0, rows, error);
            for (size_t i = 0; i < count && !status; i++)
                for (size_t j = 0; j < width; j++)
                    out[(begin + i) * d + first + j] = gain * rows[i * width + j];
        }
        first += width;
    }
    imp_release(slice);
    imp_release(rows);
    return status;
}

imp_status imp_views_copy(const imp_views *from, imp_views *to, imp_error *error)
{
    *to = (imp_views){0};
    if (from->count == 0)
        return IMP_OK;
    to->view = imp_allocate_zeroed(from->count, sizeof *to->view);
    if (!to->view)
        return imp_fail_memory(error, "views of points");
    imp_status status = IMP_OK;
    for (size_t v = 0; v < from->count && !status; v++) {
        to->view[v] = from->view[v];
        status = imp_metric_copy(&from->view[v].metric, &to->view[v].metric, error);
        to->count++;
    }
    return status;
}

void imp_views_release(imp_views *views)
{
    for (size_t v = 0; v < views->count; v++)
        imp_metric_release(&views->view[v].metric);
    imp_release(views->view);
    *views = (imp_views){0};
}

bool imp_views_equal(const imp_views *a, const imp_views *b)
{
    if (a->count != b->count)
        return false;
    for (size_t v = 0; v < a->count; v++)
        if (a->view[v].gain != b->view[v].gain ||
            !imp_metric_equal(&a->view[v].metric, &b->view[v].metric))
            return false;
    return true;
}
