/*
 * tables.h - the paper's tables row by row, as plain data: what is measured on which run, which
 * implies the dataset, and what the paper found.
 */
#ifndef IMP_PAPER_TABLES_H
#define IMP_PAPER_TABLES_H

#include <stdbool.h>
#include <stddef.h>

/* What a row shows. */
typedef enum imp_paper_measure {
    IMP_PAPER_ACCURACY, /* in percent */
    IMP_PAPER_PURITY,   /* from 0 to 1 */
    IMP_PAPER_NMI,
    IMP_PAPER_AMI
} imp_paper_measure;

typedef struct imp_paper_table {
    const char *name;
    const char *title; /* what it shows, for the report */
    const char *where; /* in the paper */
    bool compares;     /* its runs are shorter than the paper's and are compared with each other */
} imp_paper_table;

typedef struct imp_paper_row {
    const char *table;
    const char *setting, *method; /* how the row is labelled */
    const char *run;              /* of runs.h */
    const char *options; /* for `imp eval`, over what the model was trained with; NULL: the model
                            itself is wanted, for a picture */
    imp_paper_measure measure;
    double figure;   /* the paper's, in the measure's units; NAN: it gives none */
    double interval; /* its 95% confidence interval; 0: it gives none */
} imp_paper_row;

/* Table or row number `index`; its name or table is NULL after the last. */
imp_paper_table imp_paper_table_at(size_t index);
imp_paper_row imp_paper_row_at(size_t index);

/* The name of a measure in result files: "accuracy", "purity", "nmi", "ami". */
const char *imp_paper_measure_name(imp_paper_measure measure);

/* Whether two rows show measures of one evaluation. */
bool imp_paper_rows_share(const imp_paper_row *a, const imp_paper_row *b);

/* Whether a row's evaluation may have unlabelled clusters. Its figure is then the open accuracy, as
 * in the authors' code, with the closed one beside it. */
bool imp_paper_row_is_open(const imp_paper_row *row);

/* Whether a row belongs to `table`; NULL stands for all. */
bool imp_paper_row_is_in(const imp_paper_row *row, const char *table);

/* Whether a table needs a run. */
bool imp_paper_table_needs(const char *table, const char *run);

/* The index of a row's dataset. */
size_t imp_paper_row_dataset(const imp_paper_row *row);

/* Whether a table has rows for a dataset; NULL stands for any table. */
bool imp_paper_table_is_about(const char *table, size_t dataset);

#endif
