/*
 * option.h - options that have names: what values they take, and what they are for.
 *
 * The numbers of Algorithm 1 (rule.h) and every method's own options (method.h) are told as such
 * lists, from which the command, recipes and other languages make theirs.
 */
#ifndef IMP_OPTION_H
#define IMP_OPTION_H

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number that nobody has given: it is the method's own, or found from the data. It is a NaN, so
 * isnan() tells. In recipes, on the command line and in JSON it is the word "auto". */
#define IMP_AUTO ((double)NAN)

/* What the numbers of an option are. */
typedef enum imp_value_kind {
    IMP_FLAG,    /* 0: no, 1: yes */
    IMP_INTEGER, /* whole numbers */
    IMP_NUMBER   /* any finite number */
} imp_value_kind;

typedef struct imp_option_info {
    const char *name; /* "no-prior": in recipes as it stands, on the command line behind "--" */
    const char *help; /* a phrase */
    imp_value_kind kind;
    double least, most; /* both are allowed; INFINITY is no limit */
    double initial;     /* the default; where it is IMP_AUTO, that may be given, too */
} imp_option_info;

/* An option that is given a value. */
typedef struct imp_named_value {
    const char *name; /* NULL: none is given */
    double value;
} imp_named_value;

#ifdef __cplusplus
}
#endif

#endif
