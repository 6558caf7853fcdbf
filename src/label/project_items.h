/* project_items.h - shared by the two sources of a project: its changes and its items. */
#ifndef IMP_LABEL_PROJECT_ITEMS_H
#define IMP_LABEL_PROJECT_ITEMS_H

#include "label/project.h"

/* Replays a change from the journal, without writing it or updating guesses. */
imp_status imp_project_repeat(imp_project *project, const json_t *change, imp_error *error);

/* "none of these" is the first class. */
imp_status imp_project_begin_classes(imp_project *project, imp_error *error);

#endif
