/* answer_counts.h - answers compared with the truth: accuracy and confusion matrix. */
#ifndef IMP_CLI_ANSWER_COUNTS_H
#define IMP_CLI_ANSWER_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

typedef struct imp_answer_counts {
    const char *const
        *names; /* (rows), starting with the classes that can be answers; owned by the caller */
    size_t rows, classes;
    bool none;           /* "none of these" is an answer, with one more column */
    size_t *count;       /* (rows, classes + none) */
    size_t known, right; /* points with a known truth, and those of them answered right */
} imp_answer_counts;

/* Truths and answers are classes or -1. No answer is right for a truth beyond the classes. Returns
 * IMP_GO_ON or, after printing an error, the exit status; clear it in either case. */
int imp_answer_counts_make(const char *command, imp_answer_counts *confusion,
                           const char *const *names, size_t rows, size_t classes, bool none);
void imp_answer_counts_add(imp_answer_counts *confusion, const int32_t *truth,
                           const int32_t *answer, size_t count);
void imp_answer_counts_clear(imp_answer_counts *confusion);

/* Prints accuracy and matrix, or adds them to a report, if any truth is known; `which` says for
 * which points: "in folders named after classes". */
void imp_answer_counts_print(const imp_answer_counts *confusion, const char *which);
void imp_answer_counts_to_json(const imp_answer_counts *confusion, json_t *object);

#endif
