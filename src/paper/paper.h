/*
 * paper.h - reproduces the paper's tables: trains what is missing, measures it, and writes result
 * files and, for each dataset, a report.
 *
 * It can be stopped at any time and called again: finished results are never made twice, and
 * training continues from its last checkpoint.
 */
#ifndef IMP_PAPER_PAPER_H
#define IMP_PAPER_PAPER_H

#include "paper/datasets.h"
#include "paper/run_state.h"
#include "paper/runs.h"
#include "train/trainer.h"

/* Callbacks. None may be NULL. */
typedef struct imp_paper_listener {
    /* Training or measuring of a run begins; `what` is a sentence without a full stop. */
    void (*begin)(const char *run, const char *what, void *context);
    /* A run or a picture failed; the others continue. */
    void (*fail)(const char *run, const char *sentence, void *context);
    /* As in imp_trainer_options: false stops after a checkpoint. */
    bool (*training)(const imp_train_report *report, void *context);
    void (*notice)(const char *sentence, void *context);
    /* Episodes of an evaluation, or candidates for lambda before it. */
    void (*measuring)(size_t done, size_t total, void *context);
    void *context;
} imp_paper_listener;

typedef struct imp_paper_options {
    const char *table;       /* NULL: all */
    const char *const *only; /* names of runs, with or without seeds; others are left out */
    size_t only_count;       /* 0: all runs */
    const char *data[IMP_PAPER_DATASETS]; /* for imp_dataset_open(); NULL: leave out */
    const char *out;        /* the results of a dataset go to a folder in it, created if missing */
    const char *runs;       /* folder of the runs' folders */
    int64_t updates;        /* per run; 0: each run's own number */
    int64_t seeds;          /* at most this many per run; 0: each run's own number */
    size_t episodes;        /* test episodes of an evaluation */
    int threads;            /* 0: one per core */
    const imp_ranks *ranks; /* that take the runs in turn and share the folders; NULL: none */
    bool again;             /* also measure what already has a result */
    bool train_nothing;     /* leave out runs that are not trained yet */
    imp_paper_listener listener;
} imp_paper_options;

typedef struct imp_paper_outcome {
    bool stopped;  /* by the listener */
    size_t failed; /* runs and pictures that failed */
} imp_paper_outcome;

/* Makes the results of one table or of all, dataset by dataset. A failed run is reported to the
 * listener and counted, not returned; the status reports only that a folder could not be made or
 * the report not written. */
imp_status imp_paper_reproduce(const imp_paper_options *options, imp_paper_outcome *outcome,
                               imp_error *error);

/* The state of a run and seed for a table. */
typedef struct imp_paper_state {
    bool done;              /* all its results for the table exist */
    bool in_part;           /* some of its results exist, perhaps only for other tables */
    imp_training_state run; /* zeroed if done */
    uint64_t updates;
    double images; /* still to be processed in training */
} imp_paper_state;

/* On failure the error says what is wrong with the run. */
imp_status imp_paper_look(const imp_paper_options *options, const imp_paper_run *run, int seed,
                          imp_paper_state *state, imp_error *error);

/* Whether a run and seed is requested; seed 0 stands for any. */
bool imp_paper_wants(const imp_paper_options *options, const imp_paper_run *run, int seed);

/* Whether any run of a dataset is requested. */
bool imp_paper_is_about(const imp_paper_options *options, size_t dataset);

/* How many seeds of a run the options request. */
int imp_paper_seeds(const imp_paper_options *options, const imp_paper_run *run);

/* Training speed on a dataset, in images per second: the average from the logs of its runs in the
 * folder; else from the result files; else from a short probe. NAN if even that fails. */
double imp_paper_speed(const imp_paper_options *options, size_t dataset);

#endif
