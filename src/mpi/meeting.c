/* meeting.c - TCP connections of all ranks with rank 0. */
#define _GNU_SOURCE /* accept4, SOCK_CLOEXEC */

#include "mpi/meeting.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE = 2000 }; /* milliseconds that an address, or a word of the other end, may take */

/* What a rank says first; rank 0 answers with the token. */
typedef struct greeting {
    unsigned char token[16];
    uint32_t rank;
} greeting;

static void close_unless(bool good, int *socket)
{
    if (good || *socket < 0)
        return;
    close(*socket);
    *socket = -1;
}

/* Asks every second, after two seconds of silence, whether the other end is still there; three
 * questions without an answer end the connection. */
static bool keep_asking(int socket)
{
    const int on = 1, idle = 2, interval = 1, questions = 3;
    return setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) == 0 &&
           setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle) == 0 &&
           setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval) == 0 &&
           setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &questions, sizeof questions) == 0;
}

/* Waits until `socket` is ready for `events`; false when it takes too long or `wake` can be read.
 */
static bool ready(int socket, short events, int wake)
{
    struct pollfd both[] = {{.fd = socket, .events = events}, {.fd = wake, .events = POLLIN}};
    int found;
    while ((found = poll(both, 2, PATIENCE)) < 0 && errno == EINTR)
        ;
    return found > 0 && both[1].revents == 0;
}

/* The whole message comes in one piece, as it is shorter than any packet. */
static bool receive(int socket, void *message, size_t size, int wake)
{
    return ready(socket, POLLIN, wake) &&
           recv(socket, message, size, MSG_DONTWAIT) == (ssize_t)size;
}

static bool send_all(int socket, const void *message, size_t size)
{
    return send(socket, message, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size;
}

/* ---- rank 0 ---- */

/* This host's addresses; the loopback's is last, as it leads elsewhere on other hosts. */
static void list_addresses(imp_meeting *meeting)
{
    const size_t most = sizeof meeting->address / sizeof *meeting->address - 1;
    struct ifaddrs *all;
    if (getifaddrs(&all) == 0) {
        for (const struct ifaddrs *one = all; one && meeting->count < most; one = one->ifa_next)
            if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET &&
                (one->ifa_flags & (IFF_UP | IFF_LOOPBACK)) == IFF_UP)
                meeting->address[meeting->count++] =
                    ((const struct sockaddr_in *)(const void *)one->ifa_addr)->sin_addr;
        freeifaddrs(all);
    }
    meeting->address[meeting->count++].s_addr = htonl(INADDR_LOOPBACK);
}

int imp_meeting_open(imp_meeting *meeting)
{
    *meeting = (imp_meeting){0};
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t length = sizeof here;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool good = listener >= 0 &&
                getrandom(meeting->token, sizeof meeting->token, 0) == sizeof meeting->token &&
                bind(listener, (const struct sockaddr *)&here, sizeof here) == 0 &&
                listen(listener, SOMAXCONN) == 0 &&
                getsockname(listener, (struct sockaddr *)&here, &length) == 0;
    close_unless(good, &listener);
    if (good) {
        meeting->port = ntohs(here.sin_port);
        list_addresses(meeting);
    }
    return listener;
}

int imp_meeting_accept(const imp_meeting *meeting, int listener, int size, int *rank)
{
    greeting said;
    int link = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (link < 0)
        return -1;
    bool good = receive(link, &said, sizeof said, -1) &&
                memcmp(said.token, meeting->token, sizeof said.token) == 0 && said.rank > 0 &&
                said.rank < (uint32_t)size &&
                send_all(link, meeting->token, sizeof meeting->token) && keep_asking(link);
    *rank = good ? (int)said.rank : 0;
    close_unless(good, &link);
    return link;
}

/* ---- the others ---- */

static bool reach(int socket, const struct sockaddr_in *there, int wake)
{
    int failure = 0;
    socklen_t length = sizeof failure;
    if (connect(socket, (const struct sockaddr *)there, sizeof *there) == 0)
        return true;
    return errno == EINPROGRESS && ready(socket, POLLOUT, wake) &&
           getsockopt(socket, SOL_SOCKET, SO_ERROR, &failure, &length) == 0 && failure == 0;
}

int imp_meeting_join(const imp_meeting *meeting, int rank, int wake)
{
    greeting hello = {.rank = (uint32_t)rank};
    memcpy(hello.token, meeting->token, sizeof hello.token);
    int link = -1;
    for (int i = 0; i < meeting->count && link < 0; i++) {
        struct sockaddr_in there = {.sin_family = AF_INET,
                                    .sin_port = htons(meeting->port),
                                    .sin_addr = meeting->address[i]};
        unsigned char answer[sizeof hello.token];
        link = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        bool good = link >= 0 && reach(link, &there, wake) &&
                    send_all(link, &hello, sizeof hello) &&
                    receive(link, answer, sizeof answer, wake) &&
                    memcmp(answer, hello.token, sizeof answer) == 0 && keep_asking(link);
        close_unless(good, &link);
    }
    return link;
}
