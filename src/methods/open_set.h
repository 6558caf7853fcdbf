/*
 * open_set.h - when a point is none of a mixture's classes.
 *
 * One score decides: how far the point is from all labelled points (reference.h), more if clusters
 * without a label claim it. The threshold is the score that a given share of the labelled points
 * exceed, each held out in turn.
 */
#ifndef IMP_METHODS_OPEN_SET_H
#define IMP_METHODS_OPEN_SET_H

#include "methods/mixture.h"

/* Takes the labelled points of the sample as the reference, and scores each of up to 500 of them as
 * if it were new. On failure, IMP_ENOMEM, the mixture has no threshold. */
imp_status imp_open_set_calibrate(imp_mixture *mixture, imp_error *error);

/* *limit = the squared distance from all labelled points of the sample that a new point of their
 * classes exceeds with probability `rate`, told by *held_out of them; INFINITY if none can be held
 * out. */
imp_status imp_open_set_limit(const imp_sample *sample, const imp_reference *reference, double rate,
                              double *limit, size_t *held_out, imp_error *error);

/* Sets the threshold by the rate. */
void imp_open_set_place(imp_mixture *mixture);

/* Whether points are compared with a threshold; otherwise clusters without a label alone decide. */
bool imp_open_set_calibrated(const imp_mixture *mixture);

/* The score of a point whose squared distance to the nearest labelled point is `far`, and whose
 * probability of belonging to a cluster without a label is `claimed`. */
double imp_open_set_score(double far, double claimed);

/* The probability that a point with this score is none of the classes: at least 1/2 above the
 * threshold, and small enough below it that some class is as likely. It grows with the score, so
 * points can be ranked by it. */
double imp_open_set_probability(const imp_mixture *mixture, double score);

#endif
