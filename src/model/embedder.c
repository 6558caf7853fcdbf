/*
 * embedder.c - asks an embedder for vectors that are not cached, and recovers from its crashes.
 *
 * A crash in a batch does not show which file caused it. So the unanswered files of that batch are
 * asked for again one by one, and a file on which the program fails alone is at fault.
 */
#define _DEFAULT_SOURCE /* mkdtemp */

#include "model/embedder.h"

#include <errno.h>
#include <math.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "data/source.h"
#include "model/embedding_cache.h"

enum { MOST_STARTS = 8 }; /* in one call */

struct imp_embedder {
    char *command;
    char *cache; /* a folder, or NULL */
    imp_embedder_process process;
    imp_embedder_hello hello;
    pthread_mutex_t mutex; /* guards the process */
};

/* ---- opening ---- */

static imp_status name_command(const imp_embedder *embedder, imp_status status, imp_error *error)
{
    if (status && error) {
        imp_error told = *error;
        imp_fail(error, status, "the embedder '%.300s': %s", embedder->command, told.message);
    }
    return status;
}

/* Starts the program, and checks that it is the same embedder as before. */
static imp_status start(imp_embedder *embedder, imp_error *error)
{
    imp_embedder_hello hello;
    imp_status status = imp_embedder_start(&embedder->process, embedder->command, &hello, error);
    if (status)
        return status;
    if (embedder->hello.object && !imp_embedder_hello_equal(&hello, &embedder->hello)) {
        status =
            imp_fail(error, IMP_EIO, "it was '%.100s %.100s' before and is '%.100s %.100s' now",
                     embedder->hello.name, embedder->hello.version, hello.name, hello.version);
        imp_embedder_stop(&embedder->process);
        imp_embedder_hello_clear(&hello);
        return status;
    }
    imp_embedder_hello_clear(&embedder->hello);
    embedder->hello = hello;
    if (embedder->cache)
        imp_embedder_remember(embedder->cache, embedder->command, &embedder->hello);
    return IMP_OK;
}

imp_status imp_embedder_open(const char *command, double patience, const char *cache,
                             imp_embedder **out, imp_error *error)
{
    *out = NULL;
    imp_embedder *embedder = imp_allocate_zeroed(1, sizeof *embedder);
    if (!embedder)
        return imp_fail_memory(error, "an embedder");
    pthread_mutex_init(&embedder->mutex, NULL);
    embedder->process.patience = patience;
    embedder->command = imp_duplicate(command);
    embedder->cache = cache ? imp_source_join(cache, "embeddings") : NULL;
    imp_status status = IMP_OK;
    if (!embedder->command || (cache && !embedder->cache))
        status = imp_fail_memory(error, "an embedder");
    else if (!cache || !imp_embedder_recall(embedder->cache, command, &embedder->hello))
        status = name_command(embedder, start(embedder, error), error);
    if (status)
        imp_embedder_free(embedder);
    else
        *out = embedder;
    return status;
}

void imp_embedder_free(imp_embedder *embedder)
{
    if (!embedder)
        return;
    imp_embedder_stop(&embedder->process);
    imp_embedder_hello_clear(&embedder->hello);
    pthread_mutex_destroy(&embedder->mutex);
    imp_release(embedder->command);
    imp_release(embedder->cache);
    imp_release(embedder);
}

const imp_embedder_hello *imp_embedder_hello_of(const imp_embedder *embedder)
{
    return &embedder->hello;
}

imp_embedder_title imp_embedder_title_of(const imp_embedder *embedder)
{
    imp_embedder_title title;
    snprintf(title.text, sizeof title.text, "%s %s", embedder->hello.name, embedder->hello.version);
    return title;
}

/* ---- one call ---- */

typedef struct job {
    imp_embedder *embedder;
    imp_gallery *gallery;
    float *embeddings;
    size_t dimensions;
    imp_embedding_cache *cache; /* or NULL */
    uint8_t *digests;           /* (pictures, IMP_CONTENT_BYTES) */
    size_t *missing;            /* (missing_count): pictures to ask for */
    size_t missing_count;
    size_t done, starts;
    imp_embed_progress *progress;
    void *context;
    char *folder; /* for members of archives, or NULL */
} job;

static float *row_of(const job *work, size_t picture)
{
    return work->embeddings + picture * work->dimensions;
}

static imp_status report(imp_error *error, void *context)
{
    const job *work = context;
    return work->progress ? work->progress(work->done, work->gallery->count, error, work->context)
                          : IMP_OK;
}

/* Reads a file for its digest. */
static void digest_one(size_t picture, int worker, void *context)
{
    (void)worker;
    const job *work = context;
    uint8_t *bytes;
    size_t size;
    imp_error fault;
    if (imp_gallery_bytes(work->gallery, picture, &bytes, &size, &fault)) {
        work->gallery->pictures[picture].fault = imp_fault_keep(NULL, &fault);
        return;
    }
    struct sha256_ctx state;
    sha256_init(&state);
    sha256_update(&state, size, bytes);
    sha256_digest(&state, IMP_CONTENT_BYTES, work->digests + picture * IMP_CONTENT_BYTES);
    imp_release(bytes);
}

/* Takes what is cached, and lists what is missing. */
static imp_status look_up(job *work, int threads, imp_error *error)
{
    imp_gallery *gallery = work->gallery;
    imp_status status = IMP_OK;
    if (work->embedder->cache)
        status = imp_embedding_cache_open(work->embedder->cache, IMP_CACHE_LIMIT,
                                          &work->embedder->hello, &work->cache, error);
    if (status)
        return status;
    imp_parallel(gallery->count, imp_parallel_threads(threads), digest_one, work);
    for (size_t i = 0; i < gallery->count; i++) {
        const imp_fault *fault = gallery->pictures[i].fault;
        if (imp_fault_is_memory(fault))
            return imp_fail_memory(error, "reading files");
        bool known = work->cache && !fault &&
                     imp_embedding_cache_find(work->cache, work->digests + i * IMP_CONTENT_BYTES,
                                              row_of(work, i));
        if (known || fault)
            work->done++;
        else
            work->missing[work->missing_count++] = i;
    }
    return IMP_OK;
}

/* ---- members of archives ---- */

/* The extension of a name, if it is a plain one: programs rely on it. */
static const char *ending_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (!dot || strlen(dot) > 10)
        return "";
    for (const char *at = dot + 1; *at; at++)
        if (!((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
              (*at >= 'A' && *at <= 'Z')))
            return "";
    return dot;
}

static imp_status make_folder(job *work, imp_error *error)
{
    if (work->folder)
        return IMP_OK;
    const char *above = getenv("TMPDIR");
    work->folder = imp_source_join(above && above[0] ? above : "/tmp", "imp-XXXXXX");
    if (!work->folder)
        return imp_fail_memory(error, "a path");
    if (mkdtemp(work->folder))
        return IMP_OK;
    imp_status status =
        imp_fail(error, IMP_EIO, "cannot make a temporary folder: %s", strerror(errno));
    imp_release(work->folder);
    work->folder = NULL;
    return status;
}

/* Writes a member of an archive to a temporary file; the caller releases its path. */
static imp_status write_member(job *work, size_t picture, char **path, imp_error *error)
{
    *path = NULL;
    uint8_t *bytes;
    size_t size;
    imp_status status = imp_gallery_bytes(work->gallery, picture, &bytes, &size, error);
    if (status)
        return status;
    status = make_folder(work, error);
    char name[40];
    snprintf(name, sizeof name, "%zu%s", picture, ending_of(work->gallery->pictures[picture].path));
    if (!status) {
        *path = imp_source_join(work->folder, name);
        status =
            *path ? imp_create_file(*path, bytes, size, error) : imp_fail_memory(error, "a path");
    }
    if (status) {
        imp_release(*path);
        *path = NULL;
    }
    imp_release(bytes);
    return status;
}

/* ---- asking ---- */

/* Sends requests, starting the program if necessary. */
static imp_status ask(job *work, imp_embedder_question *questions, size_t count, size_t *answered,
                      imp_error *error)
{
    imp_embedder *embedder = work->embedder;
    *answered = 0;
    if (!embedder->process.running) {
        work->starts++;
        imp_status status = start(embedder, error);
        if (status)
            return status;
    }
    return imp_embedder_ask(&embedder->process, questions, count, work->dimensions, answered,
                            error);
}

/* A file on which the embedder failed alone. */
static void blame(imp_embedder_question *question, const imp_error *error)
{
    imp_error fault;
    imp_fail(&fault, error->status, "the embedder failed on this file: %s", error->message);
    question->fault = imp_fault_keep(question->name, &fault);
}

/* Whether the failure may be due to one file, so that the others can continue. */
static bool is_survivable(job *work, imp_status status)
{
    return (status == IMP_EIO || status == IMP_EFORMAT) && work->starts < MOST_STARTS &&
           !report(NULL, work);
}

/* Asks for a batch and, if that fails, for the rest of it one by one. */
static imp_status ask_batch(job *work, imp_embedder_question *questions, size_t count,
                            imp_error *error)
{
    size_t at;
    bool alone = count == 1;
    imp_error failure;
    imp_status status = ask(work, questions, count, &at, &failure);
    while (status && is_survivable(work, status)) {
        if (alone)
            blame(&questions[at++], &failure);
        alone = true;
        status = IMP_OK;
        for (size_t answered; at < count && !status; at += answered)
            status = ask(work, &questions[at], 1, &answered, &failure);
    }
    work->done += at;
    if (!status)
        return IMP_OK;
    if (work->starts >= MOST_STARTS)
        imp_fail(error, status, "it failed %d times, the last time on '%.300s': %s", MOST_STARTS,
                 questions[at].name, failure.message);
    else
        imp_fail(error, status, "%s", failure.message);
    return name_command(work->embedder, status, error);
}

/* The files of one batch: paths, replies, and what to cache. */
static imp_status embed_batch(job *work, const size_t *pictures, size_t count, imp_error *error)
{
    imp_embedder_question *questions = imp_allocate_zeroed(count, sizeof *questions);
    char **temporary = imp_allocate_zeroed(count, sizeof *temporary);
    uint8_t *digests = imp_allocate(count, IMP_CONTENT_BYTES);
    const float **rows = imp_allocate(count, sizeof *rows);
    imp_status status = questions && temporary && digests && rows
                            ? IMP_OK
                            : imp_fail_memory(error, "asking an embedder");
    for (size_t i = 0; i < count && !status; i++) {
        const imp_gallery_picture *picture = &work->gallery->pictures[pictures[i]];
        if (picture->archive)
            status = write_member(work, pictures[i], &temporary[i], error);
        questions[i] = (imp_embedder_question){.path = temporary[i] ? temporary[i] : picture->path,
                                               .name = picture->path,
                                               .row = row_of(work, pictures[i])};
    }
    if (!status)
        status = ask_batch(work, questions, count, error);
    size_t good = 0;
    for (size_t i = 0; i < count && questions; i++) {
        work->gallery->pictures[pictures[i]].fault = questions[i].fault;
        if (!status && imp_fault_is_memory(questions[i].fault))
            status = imp_fail_memory(error, "asking an embedder");
        if (!status && !questions[i].fault) {
            memcpy(digests + good * IMP_CONTENT_BYTES,
                   work->digests + pictures[i] * IMP_CONTENT_BYTES, IMP_CONTENT_BYTES);
            rows[good++] = questions[i].row;
        }
    }
    if (!status && work->cache)
        imp_embedding_cache_add(work->cache, digests, rows, good);
    for (size_t i = 0; i < count && temporary; i++)
        if (temporary[i]) {
            unlink(temporary[i]);
            imp_release(temporary[i]);
        }
    imp_release(questions);
    imp_release(temporary);
    imp_release(digests);
    imp_release(rows);
    return status;
}

/* Networks' vectors are compared by angle: their length says how much is in a picture, not what. */
static void scale_to_one(float *row, size_t dimensions)
{
    double sum = 0;
    for (size_t j = 0; j < dimensions; j++)
        sum += (double)row[j] * row[j];
    if (!(sum > 0))
        return;
    double scale = 1 / sqrt(sum);
    for (size_t j = 0; j < dimensions; j++)
        row[j] = (float)(row[j] * scale);
}

static imp_status embed_missing(job *work, imp_error *error)
{
    size_t batch = work->embedder->hello.batch;
    imp_status status = report(error, work);
    for (size_t first = 0; first < work->missing_count && !status; first += batch) {
        size_t left = work->missing_count - first;
        status = embed_batch(work, work->missing + first, left < batch ? left : batch, error);
        if (!status)
            status = report(error, work);
    }
    return status;
}

imp_status imp_embedder_embed(imp_embedder *embedder, imp_gallery *gallery, int threads,
                              imp_embed_progress *progress, void *context, float *embeddings,
                              imp_error *error)
{
    job work = {.embedder = embedder,
                .gallery = gallery,
                .embeddings = embeddings,
                .dimensions = embedder->hello.dimensions,
                .digests = imp_allocate(gallery->count, IMP_CONTENT_BYTES),
                .missing = imp_allocate(gallery->count, sizeof *work.missing),
                .progress = progress,
                .context = context};
    imp_status status =
        work.digests && work.missing ? IMP_OK : imp_fail_memory(error, "asking an embedder");
    pthread_mutex_lock(&embedder->mutex);
    embedder->process.pause = report;
    embedder->process.context = &work;
    if (!status)
        status = look_up(&work, threads, error);
    if (!status)
        status = embed_missing(&work, error);
    embedder->process.pause = NULL;
    pthread_mutex_unlock(&embedder->mutex);
    for (size_t i = 0; i < gallery->count && !status; i++)
        if (!gallery->pictures[i].fault)
            scale_to_one(row_of(&work, i), work.dimensions);
    if (work.folder)
        rmdir(work.folder);
    imp_embedding_cache_free(work.cache);
    imp_release(work.folder);
    imp_release(work.digests);
    imp_release(work.missing);
    return status;
}
