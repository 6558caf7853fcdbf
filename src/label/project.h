/*
 * project.h - a pile being labelled, and the file it is saved in.
 *
 * The file is a journal (journal.h): the items, then every change the user made, in order. Opening
 * it replays the changes and arrives at the same state. So nothing that was ever confirmed is lost,
 * and a change can be undone.
 *
 * Changes are JSON objects, as the page sends them and the journal stores them:
 *
 *     {"change": "label", "items": [4, 7], "class": "cat"}      named; "asked": "drawn" (a kind of
 *                                                               question): as the answer to it
 *     {"change": "none", "items": [4]}                          none of these
 *     {"change": "unlabel", "items": [4]}                       the label is removed
 *     {"change": "skip", "items": [4]}                          asked about last
 *     {"change": "rename", "from": "cat", "to": "dog"}          merges them if both exist
 *     {"change": "split", "items": [...], "pieces": 2}          into new groups
 *     {"change": "join", "items": [...]}                        into one group
 *     {"change": "undo"}                                        the last label, none, unlabel, skip
 *                                                               or rename not undone yet
 */
#ifndef IMP_LABEL_PROJECT_H
#define IMP_LABEL_PROJECT_H

#include "label/journal.h"
#include "label/state.h"

/* The items of a project. */
typedef struct imp_project_pile {
    const char *kind;        /* "pictures", "files" or "vectors" */
    const char *place;       /* its path, as given */
    const char *embedder;    /* the model or embedder of its vectors */
    const char *const *name; /* (count): relative to that path; unique */
    const uint64_t *digest;  /* (count): of the contents */
    const float *points;     /* (count, dimensions) */
    size_t count, dimensions;
} imp_project_pile;

/* A change, with what is needed to undo it. */
typedef struct imp_past_change {
    json_t *what;
    size_t count;
    uint32_t *item;  /* (count) */
    int32_t *before; /* (count): the classes before it; for "skip": 1 if the item was closed */
    bool undone;
} imp_past_change;

typedef struct imp_project {
    imp_journal journal;
    size_t count, capacity; /* items, in the order in which they were added */
    char **name;            /* (count) */
    uint64_t *digest;       /* (count) */
    int64_t *place;         /* (count): its index in the pile, or -1 if it is gone */
    bool *changed;          /* (count): its content changed since it was named */
    float *points;          /* (count, dimensions): NAN for items that are gone */
    imp_label_state state;
    char **classes; /* (class_count); the first is IMP_NONE_OF_THESE */
    size_t class_count, class_capacity;
    imp_past_change *past;
    size_t past_count, past_capacity;
    uint64_t revision; /* grows with every change */
    size_t moved;      /* items whose guess was changed by the last change */
    int threads;
} imp_project;

extern const char imp_none_of_these[];

/* Opens the project at `path`, or creates it if there is no file; NULL: one that is not saved. The
 * pile may have changed since: new items are added, items that are gone keep their labels and are
 * not asked about any more, and both are counted. On failure there is nothing to close. */
typedef struct imp_project_news {
    size_t added, gone, changed, lost; /* lost: bytes of a partially written change */
} imp_project_news;

imp_status imp_project_open(imp_project *project, const char *path, const imp_project_pile *pile,
                            uint64_t seed, int threads, imp_project_news *news, imp_error *error);
void imp_project_close(imp_project *project);

/* Checks a change, writes it to the journal and makes it. On failure nothing has changed:
 * IMP_EINVAL for an invalid change, IMP_EIO, IMP_ENOMEM. */
imp_status imp_project_change(imp_project *project, const json_t *change, imp_error *error);

/* Between the two, changes are neither flushed nor reflected in the guesses, which at the end
 * happens once for all of them. IMP_EIO if they did not get to the disk. */
void imp_project_begin_many(imp_project *project);
imp_status imp_project_end_many(imp_project *project, imp_error *error);

/* The index of a class, or IMP_UNKNOWN. */
int32_t imp_project_class(const imp_project *project, const char *name);

#endif
