/*
 * label.h - `imp label` in parts: the command and its page (label.c), the pile to label
 * (label_pile.c), import and export of labels (label_import.c, label_export.c), and the simulation
 * (label_simulate.c).
 */
#ifndef IMP_CLI_LABEL_H
#define IMP_CLI_LABEL_H

#include "cli/pictures.h"
#include "label/project.h"
#include "serve/label_page.h"

/* Pictures, files for an embedder, or vectors. */
typedef struct imp_label_pile {
    const char *place, *kind; /* "pictures", "files" or "vectors" */
    const char *embedder;
    imp_rows vectors;      /* as read, if it is a pile of vectors */
    imp_embedded embedded; /* else the files, with their vectors */
    imp_rows rows;         /* those of either */
    char **name;           /* (count) */
    char **text;           /* (count): for vectors, the text shown for each; NULL: the name */
    uint64_t *digest;      /* (count) */
    size_t count;
} imp_label_pile;

/* Each returns IMP_GO_ON or, after printing an error, the exit status. */

/* Reads and embeds the pile at `place`, with progress; `texts` is a file with a line per vector, or
 * NULL. Release with imp_label_pile_clear(), even after a failure. */
int imp_label_pile_open(imp_label_pile *pile, const char *place, const char *texts,
                        const imp_picture_settings *settings);
void imp_label_pile_clear(imp_label_pile *pile);

imp_project_pile imp_label_pile_view(const imp_label_pile *pile);
imp_label_source imp_label_pile_source(const imp_label_pile *pile);

/* Labels items from a CSV file (name, class), a JSON export, .npy labels of all items (negative:
 * none), or a folder whose sub-folders are classes. Items that have a label keep it. */
int imp_label_import(imp_project *project, const char *path);

/* The class of every item from such a file, or from the pile's sub-folders if it is "folders";
 * IMP_UNKNOWN for items it does not list. Free both with free(). */
int imp_label_truth(const imp_label_pile *pile, const char *path, int32_t **truth);

/* imp_label_source.export: "csv", "json", "copy", "link", "support" or "mixture". */
imp_status imp_label_export(const imp_project *project, const char *format, const char *path,
                            const uint32_t *items, size_t count, imp_error *error, void *pile);

/* Answers with the truth and prints the accuracy after each answer. */
typedef struct imp_label_simulation {
    const char *truth, *figure;
    int64_t answers, seed, threads;
    bool json;
} imp_label_simulation;

int imp_label_simulate(const imp_label_pile *pile, const imp_label_simulation *given);

#endif
