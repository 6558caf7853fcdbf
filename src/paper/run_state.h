/* run_state.h - the state of a run, from the files in its folder. */
#ifndef IMP_PAPER_RUN_STATE_H
#define IMP_PAPER_RUN_STATE_H

#include "settings/settings.h"

typedef enum imp_training_stage {
    IMP_RUN_ABSENT, /* not begun */
    IMP_RUN_BEGUN,
    IMP_RUN_TRAINED /* the model exists */
} imp_training_stage;

typedef struct imp_training_state {
    imp_training_stage stage;
    uint64_t update;          /* of the last checkpoint */
    double seconds;           /* spent so far */
    double images_per_second; /* images processed in that time; 0 while the log is empty */
} imp_training_state;

/* Reads the state of a run that should have these settings. IMP_EINVAL names a setting that
 * differs. */
imp_status imp_training_look(const char *folder, const imp_settings *wanted,
                             imp_training_state *state, imp_error *error);

#endif
