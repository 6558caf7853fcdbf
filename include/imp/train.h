/*
 * train.h - training a model from its settings: what `imp train` does, to the bit.
 *
 * A run lives in a folder with its settings, logs (log.jsonl, log.csv), a checkpoint and
 * model.safetensors, the model that did best in validation (without validation, the latest), which
 * imp_model_open() opens. A first model is written within the first minute and whenever a run is
 * stopped. A run can be stopped at any moment, by its caller or by a kill, and resumed to the same
 * bits on the same kind of machine with any number of threads.
 */
#ifndef IMP_TRAIN_H
#define IMP_TRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <imp/dataset.h>
#include <imp/settings.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the time of an update went, in seconds; the rest is bookkeeping and logging. */
typedef struct imp_train_times {
    double feed;    /* waiting for episodes, which are drawn during earlier updates */
    double network; /* forward and backward */
    double method;
    double optimizer;
} imp_train_times;

/* A line of the log. */
typedef struct imp_train_line {
    uint64_t update;
    double loss, accuracy, clusters; /* means over the episodes since the last line */
    double sigma_l, sigma_u;         /* NAN where the method has none */
    double rate, norm;               /* learning rate; mean norm of the gradient */
    double validation;               /* accuracy; NAN if this line has no validation */
    double images_per_second, seconds;
    double validation_open; /* open-set accuracy; NAN also if no cluster was unlabelled */
} imp_train_line;

/* The progress of a run. */
typedef struct imp_train_report {
    uint64_t update, updates;
    imp_train_times times;  /* of the last update */
    imp_train_line line;    /* the latest line of the log, or what the first one will be */
    bool new_line;          /* that line has just been written */
    double validation;      /* accuracy in the last validation; NAN before the first */
    double validation_open; /* its open-set accuracy; NAN also if no cluster was unlabelled */
    double best;
    uint64_t best_update;
    double seconds_left; /* validations included; NAN until it can be estimated */
    bool has_model; /* the folder has a model: the best so far or, before validation, the first */
} imp_train_report;

typedef struct imp_train_options {
    size_t size;        /* sizeof(imp_train_options), so that the struct may grow */
    const char *folder; /* of the run; required */
    int threads;        /* 0: as many as the machine offers */

    /* Called after each update, on the caller's thread; returning false stops the run after writing
     * a checkpoint. May be NULL. */
    bool (*proceed)(const imp_train_report *report, void *context);
    void *context; /* passed to both callbacks */

    /* Called before the first update with a sentence the user should see: for a new run, how many
     * updates fit into `minutes`; for a resumed one, that its last checkpoint is damaged and it
     * continues from the one before, or that it was computed with another instruction set. May be
     * NULL. */
    void (*notice)(const char *sentence, void *context);

    /* How long the run may take; 0: as long as its updates do. A new run times its first few
     * updates and then sets their number to what there is time for, with the learning rate schedule
     * and the validations in proportion. If time runs out earlier because the machine became
     * slower, and in a resumed run, whose schedule is fixed, the run stops as if `proceed` had
     * returned false. */
    double minutes;
    bool tensorboard; /* also write event files for TensorBoard into the folder */
    bool skip_broken; /* leave out pictures that cannot be read; only if `dataset` is NULL */
} imp_train_options;

/* The defaults: no folder, all threads, no callbacks. `size` is the caller's
 * sizeof(imp_train_options).
 */
IMP_API void imp_train_options_init(imp_train_options *options, size_t size);

static inline imp_train_options imp_train_defaults(void)
{
    imp_train_options options;
    imp_train_options_init(&options, sizeof options);
    return options;
}

typedef struct imp_train_result {
    uint64_t update;
    bool finished; /* all updates are done; false: stopped before that */
    double best;   /* best accuracy in validation; NAN without validation */
    uint64_t best_update;
    double seconds;
} imp_train_result;

/* Starts a run in a folder that holds none; the folder is created if necessary. `dataset` may be
 * NULL: then the one that the settings name is opened, and settings left open are chosen to suit
 * it. With a dataset given, settings left open have their defaults.
 *
 * On failure the folder holds the last checkpoint: IMP_EINVAL for settings that cannot be met, a
 * folder that holds a run, or a loss that is not finite or exceeds its limit (the sentence names
 * the update and the checkpoint); IMP_EIO for files; IMP_ENOMEM. */
IMP_API imp_status imp_train(const imp_settings *settings, const imp_dataset *dataset,
                             const imp_train_options *options, imp_train_result *result,
                             imp_error *error);

/* Reads the settings of the run in a folder. On success *out is new; free it with
 * imp_settings_free(). */
IMP_API imp_status imp_train_settings(const char *folder, imp_settings **out, imp_error *error);

/* Resumes the run in the folder. `settings` are those of imp_train_settings(), or NULL to use them
 * unchanged; "updates" may be raised, "log-every", "checkpoint-every" and "loss-limit" may differ,
 * and "data" may name another place: data with another fingerprint than the run's is refused. If
 * the last checkpoint is damaged, the run continues from the one before it. */
IMP_API imp_status imp_train_resume(const imp_settings *settings, const imp_dataset *dataset,
                                    const imp_train_options *options, imp_train_result *result,
                                    imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
