/*
 * description.h - the one-line description of a network, cut into steps.
 *
 * Only brackets and commas are read here; what a layer's words mean is for its kind to say.
 */
#ifndef IMP_NN_DESCRIPTION_H
#define IMP_NN_DESCRIPTION_H

#include <stddef.h>

#include <imp/status.h>

typedef enum imp_step_kind {
    IMP_STEP_LAYER,    /* "conv3x3:64" */
    IMP_STEP_RESIDUAL, /* "residual(" */
    IMP_STEP_SHORTCUT, /* "|" */
    IMP_STEP_END       /* ")" */
} imp_step_kind;

typedef struct imp_step {
    imp_step_kind kind;
    const char *text; /* a layer's words, without blanks around them */
    size_t length;
} imp_step;

enum { IMP_MAX_STEPS = 256, IMP_MAX_DEPTH = 4, IMP_BUILT_IN_TEXT = 2048 };

typedef struct imp_description {
    imp_step steps[IMP_MAX_STEPS];
    size_t count;
    char built_in[IMP_BUILT_IN_TEXT]; /* the text of a built-in network that has a width */
} imp_description;

/* Cuts `text`, which must live as long as the steps, and puts the steps of built-in networks
 * ("conv4", "resnet12:64") in their place. Brackets match, a residual's shortcut comes after its
 * body, and residuals are nested at most IMP_MAX_DEPTH deep. */
imp_status imp_description_parse(const char *text, imp_description *description, imp_error *error);

#endif
