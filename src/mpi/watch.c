/*
 * watch.c - a thread that waits for connections to end.
 *
 * Rank 0 tells of the others and rank 1 of rank 0. A rank that was lost leaves the rest waiting in
 * MPI forever, so the thread ends its process, and the launcher the other ones.
 */
#define _GNU_SOURCE /* SOCK_CLOEXEC, pipe2 */

#include "mpi/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/thread.h"
#include "cli/cli.h"
#include "mpi/meeting.h"

/* Milliseconds that others have for ending the job: the main thread, if a process was ended; the
 * launcher, if a host is cut off, because it would wait long for an answer of that host to the
 * order to end; and ranks that tell, if this one does not. */
enum { GRACE = 1000, GRACE_OF_LAUNCHER = 15000, GRACE_OF_THE_SILENT = 20000 };

static const char farewell = 'f';

struct imp_watch {
    const char **hosts;
    int rank, size, stream;
    imp_meeting meeting;
    int wake[2]; /* a pipe; the thread ends when its other end is closed */
    pthread_t thread;
    bool lost; /* of the thread, until it is joined */
    /* [0] is `wake`, [r] the connection with rank r, with -1 for none. Rank 0 listens at [size],
     * the others use [1] for rank 0. */
    struct pollfd watched[];
};

/* The number of connections, and of files to wait for. */
static int links(const imp_watch *watch)
{
    return watch->rank == 0 ? watch->size - 1 : 1;
}

static int files(const imp_watch *watch)
{
    return watch->rank == 0 ? watch->size + 1 : 2;
}

static void forget(struct pollfd *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* The other ends will not take this rank for lost. */
static void take_leave(const imp_watch *watch)
{
    for (int i = 1; i <= links(watch); i++)
        if (watch->watched[i].fd >= 0)
            send(watch->watched[i].fd, &farewell, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- the thread ---- */

/* Whether `socket` has ended without a farewell; *error is why, 0 if its other end was closed. */
static bool ended(int socket, bool *taken_leave, int *error)
{
    char byte = 0;
    ssize_t got = recv(socket, &byte, 1, MSG_DONTWAIT);
    *error = got < 0 ? errno : 0;
    *taken_leave = got == 1 && byte == farewell;
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

static void lose(imp_watch *watch, int rank, int error)
{
    bool closed = error == 0 || error == ECONNRESET || error == EPIPE, tells = watch->rank <= 1;
    int grace = !tells ? GRACE_OF_THE_SILENT : closed ? GRACE : GRACE_OF_LAUNCHER;
    if (tells)
        dprintf(watch->stream, "imp-mpi: lost rank %d on %s, %s; the job ends\n", rank,
                watch->hosts[rank],
                closed ? "whose process was ended" : "which cannot be reached any more");
    watch->lost = true;
    take_leave(watch);
    if (poll(watch->watched, 1, grace) == 0)
        _exit(IMP_EXIT_FAILURE);
}

static void welcome(imp_watch *watch)
{
    int rank;
    int link =
        imp_meeting_accept(&watch->meeting, watch->watched[watch->size].fd, watch->size, &rank);
    if (link < 0)
        return;
    forget(&watch->watched[rank]);
    watch->watched[rank].fd = link;
}

static void *keep_watch(void *context)
{
    imp_watch *watch = context;
    struct pollfd *watched = watch->watched;
    if (watch->rank > 0)
        watched[1].fd = imp_meeting_join(&watch->meeting, watch->rank, watched[0].fd);
    while (!watch->lost && (poll(watched, (nfds_t)files(watch), -1) >= 0 || errno == EINTR)) {
        if (watched[0].revents)
            break;
        if (watch->rank == 0 && watched[watch->size].revents)
            welcome(watch);
        for (int i = 1; i <= links(watch) && !watch->lost; i++) {
            bool taken_leave;
            int error;
            if (!watched[i].revents)
                continue;
            if (ended(watched[i].fd, &taken_leave, &error))
                lose(watch, watch->rank == 0 ? i : 0, error);
            else if (taken_leave)
                forget(&watched[i]);
        }
    }
    return NULL;
}

/* ---- begin and end ---- */

static void release(imp_watch *watch)
{
    if (!watch)
        return;
    for (int i = 0; i < files(watch); i++)
        forget(&watch->watched[i]);
    if (watch->wake[1] >= 0)
        close(watch->wake[1]);
    free(watch);
}

static imp_watch *create(const imp_ranks *ranks, const char **hosts, int stream)
{
    size_t room = (size_t)ranks->size + 1;
    imp_watch *watch = calloc(1, sizeof *watch + room * sizeof *watch->watched);
    if (!watch)
        return NULL;
    watch->rank = ranks->rank;
    watch->size = ranks->size;
    watch->hosts = hosts;
    watch->stream = stream;
    for (size_t i = 0; i < room; i++)
        watch->watched[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    if (pipe2(watch->wake, O_CLOEXEC) != 0) {
        free(watch);
        return NULL;
    }
    watch->watched[0].fd = watch->wake[0];
    return watch;
}

imp_watch *imp_watch_begin(const imp_ranks *ranks, const char **hosts, int stream)
{
    if (!imp_ranks_any(ranks))
        return NULL;
    imp_watch *watch = hosts ? create(ranks, hosts, stream) : NULL;
    imp_meeting meeting = {0};
    if (watch && ranks->rank == 0)
        watch->watched[ranks->size].fd = imp_meeting_open(&meeting);
    bool good = MPI_Bcast(&meeting, sizeof meeting, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS &&
                watch && meeting.port > 0;
    if (good) {
        watch->meeting = meeting;
        good = imp_thread_start(&watch->thread, NULL, keep_watch, watch);
    }
    if (good)
        return watch;
    release(watch);
    return NULL;
}

bool imp_watch_end(imp_watch *watch)
{
    if (!watch)
        return false;
    close(watch->wake[1]);
    watch->wake[1] = -1;
    pthread_join(watch->thread, NULL);
    take_leave(watch);
    bool lost = watch->lost;
    release(watch);
    return lost;
}
