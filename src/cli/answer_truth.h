/* answer_truth.h - --truth: the true classes of points, to compare answers with. */
#ifndef IMP_CLI_ANSWER_TRUTH_H
#define IMP_CLI_ANSWER_TRUTH_H

#include "base/labels.h"
#include "cli/answer_counts.h"

typedef struct imp_answer_truth {
    imp_labels labels; /* numbered like the classes; unknown names come after them */
    imp_answer_counts confusion;
} imp_answer_truth;

/* Reads the truth of `count` points whose answers are classes of `names`; reads nothing if the path
 * is NULL. Returns IMP_GO_ON or, after printing an error, the exit status; clear it in either
 * case. */
int imp_truth_read(const char *command, const char *path, size_t count, const imp_labels *names,
                   bool none, imp_answer_truth *truth);
void imp_truth_clear(imp_answer_truth *truth);

/* Records the answers for points begin .. begin + count - 1. */
void imp_truth_count(imp_answer_truth *truth, size_t begin, const int32_t *answer, size_t count);

/* Like imp_answer_counts_print() and imp_answer_counts_to_json(). */
void imp_truth_print(const imp_answer_truth *truth);
void imp_truth_to_json(const imp_answer_truth *truth, json_t *object);

#endif
