/*
 * choices.h - chooses the settings that were not given to suit the user's own folder of pictures.
 *
 * The defaults are the paper's for Omniglot: a thousand classes of twenty drawings. A folder may
 * have three classes, or photographs. The choices follow from a survey of the folder and, once it
 * is open, from its split:
 *
 *     pictures    28 x 28 gray, or 84 x 84 RGB if most of them are coloured, with the paper's
 *                 variance and concentration for mini-ImageNet; smaller, but not below 16, rather
 *                 than enlarge most of them; dark ink on a light background is inverted
 *     split       by classes: 64, 16 and 20% for training, validation and test; with fewer than 20
 *                 classes 75 and 25% for training and validation; with fewer than 8 all train
 *     shot        half the size of the smallest class, at most 5
 *     updates     20 per picture, between 500 and 20000; the rate is halved in proportion
 *     way         5, or all training classes if there are fewer; likewise in validation, if any
 *
 * If the task is super-classes, the split is by super-classes, the shot is 1 and the way at most
 * 10.
 *
 * For a set of vectors, only the rest is chosen. It is split by classes or, with fewer than 20 of
 * them, by the points of each class; then the way is the number of classes, at most 20.
 */
#ifndef IMP_SETTINGS_CHOICES_H
#define IMP_SETTINGS_CHOICES_H

#include "data/survey.h"
#include "settings/settings.h"

/* Marks everything that can be chosen as open, with -1 or NULL; settings given afterwards no longer
 * are. The rule's parameters need no mark: they are open until they are given. */
void imp_choices_open(imp_settings *settings);

/* Sets what is open to the defaults: for data that is not a folder. */
void imp_choices_default(imp_settings *settings);

/* Chooses what must be known before the dataset is opened. Errors name `path`: IMP_EINVAL if there
 * is only one class, or a class with one picture, from which nothing can be learned. */
imp_status imp_choices_before(imp_settings *settings, const imp_survey *survey, const char *path,
                              imp_error *error);

/* Chooses what depends on the split: the way, and validation. Afterwards nothing is open. */
void imp_choices_after(imp_settings *settings, const imp_dataset *dataset);

/* Whether any setting is still marked as open. */
bool imp_choices_are_open(const imp_settings *settings);

/* Puts the layer `standard` in front of a network on vectors, so that their scale does not matter,
 * unless it begins with `flatten`. Conv4, which is for pictures, becomes a linear layer to 64
 * dimensions. Networks on pictures stay as they are. IMP_ENOMEM. */
imp_status imp_choices_network(imp_settings *settings, const imp_dataset *dataset,
                               imp_error *error);

/* Opens the data that the settings name, leaving out broken pictures if `skip_broken`. With
 * `chooses`, and if the data is a folder or a set of vectors, open settings are chosen to suit it
 * and *survey, which may be NULL, tells what was found; otherwise they get their defaults and the
 * survey counts no pictures. On failure *dataset is NULL. */
imp_status imp_choices_open_data(imp_settings *settings, bool chooses, bool skip_broken,
                                 int threads, imp_survey *survey, imp_dataset **dataset,
                                 imp_error *error);

/* How many labels the task can draw from a split: its classes, or its super-classes if the task is
 * super-classes. */
size_t imp_choices_labels(const imp_settings *settings, const imp_dataset *dataset,
                          imp_split split);

#endif
