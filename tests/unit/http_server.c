/* http_server.c - answers one request per connection, whole, in part or not at all. */
#define _DEFAULT_SOURCE

#include "http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* False when nobody listens any more. */
static bool send_all(int connection, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(connection, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

static void trickle(int connection, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size && send_all(connection, bytes + i, 1); i++)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

static void answer(http_server *server, int connection)
{
    char request[4096];
    size_t used = 0;
    while (used + 1 < sizeof request) {
        ssize_t got = recv(connection, request + used, sizeof request - 1 - used, 0);
        if (got <= 0)
            return;
        used += (size_t)got;
        request[used] = '\0';
        if (strstr(request, "\r\n\r\n") != NULL)
            break;
    }
    server->requests++;
    if (server->missing) {
        const char *text = "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone";
        send_all(connection, text, strlen(text));
        return;
    }
    if (server->endless) {
        const char *text = "HTTP/1.1 200 OK\r\n\r\n";
        bool heard = send_all(connection, text, strlen(text));
        while (heard)
            heard = send_all(connection, server->content, server->size);
        return;
    }
    size_t first = 0;
    const char *range = strstr(request, "Range: bytes=");
    if (range != NULL && !server->ignores_ranges) {
        first = strtoul(range + 13, NULL, 10);
        server->ranges++;
    }
    if (first > server->size)
        first = server->size;
    size_t left = server->size - first;
    char head[300];
    int length = first > 0 ? snprintf(head, sizeof head,
                                      "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes "
                                      "%zu-%zu/%zu\r\nContent-Length: %zu\r\n\r\n",
                                      first, server->size - 1, server->size, left)
                           : snprintf(head, sizeof head,
                                      "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", left);
    send_all(connection, head, (size_t)length);
    bool cut = server->cuts == 0 || server->requests <= server->cuts;
    size_t cut_after = server->cut_after;
    if (cut && cut_after > 0 && left > cut_after)
        left = cut_after;
    if (server->trickles)
        trickle(connection, server->content + first, left);
    else
        send_all(connection, server->content + first, left);
}

static void *run(void *argument)
{
    http_server *server = argument;
    for (;;) {
        int connection = accept(server->listener, NULL, NULL);
        if (connection < 0)
            return NULL;
        answer(server, connection);
        shutdown(connection, SHUT_RDWR);
        close(connection);
    }
}

void http_server_start(http_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->listener < 0 ||
        bind(server->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server->listener, 8) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&address, &size) != 0 ||
        pthread_create(&server->thread, NULL, run, server) != 0)
        abort();
    server->port = ntohs(address.sin_port);
}

void http_server_stop(http_server *server)
{
    shutdown(server->listener, SHUT_RDWR); /* accept() returns */
    pthread_join(server->thread, NULL);
    close(server->listener);
}
