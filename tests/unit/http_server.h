/*
 * http_server.h - a small HTTP server in a thread, which can misbehave on demand.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct http_server {
    /* What it serves for any path, and how. Set before it starts, atomic ones at any time. */
    const char *content;
    size_t size;
    atomic_size_t cut_after; /* bytes of an answer before the connection breaks; 0: never */
    atomic_int cuts;         /* how many answers are cut; 0: all */
    bool ignores_ranges;     /* answers every request from the beginning */
    bool missing;            /* 404 */
    bool trickles;           /* sends a byte now and then */
    bool endless;            /* does not say how long the content is, and repeats it for ever */

    /* What happened. */
    atomic_int requests, ranges;

    int port;
    int listener;
    pthread_t thread;
} http_server;

void http_server_start(http_server *server);
void http_server_stop(http_server *server);

#endif
