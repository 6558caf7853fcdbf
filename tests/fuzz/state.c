/*
 * state.c - any bytes at all as what a stopped clustering left: it goes on from there to clusters,
 * or says a sentence.
 *
 * The points are few and fixed, so that a seed that a clustering of these left is near.
 */
#define _GNU_SOURCE /* memfd_create */

#include "fuzz.h"

#include "methods/cluster.h"

enum { POINTS = 40, DIMENSIONS = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    float points[POINTS * DIMENSIONS];
    for (size_t i = 0; i < POINTS * DIMENSIONS; i++)
        points[i] = (float)(i * 37 % 11) + (float)(i % 7 * 10);
    imp_point_source source = imp_source_of_rows(points, POINTS, DIMENSIONS);
    size_t file_size;
    uint8_t *bytes = fuzz_safetensors(data, size, &file_size);
    fuzz_file file = fuzz_file_of(bytes, file_size);
    free(bytes);
    const char *const methods[] = {"dp-means", "imp"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        imp_cluster_options options = imp_cluster_defaults();
        options.method = methods[m];
        options.rule.lambda = 20;
        options.threads = 1;
        imp_cluster_means means = {.state = file.path, .resume = true};
        imp_clustering *found;
        imp_error error = {0};
        imp_status status = imp_cluster_source(&source, &options, &means, &found, &error);
        fuzz_check(status, &error);
        for (size_t i = 0; i < POINTS && !status; i++)
            if (found->assignment[i] < 0 || (size_t)found->assignment[i] >= found->clusters)
                abort();
        imp_clustering_free(found);
    }
    close(file.descriptor);
    return 0;
}
