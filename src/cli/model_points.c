/* model_points.c - reads points and embeds them, a block at a time. */
#include "cli/model_points.h"

#include <stdlib.h>

#include "base/memory.h"
#include "model/model.h"

int imp_open_vector_model(const char *command, const char *path, imp_model **model)
{
    *model = NULL;
    imp_error error;
    if (!path)
        return IMP_GO_ON;
    if (imp_model_open(path, NULL, model, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    const imp_model_info *info = imp_model_info_of(*model);
    if (imp_model_takes_vectors(*model))
        return IMP_GO_ON;
    int status = imp_complain(IMP_EXIT_FAILURE, command,
                              "%s takes pictures of %zux%zu, not points; 'imp train --data "
                              "vectors:X.npy,y.npy' trains one that takes points",
                              path, info->width, info->height);
    imp_model_free(*model);
    *model = NULL;
    return status;
}

/* Embeds all rows of the reader's source. */
static imp_status embed(const imp_model *model, imp_reader *reader, float *embeddings,
                        imp_error *error)
{
    size_t n = reader->source->count, dimensions = imp_model_info_of(model)->dimensions;
    imp_status status = IMP_OK;
    for (size_t begin = 0; begin < n && !status; begin += reader->most) {
        size_t count = n - begin < reader->most ? n - begin : reader->most;
        const float *rows;
        status = imp_reader_read(reader, begin, count, &rows, error);
        if (!status)
            status = imp_model_embed(model, rows, count, 0, embeddings + begin * dimensions, error);
    }
    return status;
}

int imp_read_embedded(const char *command, const imp_model *model, const char *path, imp_rows *rows)
{
    enum { TOGETHER = 4096 };
    if (!model)
        return imp_read_rows(command, path, rows);
    *rows = (imp_rows){0};
    imp_point_file points;
    int status = imp_point_file_open(command, path, true, &points);
    if (status != IMP_GO_ON)
        return status;
    const imp_model_info *info = imp_model_info_of(model);
    size_t values = 0, count = points.source.count;
    imp_reader reader = {0};
    imp_error error;
    float *embeddings = NULL;
    if (points.source.dimensions != info->channels)
        status = imp_complain(IMP_EXIT_FAILURE, command,
                              "%s: its points have %zu dimensions, and %s takes %zu", path,
                              points.source.dimensions, info->name, info->channels);
    else if (imp_multiply(count, info->dimensions, &values) && values < SIZE_MAX / sizeof(float))
        embeddings = malloc((values ? values : 1) * sizeof *embeddings);
    if (status == IMP_GO_ON && !embeddings)
        status = imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    if (status == IMP_GO_ON &&
        (imp_reader_create(&reader, &points.source, NULL, TOGETHER, &error) ||
         embed(model, &reader, embeddings, &error)))
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    imp_reader_release(&reader);
    imp_point_file_close(&points);
    if (status == IMP_GO_ON)
        *rows = (imp_rows){embeddings, count, info->dimensions};
    else
        free(embeddings);
    return status;
}
