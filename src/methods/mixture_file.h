/* mixture_file.h - the part of a mixture's file that only a mixture whose points chose has. */
#ifndef IMP_METHODS_MIXTURE_FILE_H
#define IMP_METHODS_MIXTURE_FILE_H

#include "base/safetensors.h"
#include "methods/mixture.h"

enum { IMP_CHOSEN_TENSORS = 13, IMP_CHOSEN_NUMBERS = 25 };

/* What has no memory of its own in the mixture. */
typedef struct imp_chosen_numbers {
    double value[IMP_CHOSEN_NUMBERS];
    double candidate[4 * 16]; /* (candidates, 4): metric, whitened, lambda, loss */
} imp_chosen_numbers;

/* Writes the tensors of the choice, and returns how many they are. They point into the mixture and
 * `numbers`. */
size_t imp_list_chosen(const imp_mixture *mixture, imp_chosen_numbers *numbers,
                       imp_tensor tensors[IMP_CHOSEN_TENSORS]);

/* Reads them into a mixture without a choice. IMP_EFORMAT, IMP_ENOMEM. */
imp_status imp_read_chosen(const imp_safetensors *file, imp_mixture *mixture, imp_error *error);

/* ---- views (views_file.c) ---- */

enum { IMP_VIEW_COLUMNS = 6, IMP_VIEW_TENSORS = 1 + 2 * IMP_MOST_VIEWS };

/* What has no memory of its own in the views. */
typedef struct imp_view_numbers {
    double value[IMP_MOST_VIEWS * IMP_VIEW_COLUMNS];
    char name[2 * IMP_MOST_VIEWS][40];
} imp_view_numbers;

/* As imp_list_chosen() and imp_read_chosen(), of the views of points of d dimensions. */
size_t imp_list_views(const imp_views *views, imp_view_numbers *numbers,
                      imp_tensor tensors[IMP_VIEW_TENSORS]);
imp_status imp_read_views(const imp_safetensors *file, size_t d, imp_views *views,
                          imp_error *error);

#endif
