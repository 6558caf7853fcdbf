/*
 * paper.h - the paper's tables made again: trains what is missing, measures it, and writes result
 * files and, for each dataset, a report.
 *
 * It can be stopped at any moment and called again: finished results are never made twice, and a
 * training goes on from its last checkpoint.
 */
#ifndef IMP_PAPER_PAPER_H
#define IMP_PAPER_PAPER_H

#include "paper/datasets.h"
#include "paper/run_state.h"
#include "paper/runs.h"
#include "train/trainer.h"

/* What is told on the way. None may be NULL. */
typedef struct imp_paper_listener {
    /* A run's training or measuring begins; `what` is a sentence without its full stop. */
    void (*begin)(const char *run, const char *what, void *context);
    /* A run, or a picture, failed; the others go on. */
    void (*fail)(const char *run, const char *sentence, void *context);
    /* As in imp_trainer_options: false stops after a checkpoint. */
    bool (*training)(const imp_train_report *report, void *context);
    void (*notice)(const char *sentence, void *context);
    /* Episodes of an evaluation, or candidates for lambda before it. */
    void (*measuring)(size_t done, size_t total, void *context);
    void *context;
} imp_paper_listener;

typedef struct imp_paper_options {
    const char *table;                    /* NULL: all */
    const char *const *only;              /* names of runs, or of runs and seeds; others are left */
    size_t only_count;                    /* 0: no run is left out */
    const char *data[IMP_PAPER_DATASETS]; /* as imp_dataset_open() takes it; NULL: leave out */
    const char *out;  /* the results of a dataset go to a folder in it, made if it is not there */
    const char *runs; /* folder of the runs' folders */
    int64_t updates;  /* of every run; 0: as many as the table of runs says */
    int64_t seeds;    /* at most so many; 0: as many as the table says */
    size_t episodes;  /* test episodes of an evaluation */
    int threads;      /* 0: as many as the machine offers */
    const imp_ranks *ranks; /* who take the runs in turn and share the folders; NULL: nobody */
    bool again;             /* measure also what has a result */
    bool train_nothing;     /* leave out runs that are not trained yet */
    imp_paper_listener listener;
} imp_paper_options;

typedef struct imp_paper_outcome {
    bool stopped;  /* the listener wanted it */
    size_t failed; /* runs and pictures that failed */
} imp_paper_outcome;

/* Makes the results of a table or of all, dataset by dataset. A run that fails is reported to the
 * listener and counted, not returned: what is returned is that a folder could not be made, or the
 * report not written. */
imp_status imp_paper_reproduce(const imp_paper_options *options, imp_paper_outcome *outcome,
                               imp_error *error);

/* How far a run and seed of a table is. */
typedef struct imp_paper_state {
    bool done;              /* all results of the table are there */
    bool in_part;           /* some results of the run are there, if only of other tables */
    imp_training_state run; /* zeroed if done */
    uint64_t updates;
    double images; /* still to be embedded in training */
} imp_paper_state;

/* On failure the sentence says what is wrong with the run. */
imp_status imp_paper_look(const imp_paper_options *options, const imp_paper_run *run, int seed,
                          imp_paper_state *state, imp_error *error);

/* Whether a run and seed is asked for; seed 0 stands for any. */
bool imp_paper_wants(const imp_paper_options *options, const imp_paper_run *run, int seed);

/* Whether any run of a dataset is asked for. */
bool imp_paper_is_about(const imp_paper_options *options, size_t dataset);

/* How many seeds of a run the options ask for. */
int imp_paper_seeds(const imp_paper_options *options, const imp_paper_run *run);

/* How many images of a dataset per second are trained on here: what the logs of its runs in the
 * folder say on average; else the result files; else a probe, which takes a moment. NAN if even
 * that fails. */
double imp_paper_speed(const imp_paper_options *options, size_t dataset);

#endif
