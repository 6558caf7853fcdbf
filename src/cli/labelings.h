/* labelings.h - two labelings of the same points compared: accuracy, agreement, confusion matrix.
 */
#ifndef IMP_CLI_LABELINGS_H
#define IMP_CLI_LABELINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

typedef struct imp_labelings {
    const int32_t *truth, *found; /* (count) */
    const int32_t *answer; /* (count): the class that each point of `found` is taken for: `found`
                              itself if its labels are classes */
    size_t count;
    size_t clusters; /* as in imp_metrics_print() */
} imp_labelings;

/* Prints them, or adds them to a report. Returns IMP_GO_ON or, after printing an error, the exit
 * status. */
int imp_labelings_print(const char *command, const imp_labelings *labelings);
int imp_labelings_to_json(const char *command, const imp_labelings *labelings, json_t *object);

#endif
