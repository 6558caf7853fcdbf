/*
 * labeled_means.h - shared by methods whose clusters are means of labelled points, with variance 1
 * or a learned one: placing them, and the gradient.
 */
#ifndef IMP_METHODS_LABELED_MEANS_H
#define IMP_METHODS_LABELED_MEANS_H

#include "methods/method.h"

/* Variance 1. */
void imp_means_place(imp_run *run);
void imp_means_differentiate(imp_run *run);

/* A learned variance, whose logarithm is the first parameter. */
void imp_means_initialize_learned(const imp_method_options *options, double *values);
void imp_means_place_learned(imp_run *run);
void imp_means_differentiate_learned(imp_run *run);

/* The option for it. */
#define IMP_OPTION_LEARN_SIGMA                                                                  \
    {                                                                                           \
        .name = "learn-sigma", .help = "learn the variance, starting at sigma-l, instead of 1", \
        .kind = IMP_FLAG, .most = 1                                                             \
    }

/* The variant of a method that learns the variance, from the method's name and `decide`. */
#define IMP_LEARNED_VARIANT(its_name, its_decide)                                                 \
    {                                                                                             \
        .info = {.name = (its_name), .rule = IMP_USUAL_RULE}, .parameters = imp_sigma_parameters, \
        .parameter_count = 1, .value_count = 1, .initialize = imp_means_initialize_learned,       \
        .decide = (its_decide), .place = imp_means_place_learned,                                 \
        .differentiate = imp_means_differentiate_learned                                          \
    }

#endif
