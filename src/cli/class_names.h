/*
 * class_names.h - what classes are called: in mixtures that keep their names, and in answers.
 *
 * Names are an imp_labels, of which the labels need not be there.
 */
#ifndef IMP_CLI_CLASS_NAMES_H
#define IMP_CLI_CLASS_NAMES_H

#include <imp/mixture.h>

#include "base/json.h"
#include "base/labels.h"

/* Both return IMP_GO_ON, or the status to exit with after a sentence. */

/* The names of a mixture's classes: those in its note, as this command and pyimp write them, or
 * their numbers. Clear with imp_labels_clear(). */
int imp_names_of_mixture(const char *command, const imp_mixture *mixture, imp_labels *names);

/* Puts the names into the mixture's note, unless they are the numbers of the classes and it knows
 * no others. */
int imp_keep_names(const char *command, imp_mixture *mixture, const imp_labels *names);

/* The name of a class, "none" for -1; and as JSON: an integer, where names are, or a text. */
const char *imp_class_name(const imp_labels *names, int32_t class);
json_t *imp_class_to_json(const imp_labels *names, int32_t class);
json_t *imp_classes_to_json(const imp_labels *names, const int32_t *classes, size_t count);

json_t *imp_names_to_json(const imp_labels *names);

/* Prints a class to the right of a column of 8 characters. */
void imp_print_class(const imp_labels *names, int32_t class);

/* Whether names tell more than numbers do, so that reports list them. */
bool imp_names_matter(const imp_labels *names);

#endif
