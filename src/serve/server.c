/* server.c - the server, over libmicrohttpd, and its access checks. */
#include "serve/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "base/error.h"

/* Any user of the machine can connect, and holds a connection for PATIENCE seconds without a word:
 * there are more of these than somebody opens by mistake. */
enum { CONNECTIONS = 512, WORKERS = 4, PATIENCE = 30 };

/* A body that goes on after so many bytes is not read to its end. */
enum { MOST_DISCARDED = 4 * IMP_BODY_LIMIT };

struct imp_server {
    struct MHD_Daemon *daemon;
    imp_serve *serve;
    void *context;
    char token[2 * IMP_TOKEN_BYTES + 1];
    char host[2][64]; /* allowed value of Host */
    char address[160];
};

/* ---- responses ---- */

static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static enum MHD_Result respond(struct MHD_Connection *connection, const imp_response *answer)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->size, answer->data,
        answer->constant ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
    if (!response) {
        if (!answer->constant)
            free(answer->data);
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", answer->type);
    MHD_add_response_header(response, "Content-Security-Policy", policy);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "X-Frame-Options", "DENY");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    MHD_add_response_header(response, "Cache-Control",
                            answer->lasting ? "private, max-age=86400" : "no-store");
    if (answer->file) {
        char disposition[128];
        snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"", answer->file);
        MHD_add_response_header(response, "Content-Disposition", disposition);
    }
    enum MHD_Result result =
        MHD_queue_response(connection, answer->status ? answer->status : MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status,
                              const char *sentence)
{
    return respond(connection, &(imp_response){.status = status,
                                               .type = "text/plain; charset=utf-8",
                                               .data = (void *)sentence,
                                               .size = strlen(sentence),
                                               .constant = true});
}

/* ---- access ---- */

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool is_own_host(const imp_server *server, const char *host)
{
    return host &&
           (strcasecmp(host, server->host[0]) == 0 || strcasecmp(host, server->host[1]) == 0);
}

/* Constant-time comparison. */
static bool has_token(const imp_server *server, const char *path)
{
    size_t length = strlen(server->token);
    if (strlen(path) < length + 2 || path[0] != '/' || path[length + 1] != '/')
        return false;
    unsigned wrong = 0;
    for (size_t i = 0; i < length; i++)
        wrong |= (unsigned char)(path[i + 1] ^ server->token[i]);
    return wrong == 0;
}

/* Why a request is refused, or NULL. */
static const char *objection(const imp_server *server, struct MHD_Connection *connection,
                             const char *path, bool post)
{
    if (!is_own_host(server, header(connection, "Host")))
        return "this page is only at the address that 'imp label' printed\n";
    const char *origin = header(connection, "Origin"), *site = header(connection, "Sec-Fetch-Site");
    static const char scheme[] = "http://";
    if (origin && (strncmp(origin, scheme, strlen(scheme)) != 0 ||
                   !is_own_host(server, origin + strlen(scheme))))
        return "this request came from another page\n";
    if (site && post && strcmp(site, "same-origin") != 0)
        return "this request came from another page\n";
    if (!has_token(server, path))
        return "the address lacks its token; use the whole address that 'imp label' printed\n";
    const char *type = header(connection, "Content-Type");
    if (post && (!type || strncmp(type, "application/json", strlen("application/json")) != 0))
        return "a change must be sent as application/json\n";
    return NULL;
}

/* ---- requests ---- */

/* A body that is coming in. */
typedef struct upload {
    char *data;
    size_t size, capacity;
    size_t received; /* bytes, including those that were discarded */
    bool too_large;
} upload;

const char *imp_request_argument(const imp_request *request, const char *name)
{
    return MHD_lookup_connection_value((struct MHD_Connection *)request->connection,
                                       MHD_GET_ARGUMENT_KIND, name);
}

static void take_in(upload *body, const char *data, size_t size)
{
    body->received += size;
    if (body->size + size > IMP_BODY_LIMIT)
        body->too_large = true;
    if (body->too_large)
        return;
    if (body->size + size + 1 > body->capacity) {
        size_t capacity = 2 * (body->size + size) + 1024;
        char *larger = realloc(body->data, capacity);
        if (!larger) {
            body->too_large = true;
            return;
        }
        body->data = larger;
        body->capacity = capacity;
    }
    memcpy(body->data + body->size, data, size);
    body->size += size;
    body->data[body->size] = '\0';
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_size, void **own)
{
    (void)version;
    imp_server *server = context;
    bool post = strcmp(method, "POST") == 0;
    if (!*own) {
        if (!post && strcmp(method, "GET") != 0)
            return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                          "only GET and POST are supported\n");
        const char *why = objection(server, connection, url, post);
        if (why)
            return refuse(connection, MHD_HTTP_FORBIDDEN, why);
        *own = calloc(1, sizeof(upload));
        return *own ? MHD_YES : MHD_NO;
    }
    upload *body = *own;
    if (*data_size > 0) {
        take_in(body, data, *data_size);
        *data_size = 0;
        return body->received <= MOST_DISCARDED ? MHD_YES : MHD_NO;
    }
    if (body->too_large)
        return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE, "the request is too large\n");
    imp_request request = {.path = url + strlen(server->token) + 2,
                           .post = post,
                           .body = body->data ? body->data : "",
                           .body_size = body->size,
                           .connection = connection};
    imp_response response = {.type = "application/octet-stream"};
    server->serve(&request, &response, server->context);
    return respond(connection, &response);
}

static void end_request(void *context, struct MHD_Connection *connection, void **own,
                        enum MHD_RequestTerminationCode code)
{
    (void)context;
    (void)connection;
    (void)code;
    upload *body = *own;
    if (body)
        free(body->data);
    free(body);
    *own = NULL;
}

/* ---- starting and stopping ---- */

static imp_status make_token(imp_server *server, imp_error *error)
{
    unsigned char bytes[IMP_TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return imp_fail(error, IMP_EIO, "cannot get random numbers for a token: %s",
                        strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(server->token + 2 * i, 3, "%02x", bytes[i]);
    return IMP_OK;
}

imp_status imp_server_start(const char *address, uint16_t port, imp_serve *serve, void *context,
                            imp_server **out, imp_error *error)
{
    *out = NULL;
    const char *shown = address ? address : "127.0.0.1";
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, shown, &place.sin_addr) != 1)
        return imp_fail(error, IMP_EINVAL, "'%s' is not an IP address such as 127.0.0.1", shown);
    imp_server *server = calloc(1, sizeof *server);
    if (!server)
        return imp_fail_memory(error, "a server");
    server->serve = serve;
    server->context = context;
    imp_status status = make_token(server, error);
    if (!status) {
        server->daemon = MHD_start_daemon(
            MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, port, NULL, NULL, answer, server,
            MHD_OPTION_SOCK_ADDR, &place, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)PATIENCE, MHD_OPTION_THREAD_POOL_SIZE,
            (unsigned)WORKERS, MHD_OPTION_NOTIFY_COMPLETED, end_request, NULL, MHD_OPTION_END);
        if (!server->daemon)
            status = imp_fail(error, IMP_EIO, "cannot listen at %s port %u: %s", shown,
                              (unsigned)port, strerror(errno));
    }
    if (status) {
        free(server);
        return status;
    }
    const union MHD_DaemonInfo *bound =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    unsigned at = bound ? bound->port : port;
    snprintf(server->host[0], sizeof server->host[0], "%s:%u", shown, at);
    snprintf(server->host[1], sizeof server->host[1], "localhost:%u", at);
    snprintf(server->address, sizeof server->address, "http://%s/%s/", server->host[0],
             server->token);
    *out = server;
    return IMP_OK;
}

const char *imp_server_address(const imp_server *server)
{
    return server->address;
}

void imp_server_stop(imp_server *server)
{
    if (server) {
        MHD_stop_daemon(server->daemon);
        free(server);
    }
}
