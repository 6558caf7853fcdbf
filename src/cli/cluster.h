/*
 * cluster.h - `imp cluster` in two parts: points from a file (cluster.c), and a pile of pictures
 * (cluster_pictures.c), whose groups can also be shown on a page (cluster_page.c) and copied to
 * sub-folders (sorted_folder.c).
 */
#ifndef IMP_CLI_CLUSTER_H
#define IMP_CLI_CLUSTER_H

#include <imp/cluster.h>

#include "cli/pictures.h"

typedef struct imp_cluster_settings {
    const char *method;
    int order;
    imp_rule rule;
    const char *labels, *truth, *must_link, *cannot_link, *validation, *validation_labels;
    int64_t clusters, seed;
    imp_picture_settings pictures;
    const char *copy_to, *link_to, *html; /* NULL: not given */
    const char *output;                   /* likewise: of points */
    int64_t memory;                       /* megabytes */
    bool json, resume;
} imp_cluster_settings;

/* The given settings as the library's options. */
imp_cluster_options imp_cluster_options_from(const imp_cluster_settings *given);

/* Sorts the pictures of a folder into groups. Returns the exit status. */
int imp_cluster_pictures(const imp_cluster_settings *given, const char *folder);

/* A cluster with pictures in it. */
typedef struct imp_group {
    size_t first, count; /* its part of imp_sorting.order */
    size_t cluster;
} imp_group;

/* A sorted pile: largest group first and, within a group, most typical picture first. */
typedef struct imp_sorting {
    const imp_cluster_settings *given;
    const char *folder, *model; /* the names */
    const char *doubt;          /* why the model may not suit the pictures: a sentence, or NULL */
    imp_embedded pile;
    imp_clustering *found;
    imp_group *groups;
    size_t group_count;
    size_t *order;   /* (pictures): group by group */
    json_t *metrics; /* against the folder's sub-folders; NULL if there are none */
} imp_sorting;

/* Writes the groups as a page. */
imp_status imp_sorting_page(const imp_sorting *work, const char *path, imp_error *error);

#endif
