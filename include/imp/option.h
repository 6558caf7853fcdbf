/*
 * option.h - describes named options: which values they take and what they are for.
 *
 * The parameters of Algorithm 1 (rule.h) and every method's own options (method.h) are listed this
 * way; the command line, recipes and other languages are built from these lists.
 */
#ifndef IMP_OPTION_H
#define IMP_OPTION_H

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The value of a number that was not given: the method's default is used, or one found from the
 * data. It is a NaN, so test it with isnan(). In recipes, on the command line and in JSON it is
 * written "auto". */
#define IMP_AUTO ((double)NAN)

/* Which numbers an option takes. */
typedef enum imp_value_kind {
    IMP_FLAG,    /* 0: no, 1: yes */
    IMP_INTEGER, /* whole numbers */
    IMP_NUMBER   /* any finite number */
} imp_value_kind;

typedef struct imp_option_info {
    const char *name; /* such as "no-prior"; on the command line it follows "--" */
    const char *help; /* a phrase */
    imp_value_kind kind;
    double least, most; /* inclusive; INFINITY means no limit */
    double initial;     /* the default; where this is IMP_AUTO, "auto" is also a valid value */
} imp_option_info;

/* An option and its value. */
typedef struct imp_named_value {
    const char *name; /* NULL: no option */
    double value;
} imp_named_value;

#ifdef __cplusplus
}
#endif

#endif
