/*
 * speed.c - training speed in images per second, for estimates of the time left.
 */
#include <math.h>

#include "base/clock.h"
#include "base/memory.h"
#include "paper/ledger.h"
#include "paper/paper.h"
#include "train/run_folder.h"

/* Speeds, weighted by the time over which they were measured. */
typedef struct average {
    double images, seconds;
} average;

static void add(average *all, double images_per_second, double seconds)
{
    if (!(images_per_second > 0))
        return;
    all->images += images_per_second * seconds;
    all->seconds += seconds;
}

static void add_log(average *all, const imp_paper_options *options, const imp_paper_run *run,
                    int seed)
{
    imp_settings wanted;
    imp_training_state state;
    imp_training_path folder = imp_training_file(options->runs, imp_paper_run_name(run, seed).text);
    if (!imp_paper_settings(run, seed, "", options->updates, &wanted, NULL) &&
        !imp_training_look(folder.text, &wanted, &state, NULL))
        add(all, state.images_per_second, state.seconds);
    imp_settings_clear(&wanted);
}

static void add_result(average *all, const imp_paper_options *options, const imp_paper_run *run,
                       int seed)
{
    imp_result result;
    imp_paper_folder folder = imp_paper_results(options->out, imp_paper_dataset_of(run->recipe));
    if (!imp_result_load(folder.text, run, seed, &result, NULL) && result.file)
        add(all, result.images_per_second, result.seconds);
    imp_result_clear(&result);
}

static double mean_of(const imp_paper_options *options, size_t dataset,
                      void (*look)(average *all, const imp_paper_options *options,
                                   const imp_paper_run *run, int seed))
{
    average all = {0};
    for (size_t r = 0; imp_paper_run_at(r).name; r++) {
        imp_paper_run run = imp_paper_run_at(r);
        for (int seed = 1; seed <= run.seeds && imp_paper_dataset_of(run.recipe) == dataset; seed++)
            look(&all, options, &run, seed);
    }
    return all.seconds > 0 ? all.images / all.seconds : NAN;
}

/* Trains on blank pictures; their content does not affect the time. */
static double probe(const imp_paper_dataset *about, int threads)
{
    enum { IMAGES = 120, REPEATS = 5 };
    imp_network_options options = {.size = sizeof options,
                                   .channels = (uint32_t)about->channels,
                                   .height = (uint32_t)about->side,
                                   .width = (uint32_t)about->side,
                                   .seed = 1,
                                   .threads = threads};
    imp_network *network;
    if (imp_network_create("conv4", &options, &network, NULL) != IMP_OK)
        return NAN;
    size_t floats = IMAGES * imp_network_output_size(network);
    float *images =
        imp_allocate_zeroed(IMAGES * about->channels * about->side * about->side, sizeof *images);
    float *embeddings = imp_allocate_zeroed(floats, sizeof *embeddings);
    bool works = images && embeddings;
    double start = 0;
    for (int i = 0; i <= REPEATS && works; i++) {
        if (i == 1) /* the first allocates memory */
            start = imp_clock();
        works = imp_network_forward(network, images, IMAGES, embeddings, NULL) == IMP_OK &&
                imp_network_backward(network, embeddings, NULL) == IMP_OK;
    }
    double speed = works ? REPEATS * IMAGES / (imp_clock() - start) : NAN;
    imp_release(images);
    imp_release(embeddings);
    imp_network_free(network);
    return speed;
}

double imp_paper_speed(const imp_paper_options *options, size_t dataset)
{
    double speed = mean_of(options, dataset, add_log);
    if (isnan(speed))
        speed = mean_of(options, dataset, add_result);
    return isnan(speed) ? probe(imp_paper_dataset_at(dataset), options->threads) : speed;
}
