/*
 * consumer.c - the smallest application: compiled against the installed headers, linked to the
 * installed library. It embeds four blank pictures and takes one training step on them.
 */
#include <stdio.h>
#include <string.h>

#include <imp/imp.h>

int main(void)
{
    if (strcmp(imp_version(), IMP_VERSION_STRING) != 0) {
        fprintf(stderr, "the header is %s but the library is %s\n", IMP_VERSION_STRING,
                imp_version());
        return 1;
    }

    static float images[4 * 28 * 28], embeddings[4 * 64], gradient[4 * 64];
    imp_network_options options = {
        .size = sizeof options, .channels = 1, .height = 28, .width = 28};
    imp_network *network;
    imp_error error;
    imp_status status = imp_network_create("conv4", &options, &network, &error);
    if (!status)
        status = imp_network_forward(network, images, 4, embeddings, &error);
    if (!status)
        status = imp_network_backward(network, gradient, &error);
    if (status) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    imp_network_free(network);
    puts(imp_status_name(IMP_OK));
    return 0;
}
