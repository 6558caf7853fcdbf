/*
 * page.h - results as a self-contained HTML file, or several if there are thousands of pictures.
 *
 * Thumbnails are embedded, there are no scripts, and the page's content security policy forbids
 * every request, so it can be mailed, archived and opened offline. It follows the reader's light or
 * dark mode and fits a phone.
 *
 * After a failure, writing does nothing; imp_page_end() reports the first one. An interruption
 * (cli/interrupt.h) is a failure.
 */
#ifndef IMP_CLI_PAGE_H
#define IMP_CLI_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

#include "base/file.h"
#include "cli/thumbnail.h"
#include "data/gallery.h"

typedef struct imp_page {
    imp_writer writer;
    char *buffer;
    size_t used;
    imp_thumbnails ahead;
    imp_status status; /* of all so far */
    imp_error error;
} imp_page;

/* page.css, which every page contains. */
extern const char imp_page_style[];

/* Begins the page at `path`, up to its heading; `title` is escaped. */
void imp_page_begin(imp_page *page, const char *path, const char *title);

/* The same for a page that the browser reloads every `seconds`. */
void imp_page_begin_live(imp_page *page, const char *path, const char *title, int seconds);

/* Ends the page and moves it into place. After a failure an earlier file is still there. */
imp_status imp_page_end(imp_page *page, imp_error *error);

/* HTML, not escaped. Untrusted text must not be among the arguments; use imp_page_text(). */
void imp_page_write(imp_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text, escaped for content and attributes. */
void imp_page_text(imp_page *page, const char *text);

/* A warning about the result; NULL writes nothing. */
void imp_page_doubt(imp_page *page, const char *sentence);

/* Announces the pictures that imp_page_picture() will be asked for next, in this order, to make
 * them on all cores. */
void imp_page_ahead(imp_page *page, const imp_thumbnail_of *wanted, size_t count);

/* A picture of the gallery as an <img> of at most `side` pixels each way, with its path as
 * alternative text. */
void imp_page_picture(imp_page *page, const imp_gallery *gallery, size_t picture, uint32_t side);

/* An SVG as an <img>; the alternative text is escaped. */
void imp_page_svg(imp_page *page, const uint8_t *bytes, size_t size, const char *alternative);

/* The part of a path after the last slash. */
const char *imp_page_name(const char *path);

/* The colour of group number `group` as an element's style; page.css derives shades from it. */
typedef struct imp_tint {
    char text[24];
} imp_tint;
imp_tint imp_page_tint(size_t group);

/* A string of at most `most` characters; a longer one is shortened in the middle, since names
 * differ at their ends. */
typedef struct imp_short_name {
    char text[400];
} imp_short_name;
imp_short_name imp_page_short(const char *text, size_t most);

/* The path of page `number`, from 0, of a result with several pages: NAME.html, NAME-2.html and so
 * on. `path` is that of the first. Empty if it would be too long. */
typedef struct imp_page_path {
    char text[4096];
} imp_page_path;
imp_page_path imp_page_number(const char *path, size_t number);

/* The same as an href on another of these pages, up to the "#"; empty for the page itself. */
imp_page_path imp_page_link(const char *path, size_t from, size_t to);

/* Links to all pages; nothing if there is only one. */
void imp_page_pager(imp_page *page, const char *path, size_t number, size_t pages);

/* ---- the map ---- */

typedef enum imp_map_mark {
    IMP_MAP_CLUSTER, /* a cross */
    IMP_MAP_KNOWN,   /* a dot */
    IMP_MAP_ASKED    /* a ring */
} imp_map_mark;

typedef struct imp_map_point {
    const float *at; /* (dimensions) */
    int32_t group;   /* determines the colour; negative: gray */
    imp_map_mark mark;
    const char *title; /* any text */
    size_t link;       /* to the element with id "p<link>"; SIZE_MAX: none */
} imp_map_point;

typedef struct imp_map {
    const imp_map_point *points; /* drawn in this order */
    size_t count, dimensions;
    const char *const *names; /* (groups): written near the group's points, if there is room */
    const char *const *links; /* (groups): where the group is, for maps of thousands of points; may
                                 be NULL */
    size_t groups;
    const char *caption; /* HTML */
} imp_map;

/* Points projected onto their first two principal components. Thousands of points are drawn as
 * densities. */
void imp_page_map(imp_page *page, const imp_map *map);

#endif
