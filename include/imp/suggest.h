/*
 * suggest.h - which points to label next (active learning): the most typical point of every group
 * first, then in turn the points about which the answers so far are least certain and the most
 * typical of smaller groups without an answer.
 *
 * A suggester holds the points to be labelled and the answers given so far. An answer costs one
 * pass over the points, and so does a suggestion; nothing is refitted.
 */
#ifndef IMP_SUGGEST_H
#define IMP_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

#include <imp/export.h>
#include <imp/mixture.h>
#include <imp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct imp_suggester imp_suggester;

/* An answer that names no class: the point is not suggested again and affects no guess; its group
 * is asked about by another point. */
#define IMP_SKIPPED (-2)

typedef struct imp_suggester_options {
    size_t size; /* sizeof(imp_suggester_options), so that the struct may grow */

    /* (points): the group of each, 0 or more, or -1 for a point in no group; copied. NULL (the
     * default): imp_cluster() finds the groups. */
    const int32_t *group;

    imp_metric_kind metric; /* how points are compared; IMP_METRIC_AUTO (the default): as
                               imp_mixture_fit() does where it has too few labels to choose */
    int threads; /* 0 (the default): as many as the machine offers; no result depends on it */
} imp_suggester_options;

/* `size` is the caller's sizeof(imp_suggester_options). */
IMP_API void imp_suggester_options_init(imp_suggester_options *options, size_t size);

static inline imp_suggester_options imp_suggester_defaults(void)
{
    imp_suggester_options options;
    imp_suggester_options_init(&options, sizeof options);
    return options;
}

/* Creates a suggester for `n` points of `d` floats, row by row in `x`, which are copied. `options`
 * may be NULL for the defaults.
 *
 * On success *out is new; free it with imp_suggester_free(). On failure *out is NULL: IMP_EINVAL
 * for a value that is not finite (names its row), no points, no dimensions or an option out of
 * range; IMP_EUNSUPPORTED for more than 2^31 - 1 points; IMP_ENOMEM. */
IMP_API imp_status imp_suggester_create(const float *x, size_t n, size_t d,
                                        const imp_suggester_options *options, imp_suggester **out,
                                        imp_error *error);

/* NULL is allowed. */
IMP_API void imp_suggester_free(imp_suggester *suggester);

/* Records an answer: point `point` is of class `label`, 0 or more; or IMP_SKIPPED; or
 * IMP_UNLABELED, which takes the answer back. May be called again for the same point. No other
 * thread may use the suggester meanwhile. IMP_EINVAL for a point or label out of range. */
IMP_API imp_status imp_suggester_answer(imp_suggester *suggester, size_t point, int32_t label,
                                        imp_error *error);

typedef enum imp_suggestion_reason {
    IMP_SUGGEST_TYPICAL, /* the most typical point of a group, or of a part of one, that has no
                            answer yet */
    IMP_SUGGEST_UNSURE   /* the point whose class is least certain */
} imp_suggestion_reason;

typedef struct imp_suggestion {
    size_t point;
    imp_suggestion_reason reason;
    int32_t group; /* its group, or -1 */
    int32_t guess; /* its most probable class; IMP_UNLABELED before the first answer */
    double sure;   /* the probability of the guess, from 0.5 to 1; 0 where there is none */
} imp_suggestion;

/* Suggests up to `count` points to label next, the most useful first; *found receives their number,
 * which is less than `count` only where all other points are answered or skipped. Groups come
 * largest first; groups of one point are skipped. Groups that were found, not given, are also
 * divided into about four times the square root of the number of points; every other suggestion
 * after the groups is about such a part without an answer. Uncertain points are kept far from the
 * ones suggested before them, whose answers would settle them too. The same answers in the same
 * order give the same suggestions. IMP_ENOMEM. */
IMP_API imp_status imp_suggester_next(const imp_suggester *suggester, size_t count,
                                      imp_suggestion *suggestions, size_t *found, imp_error *error);

/* The labels of all points, as far as the answers tell: label(n) is the answer or the guess,
 * IMP_UNLABELED before the first answer, and sure(n) its probability, 1 for an answer. Either may
 * be NULL. */
IMP_API void imp_suggester_guess(const imp_suggester *suggester, int32_t *label, float *sure);

typedef struct imp_suggester_summary {
    size_t points, dimensions;
    size_t groups;       /* of two points or more */
    size_t groups_asked; /* those of them with an answer */
    size_t answered, skipped;
    imp_metric_kind metric;
    double expected; /* expected accuracy of the guesses: the mean of `sure` over points without an
                        answer; NAN where there are none, or no answer yet */
} imp_suggester_summary;

/* The state after the answers so far. */
IMP_API imp_suggester_summary imp_suggester_summarize(const imp_suggester *suggester);

/* The group of every point (points), -1 for none; it lives as long as the suggester. */
IMP_API const int32_t *imp_suggester_groups(const imp_suggester *suggester);

#ifdef __cplusplus
}
#endif

#endif
