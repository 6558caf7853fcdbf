/*
 * embedder_process.h - a running program that turns files into vectors; docs/embedders.md has the
 * protocol.
 *
 * The program is not ours: it may exit, hang or send garbage at any time. All of that becomes an
 * error here; the program is then ended, and may be started again.
 */
#ifndef IMP_MODEL_EMBEDDER_PROCESS_H
#define IMP_MODEL_EMBEDDER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <imp/status.h>

#include "base/json.h"
#include "data/fault.h"

/* An embedder's greeting. */
typedef struct imp_embedder_hello {
    const char *name, *version; /* strings of `object` */
    size_t dimensions;
    size_t batch;   /* preferred number of files per request */
    json_t *object; /* the whole greeting */
} imp_embedder_hello;

/* Checks `object` and takes over the reference, even on failure (IMP_EFORMAT). */
imp_status imp_embedder_hello_read(imp_embedder_hello *hello, json_t *object, imp_error *error);

/* Harmless on a zeroed one. */
void imp_embedder_hello_clear(imp_embedder_hello *hello);

/* Whether both have the same name, version and dimensions. */
bool imp_embedder_hello_equal(const imp_embedder_hello *a, const imp_embedder_hello *b);

/* A zeroed one is not running. */
typedef struct imp_embedder_process {
    bool running;
    pid_t pid;
    int to, from;
    double patience;                          /* seconds without a byte that count as a hang */
    unsigned char *buffer;                    /* output that has not been consumed yet */
    size_t begin, end, capacity;              /* in the buffer */
    imp_status (*pause)(imp_error *, void *); /* called while waiting; a failure ends it; or NULL */
    void *context;
} imp_embedder_process;

/* Starts `command`, a shell command line, and waits for its greeting. */
imp_status imp_embedder_start(imp_embedder_process *process, const char *command,
                              imp_embedder_hello *hello, imp_error *error);

/* A file to be embedded, and the answer to it. */
typedef struct imp_embedder_question {
    const char *path; /* the path sent to the embedder */
    const char *name; /* the path in errors */
    float *row;       /* (dimensions) */
    imp_fault *fault; /* NULL: the row is good */
} imp_embedder_question;

/* Asks for the vectors of `count` files. On failure the program has been ended, and the first
 * *answered answers are valid: IMP_EIO for a crash or a hang, IMP_EFORMAT for an invalid answer,
 * IMP_ENOMEM, or what `pause` returned. */
imp_status imp_embedder_ask(imp_embedder_process *process, imp_embedder_question *questions,
                            size_t count, size_t dimensions, size_t *answered, imp_error *error);

/* Gives it a moment to exit by itself, then kills it. Does nothing if it is not running. */
void imp_embedder_stop(imp_embedder_process *process);

#endif
