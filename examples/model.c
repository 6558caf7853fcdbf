/*
 * model.c - pictures through a model file: images, embeddings, and the mixture's parameters.
 *
 * `imp train` makes such files. This one has a network alone, which has not been trained; so it
 * counts as one of drawings, and wants bright ink. Writes model.safetensors to the current folder.
 *
 * Last line: ink on paper and chalk on a board are the same
 */
#include <string.h>

#include <imp/encoder.h>
#include <imp/model.h>

#include "must.h"

enum { PICTURES = 2, SIDE = 16, MOST = 64 };

static void make_model(const char *path)
{
    imp_network_options options = {
        .size = sizeof options, .channels = 1, .height = SIDE, .width = SIDE, .seed = 1};
    imp_network *network;
    imp_error error;
    must(imp_network_create("conv3x3:4,bn,relu,pool,pool", &options, &network, &error), &error);
    must(imp_network_save(network, path, &error), &error);
    imp_network_free(network);
}

int main(void)
{
    const char *path = "model.safetensors";
    make_model(path);
    imp_model_summary model;
    imp_error error;
    must(imp_model_summarize(path, &model, &error), &error);
    printf("pictures of %zux%zux%zu, mixtures with sigma_l %g, sigma_u %g and alpha %g\n",
           model.height, model.width, model.channels, model.mixture.sigma_l, model.mixture.sigma_u,
           model.mixture.alpha);

    static uint8_t pictures[PICTURES][SIDE * SIDE]; /* a bar on paper, and one on a board */
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        pictures[0][i] = i / SIDE > 4 && i / SIDE < 8 ? 0 : 255;
        pictures[1][i] = 255 - pictures[0][i];
    }
    static float images[PICTURES * SIDE * SIDE];
    must(imp_model_images(&model, pictures[0], PICTURES, images, &error), &error);

    imp_network *network;
    imp_encoder *encoder;
    must(imp_network_load(path, NULL, NULL, &network, &error), &error);
    must(imp_encoder_create(network, &encoder, &error), &error);
    float embeddings[PICTURES * MOST];
    size_t outputs = imp_encoder_output_size(encoder);
    must(imp_encoder_encode(encoder, images, PICTURES, 0, embeddings, &error), &error);
    bool same = memcmp(embeddings, embeddings + outputs, outputs * sizeof *embeddings) == 0;
    printf("ink on paper and chalk on a board are %s\n", same ? "the same" : "not the same");
    imp_encoder_free(encoder);
    imp_network_free(network);
    return 0;
}
