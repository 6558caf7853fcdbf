/*
 * tsne_roundtrip.c - tsne_roundtrip POINTS PLANE PERPLEXITY: lays the points of one .npy file into
 * the plane, which goes to another, and prints the divergence.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/npy.h"
#include "draw/tsne.h"

int main(int argc, char **argv)
{
    imp_error error;
    imp_array points, plane;
    double divergence;
    if (argc != 4)
        return 2;
    imp_tsne_options options = {.perplexity = strtod(argv[3], NULL), .divergence = &divergence};
    if (imp_npy_load(argv[1], &points, &error) != IMP_OK ||
        imp_array_create(&plane, IMP_FLOAT64, 2, (size_t[]){points.shape[0], 2}, &error) !=
            IMP_OK ||
        imp_tsne(points.data, points.shape[0], points.shape[1], &options, plane.data, &error) !=
            IMP_OK ||
        imp_npy_save(argv[2], &plane, &error) != IMP_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%.17g\n", divergence);
    imp_array_clear(&points);
    imp_array_clear(&plane);
    return 0;
}
