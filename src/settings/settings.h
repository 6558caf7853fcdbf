/*
 * settings.h - all that decides what a training run computes, in one struct.
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
    imp_rule rule;                             /* as given: what is open is the method's own */
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

    void *texts; /* texts it owns; others are its maker's */
};

/* What the choices are called; each list ends with NULL. */
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

/* One row of the table that settings_list.h makes. The numbers of the rule and the options of
 * methods' and learners' own are settings, too, but have their rows where they are described:
 * imp_rule_option_at(), imp_method_at() and imp_learner_at(). */
typedef struct imp_setting {
    const char *name;
    imp_setting_kind kind;
    size_t offset; /* of its member in imp_settings */
    double least, most;
    const char *const *choices;
    const char *initial;
} imp_setting;

/* Row number `index`, or NULL after the last. */
const imp_setting *imp_setting_at(size_t index);

/* The defaults. Release with imp_settings_clear(). */
void imp_settings_init(imp_settings *settings);
void imp_settings_clear(imp_settings *settings);

/* Gives `settings` the values of others, with copies of their texts. On failure, IMP_ENOMEM, they
 * are only good to be cleared. */
imp_status imp_settings_copy(imp_settings *settings, const imp_settings *from, imp_error *error);

/* All settings as one JSON object, a member each; NULL without memory. U+FFFD stands for bytes of a
 * text that are no UTF-8. */
json_t *imp_settings_to_json(const imp_settings *settings);

/* A JSON value as the text that imp_settings_set() takes, in `room` if it is no text itself. */
const char *imp_settings_json_text(const json_t *value, char *room, size_t size);

/* Sets what the object holds; what it does not hold keeps its value. IMP_EINVAL names the member
 * that is no setting or has no proper value. */
imp_status imp_settings_from_json(imp_settings *settings, const json_t *object, imp_error *error);

/* The same from text. */
imp_status imp_settings_parse(imp_settings *settings, const char *text, imp_error *error);

/* The name of a setting in which the two differ, or NULL: those of the list, which ends with NULL,
 * may. A number that is open is the same as the method's own. */
const char *imp_settings_difference(const imp_settings *a, const imp_settings *b,
                                    const char *const *free_names);

/* The name of a setting in which `wanted` may not differ from `given` in the middle of a run, or
 * NULL when all is well: more updates or other intervals are, another method is not. */
const char *imp_settings_conflict(const imp_settings *given, const imp_settings *wanted);

/* ---- what other layers are told ---- */

imp_dataset_options imp_settings_data(const imp_settings *settings, int threads);
imp_episode_options imp_settings_task(const imp_settings *settings, imp_purpose purpose);
imp_method_options imp_settings_method(const imp_settings *settings);
imp_learner_options imp_settings_learner(const imp_settings *settings);
imp_rule imp_settings_rule(const imp_settings *settings); /* open numbers as the method has them */
imp_optimizer_options imp_settings_optimizer(const imp_settings *settings);

/* Whether episodes tell super-classes apart, as alphabets are, and not classes. */
bool imp_settings_by_super_class(const imp_settings *settings);

/* The learning rate of an update, counted from 0: halved at halve_from and from there on every
 * halve_every updates; with fade_until, it also falls evenly, and is 0 from that update on. */
double imp_settings_rate(const imp_settings *settings, uint64_t update);

/* The settings of a model for a method. Where that is another than the model's own, it takes over
 * what imp_rule_for_another() says, and the rest is as if it had not been given. The texts remain
 * the model's. */
imp_settings imp_settings_for(const imp_settings *trained, const char *method);

#endif
