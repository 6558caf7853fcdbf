/*
 * settings.h - everything that determines what a training run computes, in one struct.
 *
 * Settings come from the defaults, a recipe, a run's settings.json or a model file, and from the
 * command line. Nothing here depends on the machine: the number of threads and where the run is
 * kept are not settings.
 */
#ifndef IMP_SETTINGS_SETTINGS_H
#define IMP_SETTINGS_SETTINGS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/episode.h>
#include <imp/method.h>
#include <imp/optimizer.h>
#include <imp/settings.h>

#include "base/json.h"
#include "learners/learner.h"
#include "settings/settings_list.h"

struct imp_settings {
    /* data */
    const char *data, *split;
    int64_t size, rotations, split_seed;
    int colour, ink;
    int64_t alphabets, fewest_characters, most_characters, drawings, glyph_seed;

    /* task */
    int task;
    int64_t way, fewest_way, modes, shot, fewest_shot, queries, unlabeled, distractors;
    bool unbalanced;
    double labeled_fraction;

    /* learner and method */
    const char *learner;
    imp_named_value learner_own[IMP_MOST_OWN_OPTIONS]; /* as in imp_learner_options */
    const char *method;
    imp_rule rule;                             /* as given; open parameters are the method's own */
    imp_named_value own[IMP_MOST_OWN_OPTIONS]; /* as in imp_method_options */
    int learn_sigma_u;

    /* training */
    const char *network;
    const char *embedded_by; /* "NAME VERSION" of the embedder whose vectors the data are, or "" */
    int64_t updates, accumulate;
    int optimizer;
    double rate, clip, weight_decay, average_weights, loss_limit;
    int64_t halve_from, halve_every, fade_until, seed;
    int64_t validate_every, validation_episodes, validation_way, checkpoint_every, log_every;
    imp_augmentation augment;

    void *texts; /* strings it owns; the caller owns the others */
};

/* The names of the choices; each list ends with NULL. */
extern const char *const imp_colour_names[];    /* own, gray, rgb */
extern const char *const imp_ink_names[];       /* own, as-is, invert */
extern const char *const imp_task_names[];      /* in the order of imp_episode_kind */
extern const char *const imp_no_yes_names[];    /* no, yes */
extern const char *const imp_optimizer_names[]; /* in the order of imp_optimizer_kind */
extern const char *const imp_pool_names[];      /* in the order of imp_pool */

typedef enum imp_setting_kind {
    IMP_SETTING_INTEGER,
    IMP_SETTING_NUMBER,
    IMP_SETTING_TEXT,
    IMP_SETTING_CHOICE,
    IMP_SETTING_FLAG
} imp_setting_kind;

/* One row of the table made from settings_list.h. The rule's parameters and the own options of
 * methods and learners are settings, too, but are described elsewhere: see imp_rule_option_at(),
 * imp_method_at() and imp_learner_at(). */
typedef struct imp_setting {
    const char *name;
    imp_setting_kind kind;
    size_t offset; /* offset of its member in imp_settings */
    double least, most;
    const char *const *choices;
    const char *initial;
} imp_setting;

/* Row number `index`, or NULL after the last. */
const imp_setting *imp_setting_at(size_t index);

/* The defaults. Release with imp_settings_clear(). */
void imp_settings_init(imp_settings *settings);
void imp_settings_clear(imp_settings *settings);

/* Copies all settings, strings included. On failure (IMP_ENOMEM) `settings` can only be cleared. */
imp_status imp_settings_copy(imp_settings *settings, const imp_settings *from, imp_error *error);

/* All settings as one JSON object; NULL if out of memory. U+FFFD replaces bytes that are not
 * UTF-8. */
json_t *imp_settings_to_json(const imp_settings *settings);

/* A JSON value as the string that imp_settings_set() expects, in `room` if it is not a string. */
const char *imp_settings_json_text(const json_t *value, char *room, size_t size);

/* Applies the members of the object; other settings keep their values. IMP_EINVAL names a member
 * that is not a setting or has an invalid value. */
imp_status imp_settings_from_json(imp_settings *settings, const json_t *object, imp_error *error);

/* The same from text. */
imp_status imp_settings_parse(imp_settings *settings, const char *text, imp_error *error);

/* The name of a setting in which the two differ, or NULL. Those in the NULL-terminated list may
 * differ. An open parameter equals the method's own value. */
const char *imp_settings_difference(const imp_settings *a, const imp_settings *b,
                                    const char *const *free_names);

/* The name of a setting that `wanted` may not change in the middle of a run, or NULL. More updates
 * and other intervals are fine, another method is not. */
const char *imp_settings_conflict(const imp_settings *given, const imp_settings *wanted);

/* ---- as options of other layers ---- */

imp_dataset_options imp_settings_data(const imp_settings *settings, int threads);
imp_episode_options imp_settings_task(const imp_settings *settings, imp_purpose purpose);
imp_method_options imp_settings_method(const imp_settings *settings);
imp_learner_options imp_settings_learner(const imp_settings *settings);
/* With the method's own values for open parameters. */
imp_rule imp_settings_rule(const imp_settings *settings);
imp_optimizer_options imp_settings_optimizer(const imp_settings *settings);

/* Whether labels stand for super-classes, such as alphabets, instead of classes. */
bool imp_settings_by_super_class(const imp_settings *settings);

/* The learning rate of an update, counted from 0: halved at halve_from and every halve_every
 * updates after that; with fade_until it also falls linearly, to 0 at that update. */
double imp_settings_rate(const imp_settings *settings, uint64_t update);

/* A model's settings for a method. If that is not the model's own method, it keeps what
 * imp_rule_for_another() says, and the rest is as if not given. The model still owns the
 * strings. */
imp_settings imp_settings_for(const imp_settings *trained, const char *method);

#endif
