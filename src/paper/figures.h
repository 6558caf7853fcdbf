/* figures.h - the paper's figures: pictures (PNG and SVG) with their numbers beside them (CSV). */
#ifndef IMP_PAPER_FIGURES_H
#define IMP_PAPER_FIGURES_H

#include "model/model.h"

/* Accuracy over lambda, lambda.csv, lambda.png and lambda.svg, from the result files of the folder;
 * nothing is written while there are none. Means over the seeds. */
imp_status imp_paper_draw_lambda(const char *folder, imp_error *error);

/* A model whose embedding is shown. */
typedef struct imp_paper_panel {
    const char *title;
    const imp_model *model;
} imp_paper_panel;

/* Test characters in the plane by t-SNE, coloured by alphabet, a panel for each model:
 * embedding.csv, embedding.png and embedding.svg. Shown are ten upright characters, ten drawings of
 * each, of the first ten alphabets that have as many; fewer where there are not. IMP_EINVAL when
 * the dataset has no alphabets or nothing to test on. */
imp_status imp_paper_draw_embedding(const imp_dataset *dataset, const imp_paper_panel *panels,
                                    size_t count, int threads, const char *folder,
                                    imp_error *error);

#endif
