/*
 * description.h - the one-line description of a network, split into steps.
 *
 * Only brackets and commas are parsed here; each kind of layer parses its own text.
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
    const char *text; /* the text of a layer, without surrounding blanks */
    size_t length;
} imp_step;

enum { IMP_MAX_STEPS = 256, IMP_MAX_DEPTH = 4, IMP_BUILT_IN_TEXT = 2048 };

typedef struct imp_description {
    imp_step steps[IMP_MAX_STEPS];
    size_t count;
    char built_in[IMP_BUILT_IN_TEXT]; /* the text of a built-in network that has a width */
} imp_description;

/* Splits `text`, which must live as long as the steps, and expands built-in networks ("conv4",
 * "resnet12:64"). In the result brackets match, a residual's shortcut comes after its body, and
 * residuals are nested at most IMP_MAX_DEPTH deep. */
imp_status imp_description_parse(const char *text, imp_description *description, imp_error *error);

#endif
