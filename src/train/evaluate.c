/*
 * evaluate.c - test and validation episodes side by side, every episode embedded once for all
 * methods.
 */
#include "train/evaluate.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "episode/draw.h"
#include "train/view.h"

/* What one thread works with. */
typedef struct desk {
    imp_method **methods; /* (contestants) */
    imp_network *network; /* NULL: the encoder embeds */
    float *pixels, *embeddings;
    size_t capacity; /* images */
} desk;

/* What a contestant did in one episode. */
typedef struct score {
    double accuracy, clusters, clusters_per_class, loss, lambda;
} score;

typedef struct evaluation {
    const imp_encoder *encoder;
    const imp_dataset *dataset;
    const imp_evaluate_options *options;
    imp_episode_plan plan;
    size_t contestants;
    desk *desks;
    int threads;
    score *scores; /* (contestants, episodes) */
    atomic_size_t done;

    pthread_mutex_t mutex; /* guards what follows */
    size_t failed_at;      /* the first episode that failed */
    imp_status status;
    imp_error error;
} evaluation;

/* ---- one episode ---- */

static imp_status reserve(const evaluation *work, desk *own, size_t images, imp_error *error)
{
    if (images <= own->capacity)
        return IMP_OK;
    size_t side = imp_dataset_size(work->dataset);
    size_t floats = imp_dataset_channels(work->dataset) * side * side;
    imp_release(own->pixels);
    imp_release(own->embeddings);
    own->pixels = imp_allocate(images, floats * sizeof *own->pixels);
    own->embeddings =
        imp_allocate(images, imp_encoder_output_size(work->encoder) * sizeof *own->embeddings);
    own->capacity = own->pixels && own->embeddings ? images : 0;
    return own->capacity ? IMP_OK : imp_fail_memory(error, "the pixels of an episode");
}

static score score_of(const imp_episode *episode, const imp_method_result *result)
{
    const int32_t *truth = episode->labels + episode->supports;
    size_t right = 0, labeled = 0;
    for (size_t q = 0; q < episode->queries; q++)
        right += result->predictions[q] == truth[q];
    for (size_t c = 0; c < result->cluster_count; c++)
        labeled += result->cluster_label[c] >= 0;
    return (score){.accuracy = (double)right / (double)episode->queries,
                   .clusters = (double)result->cluster_count,
                   .clusters_per_class = (double)labeled / (double)episode->way,
                   .loss = result->loss,
                   .lambda = result->lambda};
}

static imp_status run_methods(const evaluation *work, const desk *own, const imp_episode *episode,
                              imp_error *error)
{
    size_t d = imp_encoder_output_size(work->encoder), episodes = work->options->episodes;
    imp_episode_view view = imp_view_of(episode, own->embeddings, d);
    for (size_t c = 0; c < work->contestants; c++) {
        imp_method_result result;
        imp_status status = imp_method_run(own->methods[c], &view, false, &result, error);
        if (status)
            return status;
        work->scores[c * episodes + episode->index] = score_of(episode, &result);
    }
    return IMP_OK;
}

static imp_status embed(const evaluation *work, const desk *own, size_t images, imp_error *error)
{
    if (own->network)
        return imp_network_forward(own->network, own->pixels, images, own->embeddings, error);
    return imp_encoder_encode(work->encoder, own->pixels, images, 1, own->embeddings, error);
}

static imp_status run_episode(const evaluation *work, desk *own, size_t index, imp_error *error)
{
    imp_episode episode;
    imp_status status =
        imp_episode_draw_planned(work->dataset, &work->plan, index, &episode, error);
    if (status)
        return status;
    size_t images = imp_episode_size(&episode);
    status = reserve(work, own, images, error);
    if (!status) {
        imp_episode_pixels(work->dataset, &episode, own->pixels);
        status = embed(work, own, images, error);
    }
    if (!status)
        status = run_methods(work, own, &episode, error);
    imp_episode_clear(&episode);
    return status;
}

static void run_block(size_t index, int worker, void *context)
{
    evaluation *work = context;
    imp_error error;
    imp_status status = run_episode(work, &work->desks[worker], index, &error);
    if (status) {
        pthread_mutex_lock(&work->mutex);
        if (!work->status || index < work->failed_at) {
            work->failed_at = index;
            work->status = status;
            work->error = error;
        }
        pthread_mutex_unlock(&work->mutex);
    }
    size_t done = atomic_fetch_add(&work->done, 1) + 1;
    if (worker == 0 && work->options->progress) /* worker 0 is the caller's thread */
        work->options->progress(done, work->options->episodes, work->options->context);
}

/* ---- all of them ---- */

/* A network of one thread with the same parameters; the running statistics do not matter. */
static imp_status copy_network(imp_network *network, imp_network **out, imp_error *error)
{
    imp_network_options options = *imp_network_options_of(network);
    options.threads = 1;
    imp_status status = imp_network_create(imp_network_description(network), &options, out, error);
    if (!status)
        memcpy(imp_network_parameters(*out), imp_network_parameters(network),
               imp_network_parameter_count(network) * sizeof(float));
    return status;
}

static imp_status make_desk(desk *own, const imp_contestant *contestants, size_t count,
                            imp_error *error)
{
    own->methods = imp_allocate_zeroed(count, sizeof(imp_method *));
    if (!own->methods)
        return imp_fail_memory(error, "an evaluation");
    for (size_t c = 0; c < count; c++) {
        imp_status status = imp_method_create(contestants[c].method, &contestants[c].options,
                                              &own->methods[c], error);
        if (status)
            return status;
        size_t values;
        double *to = imp_method_values(own->methods[c], &values);
        if (contestants[c].values)
            memcpy(to, contestants[c].values, values * sizeof *to);
    }
    return IMP_OK;
}

static imp_status make_desks(evaluation *work, const imp_contestant *contestants, imp_error *error)
{
    size_t cells;
    work->desks = imp_allocate_zeroed((size_t)work->threads, sizeof *work->desks);
    if (imp_multiply(work->contestants, work->options->episodes, &cells))
        work->scores = imp_allocate_zeroed(cells, sizeof *work->scores);
    if (!work->desks || !work->scores)
        return imp_fail_memory(error, "an evaluation");
    imp_status status = IMP_OK;
    for (int t = 0; t < work->threads && !status; t++)
        status = make_desk(&work->desks[t], contestants, work->contestants, error);
    for (int t = 0; t < work->threads && work->options->network && !status; t++)
        status = copy_network(work->options->network, &work->desks[t].network, error);
    return status;
}

static void clear(evaluation *work)
{
    for (int t = 0; work->desks && t < work->threads; t++) {
        desk *own = &work->desks[t];
        for (size_t c = 0; own->methods && c < work->contestants; c++)
            imp_method_free(own->methods[c]);
        imp_release(own->methods);
        imp_network_free(own->network);
        imp_release(own->pixels);
        imp_release(own->embeddings);
    }
    imp_release(work->desks);
    imp_release(work->scores);
    imp_episode_plan_clear(&work->plan);
}

static imp_status summarize(const evaluation *work, imp_evaluation *results, imp_error *error)
{
    size_t episodes = work->options->episodes;
    double *column = imp_allocate(episodes, sizeof *column);
    if (!column)
        return imp_fail_memory(error, "an evaluation");
    for (size_t c = 0; c < work->contestants; c++) {
        const score *scores = work->scores + c * episodes;
        imp_evaluation result = {0};
        for (size_t e = 0; e < episodes; e++) {
            result.clusters_per_class += scores[e].clusters_per_class;
            result.loss += scores[e].loss;
            result.lambda += scores[e].lambda;
        }
        result.clusters_per_class /= (double)episodes;
        result.loss /= (double)episodes;
        result.lambda /= (double)episodes;
        for (size_t e = 0; e < episodes; e++)
            column[e] = scores[e].accuracy;
        result.accuracy = imp_mean_interval(column, episodes);
        for (size_t e = 0; e < episodes; e++)
            column[e] = scores[e].clusters;
        result.clusters = imp_mean_interval(column, episodes);
        results[c] = result;
    }
    imp_release(column);
    return IMP_OK;
}

static imp_status check_options(const evaluation *work, imp_error *error)
{
    if (work->options->task.kind == IMP_EPISODE_UNSUPERVISED)
        return imp_fail(error, IMP_EINVAL, "unsupervised episodes have no queries to classify");
    if (work->options->episodes == 0)
        return imp_fail(error, IMP_EINVAL, "an evaluation needs at least one episode");
    return IMP_OK;
}

imp_status imp_evaluate(const imp_encoder *encoder, const imp_dataset *dataset,
                        const imp_contestant *contestants, size_t count,
                        const imp_evaluate_options *options, imp_evaluation *results,
                        imp_error *error)
{
    evaluation work = {.encoder = encoder,
                       .dataset = dataset,
                       .options = options,
                       .contestants = count,
                       .threads = imp_parallel_threads(options->threads)};
    imp_status status = check_options(&work, error);
    if (!status)
        status = imp_episode_plan_make(&work.plan, dataset, &options->task, error);
    if (!status)
        status = make_desks(&work, contestants, error);
    if (!status) {
        pthread_mutex_init(&work.mutex, NULL);
        imp_parallel(options->episodes, work.threads, run_block, &work);
        pthread_mutex_destroy(&work.mutex);
        if (work.status)
            status = imp_fail(error, work.status, "%s", work.error.message);
    }
    if (!status)
        status = summarize(&work, results, error);
    clear(&work);
    return status;
}
