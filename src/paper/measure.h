/* measure.h - one evaluation of a table, made as `imp eval` makes it. */
#ifndef IMP_PAPER_MEASURE_H
#define IMP_PAPER_MEASURE_H

#include "base/json.h"
#include "model/model.h"

typedef struct imp_measure_options {
    size_t episodes; /* test episodes, of seed 1 */
    int threads;     /* 0: as many as the machine offers */

    /* As in imp_evaluate_options; counts candidates for lambda first where it is chosen. */
    void (*progress)(size_t done, size_t total, void *context);
    void *context;
} imp_measure_options;

/* Measures the model on test episodes as the words say, e.g. "--task characters --way 20". On
 * success *evaluation is a new reference to an evaluation of a result file (ledger.h) without its
 * "command" and "rows". IMP_EINVAL also for words that `imp eval` would not take. */
imp_status imp_paper_evaluate(const imp_model *model, const imp_dataset *dataset, const char *words,
                              const imp_measure_options *options, json_t **evaluation,
                              imp_error *error);

/* The command line that gives the same figures, for the model of a run's folder; cut to fit. */
void imp_paper_eval_command(const char *folder, const char *words, size_t episodes, char *text,
                            size_t size);

#endif
