/*
 * speed.c - how many images per second a training gets through here, for the time that is left.
 */
#include <math.h>

#include "base/clock.h"
#include "base/memory.h"
#include "paper/ledger.h"
#include "paper/paper.h"
#include "train/run_folder.h"

/* Speeds, weighted by how long they were measured. */
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
    imp_run_state state;
    imp_run_path folder = imp_run_file(options->runs, imp_paper_run_name(run, seed).text);
    if (!imp_paper_settings(run, seed, options->data, options->updates, &wanted, NULL) &&
        !imp_run_look(folder.text, &wanted, &state, NULL))
        add(all, state.images_per_second, state.seconds);
    imp_settings_clear(&wanted);
}

static void add_result(average *all, const imp_paper_options *options, const imp_paper_run *run,
                       int seed)
{
    imp_result result;
    if (!imp_result_load(options->out, run, seed, &result, NULL) && result.file)
        add(all, result.images_per_second, result.seconds);
    imp_result_clear(&result);
}

static double mean_of(const imp_paper_options *options,
                      void (*look)(average *all, const imp_paper_options *options,
                                   const imp_paper_run *run, int seed))
{
    average all = {0};
    for (size_t r = 0; imp_paper_run_at(r).name; r++) {
        imp_paper_run run = imp_paper_run_at(r);
        for (int seed = 1; seed <= run.seeds; seed++)
            look(&all, options, &run, seed);
    }
    return all.seconds > 0 ? all.images / all.seconds : NAN;
}

/* Embeds and differentiates empty pictures of Omniglot's size; what is on them takes no time. */
static double probe(int threads)
{
    enum { IMAGES = 120, SIDE = 28, REPEATS = 5 };
    imp_network_options options = {.size = sizeof options,
                                   .channels = 1,
                                   .height = SIDE,
                                   .width = SIDE,
                                   .seed = 1,
                                   .threads = threads};
    imp_network *network;
    if (imp_network_create("conv4", &options, &network, NULL) != IMP_OK)
        return NAN;
    size_t floats = IMAGES * imp_network_output_size(network);
    float *images = imp_allocate_zeroed(IMAGES * SIDE * SIDE, sizeof *images);
    float *embeddings = imp_allocate_zeroed(floats, sizeof *embeddings);
    bool works = images && embeddings;
    double start = 0;
    for (int i = 0; i <= REPEATS && works; i++) {
        if (i == 1) /* the first takes memory */
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

double imp_paper_speed(const imp_paper_options *options)
{
    double speed = mean_of(options, add_log);
    if (isnan(speed))
        speed = mean_of(options, add_result);
    return isnan(speed) ? probe(options->threads) : speed;
}
