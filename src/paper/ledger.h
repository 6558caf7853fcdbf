/*
 * ledger.h - result files: what was trained and measured, one file per run and seed.
 *
 *     {"version": ..., "run": "alphabets-imp", "seed": 1, "command": "imp train ...",
 *      "settings": {...}, "fingerprint": of the data, "updates": 5000, "best_update": ...,
 *      "validation": accuracy or null, "seconds": ..., "images_per_second": ...,
 *      "model": SHA-256 of the names and bytes of the model's tensors,
 *      "evaluations": [{"options": ..., "rows": ["alphabets: ..."], "command": "imp eval ...",
 *                       "version": ..., "seed": 1, "episodes": 1000, "batch_norm": ...,
 *                       "accuracy": {"mean": ..., "interval": ...}, "open_accuracy": ...}]}
 *
 * A run that diverged has "unstable_at": UPDATE, no model and no evaluations. "accuracy" is the
 * closed one, among the classes; older files have only that. All numbers of the report come from
 * these files. They contain no paths of the machine they were made on: DATA stands for the path of
 * the data.
 */
#ifndef IMP_PAPER_LEDGER_H
#define IMP_PAPER_LEDGER_H

#include <imp/metrics.h>

#include "base/json.h"
#include "paper/runs.h"

typedef struct imp_result {
    json_t *file; /* NULL: there is none yet */

    /* Read from it. */
    const char *model; /* its checksum */
    int64_t updates;
    double seconds, images_per_second;
    int64_t unstable_at; /* the update at which the run diverged; 0: it did not */
} imp_result;

/* FOLDER/NAME.json; empty, so that opening it fails, if it is too long for any file system. */
typedef struct imp_result_path {
    char text[4096];
} imp_result_path;
imp_result_path imp_result_file(const char *folder, const imp_paper_run *run, int seed);

/* Reads the result of a run; a missing one is not a failure. Release with imp_result_clear().
 * IMP_EFORMAT names the file and what is wrong with it; *result is then empty. */
imp_status imp_result_load(const char *folder, const imp_paper_run *run, int seed,
                           imp_result *result, imp_error *error);

/* Refuses the result of a run trained with different settings: IMP_EINVAL names one. */
imp_status imp_result_check(const imp_result *result, const imp_settings *wanted, const char *path,
                            imp_error *error);

/* Harmless on a zeroed one. */
void imp_result_clear(imp_result *result);

/* The evaluation made with those options of `imp eval`, or NULL. */
json_t *imp_result_evaluation(const imp_result *result, const char *options);

/* A figure of an evaluation by the name of its measure; false if it has none. */
bool imp_result_figure(const json_t *evaluation, const char *measure, imp_interval *figure);

/* Whether an evaluation, or each step of its sweep, has the open accuracy. */
bool imp_result_is_open(const json_t *evaluation);

/* The outcome of a training. */
typedef struct imp_training_record {
    imp_settings settings;
    char fingerprint[65], model[65];
    uint64_t best_update;
    double validation;                 /* NAN: there was none */
    double seconds, images_per_second; /* 0: not known */
} imp_training_record;

/* Begins the result of a run, without evaluations; releases what it held. */
imp_status imp_result_begin(imp_result *result, const imp_paper_run *run, int seed,
                            const imp_training_record *record, imp_error *error);

/* Records that the run diverged at that update: it has no model, and this is its result. */
imp_status imp_result_end_unstable(imp_result *result, int64_t update, imp_error *error);

/* Adds an evaluation, replacing one with the same options. Takes over the reference, even on
 * failure. */
imp_status imp_result_add(imp_result *result, json_t *evaluation, imp_error *error);

/* Writes the file atomically; the folder must exist. */
imp_status imp_result_save(const imp_result *result, const char *folder, const imp_paper_run *run,
                           int seed, imp_error *error);

#endif
