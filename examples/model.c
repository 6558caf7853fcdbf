/*
 * model.c - opens a model and embeds pictures in memory.
 *
 * `imp train` makes such files. This one holds only an untrained network, so it counts as a model
 * of drawings and expects bright ink. Writes model.safetensors to the current folder.
 *
 * Last line: ink on paper and chalk on a board are the same
 */
#include <stdbool.h>
#include <string.h>

#include <imp/model.h>

#include "must.h"

enum { PICTURES = 2, SIDE = 16, LARGE = 2 * SIDE, MOST = 256 };

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

/* A program may bring its model as bytes. */
static imp_model *open_from_memory(const char *path)
{
    static unsigned char bytes[1 << 16];
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    imp_model_options options = imp_model_defaults();
    options.ink = IMP_INK_OWN; /* as the model was trained: the default */
    imp_model *model;
    imp_error error;
    must(imp_model_open_bytes(bytes, size, "my model", &options, &model, &error), &error);
    return model;
}

int main(void)
{
    make_model("model.safetensors");
    imp_model *model = open_from_memory("model.safetensors");
    imp_error error;
    const imp_model_info *info = imp_model_info_of(model);
    printf("%s: pictures of %zux%zux%zu become vectors of %zu floats\n", info->name, info->height,
           info->width, info->channels, info->dimensions);
    printf("mixtures with sigma_l %g, sigma_u %g and alpha %g\n", info->rule.sigma_l,
           info->rule.sigma_u, info->rule.alpha);

    /* a bar on paper, and one on a board; both are resampled to the model's size */
    static uint8_t pixels[PICTURES][LARGE * LARGE];
    for (size_t i = 0; i < LARGE * LARGE; i++) {
        pixels[0][i] = i / LARGE >= 8 && i / LARGE < 16 ? 0 : 255;
        pixels[1][i] = 255 - pixels[0][i];
    }
    const imp_picture pictures[PICTURES] = {{LARGE, LARGE, 1, pixels[0]},
                                            {LARGE, LARGE, 1, pixels[1]}};
    float embeddings[PICTURES * MOST];
    size_t d = info->dimensions;
    must(imp_model_embed_pictures(model, pictures, PICTURES, 0, embeddings, &error), &error);
    bool same = memcmp(embeddings, embeddings + d, d * sizeof *embeddings) == 0;

    /* an image already in the network's form: an empty one */
    static float image[SIDE * SIDE];
    must(imp_model_embed(model, image, 1, 0, embeddings, &error), &error);
    printf("an empty image is %s as well\n",
           imp_encoder_output_size(imp_model_encoder(model)) == d ? "embedded" : "not embedded");
    printf("ink on paper and chalk on a board are %s\n", same ? "the same" : "not the same");
    imp_model_free(model);
    return 0;
}
