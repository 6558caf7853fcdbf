/* mixture.h - what a fitted mixture consists of. */
#ifndef IMP_METHODS_MIXTURE_H
#define IMP_METHODS_MIXTURE_H

#include <imp/mixture.h>

#include "methods/clusters.h"

struct imp_mixture {
    size_t classes;
    double lambda, sigma_l, sigma_u;
    imp_clusters clusters; /* mean = sum / weight in each */
    char *note;            /* the application's, or NULL */
};

/* A mixture without clusters in that many dimensions, or NULL. */
imp_mixture *imp_mixture_create(size_t dimensions);

/* mean of cluster c = sum / weight */
void imp_mixture_place(imp_mixture *mixture, size_t c);

#endif
