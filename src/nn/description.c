/*
 * description.c - "conv4" or "conv3x3:64,bn,relu,pool,..." into steps.
 *
 * Only the words are checked here; whether the steps fit each other and the image is for whoever
 * builds the layers.
 */
#include "nn/description.h"

#include <string.h>

#include "base/error.h"

static const struct {
    const char *name;
    imp_step_kind kind;
    int has_width;
} words[] = {
    {"conv3x3", IMP_STEP_CONV, 1}, {"bn", IMP_STEP_NORM, 0},         {"relu", IMP_STEP_RELU, 0},
    {"pool", IMP_STEP_POOL, 0},    {"flatten", IMP_STEP_FLATTEN, 0}, {"linear", IMP_STEP_LINEAR, 1},
};
enum { WORDS = sizeof words / sizeof *words };

/* The network of the paper (and of Vinyals et al. and Snell et al. before it). */
static const char conv4[] = "conv3x3:64,bn,relu,pool,conv3x3:64,bn,relu,pool,"
                            "conv3x3:64,bn,relu,pool,conv3x3:64,bn,relu,pool,flatten";

const char *imp_step_name(imp_step_kind kind)
{
    for (size_t i = 0; i < WORDS; i++)
        if (words[i].kind == kind)
            return words[i].name;
    return "?";
}

/* Reads 1..IMP_MAX_WIDTH from all of the text, or 0 when it is anything else. */
static size_t parse_width(const char *text, size_t length)
{
    size_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        value = value * 10 + (size_t)(text[i] - '0');
        if (value > IMP_MAX_WIDTH)
            return 0;
    }
    return value;
}

static imp_status parse_step(const char *text, size_t length, imp_step *step, imp_error *error)
{
    const char *colon = memchr(text, ':', length);
    size_t name_length = colon ? (size_t)(colon - text) : length;
    for (size_t i = 0; i < WORDS; i++) {
        if (strlen(words[i].name) != name_length || memcmp(words[i].name, text, name_length) != 0)
            continue;
        *step = (imp_step){.kind = words[i].kind};
        if (!words[i].has_width) {
            if (colon)
                return imp_fail(error, IMP_EINVAL,
                                "'%s' takes no number, but the network says '%.*s'", words[i].name,
                                (int)length, text);
            return IMP_OK;
        }
        if (colon)
            step->width = parse_width(colon + 1, length - name_length - 1);
        if (step->width == 0)
            return imp_fail(error, IMP_EINVAL,
                            "'%.*s' in the network should be '%s:F' with F from 1 to %d outputs",
                            (int)length, text, words[i].name, IMP_MAX_WIDTH);
        return IMP_OK;
    }
    return imp_fail(
        error, IMP_EINVAL,
        "the network has no layer '%.*s'; there are conv3x3:F, bn, relu, pool, flatten, "
        "linear:F, and conv4 for the whole of it",
        (int)length, text);
}

imp_status imp_description_parse(const char *text, imp_step steps[IMP_MAX_STEPS], size_t *count,
                                 imp_error *error)
{
    *count = 0;
    if (strcmp(text, "conv4") == 0)
        text = conv4;
    for (;;) {
        size_t length = strcspn(text, ",");
        if (*count == IMP_MAX_STEPS)
            return imp_fail(error, IMP_EINVAL, "the network has more than %d layers",
                            IMP_MAX_STEPS);
        imp_status status = parse_step(text, length, &steps[*count], error);
        if (status)
            return status;
        ++*count;
        if (text[length] == '\0')
            return IMP_OK;
        text += length + 1;
    }
}
