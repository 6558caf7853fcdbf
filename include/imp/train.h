/*
 * train.h - training a model from its settings: what `imp train` does, to the bit.
 *
 * A run lives in a folder, with its settings, logs (log.jsonl, log.csv), a checkpoint and, as
 * model.safetensors, the model that did best in validation or the last, which imp_model_open()
 * opens. There is a first one before the first minute is over, and whenever a run is stopped. It
 * can be stopped at any moment, by its caller or by a kill, and resumed to the same bits on any
 * number of threads of the same kind of machine.
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

/* Where the time of an update went, in seconds; the rest is bookkeeping and the log. */
typedef struct imp_train_times {
    double feed;    /* waiting for episodes, which are drawn beside earlier updates */
    double network; /* forward and backward */
    double method;
    double optimizer;
} imp_train_times;

/* A line of the log. */
typedef struct imp_train_line {
    uint64_t update;
    double loss, accuracy, clusters; /* means over the episodes since the last line */
    double sigma_l, sigma_u;         /* NAN where the method has none */
    double rate, norm;               /* learning rate; mean length of the gradient */
    double validation;               /* accuracy; NAN where this line has no validation */
    double images_per_second, seconds;
    double validation_open; /* open accuracy; NAN also where no cluster was unlabelled */
} imp_train_line;

/* How a run is doing. */
typedef struct imp_train_report {
    uint64_t update, updates;
    imp_train_times times;  /* of the last update */
    imp_train_line line;    /* the newest line of the log, or what its first one is going to be */
    bool new_line;          /* it has just been written */
    double validation;      /* the last one's accuracy; NAN before the first */
    double validation_open; /* its open accuracy; NAN also where no cluster was unlabelled */
    double best;
    uint64_t best_update;
    double seconds_left; /* with validations; NAN until it can be told */
    bool has_model; /* the folder has a model, the best so far or, before validation, a first */
} imp_train_report;

typedef struct imp_train_options {
    size_t size;        /* sizeof(imp_train_options), so that the struct may grow */
    const char *folder; /* of the run; must be given */
    int threads;        /* 0: as many as the machine offers */

    /* Called after each update, on the caller's thread; false ends the run after a checkpoint. May
     * be NULL. */
    bool (*proceed)(const imp_train_report *report, void *context);
    void *context; /* of both calls */

    /* Called before the first update with a sentence that somebody should read: how many updates
     * fit into the minutes of a new run; of a resumed one, that its last checkpoint is damaged, so
     * that it goes on from the one before, or that it was computed with another instruction set.
     * May be NULL. */
    void (*notice)(const char *sentence, void *context);

    /* How long the run may take; 0: as long as its updates do. A new run makes a few updates to see
     * how long they take, and gets as many as there is time for, with the learning rate's schedule
     * and the validations in proportion. Where the time is up earlier, since the machine has become
     * slower, and in a resumed run, whose schedule stays, the run ends as if `proceed` had said
     * so. */
    double minutes;
    bool tensorboard; /* also write events into the folder that TensorBoard shows */
    bool skip_broken; /* leave out pictures that cannot be read, where it opens the data itself */
} imp_train_options;

/* The defaults: no folder, all threads, no calls. `size` is the caller's sizeof(imp_train_options).
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
    bool finished; /* all updates are made; false: the caller wanted to stop */
    double best;   /* accuracy in validation; NAN without */
    uint64_t best_update;
    double seconds;
} imp_train_result;

/* Begins a run in a folder that holds none; it is made where it is missing. `dataset` may be NULL:
 * then it is opened as the settings say, and open settings are chosen to suit it. Of a dataset that
 * is given, open settings have their defaults.
 *
 * On failure the folder holds the last checkpoint: IMP_EINVAL for settings that cannot be met, a
 * folder that holds a run, and when the loss is no longer finite or exceeds its limit (the sentence
 * names the update and the checkpoint); IMP_EIO for files; IMP_ENOMEM. */
IMP_API imp_status imp_train(const imp_settings *settings, const imp_dataset *dataset,
                             const imp_train_options *options, imp_train_result *result,
                             imp_error *error);

/* Reads the settings of the run in a folder. On success *out is new; free it with
 * imp_settings_free(). */
IMP_API imp_status imp_train_settings(const char *folder, imp_settings **out, imp_error *error);

/* Goes on with the run in the folder. `settings` are those of imp_train_settings(), or NULL for
 * just them; "updates" may be raised, "log-every", "checkpoint-every" and "loss-limit" may be
 * others, and "data" may lie elsewhere: other data than the run's is refused by its fingerprint.
 * Where the last checkpoint is damaged, the run goes on from the one before it. */
IMP_API imp_status imp_train_resume(const imp_settings *settings, const imp_dataset *dataset,
                                    const imp_train_options *options, imp_train_result *result,
                                    imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
