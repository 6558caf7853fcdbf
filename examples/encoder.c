/*
 * encoder.c - from pictures to classes: a frozen network embeds them, a mixture classifies the
 * embeddings.
 *
 * The network is untrained; even so, its embeddings tell a few characters apart.
 *
 * Last line: better than chance
 */
#include <imp/encoder.h>
#include <imp/episode.h>
#include <imp/metrics.h>
#include <imp/mixture.h>

#include "must.h"

enum { MOST_IMAGES = 200, MOST_OUTPUTS = 64 };

int main(void)
{
    imp_error error;
    imp_dataset *dataset;
    imp_dataset_options data = imp_dataset_defaults();
    data.glyphs.alphabets = 10;
    must(imp_dataset_open("glyphs", &data, &dataset, &error), &error);
    imp_episode_options task = imp_episode_defaults(); /* 5-way */
    task.shot = 5;
    task.queries = 15;
    imp_episode episode;
    must(imp_episode_draw(dataset, &task, 0, &episode, &error), &error);
    static float pixels[MOST_IMAGES * 28 * 28], embeddings[MOST_IMAGES * MOST_OUTPUTS];
    imp_episode_pixels(dataset, &episode, pixels);

    /* Batch norm needs statistics, which a forward pass in training mode collects. */
    imp_network *network;
    imp_network_options input = {.size = sizeof input, .channels = 1, .height = 28, .width = 28};
    must(imp_network_create("conv4", &input, &network, &error), &error);
    for (int i = 0; i < 20; i++)
        must(imp_network_forward(network, pixels, imp_episode_size(&episode), embeddings, &error),
             &error);

    imp_encoder *encoder;
    must(imp_encoder_create(network, &encoder, &error), &error);
    imp_network_free(network); /* the encoder keeps its own copy */
    size_t outputs = imp_encoder_output_size(encoder);
    must(imp_encoder_encode(encoder, pixels, imp_episode_size(&episode), 0, embeddings, &error),
         &error);

    imp_mixture *mixture;
    int32_t found[MOST_IMAGES];
    must(imp_mixture_fit(embeddings, episode.labels, episode.supports, outputs, NULL, &mixture,
                         &error),
         &error);
    must(imp_mixture_predict(mixture, embeddings + episode.supports * outputs, episode.queries,
                             outputs, false, &(imp_mixture_predictions){.label = found}, &error),
         &error);
    double accuracy = imp_accuracy(episode.labels + episode.supports, found, episode.queries).mean;
    printf("%zu queries of %zu characters, accuracy %.2f\n", episode.queries, episode.way,
           accuracy);
    puts(accuracy > 1.0 / (double)episode.way ? "better than chance" : "no better than chance");
    imp_mixture_free(mixture);
    imp_encoder_free(encoder);
    imp_episode_clear(&episode);
    imp_dataset_free(dataset);
    return 0;
}
