/* figures.h - the paper's figures, as PNG and SVG, with their numbers as CSV. */
#ifndef IMP_PAPER_FIGURES_H
#define IMP_PAPER_FIGURES_H

#include "model/model.h"

/* Accuracy over lambda, as means over the seeds: lambda.csv, lambda.png and lambda.svg, from the
 * result files in the folder; writes nothing if there are none. */
imp_status imp_paper_draw_lambda(const char *folder, imp_error *error);

/* A model whose embedding is shown. */
typedef struct imp_paper_panel {
    const char *title;
    const imp_model *model;
} imp_paper_panel;

/* Test characters projected by t-SNE, coloured by alphabet, a panel per model: embedding.csv,
 * embedding.png and embedding.svg. Shows ten drawings of ten upright characters of the first ten
 * alphabets that have enough, or fewer. IMP_EINVAL if the dataset has no alphabets or no test
 * split. */
imp_status imp_paper_draw_embedding(const imp_dataset *dataset, const imp_paper_panel *panels,
                                    size_t count, int threads, const char *folder,
                                    imp_error *error);

#endif
