/*
 * classify.h - `imp classify` in two parts: points from files (classify.c), and pictures
 * (classify_pictures.c), whose answers can also be a page (classify_page.c).
 */
#ifndef IMP_CLI_CLASSIFY_H
#define IMP_CLI_CLASSIFY_H

#include <imp/method.h>

#include "cli/pictures.h"

typedef struct imp_classify_settings {
    imp_point_files files;
    imp_parameters parameters;
    imp_picture_settings pictures;
    const char *query, *method, *html; /* NULL: not given */
    int64_t seed;
    bool learn_sigma, no_prior, open_set, json;
} imp_classify_settings;

/* Puts what was given in the place of what the options say; `lambda` is NAN if it was not. */
void imp_classify_options(const imp_classify_settings *given, double lambda,
                          imp_method_options *options);

/* Says so if --open-set can answer nothing, since no cluster is without a label; `what` are
 * "pictures" or "points", and `argument` says where more could come from. */
void imp_tell_open_set(const imp_classify_settings *given, const imp_method_result *result,
                       const char *what, const char *argument);

/* Classifies the pictures and folders of pictures in `paths` by the folder that --support names.
 * Returns the status to exit with. */
int imp_classify_pictures(const imp_classify_settings *given, double lambda, char **paths,
                          int count);

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
} imp_classification;

/* Writes the answers as a page. */
imp_status imp_classification_page(const imp_classification *work, const char *path,
                                   imp_error *error);

#endif
