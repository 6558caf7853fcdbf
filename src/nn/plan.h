/*
 * plan.h - helpers with which a layer plans itself: parsing its description, its shapes, and the
 * names, offsets and initial values of its tensors.
 */
#ifndef IMP_NN_PLAN_H
#define IMP_NN_PLAN_H

#include "base/error.h"
#include "nn/description.h"
#include "nn/network.h"

enum { IMP_MAX_WIDTH = 65536 };

/* A residual's body or shortcut, or the whole network, within which blocks are numbered. */
typedef struct imp_scope {
    char prefix[64];     /* "blocks.", "blocks.3.body." */
    size_t blocks;       /* convolutions, linear layers and residuals so far: each begins one */
    bool block_has_norm; /* the last of them has its batch norm */
    size_t value;        /* the layer whose output the next layer reads */
    size_t entry,
        body; /* of a residual: the layers that give its input and the output of its body */
} imp_scope;

struct imp_plan {
    imp_network *network;
    const imp_step *step;                /* the one being planned */
    const char *at;                      /* how far it has been parsed */
    imp_scope scopes[IMP_MAX_DEPTH + 1]; /* the open ones */
    size_t depth;
    size_t dropouts; /* so far */
    imp_error *error;
};

/* Parse a layer's text. imp_take() moves past `text` if that comes next. imp_take_count() reads an
 * integer from 1 to IMP_MAX_WIDTH and imp_take_fraction() a decimal number in [0, 1); both return
 * false if there is none. */
bool imp_take(imp_plan *plan, const char *text);
bool imp_take_count(imp_plan *plan, size_t *count);
bool imp_take_fraction(imp_plan *plan, float *fraction);

/* Fails with the layer's syntax unless all of its text has been read. */
imp_status imp_take_end(const imp_plan *plan);
imp_status imp_misspelt(const imp_plan *plan);

/* Parses an optional choice of initial weights for the given fan-in and fan-out: ":xavier" is
 * uniform (Glorot & Bengio 2010), ":he" normal by fan-out (He et al. 2015), and the default uniform
 * with Xavier's bound times sqrt(2). */
imp_start imp_take_start(imp_plan *plan, size_t fan_in, size_t fan_out);

/* Begins a block, which prefixes the names of the layer's tensors with "blocks.3.". A batch norm
 * belongs to the block before it, which has room for one. */
void imp_plan_block(imp_plan *plan);
imp_status imp_plan_norm(imp_plan *plan);

/* Names a tensor of the current block, such as "conv.weight", and gives it the next offset among
 * the parameters, or among the running statistics if it is not trained. */
size_t imp_plan_tensor(imp_plan *plan, const char *name, bool trained, size_t rank,
                       const size_t *shape, imp_start start);

/* Removes the layer being planned, because it would do nothing. */
void imp_plan_drop(imp_plan *plan);

#endif
