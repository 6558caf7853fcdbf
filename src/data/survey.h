/*
 * survey.h - what a folder or archive of pictures holds, found from its names and a sample.
 *
 * Before a dataset is opened, its picture size and split must be chosen. The names give the numbers
 * of classes and pictures; a sample shows what kind of pictures they are.
 */
#ifndef IMP_DATA_SURVEY_H
#define IMP_DATA_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include <imp/status.h>

#include "data/source.h"

typedef struct imp_survey {
    size_t pictures, classes;
    size_t super_classes;     /* 0: there are none */
    size_t smallest, largest; /* pictures of a class */
    char smallest_class[200]; /* its name, cut to fit */
    size_t unlabeled;         /* further pictures, in no class */
    size_t empty;             /* sub-folders without pictures */
    char first_empty[200];    /* the name of one, cut to fit */
    imp_foreign foreign;
    size_t side;   /* median of the shorter sides in the sample; 0: none */
    bool coloured; /* most pictures of the sample have colour, more than a tint */
    bool on_light; /* nearly all of them have a light background */
} imp_survey;

/* Whether imp_dataset_open() would take `name` for a folder or archive of classes; *path is its
 * path. */
bool imp_names_folder(const char *name, const char **path);

/* Makes a survey. Pictures that cannot be read are ignored; imp_dataset_open() reports them. On
 * failure *survey is zeroed: IMP_EIO, IMP_EFORMAT, IMP_ENOMEM. */
imp_status imp_survey_make(imp_survey *survey, const char *path, imp_error *error);

#endif
