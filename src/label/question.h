/*
 * question.h - which item to ask about next.
 *
 * Most questions are about items whose labels help most: first the most typical item of each
 * unnamed group, largest groups first; then the least certain item, about equally far from the
 * nearest clusters of two classes. Every IMP_DRAW_EVERY-th question is about an item drawn at
 * random, because answers about uncertain items say nothing about how good the certain guesses are
 * (estimate.h); and some are about the item farthest from everything named, to find new classes.
 */
#ifndef IMP_LABEL_QUESTION_H
#define IMP_LABEL_QUESTION_H

#include <stdint.h>

enum { IMP_DRAW_EVERY = 6, IMP_NO_ITEM = -1 };

typedef enum imp_question_kind {
    IMP_ASK_TYPICAL, /* of an unnamed group */
    IMP_ASK_DRAWN,   /* at random */
    IMP_ASK_UNSURE,  /* between two classes */
    IMP_ASK_UNLIKE,  /* anything named */
} imp_question_kind;

/* "typical", "drawn", "unsure", "unlike" */
const char *imp_question_kind_name(imp_question_kind kind);

typedef struct imp_question {
    int64_t item; /* or IMP_NO_ITEM if nothing is left to ask */
    imp_question_kind kind;
} imp_question;

#endif
