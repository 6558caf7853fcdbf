/* point_views.c - opens files of views as one source of points. */
#include "cli/point_views.h"

#include <math.h>

#include "base/error.h"
#include "model/model.h"

/* A model may make infinity of large values; further on, points are taken to be finite. */
static imp_status embed(const void *context, const float *rows, size_t begin, size_t count,
                        float *out, imp_error *error)
{
    const imp_point_views *views = context;
    size_t d = imp_model_info_of(views->model)->dimensions;
    imp_status status = imp_model_embed(views->model, rows, count, 0, out, error);
    for (size_t i = 0; i < count * d && !status; i++)
        if (!isfinite(out[i]))
            status = imp_fail(error, IMP_EINVAL,
                              "%s: what the model makes of row %zu is not finite; its values must "
                              "be about as large as those that the model was trained on",
                              views->path, begin + i / d);
    return status;
}

static int through_model(const char *command, const imp_model *model, const char *path,
                         imp_point_views *views)
{
    const imp_model_info *info = imp_model_info_of(model);
    imp_error error;
    views->model = model;
    views->path = path;
    if (views->source.dimensions != info->channels)
        return imp_complain(IMP_EXIT_FAILURE, command,
                            "%s: its points have %zu dimensions, but %s needs %zu", path,
                            views->source.dimensions, info->name, info->channels);
    if (imp_mapped_source_create(&views->embedded, &views->file[0].source, info->dimensions, embed,
                                 views, 0, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    views->source = views->embedded.source;
    views->dimensions[0] = info->dimensions;
    return IMP_GO_ON;
}

static int side_by_side(const char *command, imp_point_views *views)
{
    const imp_point_source *from[IMP_MOST_TEXTS];
    imp_error error;
    for (size_t v = 0; v < views->count; v++)
        from[v] = &views->file[v].source;
    if (imp_beside_source_create(&views->beside, from, views->count, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    views->source = views->beside.source;
    return IMP_GO_ON;
}

int imp_point_views_open(const char *command, const imp_model *model, const imp_texts *paths,
                         bool once, imp_point_views *views)
{
    _Static_assert((int)IMP_MOST_TEXTS <= (int)IMP_MOST_BESIDE, "as many views as sources");
    *views = (imp_point_views){0};
    int status = IMP_GO_ON;
    if (model && paths->count > 1)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "--model embeds points with one view, but these have %zu",
                            paths->count);
    for (size_t v = 0; v < paths->count && status == IMP_GO_ON; v++) {
        imp_point_file *file = &views->file[v];
        status = imp_point_file_open(command, paths->items[v], once, file);
        if (status != IMP_GO_ON)
            break;
        views->count++;
        views->once = views->once || (file->shards.once && !file->rows.values);
        views->dimensions[v] = file->source.dimensions;
        if (file->source.count != views->file[0].source.count)
            status = imp_complain(IMP_EXIT_FAILURE, command,
                                  "%s has %zu points and %s has %zu; views must list the same "
                                  "points in the same order",
                                  paths->items[v], file->source.count, paths->items[0],
                                  views->file[0].source.count);
    }
    views->source = views->file[0].source;
    if (status == IMP_GO_ON && model)
        status = through_model(command, model, paths->items[0], views);
    else if (status == IMP_GO_ON && views->count > 1)
        status = side_by_side(command, views);
    if (status != IMP_GO_ON)
        imp_point_views_close(views);
    return status;
}

void imp_point_views_close(imp_point_views *views)
{
    imp_mapped_source_release(&views->embedded);
    imp_beside_source_release(&views->beside);
    for (size_t v = 0; v < views->count; v++)
        imp_point_file_close(&views->file[v]);
    *views = (imp_point_views){0};
}
