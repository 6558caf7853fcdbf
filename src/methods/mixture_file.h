/* mixture_file.h - the parts of a mixture's file for chosen options and for views. */
#ifndef IMP_METHODS_MIXTURE_FILE_H
#define IMP_METHODS_MIXTURE_FILE_H

#include "base/safetensors.h"
#include "methods/mixture.h"

enum { IMP_CHOSEN_TENSORS = 13, IMP_CHOSEN_NUMBERS = 25 };

/* Values that are not stored in the mixture as arrays. */
typedef struct imp_chosen_numbers {
    double value[IMP_CHOSEN_NUMBERS];
    double candidate[4 * 16]; /* (candidates, 4): metric, whitened, lambda, loss */
} imp_chosen_numbers;

/* Lists the tensors of the choice; returns their number. They point into the mixture and `numbers`.
 */
size_t imp_list_chosen(const imp_mixture *mixture, imp_chosen_numbers *numbers,
                       imp_tensor tensors[IMP_CHOSEN_TENSORS]);

/* Reads them into a mixture that has no choice yet. IMP_EFORMAT, IMP_ENOMEM. */
imp_status imp_read_chosen(const imp_safetensors *file, imp_mixture *mixture, imp_error *error);

enum { IMP_SAMPLE_TENSORS = 5 };

/* The sample among these, of which a fit that was stopped has part; its number of points so far is
 * known before it is read. */
size_t imp_list_sample(const imp_sample *sample, imp_tensor tensors[IMP_SAMPLE_TENSORS]);
imp_status imp_read_sample(const imp_safetensors *file, imp_mixture *mixture, imp_error *error);

/* ---- views (views_file.c) ---- */

enum { IMP_VIEW_COLUMNS = 6, IMP_VIEW_TENSORS = 1 + 2 * IMP_MOST_VIEWS };

/* Values that are not stored in the views as arrays. */
typedef struct imp_view_numbers {
    double value[IMP_MOST_VIEWS * IMP_VIEW_COLUMNS];
    char name[2 * IMP_MOST_VIEWS][40];
} imp_view_numbers;

/* As imp_list_chosen() and imp_read_chosen(), for the views of points of d dimensions. */
size_t imp_list_views(const imp_views *views, imp_view_numbers *numbers,
                      imp_tensor tensors[IMP_VIEW_TENSORS]);
imp_status imp_read_views(const imp_safetensors *file, size_t d, imp_views *views,
                          imp_error *error);

#endif
