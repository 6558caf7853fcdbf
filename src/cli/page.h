/*
 * page.h - a result to look at: an HTML file that needs nothing else, or several where there are
 * thousands of pictures.
 *
 * Small copies of pictures are embedded, there are no scripts, and a policy in the page itself
 * forbids every request; so it can be mailed, kept, and opened without a network. It follows the
 * light or dark mode of its reader and fits a phone.
 *
 * Writing goes on after a failure without doing anything; imp_page_end() tells of the first one. An
 * interruption (cli/interrupt.h) is a failure.
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

/* page.css, as it stands in every page. */
extern const char imp_page_style[];

/* Begins the page at `path`, up to its heading; `title` may be any text. */
void imp_page_begin(imp_page *page, const char *path, const char *title);

/* The same for a page that the browser loads again every so many seconds. */
void imp_page_begin_live(imp_page *page, const char *path, const char *title, int seconds);

/* Ends it and puts it in its place. After a failure what was there before is still there. */
imp_status imp_page_end(imp_page *page, imp_error *error);

/* HTML as it is. Texts from outside must not be among the arguments; they go to imp_page_text(). */
void imp_page_write(imp_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Any text, escaped for content and attributes. */
void imp_page_text(imp_page *page, const char *text);

/* A sentence that calls the result into question; NULL writes nothing. */
void imp_page_doubt(imp_page *page, const char *sentence);

/* Says what imp_page_picture() is going to be asked for next, in this order, so that it can be made
 * on all cores. */
void imp_page_ahead(imp_page *page, const imp_thumbnail_of *wanted, size_t count);

/* A picture of the gallery as an <img> of at most `side` pixels each way, with its path as the
 * alternative text. */
void imp_page_picture(imp_page *page, const imp_gallery *gallery, size_t picture, uint32_t side);

/* An SVG as an <img>, with any text as the alternative. */
void imp_page_svg(imp_page *page, const uint8_t *bytes, size_t size, const char *alternative);

/* The part of a path behind the last slash. */
const char *imp_page_name(const char *path);

/* The colour of group number `group` as the style of an element, which page.css makes shades of. */
typedef struct imp_tint {
    char text[24];
} imp_tint;
imp_tint imp_page_tint(size_t group);

/* A text of at most `most` characters: a longer one is cut in the middle, since names differ at
 * their ends. */
typedef struct imp_short_name {
    char text[400];
} imp_short_name;
imp_short_name imp_page_short(const char *text, size_t most);

/* Where page number `number`, from 0 on, of a result is that takes several: NAME.html, NAME-2.html
 * and so on beside each other. `path` is that of the first. Empty if that is too long. */
typedef struct imp_page_path {
    char text[4096];
} imp_page_path;
imp_page_path imp_page_number(const char *path, size_t number);

/* The same as what stands in an href on another of these pages, up to the "#"; empty for the page
 * itself. */
imp_page_path imp_page_link(const char *path, size_t from, size_t to);

/* Links to all pages; nothing where there is one. */
void imp_page_pager(imp_page *page, const char *path, size_t number, size_t pages);

/* ---- the map ---- */

typedef enum imp_map_mark {
    IMP_MAP_CLUSTER, /* a cross */
    IMP_MAP_KNOWN,   /* a dot */
    IMP_MAP_ASKED    /* a ring */
} imp_map_mark;

typedef struct imp_map_point {
    const float *at; /* (dimensions) */
    int32_t group;   /* decides the colour; negative is gray */
    imp_map_mark mark;
    const char *title; /* any text */
    size_t link;       /* to the element of id "p<link>"; SIZE_MAX: to nowhere */
} imp_map_point;

typedef struct imp_map {
    const imp_map_point *points; /* drawn in this order */
    size_t count, dimensions;
    const char *const *names; /* (groups): written where the group's points are, if there is room */
    const char *const *links; /* (groups): where the group is, for maps of thousands of points; may
                                 be NULL */
    size_t groups;
    const char *caption; /* HTML */
} imp_map;

/* Points laid into the plane of their two largest principal components. Of thousands their density
 * is drawn. */
void imp_page_map(imp_page *page, const imp_map *map);

#endif
