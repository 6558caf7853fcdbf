/* each_episode.c - the loop over episodes: draw, assemble, embed, visit. */
#include "evaluate/each_episode.h"

#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/first_failure.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "episode/draw.h"

/* The state of one thread. */
typedef struct desk {
    imp_network *network; /* NULL: the encoder embeds */
    float *pixels, *embeddings;
    size_t capacity; /* images */
} desk;

typedef struct walk {
    const imp_encoder *encoder;
    const imp_dataset *dataset;
    const imp_evaluate_options *options;
    imp_episode_visit *visit;
    void *context;
    imp_episode_plan plan;
    desk *desks;
    int threads;
    size_t first, count; /* this rank's episodes */
    atomic_size_t done;
    atomic_bool stopped;
    imp_first_failure failure;
} walk;

static imp_status reserve(const walk *work, desk *own, size_t images, imp_error *error)
{
    if (images <= own->capacity)
        return IMP_OK;
    size_t side = imp_dataset_size(work->dataset);
    size_t floats = imp_dataset_channels(work->dataset) * side * side;
    size_t outputs = work->encoder ? imp_encoder_output_size(work->encoder) : 0;
    imp_release(own->pixels);
    imp_release(own->embeddings);
    own->pixels = imp_allocate(images, floats * sizeof *own->pixels);
    own->embeddings = outputs ? imp_allocate(images, outputs * sizeof *own->embeddings) : NULL;
    own->capacity = own->pixels && (own->embeddings || !outputs) ? images : 0;
    return own->capacity ? IMP_OK : imp_fail_memory(error, "the pixels of an episode");
}

static imp_status embed(const walk *work, const desk *own, size_t images, imp_error *error)
{
    if (!work->encoder)
        return IMP_OK;
    if (own->network)
        return imp_network_forward(own->network, own->pixels, images, own->embeddings, error);
    return imp_encoder_encode(work->encoder, own->pixels, images, 1, own->embeddings, error);
}

static imp_status visit_one(const walk *work, size_t index, int worker, imp_error *error)
{
    desk *own = &work->desks[worker];
    imp_task task;
    imp_status status =
        imp_episode_draw_planned(work->dataset, &work->plan, index, &task.episode, error);
    if (status)
        return status;
    size_t images = imp_episode_size(&task.episode);
    status = reserve(work, own, images, error);
    if (!status) {
        imp_episode_pixels(work->dataset, &task.episode, own->pixels);
        task.pixels = own->pixels;
        status = embed(work, own, images, error);
    }
    if (!status)
        status = work->visit(&task, own->embeddings, worker, work->context, error);
    imp_episode_clear(&task.episode);
    return status;
}

static void visit_block(size_t share, int worker, void *context)
{
    walk *work = context;
    const imp_evaluate_options *options = work->options;
    size_t index = work->first + share;
    if (atomic_load(&work->stopped))
        return;
    imp_error error;
    imp_status status = visit_one(work, index, worker, &error);
    imp_first_failure_note(&work->failure, index, status, &error);
    size_t done = atomic_fetch_add(&work->done, 1) + 1;
    if (worker != 0) /* the caller's thread */
        return;
    if (options->progress)
        options->progress(done, work->count, options->context);
    if (options->proceed && !options->proceed(done, work->count, options->context))
        atomic_store(&work->stopped, true);
}

imp_status imp_network_copy(imp_network *network, imp_network **out, imp_error *error)
{
    imp_network_options options = *imp_network_options_of(network);
    options.threads = 1;
    imp_status status = imp_network_create(imp_network_description(network), &options, out, error);
    if (status)
        return status;
    for (size_t i = 0; i < imp_network_tensor_count(network); i++) {
        imp_network_tensor from = imp_network_tensor_at(network, i);
        memcpy(imp_network_tensor_at(*out, i).values, from.values, from.count * sizeof(float));
    }
    imp_network_set_dropout(*out, 0);
    return IMP_OK;
}

static imp_status make_desks(walk *work, imp_error *error)
{
    work->desks = imp_allocate_zeroed((size_t)work->threads, sizeof *work->desks);
    imp_status status = work->desks ? IMP_OK : imp_fail_memory(error, "an evaluation");
    for (int t = 0; t < work->threads && !status && work->options->episode_statistics; t++)
        status = imp_network_copy(work->options->network, &work->desks[t].network, error);
    return status;
}

static void clear(walk *work)
{
    for (int t = 0; work->desks && t < work->threads; t++) {
        imp_network_free(work->desks[t].network);
        imp_release(work->desks[t].pixels);
        imp_release(work->desks[t].embeddings);
    }
    imp_release(work->desks);
    imp_episode_plan_clear(&work->plan);
}

imp_status imp_each_episode(const imp_encoder *encoder, const imp_dataset *dataset,
                            const imp_evaluate_options *options, imp_episode_visit *visit,
                            void *context, imp_error *error)
{
    if (options->episodes == 0)
        return imp_fail(error, IMP_EINVAL, "an evaluation needs at least one episode");
    walk work = {.encoder = encoder,
                 .dataset = dataset,
                 .options = options,
                 .visit = visit,
                 .context = context,
                 .threads = imp_parallel_threads(options->threads)};
    imp_status status = imp_episode_plan_make(&work.plan, dataset, &options->task, error);
    if (!status)
        status = make_desks(&work, error);
    if (!status) {
        size_t end;
        imp_ranks_share(options->ranks, imp_rank_of(options->ranks), options->episodes, &work.first,
                        &end);
        work.count = end - work.first;
        imp_first_failure_begin(&work.failure);
        imp_parallel(work.count, work.threads, visit_block, &work);
        status = imp_first_failure_end(&work.failure, error);
        if (!status && atomic_load(&work.stopped))
            status =
                imp_fail(error, IMP_EINVAL, "the evaluation was stopped after %zu of %zu episodes",
                         atomic_load(&work.done), work.count);
    }
    clear(&work);
    return status;
}
