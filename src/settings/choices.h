/*
 * choices.h - settings that suit somebody's own folder of pictures, for those nobody has given.
 *
 * The defaults are the paper's for Omniglot: a thousand classes of twenty drawings. A folder may
 * have three classes or photographs. What suits it is read off a survey of it and, once it is open,
 * off its split:
 *
 *     pictures    28 x 28 and gray or, where most of them are coloured, 84 x 84 and RGB, with the
 *                 variance and the concentration that the paper has for mini-ImageNet; smaller, but
 *                 not below 16, where most of them would be enlarged; dark ink on a light ground is
 *                 inverted
 *     split       by classes: 64, 16 and 20% train, validate and test; with fewer than 20 classes
 *                 75 and 25% train and validate; with fewer than 8 all train
 *     shot        half of what the smallest class has, at most 5
 *     updates     20 per picture, between 500 and 20000; the rate is halved in proportion
 *     way         5, or as many classes as train; validation likewise, or none
 *
 * Where the task is alphabets, the split is by super-classes, the shot 1 and the way at most 10.
 *
 * A set of vectors has no pictures to choose for. It is split by classes or, with fewer than 20 of
 * them, by the points of each; then the way is that of all classes, at most 20.
 */
#ifndef IMP_SETTINGS_CHOICES_H
#define IMP_SETTINGS_CHOICES_H

#include "data/survey.h"
#include "settings/settings.h"

/* Marks all that can be chosen as open, with -1 or NULL; what is given afterwards is not open. The
 * rule need not be marked, its numbers are open until they are given. */
void imp_choices_open(imp_settings *settings);

/* The defaults for what is open: for data that is not a folder. */
void imp_choices_default(imp_settings *settings);

/* Chooses all that must be known before the dataset is opened. `path` is named in the sentence of a
 * failure: IMP_EINVAL where there is only one class, or a class of one picture, of which nothing
 * can be learned. */
imp_status imp_choices_before(imp_settings *settings, const imp_survey *survey, const char *path,
                              imp_error *error);

/* Chooses what depends on the split: the way, and validation. Nothing is open then. */
void imp_choices_after(imp_settings *settings, const imp_dataset *dataset);

/* Whether anything is open that is marked so. */
bool imp_choices_are_open(const imp_settings *settings);

/* Lets a network on vectors begin with the layer `standard`, so that their scale does not matter;
 * one that begins with `flatten` takes them as they are, and where the network is conv4, which is
 * for pictures, it becomes a linear layer to 64 dimensions. Others stay as they are. IMP_ENOMEM. */
imp_status imp_choices_network(imp_settings *settings, const imp_dataset *dataset,
                               imp_error *error);

/* Opens the data that the settings name, without broken pictures if it may skip them. With
 * `chooses`, and if that is a folder or a set of vectors, what is open is chosen to suit it, and
 * *survey, which may be NULL, is what was found in it; else it has its defaults, and the survey
 * counts no pictures. On failure *dataset is NULL. */
imp_status imp_choices_open_data(imp_settings *settings, bool chooses, bool skip_broken,
                                 int threads, imp_survey *survey, imp_dataset **dataset,
                                 imp_error *error);

/* How many labels the task can draw from a split: classes or, in tasks of alphabets, super-classes.
 */
size_t imp_choices_labels(const imp_settings *settings, const imp_dataset *dataset,
                          imp_split split);

#endif
