/*
 * classify.h - `imp classify` in two parts: points from files (classify.c) and pictures
 * (classify_pictures.c), whose answers can also be shown on a page (classify_page.c).
 */
#ifndef IMP_CLI_CLASSIFY_H
#define IMP_CLI_CLASSIFY_H

#include <imp/method.h>

#include "cli/mixture.h"
#include "cli/pictures.h"

typedef struct imp_classify_settings {
    imp_point_files files;
    imp_rule rule;
    imp_choice_settings choice;
    imp_named_value own[IMP_MOST_OWN_OPTIONS];
    imp_picture_settings pictures;
    imp_texts queries;         /* views of the points to classify */
    const char *method, *html; /* NULL: not given */
    const char *output, *truth;
    const char *csv, *copy_to, *link_to;
    int64_t seed;
    bool open_set, json;
} imp_classify_settings;

/* Overrides the options with what was given. */
void imp_classify_options(const imp_classify_settings *given, imp_method_options *options);

/* Warns if --open-set has no effect because every cluster has a label; `what` is "pictures" or
 * "points", and `argument` completes --unlabeled. */
void imp_tell_open_set(const imp_classify_settings *given, const imp_method_result *result,
                       const char *what, const char *argument);

/* Classifies the pictures and folders in `paths` from the folder that --support names. Returns the
 * exit status. */
int imp_classify_pictures(const imp_classify_settings *given, char **paths, int count);

/* The answer for one picture. */
typedef struct imp_answer {
    int32_t class; /* -1: none of these */
    double probability;
    size_t cluster;  /* the answer's likeliest cluster for this picture */
    size_t nearest;  /* support */
    double distance; /* squared, to that support */
} imp_answer;

typedef struct imp_classification {
    const imp_classify_settings *given;
    const char *model, *method; /* their names */
    const char *doubt;          /* why the model may not suit the pictures: a sentence, or NULL */
    imp_embedded support, queries;
    imp_method_result result;
    imp_answer *answers;     /* (queries) */
    size_t *support_cluster; /* (supports): the likeliest of the clusters that each may join */
    size_t *order;           /* (queries): the least certain first */
    int32_t *truth;          /* (queries): the class whose folder each is in, or -1 */
    size_t known, right;     /* how many are in one, and how many of those were answered right */
} imp_classification;

/* Takes the truth from folders named after classes; `paths` are the arguments. Returns IMP_GO_ON
 * or, after printing an error, the exit status. */
int imp_classify_truth(imp_classification *work, char **paths, int count);

/* Prints accuracy and confusion matrix, or adds them to a report, if any truth is known. */
void imp_classify_print_truth(const imp_classification *work);
void imp_classify_truth_to_json(const imp_classification *work, json_t *object);

/* Warns of answers that mean little: only one class, or pictures unlike all known ones. */
void imp_classify_doubt(const imp_classification *work);

/* The queries, least certain answer first, or NULL; free with free(). */
size_t *imp_classify_order(const imp_classification *work);

/* Writes the answers as CSV. */
imp_status imp_classify_csv(const imp_classification *work, const char *path, imp_error *error);

/* Writes the answers as a page. */
imp_status imp_classification_page(const imp_classification *work, const char *path,
                                   imp_error *error);

#endif
