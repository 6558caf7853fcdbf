/* measure.h - one evaluation for a table, exactly as `imp eval` makes it. */
#ifndef IMP_PAPER_MEASURE_H
#define IMP_PAPER_MEASURE_H

#include "base/json.h"
#include "model/model.h"

typedef struct imp_measure_options {
    size_t episodes; /* test episodes, of seed 1 */
    int threads;     /* 0: one per core */

    /* As in imp_evaluate_options; if lambda is chosen, counts its candidates first. */
    void (*progress)(size_t done, size_t total, void *context);
    void *context;
} imp_measure_options;

/* Measures the model on test episodes with the given options, e.g. "--task characters --way 20". On
 * success *evaluation is a new reference to an evaluation for a result file (ledger.h) without
 * "command" and "rows". IMP_EINVAL also for options that `imp eval` would refuse. */
imp_status imp_paper_evaluate(const imp_model *model, const imp_dataset *dataset, const char *words,
                              const imp_measure_options *options, json_t **evaluation,
                              imp_error *error);

/* The command line that gives the same figures, for the model in a run's folder; truncated to
 * fit. */
void imp_paper_eval_command(const char *folder, const char *words, size_t episodes, char *text,
                            size_t size);

#endif
