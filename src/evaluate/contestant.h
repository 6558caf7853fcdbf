/*
 * contestant.h - a trained model as it takes part in an evaluation, so that `imp eval` and the
 * paper's tables measure the same thing.
 */
#ifndef IMP_EVALUATE_CONTESTANT_H
#define IMP_EVALUATE_CONTESTANT_H

#include "evaluate/evaluate.h"
#include "model/model.h"

/* What the evaluation of a model begins with: its own settings, with the size of its images, and
 * the queries left to the episodes. The texts remain the model's. */
imp_settings imp_settings_of_model(const imp_model *model);

/* settings->learner with the model's network, or settings->method on its embedding. It has what the
 * model learned if that is the learner and the method that the model was trained with and the
 * variances are still the model's; options of another method or learner are dropped. The settings'
 * texts must outlive it. */
imp_contestant imp_contestant_of(const imp_model *model, const imp_settings *settings);

/* Fails unless the dataset, opened as the settings say, has images as the model takes them. */
imp_status imp_check_images(const imp_model *model, const imp_settings *settings,
                            const imp_dataset *dataset, imp_error *error);

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
