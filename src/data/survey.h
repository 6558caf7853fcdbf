/*
 * survey.h - what a folder or archive of pictures holds, found by looking at a few of them.
 *
 * Before a dataset can be opened, somebody has to say how large its pictures shall be and how it is
 * to be split. The names tell how many classes and pictures there are; a sample tells what kind of
 * pictures.
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
    size_t side;   /* the shorter one of a picture, the median of the sample; 0: none */
    bool coloured; /* most pictures of the sample have colour, not only as a tint */
    bool on_light; /* nearly all of them have a light ground */
} imp_survey;

/* Whether `name` stands for a folder or archive of classes, as imp_dataset_open() would take it;
 * *path is where it is. */
bool imp_names_folder(const char *name, const char **path);

/* Looks around. Pictures that cannot be read tell nothing; to complain about them is up to
 * imp_dataset_open(). On failure *survey is zeroed: IMP_EIO, IMP_EFORMAT, IMP_ENOMEM. */
imp_status imp_survey_make(imp_survey *survey, const char *path, imp_error *error);

#endif
