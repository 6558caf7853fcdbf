/* description.h - the one-line description of a network, as a list of steps. */
#ifndef IMP_NN_DESCRIPTION_H
#define IMP_NN_DESCRIPTION_H

#include <stddef.h>

#include <imp/status.h>

typedef enum imp_step_kind {
    IMP_STEP_CONV,
    IMP_STEP_NORM,
    IMP_STEP_RELU,
    IMP_STEP_POOL,
    IMP_STEP_FLATTEN,
    IMP_STEP_LINEAR
} imp_step_kind;

typedef struct imp_step {
    imp_step_kind kind;
    size_t width; /* output channels of conv and linear, else 0 */
} imp_step;

enum { IMP_MAX_STEPS = 256, IMP_MAX_WIDTH = 65536 };

/* Parses `text` into at most IMP_MAX_STEPS steps. */
imp_status imp_description_parse(const char *text, imp_step steps[IMP_MAX_STEPS], size_t *count,
                                 imp_error *error);

/* "conv3x3", "bn", ... */
const char *imp_step_name(imp_step_kind kind);

#endif
