/* project_items.h - what the two files of a project, its changes and its items, share. */
#ifndef IMP_LABEL_PROJECT_ITEMS_H
#define IMP_LABEL_PROJECT_ITEMS_H

#include "label/project.h"

/* Makes a change that the journal has, without writing it or looking at what follows. */
imp_status imp_project_repeat(imp_project *project, const json_t *change, imp_error *error);

/* "none of these" is the first class. */
imp_status imp_project_begin_classes(imp_project *project, imp_error *error);

#endif
