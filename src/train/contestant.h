/*
 * contestant.h - a trained model as it takes part in an evaluation, so that `imp eval` and the
 * paper's tables measure the same thing.
 */
#ifndef IMP_TRAIN_CONTESTANT_H
#define IMP_TRAIN_CONTESTANT_H

#include "train/evaluate.h"
#include "train/model.h"

/* What the evaluation of a model begins with: its own settings, with the size of its images, and
 * the queries left to the episodes. The texts remain the model's. */
imp_settings imp_evaluation_settings(const imp_model *model);

/* Whether a method's sigma_u is the variance of one wide cluster of distractors. */
bool imp_has_distractors(const char *method);

/* A model's settings for a method. Where that is another than the model's own, it takes over what
 * all methods have, and the rest is as if it had not been given: lambda, steps, flags, and a
 * variance of distractors or in place of one. The texts remain the model's. */
imp_settings imp_settings_for(const imp_settings *trained, const char *method);

/* settings->method on the model's embedding. It has what the model learned if that is the method
 * the model was trained with and the variances are still the model's; options of another method are
 * dropped. The settings' texts must outlive it. */
imp_contestant imp_contestant_of(const imp_model *model, const imp_settings *settings);

/* Thresholds to evaluate at. */
typedef struct imp_sweep {
    double from, to;
    size_t count; /* 0: no sweep */
} imp_sweep;

enum { IMP_MOST_THRESHOLDS = 1000 };

/* Reads FROM:TO:COUNT; false when the text says something else. */
bool imp_sweep_parse(const char *text, imp_sweep *sweep);

/* Threshold number `index` of an evenly spaced sweep. */
double imp_sweep_at(const imp_sweep *sweep, size_t index);

#endif
