/* model_points.c - reads points and embeds them, a block at a time. */
#include "cli/model_points.h"

#include "base/error.h"
#include "base/memory.h"
#include "cli/interrupt.h"
#include "cli/job.h"
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
    int status = imp_job_agree(command, path);
    if (status == IMP_GO_ON && imp_model_takes_vectors(*model))
        return IMP_GO_ON;
    if (status == IMP_GO_ON)
        status = imp_complain(IMP_EXIT_FAILURE, command,
                              "%s embeds pictures of %zux%zu, not points; 'imp train --data "
                              "vectors:X.npy,y.npy' trains a model for points",
                              path, info->width, info->height);
    imp_model_free(*model);
    *model = NULL;
    return status;
}

/* Points being embedded. */
typedef struct job {
    const imp_model *model;
    const imp_ranks *ranks;
    imp_reader reader;
    float *vectors; /* (reader.most, dimensions) */
    imp_take_vectors *take;
    void *context;
} job;

/* One block per rank, from `begin` on. */
static imp_status do_round(job *work, size_t begin, imp_error *error)
{
    const imp_ranks *ranks = work->ranks;
    size_t n = work->reader.source->count, most = work->reader.most;
    size_t row = imp_model_info_of(work->model)->dimensions * sizeof *work->vectors;
    size_t own = begin + (size_t)imp_rank_of(ranks) * most;
    imp_status status = IMP_OK;
    if (own < n) {
        const float *rows;
        size_t count = n - own < most ? n - own : most;
        status = imp_reader_read(&work->reader, own, count, &rows, error);
        if (!status)
            status = imp_model_embed(work->model, rows, count, 0, work->vectors, error);
    }
    for (int r = 0; r < (imp_ranks_any(ranks) ? ranks->size : 1) && !status; r++) {
        size_t first = begin + (size_t)r * most;
        if (first >= n && n > 0)
            break;
        size_t count = n - first < most ? n - first : most;
        if (r > 0 && ranks->rank == 0)
            status = ranks->receive(ranks, r, work->vectors, count * row, error);
        else if (r > 0 && ranks->rank == r)
            status = ranks->send(ranks, 0, work->vectors, count * row, error);
        if (!status && imp_rank_of(ranks) == 0)
            status = work->take(work->vectors, first, count, n, work->context, error);
        if (n == 0)
            break;
    }
    return status ? status : imp_interrupt_check(error);
}

static imp_status embed(job *work, const imp_point_source *points, imp_error *error)
{
    enum { TOGETHER = 4096 };
    const imp_ranks *ranks = work->ranks;
    size_t step = TOGETHER * (imp_ranks_any(ranks) ? (size_t)ranks->size : 1), begin = 0, values;
    if (imp_multiply(TOGETHER, imp_model_info_of(work->model)->dimensions, &values))
        work->vectors = imp_allocate(values, sizeof *work->vectors);
    imp_status status = work->vectors ? IMP_OK : imp_fail_memory(error, "vectors");
    if (!status)
        status = imp_reader_create(&work->reader, points, NULL, TOGETHER, error);
    if (status)
        return status;
    do {
        status = do_round(work, begin, error);
        begin += step;
    } while (begin < points->count && !status);
    return status;
}

int imp_embed_points(const char *command, const imp_model *model, const char *path,
                     const imp_ranks *ranks, imp_take_vectors *take, void *context)
{
    imp_point_file points;
    int status = imp_point_file_open(command, path, true, &points);
    if (status != IMP_GO_ON)
        return status;
    const imp_model_info *info = imp_model_info_of(model);
    job work = {.model = model, .ranks = ranks, .take = take, .context = context};
    imp_error error;
    if (points.source.dimensions != info->channels)
        status = imp_complain(IMP_EXIT_FAILURE, command,
                              "%s: its points have %zu dimensions, but %s needs %zu", path,
                              points.source.dimensions, info->name, info->channels);
    else if (points.shards.once && imp_ranks_any(ranks))
        status = imp_complain(IMP_EXIT_FAILURE, command,
                              "'%s' is a pipe, which ranks cannot share; give a file", path);
    else if (embed(&work, &points.source, &error))
        status = imp_complain(imp_interrupted() ? IMP_EXIT_INTERRUPTED : IMP_EXIT_FAILURE, command,
                              "%s", error.message);
    imp_reader_release(&work.reader);
    imp_release(work.vectors);
    imp_point_file_close(&points);
    return status;
}
