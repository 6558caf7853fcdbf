/*
 * network.c - builds a network, lists its tensors, computes a gradient, and saves and loads it.
 *
 * Writes network.safetensors, which PyTorch can read, to the current folder.
 *
 * Last line: the network read back embeds to the same bits
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <imp/network.h>

#include "must.h"

enum { IMAGES = 4, SIDE = 28, MOST = 64 };

static double sum(const float *values, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += values[i];
    return total;
}

int main(void)
{
    imp_network_options options = imp_network_defaults();
    options.channels = 1;
    options.height = options.width = SIDE;
    options.seed = 1;
    imp_network *network, *copy;
    imp_error error;
    must(imp_network_create("conv3x3:8,bn,relu,pool,residual(conv3x3:8,bn,relu,dropout:0.1),pool,"
                            "flatten,linear:16",
                            &options, &network, &error),
         &error);
    printf("%s\n%zu parameters, %zu outputs, on %s\n", imp_network_description(network),
           imp_network_parameter_count(network), imp_network_output_size(network),
           imp_network_isa(network));
    for (size_t i = 0; i < imp_network_tensor_count(network); i++) {
        imp_network_tensor tensor = imp_network_tensor_at(network, i);
        printf("  %-32s", tensor.name);
        for (size_t d = 0; d < tensor.rank; d++)
            printf("%s%zu", d > 0 ? " x " : "", tensor.shape[d]);
        puts(tensor.gradients ? "" : "  (a running statistic)");
    }

    static float images[IMAGES * SIDE * SIDE];
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        images[i] = (float)(i % 7) / 7;
    float embeddings[IMAGES * MOST], gradient[IMAGES * MOST], again[IMAGES * MOST];
    must(imp_network_save(network, "network.safetensors", &error), &error);
    imp_network_set_step(network, 1); /* dropout depends on the seed and this number */
    must(imp_network_forward(network, images, IMAGES, embeddings, &error), &error);

    /* The loss is the sum of all outputs, so its derivative with respect to each is 1. */
    size_t outputs = IMAGES * imp_network_output_size(network);
    for (size_t i = 0; i < outputs; i++)
        gradient[i] = 1;
    imp_network_clear_gradients(network);
    must(imp_network_backward(network, gradient, &error), &error);
    size_t count = imp_network_parameter_count(network);
    float *parameters = imp_network_parameters(network), *slope = imp_network_gradients(network);
    float *moved = malloc(count * sizeof *moved);
    for (size_t i = 0; moved && i < count; i++) /* a step of gradient descent, by hand */
        moved[i] = parameters[i] - 0.001f * slope[i];
    imp_network_use_parameters(network, moved); /* as if they were its own */
    must(imp_network_forward(network, images, IMAGES, again, &error), &error);
    printf("after a step the sum of all outputs is %s\n",
           sum(again, outputs) < sum(embeddings, outputs) ? "smaller" : "not smaller");
    imp_network_use_parameters(network, NULL);
    free(moved);

    must(imp_network_load("network.safetensors", NULL, NULL, &copy, &error), &error);
    imp_network_set_dropout(network, 0); /* both drop nothing from here on */
    imp_network_set_dropout(copy, 0);
    must(imp_network_forward(network, images, IMAGES, embeddings, &error), &error);
    must(imp_network_forward(copy, images, IMAGES, again, &error), &error);
    bool same = imp_network_options_of(copy)->height == SIDE &&
                memcmp(embeddings, again, outputs * sizeof *again) == 0;
    printf("the network read back embeds to %s bits\n", same ? "the same" : "other");
    imp_network_free(network);
    imp_network_free(copy);
    return 0;
}
