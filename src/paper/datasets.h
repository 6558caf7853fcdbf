/* datasets.h - the paper's two datasets: their names, schedules and folders. */
#ifndef IMP_PAPER_DATASETS_H
#define IMP_PAPER_DATASETS_H

#include <stddef.h>

#include <imp/status.h>

enum { IMP_PAPER_DATASETS = 2 };

typedef struct imp_paper_dataset {
    const char *name;      /* name of its results folder, and of its recipes */
    const char *title;     /* its usual spelling */
    const char *schedule;  /* a sentence about the paper's schedule, for the report */
    size_t side, channels; /* of its pictures */
} imp_paper_dataset;

/* Dataset number `index`, which is below IMP_PAPER_DATASETS. */
const imp_paper_dataset *imp_paper_dataset_at(size_t index);

/* The index of the dataset that a recipe is for. */
size_t imp_paper_dataset_of(const char *recipe);

/* The index of the dataset in `data`, a name for imp_dataset_open(): mini-ImageNet for lists of
 * pictures, Omniglot for anything else, since other characters may replace it. */
size_t imp_paper_dataset_in(const char *data);

/* OUT/NAME: the results folder of a dataset; empty, so that opening it fails, if it is too long. */
typedef struct imp_paper_folder {
    char text[4096];
} imp_paper_folder;
imp_paper_folder imp_paper_results(const char *out, size_t dataset);

#endif
