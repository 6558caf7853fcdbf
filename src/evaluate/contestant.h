/*
 * contestant.h - prepares a trained model for evaluation, in one way for `imp eval` and the paper's
 * tables.
 */
#ifndef IMP_EVALUATE_CONTESTANT_H
#define IMP_EVALUATE_CONTESTANT_H

#include "evaluate/evaluate.h"
#include "model/model.h"

/* The default settings for evaluating a model: its own, with the size of its images, and the
 * default number of queries. The model still owns the strings. */
imp_settings imp_settings_of_model(const imp_model *model);

/* settings->learner with the model's network, or settings->method on its embedding. It keeps what
 * the model learned if learner, method and variances are the model's own; options of another method
 * or learner are dropped. The settings' strings must outlive it. */
imp_contestant imp_contestant_of(const imp_model *model, const imp_settings *settings);

/* Fails unless the dataset, opened as the settings say, has images that the model can embed. */
imp_status imp_check_images(const imp_model *model, const imp_settings *settings,
                            const imp_dataset *dataset, imp_error *error);

/* Values of lambda to evaluate at. */
typedef struct imp_sweep {
    double from, to;
    size_t count; /* 0: no sweep */
} imp_sweep;

enum { IMP_MOST_THRESHOLDS = 1000 };

/* Parses FROM:TO:COUNT; false if `text` is something else. */
bool imp_sweep_parse(const char *text, imp_sweep *sweep);

/* Value number `index` of an evenly spaced sweep. */
double imp_sweep_at(const imp_sweep *sweep, size_t index);

#endif
