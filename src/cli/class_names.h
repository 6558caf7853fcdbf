/*
 * class_names.h - class names, in mixtures and in answers.
 *
 * Names are held in an imp_labels, whose labels may be absent.
 */
#ifndef IMP_CLI_CLASS_NAMES_H
#define IMP_CLI_CLASS_NAMES_H

#include <imp/mixture.h>

#include "base/json.h"
#include "base/labels.h"

/* Both return IMP_GO_ON or, after printing an error, the exit status. */

/* The names of a mixture's classes: those in its note, as imp and pyimp write them, else their
 * numbers. Clear with imp_labels_clear(). */
int imp_names_of_mixture(const char *command, const imp_mixture *mixture, imp_labels *names);

/* Puts the names into the mixture's note, unless they are just the class numbers and the note has
 * no others. */
int imp_keep_names(const char *command, imp_mixture *mixture, const imp_labels *names);

/* The name of a class, "none" for -1; as JSON it is an integer if the names are, else a string. */
const char *imp_class_name(const imp_labels *names, int32_t class);
json_t *imp_class_to_json(const imp_labels *names, int32_t class);
json_t *imp_classes_to_json(const imp_labels *names, const int32_t *classes, size_t count);

json_t *imp_names_to_json(const imp_labels *names);

/* Prints a class right-aligned in 8 columns. */
void imp_print_class(const imp_labels *names, int32_t class);

/* Whether the names differ from the numbers, so that reports should list them. */
bool imp_names_matter(const imp_labels *names);

#endif
