/*
 * label_page.h - answers the requests of the labelling page: its files, the state of the project,
 * lists of items, thumbnails, and changes.
 */
#ifndef IMP_SERVE_LABEL_PAGE_H
#define IMP_SERVE_LABEL_PAGE_H

#include <pthread.h>

#include "label/project.h"
#include "serve/server.h"

/* Callbacks for the items' pictures and texts, and for exports. Indices are those of the pile. Each
 * may be called by several threads at once. */
typedef struct imp_label_source {
    /* A thumbnail of at most `side` pixels each way as a PNG file, from malloc(); NULL if the pile
     * has no pictures. */
    imp_status (*picture)(size_t place, uint32_t side, void **png, size_t *size, imp_error *error,
                          void *context);
    /* The beginning of the text, from malloc(); NULL if there is none. */
    char *(*text)(size_t place, void *context);
    /* Writes these items, or all if `items` is NULL, as `format` to `path`. */
    imp_status (*export)(const imp_project *project, const char *format, const char *path,
                         const uint32_t *items, size_t count, imp_error *error, void *context);
    void *context;
} imp_label_source;

typedef struct imp_label_page {
    imp_project *project;
    const char *kind, *place;
    imp_label_source source;
    uint16_t *map;        /* (count, 2): positions on the map */
    pthread_mutex_t lock; /* over the project */
} imp_label_page;

/* The project must outlive the page. On failure there is nothing to release. */
imp_status imp_label_page_create(imp_label_page *page, imp_project *project, const char *kind,
                                 const char *place, const imp_label_source *source,
                                 imp_error *error);
void imp_label_page_release(imp_label_page *page);

/* An imp_serve; the context is the page. */
void imp_label_page_serve(const imp_request *request, imp_response *response, void *context);

/* The state sent to the page; NULL if out of memory. */
json_t *imp_label_page_state(const imp_label_page *page);

extern const char imp_label_html[], imp_label_css[], imp_label_js[];

#endif
