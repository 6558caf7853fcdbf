/* description.c - parses "conv3x3:64,bn,relu,pool,..." or "conv4" into steps. */
#include "nn/description.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* The network of the paper (and of Vinyals et al. and Snell et al. before it). */
static const char conv4[] = "conv3x3:64,bn,relu,pool,conv3x3:64,bn,relu,pool,"
                            "conv3x3:64,bn,relu,pool,conv3x3:64,bn,relu,pool,flatten";

/* The few-shot ResNet-12 (Oreshkin et al. 2018, Lee et al. 2019): four such blocks, each twice as
 * wide as the one before, and global average pooling. */
static const char resnet12_block[] =
    "residual(conv3x3:%zu:nobias:he,bn,leaky:0.1,conv3x3:%zu:nobias:he,bn,leaky:0.1,"
    "conv3x3:%zu:nobias:he,bn|conv1x1:%zu:nobias:he,bn),leaky:0.1,pool,";
enum { RESNET12_WIDTH = 64, RESNET12_MOST = 8192 };

typedef struct parser {
    imp_description *description;
    size_t depth;                     /* open residuals */
    bool has_shortcut[IMP_MAX_DEPTH]; /* of each of them */
    imp_error *error;
} parser;

static imp_status add(parser *p, imp_step_kind kind, const char *text, size_t length)
{
    imp_description *d = p->description;
    if (d->count == IMP_MAX_STEPS)
        return imp_fail(p->error, IMP_EINVAL, "the network has more than %d layers", IMP_MAX_STEPS);
    d->steps[d->count++] = (imp_step){.kind = kind, .text = text, .length = length};
    return IMP_OK;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

/* Reads "resnet12" or "resnet12:32"; 0 for anything else. */
static size_t resnet12_width(const char *text, size_t length)
{
    static const char name[] = "resnet12";
    size_t letters = sizeof name - 1, width = 0;
    if (is_word(text, length, name))
        return RESNET12_WIDTH;
    if (length < letters + 2 || memcmp(text, name, letters) != 0 || text[letters] != ':')
        return 0;
    for (size_t i = letters + 1; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        width = width * 10 + (size_t)(text[i] - '0');
        if (width > RESNET12_MOST)
            return 0;
    }
    return width;
}

static imp_status parse(parser *p, const char *text);

/* Adds a layer, or the steps of a built-in network in place of its name. */
static imp_status add_layer(parser *p, const char *text, size_t length)
{
    if (is_word(text, length, "conv4"))
        return parse(p, conv4);
    size_t width = resnet12_width(text, length);
    if (width == 0)
        return add(p, IMP_STEP_LAYER, text, length);
    char *built_in = p->description->built_in;
    if (*built_in)
        return imp_fail(p->error, IMP_EINVAL, "the network has more than one resnet12");
    size_t used = 0;
    for (size_t block = 0; block < 4; block++, width *= 2)
        used += (size_t)snprintf(built_in + used, IMP_BUILT_IN_TEXT - used, resnet12_block, width,
                                 width, width, width);
    snprintf(built_in + used, IMP_BUILT_IN_TEXT - used, "gap,flatten");
    return parse(p, built_in);
}

static imp_status open_residual(parser *p)
{
    if (p->depth == IMP_MAX_DEPTH)
        return imp_fail(p->error, IMP_EINVAL, "residuals can be nested %d deep, not deeper",
                        IMP_MAX_DEPTH);
    p->has_shortcut[p->depth++] = false;
    return add(p, IMP_STEP_RESIDUAL, NULL, 0);
}

static imp_status begin_shortcut(parser *p)
{
    if (p->depth == 0 || p->has_shortcut[p->depth - 1])
        return imp_fail(p->error, IMP_EINVAL,
                        "'|' stands between a residual's body and its shortcut, as in "
                        "'residual(conv3x3:64,bn|conv1x1:64)', and nowhere else");
    p->has_shortcut[p->depth - 1] = true;
    return add(p, IMP_STEP_SHORTCUT, NULL, 0);
}

static imp_status close_residual(parser *p)
{
    if (p->depth == 0)
        return imp_fail(p->error, IMP_EINVAL, "the network has a ')' without its 'residual('");
    p->depth--;
    return add(p, IMP_STEP_END, NULL, 0);
}

static size_t skip_blanks(const char *text)
{
    return strspn(text, " \t\r\n");
}

/* A residual's body or shortcut, or all of the network, is a list of layers between commas; only a
 * shortcut may be empty. */
static imp_status parse(parser *p, const char *text)
{
    imp_status status = IMP_OK;
    bool wants_layer = true; /* at the beginning, and after a comma */
    bool may_be_empty = false;
    while (!status) {
        text += skip_blanks(text);
        size_t length = strcspn(text, ",()|");
        char end = text[length];
        size_t letters = length;
        while (letters > 0 && skip_blanks(text + letters - 1) > 0)
            letters--;
        bool opens = end == '(' && is_word(text, letters, "residual");
        if (end == '(' && !opens)
            return imp_fail(p->error, IMP_EINVAL, "'%.*s(' in the network should be 'residual('",
                            (int)letters, text);
        if (!wants_layer && letters > 0)
            return imp_fail(p->error, IMP_EINVAL, "a comma is missing before '%.*s' in the network",
                            (int)letters, text);
        if (opens)
            status = open_residual(p);
        else if (letters > 0 || (wants_layer && !(may_be_empty && end == ')')))
            status = add_layer(p, text, letters);
        if (!status && end == '|')
            status = begin_shortcut(p);
        else if (!status && end == ')')
            status = close_residual(p);
        else if (end == '\0')
            return status;
        wants_layer = end != ')';
        may_be_empty = end == '|';
        text += length + 1;
    }
    return status;
}

imp_status imp_description_parse(const char *text, imp_description *description, imp_error *error)
{
    description->count = 0;
    description->built_in[0] = '\0';
    parser p = {.description = description, .error = error};
    imp_status status = parse(&p, text);
    if (!status && p.depth > 0)
        status = imp_fail(error, IMP_EINVAL, "the network has a 'residual(' without its ')'");
    return status;
}
