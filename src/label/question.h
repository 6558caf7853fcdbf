/*
 * question.h - which item to ask about next.
 *
 * Most questions go where an answer is worth most: first the most typical item of each group that
 * has no name, largest groups first; then the item that is least sure, the nearest clusters of two
 * classes being about as far. Every IMP_DRAW_EVERY-th question is about an item drawn at random,
 * because answers about the least sure say nothing of how good the sure ones are (estimate.h); and
 * some are about what lies farthest from all that was named, so that a new kind is found.
 */
#ifndef IMP_LABEL_QUESTION_H
#define IMP_LABEL_QUESTION_H

#include <stdint.h>

enum { IMP_DRAW_EVERY = 6, IMP_NO_ITEM = -1 };

typedef enum imp_question_kind {
    IMP_ASK_TYPICAL, /* of a group without a name */
    IMP_ASK_DRAWN,   /* at random */
    IMP_ASK_UNSURE,  /* between two classes */
    IMP_ASK_UNLIKE,  /* anything that was named */
} imp_question_kind;

/* "typical", "drawn", "unsure", "unlike" */
const char *imp_question_kind_name(imp_question_kind kind);

typedef struct imp_question {
    int64_t item; /* or IMP_NO_ITEM: there is nothing left to ask */
    imp_question_kind kind;
} imp_question;

#endif
