/*
 * neighbors.h - every labelled point as a cluster, with one learned variance: shared by neighbors
 * and nca.
 */
#ifndef IMP_METHODS_NEIGHBORS_H
#define IMP_METHODS_NEIGHBORS_H

#include "methods/method.h"

/* As in imp_method_kind; the one parameter is log_sigma_l. */
void imp_neighbors_initialize(const imp_method_options *options, double *values);
imp_status imp_neighbors_decide(imp_run *run, imp_error *error);
void imp_neighbors_place(imp_run *run);
void imp_neighbors_differentiate(imp_run *run);

#endif
