/*
 * question.h - which item to ask about next.
 *
 * Most questions are those of imp_suggester_next() (<imp/suggest.h>), which imp suggest asks as
 * well. Every IMP_DRAW_EVERY-th is about an item drawn at random, because answers about uncertain
 * items say nothing about how good the certain guesses are (estimate.h).
 */
#ifndef IMP_LABEL_QUESTION_H
#define IMP_LABEL_QUESTION_H

#include <stddef.h>
#include <stdint.h>

enum { IMP_DRAW_EVERY = 6, IMP_NO_ITEM = -1 };

typedef enum imp_question_kind {
    IMP_ASK_TYPICAL, /* of a group without an answer */
    IMP_ASK_DRAWN,   /* at random */
    IMP_ASK_UNSURE,  /* between two classes */
    IMP_ASK_UNLIKE,  /* anything named; only in projects of earlier versions */
} imp_question_kind;

/* "typical", "drawn", "unsure", "unlike" */
const char *imp_question_kind_name(imp_question_kind kind);

typedef struct imp_question {
    int64_t item; /* or IMP_NO_ITEM if nothing is left to ask */
    imp_question_kind kind;
    size_t group_size; /* of the group of which it is typical */
} imp_question;

#endif
