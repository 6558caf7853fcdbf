/*
 * plan.h - what a kind of layer plans itself with: the words of its description, its shapes, and
 * the names, places and initial values of its tensors.
 */
#ifndef IMP_NN_PLAN_H
#define IMP_NN_PLAN_H

#include "base/error.h"
#include "nn/description.h"
#include "nn/network.h"

enum { IMP_MAX_WIDTH = 65536 };

/* A residual's body or shortcut, or the whole network: where names are counted. */
typedef struct imp_scope {
    char prefix[64];     /* "blocks.", "blocks.3.body." */
    size_t blocks;       /* convolutions, linear layers and residuals so far: each begins one */
    bool block_has_norm; /* the last of them has its batch norm */
    size_t value;        /* the layer whose output comes next */
    size_t entry, body;  /* of a residual: what came in, and what its body made of it */
} imp_scope;

struct imp_plan {
    imp_network *network;
    const imp_step *step;                /* the one being planned */
    const char *at;                      /* how far its words are read */
    imp_scope scopes[IMP_MAX_DEPTH + 1]; /* those that are open */
    size_t depth;
    size_t dropouts; /* so far */
    imp_error *error;
};

/* Reading a layer's words. imp_take() moves past `text` if that comes next. imp_take_count() reads
 * a whole number from 1 to IMP_MAX_WIDTH and imp_take_fraction() one from 0 on and below 1 with an
 * optional point; both are false where there is none. */
bool imp_take(imp_plan *plan, const char *text);
bool imp_take_count(imp_plan *plan, size_t *count);
bool imp_take_fraction(imp_plan *plan, float *fraction);

/* Fails with how the layer should be written, unless all of its words are read. */
imp_status imp_take_end(const imp_plan *plan);
imp_status imp_misspelt(const imp_plan *plan);

/* What may be said of the initial weights of `fan_in` to `fan_out` connections per channel:
 * ":xavier" is uniform (Glorot & Bengio 2010), ":he" normal, by the outputs (He et al. 2015), and
 * nothing uniform with Xavier's bound times sqrt(2). Reads no more than one of them. */
imp_start imp_take_start(imp_plan *plan, size_t fan_in, size_t fan_out);

/* Begins a block of names, "blocks.3." and what the layer's tensors are called. A batch norm
 * belongs to the block before it, which has room for one. */
void imp_plan_block(imp_plan *plan);
imp_status imp_plan_norm(imp_plan *plan);

/* Names a tensor of the current block, for instance "conv.weight", and gives it the next place
 * among the parameters, or among the running statistics if it is not trained. */
size_t imp_plan_tensor(imp_plan *plan, const char *name, bool trained, size_t rank,
                       const size_t *shape, imp_start start);

/* Takes the layer that is being planned out again: it would do nothing. */
void imp_plan_drop(imp_plan *plan);

#endif
