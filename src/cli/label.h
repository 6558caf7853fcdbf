/*
 * label.h - `imp label` in parts: the command and its page (label.c), the pile that is labelled
 * (label_pile.c), labels in and out (label_import.c, label_export.c), and the simulation
 * (label_simulate.c).
 */
#ifndef IMP_CLI_LABEL_H
#define IMP_CLI_LABEL_H

#include "cli/pictures.h"
#include "label/project.h"
#include "serve/label_page.h"

/* Pictures, files of an embedder, or rows of numbers. */
typedef struct imp_label_pile {
    const char *place, *kind; /* "pictures", "files" or "vectors" */
    const char *embedder;
    imp_embedded embedded; /* of vectors only the rows */
    char **name;           /* (count) */
    char **text;           /* (count): of vectors, what is shown of each; NULL: the name */
    uint64_t *digest;      /* (count) */
    size_t count;
} imp_label_pile;

/* Each returns IMP_GO_ON, or the status to exit with after a sentence. */

/* Reads and embeds the pile at `place`, with progress; `texts` is a file with a line for each row
 * of numbers, or NULL. Release with imp_label_pile_clear(), also after a failure. */
int imp_label_pile_open(imp_label_pile *pile, const char *place, const char *texts,
                        const imp_picture_settings *settings);
void imp_label_pile_clear(imp_label_pile *pile);

imp_project_pile imp_label_pile_view(const imp_label_pile *pile);
imp_label_source imp_label_pile_source(const imp_label_pile *pile);

/* Names items by a CSV file (name, class), a JSON export, .npy labels of all items (negative:
 * none), or a folder whose sub-folders are classes. What is named already keeps its name. */
int imp_label_import(imp_project *project, const char *path);

/* The class of every item by such a file, or by the sub-folders of the pile if it is "folders";
 * IMP_UNKNOWN where it says nothing. Free both with free(). */
int imp_label_truth(const imp_label_pile *pile, const char *path, int32_t **truth);

/* imp_label_source.export: "csv", "json", "copy", "link", "support" or "mixture". */
imp_status imp_label_export(const imp_project *project, const char *format, const char *path,
                            const uint32_t *items, size_t count, imp_error *error, void *pile);

/* Answers by the truth and shows how good the labels are after each answer. */
typedef struct imp_label_simulation {
    const char *truth, *figure;
    int64_t answers, seed, threads;
    bool json;
} imp_label_simulation;

int imp_label_simulate(const imp_label_pile *pile, const imp_label_simulation *given);

#endif
