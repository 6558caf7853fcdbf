/*
 * scatter.h - scatter plots of points and clusters: panels side by side and, if there are names, a
 * legend below them.
 */
#ifndef IMP_DRAW_SCATTER_H
#define IMP_DRAW_SCATTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

typedef enum imp_mark {
    IMP_MARK_QUERY,   /* a small pale dot */
    IMP_MARK_SUPPORT, /* a dot */
    IMP_MARK_CLUSTER, /* a ring around a cross */
    IMP_MARK_DOT      /* a small dot, for thousands of points */
} imp_mark;

typedef struct imp_scatter_point {
    double x, y;   /* below 1e150 */
    int32_t label; /* determines the colour, the same in all panels; negative: gray */
    imp_mark mark;
} imp_scatter_point;

typedef struct imp_scatter_panel {
    const char *title, *subtitle;    /* UTF-8; NULL: none */
    const imp_scatter_point *points; /* drawn in this order */
    size_t count;
    double radius; /* radius of the clusters' rings, in units of x and y */
} imp_scatter_panel;

typedef struct imp_scatter {
    const imp_scatter_panel *panels; /* from left to right, each scaled to its content */
    size_t panel_count;              /* at least 1 */
    const char *const *names;        /* of the labels 0 .. name_count-1, in UTF-8, for the legend */
    size_t name_count;               /* 0: no legend */
    bool explains;                   /* the legend also explains supports, queries and clusters */
} imp_scatter;

/* Writes the picture atomically, as PNG or SVG according to the extension of `path`
 * (draw/canvas.h), the same bytes every time. After IMP_PALETTE_SIZE labels (draw/palette.h) the
 * colours repeat.
 *
 * On failure the file is unchanged: IMP_EINVAL for another extension, no panel, more than 50 of
 * them, more than 1000 names, a point that is not finite or too large, or text that is not UTF-8;
 * IMP_EIO; IMP_ENOMEM. */
imp_status imp_scatter_save(const imp_scatter *scatter, const char *path, imp_error *error);

#endif
