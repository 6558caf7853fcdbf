/*
 * server.h - a web server for one person on this machine.
 *
 * It listens on loopback unless told otherwise, and answers only who knows the token, which is the
 * first part of every path: a page of somebody else, another user or another machine does not. Host
 * and Origin are checked as well, so that neither a name that was bound to this address nor a form
 * of another page gets anywhere. Every answer forbids scripts, styles and pictures from elsewhere.
 */
#ifndef IMP_SERVE_SERVER_H
#define IMP_SERVE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

enum {
    IMP_BODY_LIMIT = 16 << 20, /* bytes that a request may bring */
    IMP_TOKEN_BYTES = 16
};

typedef struct imp_request {
    const char *path; /* behind the token and its slash: "thumb" */
    bool post;        /* with a body; else it asks only */
    const char *body; /* zero-terminated */
    size_t body_size;
    const void *connection; /* for imp_request_argument() */
} imp_request;

/* What stands behind ?name= in the address, or NULL. */
const char *imp_request_argument(const imp_request *request, const char *name);

typedef struct imp_response {
    unsigned status;  /* of HTTP; 200 if it is left 0 */
    const char *type; /* "image/png"; static */
    void *data;       /* from malloc(), or static if `constant` */
    size_t size;
    bool constant;
    bool lasting;     /* may be kept by the browser: it never changes */
    const char *file; /* a download of that name; static; NULL: shown */
} imp_response;

/* Fills in a response; called from several threads at once. */
typedef void imp_serve(const imp_request *request, imp_response *response, void *context);

typedef struct imp_server imp_server;

/* Starts to answer at `address` (NULL: loopback) and `port` (0: any). On failure *out is NULL:
 * IMP_EIO with a sentence, IMP_ENOMEM. */
imp_status imp_server_start(const char *address, uint16_t port, imp_serve *serve, void *context,
                            imp_server **out, imp_error *error);

/* "http://127.0.0.1:40123/TOKEN/" */
const char *imp_server_address(const imp_server *server);

/* Ends all connections. NULL is allowed. */
void imp_server_stop(imp_server *server);

#endif
