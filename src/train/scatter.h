/*
 * scatter.h - points and clusters in the plane as a PNG: panels beside each other.
 */
#ifndef IMP_TRAIN_SCATTER_H
#define IMP_TRAIN_SCATTER_H

#include <stddef.h>
#include <stdint.h>

#include <imp/status.h>

typedef enum imp_mark {
    IMP_MARK_QUERY,   /* a small pale dot */
    IMP_MARK_SUPPORT, /* a dot */
    IMP_MARK_CLUSTER  /* a ring around a cross */
} imp_mark;

typedef struct imp_scatter_point {
    double x, y;
    int32_t label; /* decides the colour; negative is gray */
    imp_mark mark;
} imp_scatter_point;

typedef struct imp_scatter_panel {
    const char *title, *subtitle;
    const imp_scatter_point *points; /* drawn in this order */
    size_t count;
    double radius; /* of the clusters' rings, in units of x and y */
} imp_scatter_panel;

/* Draws the panels from left to right, each scaled to what is in it, and writes atomically. */
imp_status imp_scatter_save(const imp_scatter_panel *panels, size_t count, const char *path,
                            imp_error *error);

#endif
