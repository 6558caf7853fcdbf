/*
 * embedder_process.c - starts an embedder and exchanges files for vectors with it.
 *
 * Both directions are served at once, because the program may answer the first file before it has
 * read the last. Its input is a socket, not a pipe, so that writing to a program that has ended is
 * an error and not a signal, which would end the caller's process.
 */
#define _GNU_SOURCE /* pipe2 */

#include "model/embedder_process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"

extern char **environ;

enum {
    PROTOCOL = 1,
    MOST_HELLO = 1 << 16, /* bytes of its first line */
    MOST_SENTENCE = 4096, /* bytes of an error */
    MOST_DIMENSIONS = 1 << 20,
    MOST_BATCH = 4096,
    USUAL_BATCH = 32,
    HEADER = 5 /* bytes before a record: its type and its length */
};

/* ---- its greeting ---- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!text || !text[0] || strlen(text) > 200)
        return NULL;
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < 0x20)
            return NULL;
    return text;
}

static bool integer_of(const json_t *object, const char *key, json_int_t most, size_t *value)
{
    const json_t *found = json_object_get(object, key);
    json_int_t number = json_integer_value(found);
    if (!json_is_integer(found) || number < 1 || number > most)
        return false;
    *value = (size_t)number;
    return true;
}

imp_status imp_embedder_hello_read(imp_embedder_hello *hello, json_t *object, imp_error *error)
{
    *hello = (imp_embedder_hello){.object = object,
                                  .name = text_of(object, "name"),
                                  .version = text_of(object, "version"),
                                  .batch = USUAL_BATCH};
    size_t protocol;
    const char *wrong = NULL;
    if (!integer_of(object, "imp-embedder", INT32_MAX, &protocol))
        wrong = "\"imp-embedder\": 1 is missing";
    else if (protocol != PROTOCOL)
        wrong = "its protocol version is not 1";
    else if (!hello->name || !hello->version)
        wrong = "\"name\" and \"version\" must be strings of 1 to 200 bytes";
    else if (!integer_of(object, "dimensions", MOST_DIMENSIONS, &hello->dimensions))
        wrong = "\"dimensions\" must be an integer from 1 to 1048576";
    else if (json_object_get(object, "batch") &&
             !integer_of(object, "batch", MOST_BATCH, &hello->batch))
        wrong = "\"batch\" must be an integer from 1 to 4096";
    if (!wrong)
        return IMP_OK;
    imp_embedder_hello_clear(hello);
    return imp_fail(error, IMP_EFORMAT, "its first line is not a valid greeting: %s", wrong);
}

void imp_embedder_hello_clear(imp_embedder_hello *hello)
{
    json_decref(hello->object);
    *hello = (imp_embedder_hello){0};
}

bool imp_embedder_hello_equal(const imp_embedder_hello *a, const imp_embedder_hello *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->version, b->version) == 0 &&
           a->dimensions == b->dimensions;
}

/* ---- its end ---- */

/* Waits up to `seconds` for the end; returns whether it came. */
static bool has_ended(const imp_embedder_process *process, double seconds, int *how)
{
    double begin = imp_clock();
    for (;;) {
        pid_t got = waitpid(process->pid, how, WNOHANG);
        if (got == process->pid)
            return true;
        if (got < 0 && errno != EINTR) {
            *how = 0; /* somebody else has waited for it */
            return true;
        }
        if (imp_clock() - begin >= seconds)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

/* Ends it, at once or after `seconds`, and returns its exit status. */
static int finish(imp_embedder_process *process, double seconds)
{
    int how = 0;
    if (!process->running)
        return how;
    close(process->to);
    if (!has_ended(process, seconds, &how)) {
        kill(-process->pid, SIGKILL); /* including its children */
        while (waitpid(process->pid, &how, 0) < 0 && errno == EINTR)
            ;
    }
    close(process->from);
    imp_release(process->buffer);
    process->buffer = NULL;
    process->begin = process->end = process->capacity = 0;
    process->running = false;
    return how;
}

void imp_embedder_stop(imp_embedder_process *process)
{
    finish(process, 2);
}

/* Its output ended too early. */
static imp_status tell_end(imp_embedder_process *process, imp_error *error)
{
    int how = finish(process, 2);
    int number = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    if (WIFEXITED(how) && WEXITSTATUS(how) > 128) /* a shell's status for a signal */
        number = WEXITSTATUS(how) - 128;
    if (number == SIGKILL)
        return imp_fail(error, IMP_EIO, "it closed its output, or was killed");
    if (number > 0)
        return imp_fail(error, IMP_EIO, "it crashed with signal %d (%s)", number,
                        strsignal(number));
    if (WIFEXITED(how) && WEXITSTATUS(how) == 127)
        return imp_fail(error, IMP_EIO, "the shell did not find it (exit status 127)");
    return imp_fail(error, IMP_EIO, "it exited with status %d in the middle of its work",
                    WEXITSTATUS(how));
}

/* ---- bytes ---- */

/* Data still to be sent. */
typedef struct outbox {
    const char *bytes;
    size_t left;
} outbox;

static imp_status send_some(imp_embedder_process *process, outbox *out, bool *moved,
                            imp_error *error)
{
    ssize_t sent = send(process->to, out->bytes, out->left, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
        out->bytes += sent;
        out->left -= (size_t)sent;
        *moved = true;
    } else if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {
        out->left = 0; /* it has ended, or does not need more: its output will tell */
    } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        return imp_fail(error, IMP_EIO, "cannot write to it: %s", strerror(errno));
    }
    return IMP_OK;
}

/* Makes room for at least one more byte of output. */
static imp_status make_room(imp_embedder_process *process, imp_error *error)
{
    size_t used = process->end - process->begin;
    if (process->begin > 0)
        memmove(process->buffer, process->buffer + process->begin, used);
    process->begin = 0;
    process->end = used;
    if (used < process->capacity)
        return IMP_OK;
    size_t capacity = process->capacity ? 2 * process->capacity : 1 << 16;
    unsigned char *larger = imp_enlarge(process->buffer, used, capacity, 1);
    if (!larger)
        return imp_fail_memory(error, "what an embedder answers");
    imp_release(process->buffer);
    process->buffer = larger;
    process->capacity = capacity;
    return IMP_OK;
}

static imp_status receive_some(imp_embedder_process *process, bool *moved, imp_error *error)
{
    imp_status status = make_room(process, error);
    if (status)
        return status;
    ssize_t got =
        read(process->from, process->buffer + process->end, process->capacity - process->end);
    if (got == 0)
        return tell_end(process, error);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN
                   ? IMP_OK
                   : imp_fail(error, IMP_EIO, "cannot read from it: %s", strerror(errno));
    process->end += (size_t)got;
    *moved = true;
    return IMP_OK;
}

/* Sends and receives until the buffer has `wanted` unconsumed bytes. */
static imp_status wait_for(imp_embedder_process *process, size_t wanted, outbox *out,
                           imp_error *error)
{
    double last = imp_clock();
    imp_status status = IMP_OK;
    while (!status && process->end - process->begin < wanted) {
        struct pollfd ends[] = {{.fd = process->from, .events = POLLIN},
                                {.fd = out->left ? process->to : -1, .events = POLLOUT}};
        double left = process->patience - (imp_clock() - last);
        if (left <= 0) {
            finish(process, 0);
            return imp_fail(error, IMP_EIO, "it has been silent for %g seconds", process->patience);
        }
        int ready = poll(ends, 2, left < 0.2 ? (int)ceil(1000 * left) : 200);
        bool moved = false;
        if (ready < 0 && errno != EINTR)
            status = imp_fail(error, IMP_EIO, "cannot wait for it: %s", strerror(errno));
        if (!status && ready > 0 && ends[1].revents)
            status = send_some(process, out, &moved, error);
        if (!status && ready > 0 && ends[0].revents)
            status = receive_some(process, &moved, error);
        if (!status && process->pause)
            status = process->pause(error, process->context);
        if (moved)
            last = imp_clock();
    }
    if (status)
        finish(process, 0);
    return status;
}

/* ---- starting ---- */

static imp_status spawn(imp_embedder_process *process, const char *command, int input, int output,
                        imp_error *error)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    char *const words[] = {"sh", "-c", (char *)command, NULL};
    int failed = posix_spawn(&process->pid, "/bin/sh", &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed)
        return imp_fail(error, IMP_EIO, "cannot start it: %s", strerror(failed));
    return IMP_OK;
}

static imp_status run(imp_embedder_process *process, const char *command, imp_error *error)
{
    int ends[2], pipes[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return imp_fail(error, IMP_EIO, "cannot start it: %s", strerror(errno));
    imp_status status = IMP_OK;
    if (pipe2(pipes, O_CLOEXEC) != 0)
        status = imp_fail(error, IMP_EIO, "cannot start it: %s", strerror(errno));
    if (!status)
        status = spawn(process, command, ends[1], pipes[1], error);
    close(ends[1]);
    if (pipes[1] >= 0)
        close(pipes[1]);
    if (status) {
        close(ends[0]);
        if (pipes[0] >= 0)
            close(pipes[0]);
        return status;
    }
    shutdown(ends[0], SHUT_RD);
    process->to = ends[0];
    process->from = pipes[0];
    process->running = true;
    return IMP_OK;
}

/* Waits for the whole first line. */
static imp_status read_hello(imp_embedder_process *process, imp_embedder_hello *hello,
                             imp_error *error)
{
    outbox nothing = {0};
    unsigned char *line = NULL, *end = NULL;
    imp_status status = IMP_OK;
    while (!end) {
        size_t have = process->end - process->begin;
        status = have < MOST_HELLO ? wait_for(process, have + 1, &nothing, error)
                                   : imp_fail(error, IMP_EFORMAT, "its first line does not end");
        if (status)
            break;
        line = process->buffer + process->begin;
        end = memchr(line, '\n', process->end - process->begin);
    }
    json_t *object;
    if (!status) {
        status = imp_json_parse((const char *)line, (size_t)(end - line), &object, error);
        if (status)
            imp_error_prefix(error, "its first line is not JSON");
    }
    if (!status) {
        process->begin = (size_t)(end - process->buffer) + 1;
        status = imp_embedder_hello_read(hello, object, error);
    }
    return status;
}

imp_status imp_embedder_start(imp_embedder_process *process, const char *command,
                              imp_embedder_hello *hello, imp_error *error)
{
    *hello = (imp_embedder_hello){0};
    imp_status status = run(process, command, error);
    if (!status)
        status = read_hello(process, hello, error);
    if (status)
        finish(process, 0);
    return status;
}

/* ---- asking ---- */

/* "embed 2\n" and the two paths, each terminated by a zero byte. */
static char *write_request(const imp_embedder_question *questions, size_t count, size_t *size)
{
    size_t room = 40;
    for (size_t i = 0; i < count; i++)
        room += strlen(questions[i].path) + 1;
    char *text = imp_allocate(room, 1);
    if (!text)
        return NULL;
    size_t used = (size_t)snprintf(text, room, "embed %zu\n", count);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(questions[i].path) + 1;
        memcpy(text + used, questions[i].path, length);
        used += length;
    }
    *size = used;
    return text;
}

static float read_float(const unsigned char *bytes)
{
    uint32_t bits = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                    (uint32_t)bytes[3] << 24;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void take_vector(const unsigned char *bytes, size_t dimensions,
                        imp_embedder_question *question)
{
    for (size_t j = 0; j < dimensions; j++) {
        question->row[j] = read_float(bytes + 4 * j);
        if (!isfinite(question->row[j]) && !question->fault) {
            imp_error error;
            imp_fail(&error, IMP_EFORMAT, "number %zu of the embedder's vector is not finite", j);
            question->fault = imp_fault_keep(question->name, &error);
        }
    }
}

static void take_sentence(const unsigned char *bytes, size_t size, imp_embedder_question *question)
{
    imp_error error;
    imp_fail(&error, IMP_EFORMAT, "%.*s", (int)size, (const char *)bytes);
    for (char *at = error.message; *at; at++)
        if ((unsigned char)*at < 0x20)
            *at = ' ';
    question->fault = imp_fault_keep(question->name, &error);
}

static imp_status take_record(imp_embedder_process *process, outbox *out, size_t dimensions,
                              imp_embedder_question *question, imp_error *error)
{
    imp_status status = wait_for(process, HEADER, out, error);
    if (status)
        return status;
    const unsigned char *head = process->buffer + process->begin;
    int kind = head[0];
    size_t size =
        (size_t)head[1] | (size_t)head[2] << 8 | (size_t)head[3] << 16 | (size_t)head[4] << 24;
    if (kind == 'v' && size != 4 * dimensions)
        status = imp_fail(error, IMP_EFORMAT,
                          "it answered with a vector of %zu bytes; %zu dimensions need %zu", size,
                          dimensions, 4 * dimensions);
    else if (kind == 'e' && size > MOST_SENTENCE)
        status = imp_fail(error, IMP_EFORMAT,
                          "it answered with an error of %zu bytes; at most %d "
                          "are allowed",
                          size, MOST_SENTENCE);
    else if (kind != 'v' && kind != 'e')
        status =
            imp_fail(error, IMP_EFORMAT,
                     "it answered with a record of type 0x%02x; the types are 'v' and 'e'", kind);
    if (status) {
        finish(process, 0);
        return status;
    }
    status = wait_for(process, HEADER + size, out, error);
    if (status)
        return status;
    const unsigned char *body = process->buffer + process->begin + HEADER;
    if (kind == 'v')
        take_vector(body, dimensions, question);
    else
        take_sentence(body, size, question);
    process->begin += HEADER + size;
    return IMP_OK;
}

imp_status imp_embedder_ask(imp_embedder_process *process, imp_embedder_question *questions,
                            size_t count, size_t dimensions, size_t *answered, imp_error *error)
{
    *answered = 0;
    outbox out = {0};
    char *request = write_request(questions, count, &out.left);
    if (!request)
        return imp_fail_memory(error, "asking an embedder");
    out.bytes = request;
    imp_status status = IMP_OK;
    for (size_t i = 0; i < count && !status; i++) {
        status = take_record(process, &out, dimensions, &questions[i], error);
        *answered += !status;
    }
    if (!status && (out.left > 0 || process->end > process->begin)) {
        status = imp_fail(error, IMP_EFORMAT,
                          "it answered more than it was asked; nothing but "
                          "records may go to its standard output");
        finish(process, 0);
        --*answered; /* the last answer may be wrong, too */
    }
    imp_release(request);
    return status;
}
