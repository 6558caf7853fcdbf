/*
 * server.h - a web server for one user on this machine.
 *
 * It listens on loopback by default, and answers only requests with the secret token, which is the
 * first part of every path and unknown to other pages, users and machines. Host and Origin are
 * checked as well, against DNS rebinding and cross-site forms. Every response forbids scripts,
 * styles and pictures from elsewhere.
 */
#ifndef IMP_SERVE_SERVER_H
#define IMP_SERVE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

enum {
    IMP_BODY_LIMIT = 16 << 20, /* most bytes of a request body */
    IMP_TOKEN_BYTES = 16
};

typedef struct imp_request {
    const char *path; /* after the token and its slash: "thumb" */
    bool post;        /* POST; else GET */
    const char *body; /* zero-terminated */
    size_t body_size;
    const void *connection; /* for imp_request_argument() */
} imp_request;

/* The value of ?name= in the address, or NULL. */
const char *imp_request_argument(const imp_request *request, const char *name);

typedef struct imp_response {
    unsigned status;  /* HTTP status; 0: 200 */
    const char *type; /* "image/png"; static */
    void *data;       /* from malloc(), or static if `constant` */
    size_t size;
    bool constant;
    bool lasting;     /* the browser may cache it: it never changes */
    const char *file; /* file name of a download; static; NULL: shown */
} imp_response;

/* Fills in a response; called from several threads at once. */
typedef void imp_serve(const imp_request *request, imp_response *response, void *context);

typedef struct imp_server imp_server;

/* Starts answering at `address` (NULL: loopback) and `port` (0: any). On failure *out is NULL:
 * IMP_EIO, IMP_ENOMEM. */
imp_status imp_server_start(const char *address, uint16_t port, imp_serve *serve, void *context,
                            imp_server **out, imp_error *error);

/* "http://127.0.0.1:40123/TOKEN/" */
const char *imp_server_address(const imp_server *server);

/* Ends all connections. NULL is allowed. */
void imp_server_stop(imp_server *server);

#endif
