/*
 * classify.h - `imp classify` in two parts: points from files (classify.c), and pictures
 * (classify_pictures.c), whose answers can also be a page (classify_page.c).
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

/* Puts what was given in the place of what the options say. */
void imp_classify_options(const imp_classify_settings *given, imp_method_options *options);

/* Says so if --open-set can answer nothing, since no cluster is without a label; `what` are
 * "pictures" or "points", and `argument` says where more could come from. */
void imp_tell_open_set(const imp_classify_settings *given, const imp_method_result *result,
                       const char *what, const char *argument);

/* Classifies the pictures and folders of pictures in `paths` by the folder that --support names.
 * Returns the status to exit with. */
int imp_classify_pictures(const imp_classify_settings *given, char **paths, int count);

/* What is known of a picture that was classified. */
typedef struct imp_answer {
    int32_t class; /* -1: none of these */
    double probability;
    size_t cluster;  /* of the answer's, the one in which the picture is most likely */
    size_t nearest;  /* support */
    double distance; /* squared, to that support */
} imp_answer;

typedef struct imp_classification {
    const imp_classify_settings *given;
    const char *model, *method; /* their names */
    const char *doubt;          /* that the model knows such pictures: a sentence, or NULL */
    imp_embedded support, queries;
    imp_method_result result;
    imp_answer *answers;     /* (queries) */
    size_t *support_cluster; /* (supports): where each is most likely, of those it may join */
    size_t *order;           /* (queries): the least certain first */
    int32_t *truth;          /* (queries): the class whose folder each lies in, or -1 */
    size_t known, right;     /* how many lie in one, and how many of those have the right answer */
} imp_classification;

/* Finds what is true of queries in folders that are named as classes; `paths` are the operands.
 * Returns IMP_GO_ON, or the status to exit with after a sentence. */
int imp_classify_truth(imp_classification *work, char **paths, int count);

/* Prints accuracy and confusion matrix, or adds them to a report, where something is known. */
void imp_classify_print_truth(const imp_classification *work);
void imp_classify_truth_to_json(const imp_classification *work, json_t *object);

/* Says why the answers may mean little: one class, or pictures unlike all that is known. */
void imp_classify_doubt(const imp_classification *work);

/* The queries, the least certain answer first, or NULL; free with free(). */
size_t *imp_classify_order(const imp_classification *work);

/* Writes the answers as CSV. */
imp_status imp_classify_csv(const imp_classification *work, const char *path, imp_error *error);

/* Writes the answers as a page. */
imp_status imp_classification_page(const imp_classification *work, const char *path,
                                   imp_error *error);

#endif
