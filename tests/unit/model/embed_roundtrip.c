/*
 * embed_roundtrip.c - embed_roundtrip MODEL IMAGES EMBEDDINGS: writes images of the kind the model
 * takes, and the embeddings that the library gives them, as .npy files for other programs.
 */
#include <stdio.h>

#include <imp/encoder.h>

#include "base/npy.h"
#include "base/random.h"

static int fail(const imp_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    return 1;
}

int main(int argc, char **argv)
{
    enum { IMAGES = 20 };
    imp_error error;
    imp_network *network;
    imp_encoder *encoder;
    imp_array images, embeddings;
    if (argc != 4)
        return 2;
    imp_network_options any = {.size = sizeof any, .threads = 1};
    if (imp_network_load(argv[1], NULL, &any, &network, &error) != IMP_OK ||
        imp_encoder_create(network, &encoder, &error) != IMP_OK)
        return fail(&error);
    const imp_network_options *input = imp_network_options_of(network);
    size_t shape[] = {IMAGES, input->channels, input->height, input->width};
    size_t rows[] = {IMAGES, imp_encoder_output_size(encoder)};
    if (imp_array_create(&images, IMP_FLOAT32, 4, shape, &error) != IMP_OK ||
        imp_array_create(&embeddings, IMP_FLOAT32, 2, rows, &error) != IMP_OK)
        return fail(&error);
    imp_random random = imp_random_start(1, IMP_STREAM_DEMO, 0);
    for (size_t i = 0; i < images.count; i++)
        ((float *)images.data)[i] = (float)imp_random_uniform(&random);
    if (imp_encoder_encode(encoder, images.data, IMAGES, 1, embeddings.data, &error) != IMP_OK ||
        imp_npy_save(argv[2], &images, &error) != IMP_OK ||
        imp_npy_save(argv[3], &embeddings, &error) != IMP_OK)
        return fail(&error);
    imp_array_clear(&images);
    imp_array_clear(&embeddings);
    imp_encoder_free(encoder);
    imp_network_free(network);
    return 0;
}
