/*
 * training.c - trains an embedding: episodes, network, method and optimizer together.
 *
 * The network embeds an episode's images, the method classifies the queries and returns the
 * gradient of the loss with respect to the embeddings, and the network backpropagates it to its
 * weights. `imp train` does this, and also keeps checkpoints, validates and logs.
 *
 * Last line: the loss has gone down
 */
#include <imp/episode.h>
#include <imp/method.h>
#include <imp/network.h>
#include <imp/optimizer.h>

#include "must.h"

enum { UPDATES = 40, MOST_IMAGES = 64, OUTPUTS = 64 };

/* One update; returns the loss. */
static double update(imp_network *network, imp_method *method, imp_optimizer *optimizer,
                     const imp_task *task)
{
    static float embeddings[MOST_IMAGES * OUTPUTS], gradient[MOST_IMAGES * OUTPUTS];
    const imp_episode *episode = &task->episode;
    size_t supports = episode->supports * OUTPUTS, queries = episode->queries * OUTPUTS;
    imp_error error;
    must(imp_network_forward(network, task->pixels, imp_episode_size(episode), embeddings, &error),
         &error);

    imp_episode_view view = {
        .dimensions = OUTPUTS,
        .way = episode->way,
        .support = embeddings,
        .support_label = episode->labels,
        .support_count = episode->supports,
        .query = embeddings + supports,
        .query_label = episode->labels + episode->supports,
        .query_count = episode->queries,
    };
    imp_method_result result;
    must(imp_method_run(method, &view, true, &result, &error), &error);
    for (size_t i = 0; i < supports; i++)
        gradient[i] = result.support_gradient[i];
    for (size_t i = 0; i < queries; i++)
        gradient[supports + i] = result.query_gradient[i];

    imp_network_clear_gradients(network);
    must(imp_network_backward(network, gradient, &error), &error);
    imp_optimizer_step(optimizer, imp_network_parameters(network), imp_network_gradients(network),
                       0.001);
    return result.loss;
}

int main(void)
{
    imp_error error;
    imp_dataset *dataset;
    imp_dataset_options data = imp_dataset_defaults();
    data.glyphs.alphabets = 10;
    must(imp_dataset_open("glyphs", &data, &dataset, &error), &error);
    imp_episode_options task_options = imp_episode_defaults(); /* 5-way, 1-shot */
    imp_feed *feed;
    must(imp_feed_open(dataset, &task_options, 0, 2, &feed, &error), &error);

    imp_network *network;
    imp_network_options input = {.size = sizeof input, .channels = 1, .height = 28, .width = 28};
    must(imp_network_create("conv4", &input, &network, &error), &error);
    imp_method *method;
    must(imp_method_create("imp", NULL, &method, &error), &error);
    imp_optimizer *optimizer;
    must(imp_optimizer_create(imp_network_parameter_count(network), NULL, &optimizer, &error),
         &error);

    double early = 0, late = 0;
    for (int i = 0; i < UPDATES; i++) {
        const imp_task *task;
        must(imp_feed_next(feed, &task, &error), &error);
        double loss = update(network, method, optimizer, task);
        *(i < UPDATES / 2 ? &early : &late) += loss / (UPDATES / 2);
    }
    printf("mean loss of the first updates %.2f, of the last %.2f\n", early, late);
    printf("the loss has %s\n", late < early ? "gone down" : "not gone down");
    imp_optimizer_free(optimizer);
    imp_method_free(method);
    imp_network_free(network);
    imp_feed_close(feed);
    imp_dataset_free(dataset);
    return 0;
}
