/*
 * embedder_process.h - a program that turns files into vectors, spoken with as docs/embedders.md
 * says.
 *
 * The program is somebody else's: it may end, hang or answer nonsense at any time. Whatever it does
 * becomes a sentence here; it is ended then, and may be started again.
 */
#ifndef IMP_MODEL_EMBEDDER_PROCESS_H
#define IMP_MODEL_EMBEDDER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <imp/status.h>

#include "base/json.h"
#include "data/fault.h"

/* What an embedder says of itself when it starts. */
typedef struct imp_embedder_hello {
    const char *name, *version; /* texts of `object` */
    size_t dimensions;
    size_t batch;   /* how many files it likes to be asked for at once */
    json_t *object; /* all that it said */
} imp_embedder_hello;

/* Checks and takes over the reference to `object`, also when it fails; IMP_EFORMAT. */
imp_status imp_embedder_hello_read(imp_embedder_hello *hello, json_t *object, imp_error *error);

/* Harmless on a zeroed one. */
void imp_embedder_hello_clear(imp_embedder_hello *hello);

/* Whether both are of the same embedder, version and dimensions. */
bool imp_embedder_hello_equal(const imp_embedder_hello *a, const imp_embedder_hello *b);

/* Zeroed it is not running. */
typedef struct imp_embedder_process {
    bool running;
    pid_t pid;
    int to, from;
    double patience;                          /* seconds without a byte that count as a hang */
    unsigned char *buffer;                    /* what it wrote and nobody has taken yet */
    size_t begin, end, capacity;              /* in the buffer */
    imp_status (*pause)(imp_error *, void *); /* is asked whenever there is waiting; a failure ends
                                                 it; may be NULL */
    void *context;
} imp_embedder_process;

/* Starts `command`, a line for the shell, and waits for what it says of itself. */
imp_status imp_embedder_start(imp_embedder_process *process, const char *command,
                              imp_embedder_hello *hello, imp_error *error);

/* A file to be embedded, and the answer to it. */
typedef struct imp_embedder_question {
    const char *path; /* what the embedder is told */
    const char *name; /* what people are told */
    float *row;       /* (dimensions) */
    imp_fault *fault; /* NULL: the row is good */
} imp_embedder_question;

/* Asks for the vectors of `count` files. On failure the program has been ended, and the first
 * *answered answers are good: IMP_EIO for a crash or a hang, IMP_EFORMAT for an answer that is
 * none, IMP_ENOMEM, or what `pause` said. */
imp_status imp_embedder_ask(imp_embedder_process *process, imp_embedder_question *questions,
                            size_t count, size_t dimensions, size_t *answered, imp_error *error);

/* Lets it end by itself, for a moment, and makes it end. Harmless on one that is not running. */
void imp_embedder_stop(imp_embedder_process *process);

#endif
