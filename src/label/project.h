/*
 * project.h - a pile being labelled, and the file that remembers it.
 *
 * The file is a journal (journal.h): what the items are, then every change that somebody made, in
 * order. Opening it makes the same changes again and arrives at the same state. So nothing is lost
 * that was ever confirmed, and a change can be taken back.
 *
 * Changes are JSON objects, as the page sends them and the journal keeps them:
 *
 *     {"change": "label", "items": [4, 7], "class": "cat"}      named; "asked": "drawn" (a kind of
 *                                                               question): as the answer to it
 *     {"change": "none", "items": [4]}                          none of these
 *     {"change": "unlabel", "items": [4]}                       the name is taken off
 *     {"change": "skip", "items": [4]}                          asked about last
 *     {"change": "rename", "from": "cat", "to": "dog"}          joins them if both are there
 *     {"change": "split", "items": [...], "pieces": 2}          into new groups
 *     {"change": "join", "items": [...]}                        into one group
 *     {"change": "undo"}                                        the last label, none, unlabel, skip
 *                                                               or rename that still stands
 */
#ifndef IMP_LABEL_PROJECT_H
#define IMP_LABEL_PROJECT_H

#include "label/journal.h"
#include "label/state.h"

/* What a project is about. */
typedef struct imp_project_pile {
    const char *kind;        /* "pictures", "files" or "vectors" */
    const char *place;       /* where it lies, as it was named */
    const char *embedder;    /* what made vectors of it */
    const char *const *name; /* (count): below that place; unique */
    const uint64_t *digest;  /* (count): of the contents */
    const float *points;     /* (count, dimensions) */
    size_t count, dimensions;
} imp_project_pile;

/* A change as it can be taken back. */
typedef struct imp_past_change {
    json_t *what;
    size_t count;
    uint32_t *item;  /* (count) */
    int32_t *before; /* (count): the classes before it; of "skip": 1 where the item was closed */
    bool undone;
} imp_past_change;

typedef struct imp_project {
    imp_journal journal;
    size_t count, capacity; /* items, in the order in which the project came to know them */
    char **name;            /* (count) */
    uint64_t *digest;       /* (count) */
    int64_t *place;         /* (count): its number in the pile, or -1: it is gone */
    bool *changed;          /* (count): another content than when it was named */
    float *points;          /* (count, dimensions): of items that are gone NAN */
    imp_label_state state;
    char **classes; /* (class_count); the first is IMP_NONE_OF_THESE */
    size_t class_count, class_capacity;
    imp_past_change *past;
    size_t past_count, past_capacity;
    uint64_t revision; /* grows with every change */
    size_t moved;      /* items whose guess became another one by the last change */
    int threads;
} imp_project;

extern const char imp_none_of_these[];

/* Opens the project at `path`, or begins one there if there is no file; NULL: one that is kept
 * nowhere. The pile may have changed since: items that are new are added, items that are gone keep
 * their names and are asked about no more, and how many of each there are is told. On failure there
 * is nothing to close. */
typedef struct imp_project_news {
    size_t added, gone, changed, lost; /* lost: bytes of a change that was not finished */
} imp_project_news;

imp_status imp_project_open(imp_project *project, const char *path, const imp_project_pile *pile,
                            uint64_t seed, int threads, imp_project_news *news, imp_error *error);
void imp_project_close(imp_project *project);

/* Checks a change, writes it to the journal and makes it. On failure nothing has changed:
 * IMP_EINVAL for a change that makes no sense, IMP_EIO, IMP_ENOMEM. */
imp_status imp_project_change(imp_project *project, const json_t *change, imp_error *error);

/* The number of a class, or IMP_UNKNOWN. */
int32_t imp_project_class(const imp_project *project, const char *name);

#endif
