/* datasets.h - the paper's two datasets: what a run of each is like, and where its results go. */
#ifndef IMP_PAPER_DATASETS_H
#define IMP_PAPER_DATASETS_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

enum { IMP_PAPER_DATASETS = 2 };

typedef struct imp_paper_dataset {
    const char *name;                         /* of the folder of its results, and of its recipes */
    const char *title;                        /* as people write it */
    int64_t updates, halve_from, halve_every; /* the paper's schedule */
    const char *schedule;                     /* a sentence about it, for the report */
    size_t side, channels;                    /* of its pictures */
} imp_paper_dataset;

/* Dataset number `index`, which is below IMP_PAPER_DATASETS. */
const imp_paper_dataset *imp_paper_dataset_at(size_t index);

/* The number of the dataset whose recipe that is. */
size_t imp_paper_dataset_of(const char *recipe);

/* The number of the dataset that `data` holds, as imp_dataset_open() takes it: mini-ImageNet for
 * lists of pictures, Omniglot for anything else, since other characters may stand in for it. */
size_t imp_paper_dataset_in(const char *data);

/* OUT/NAME: where the results of a dataset are; empty, so that nothing opens, if it is too long. */
typedef struct imp_paper_folder {
    char text[4096];
} imp_paper_folder;
imp_paper_folder imp_paper_results(const char *out, size_t dataset);

#endif
