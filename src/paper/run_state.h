/* run_state.h - how far a run is, from what lies in its folder. */
#ifndef IMP_PAPER_RUN_STATE_H
#define IMP_PAPER_RUN_STATE_H

#include "settings/settings.h"

typedef enum imp_training_stage {
    IMP_RUN_ABSENT, /* not begun */
    IMP_RUN_BEGUN,
    IMP_RUN_TRAINED /* the model is there */
} imp_training_stage;

typedef struct imp_training_state {
    imp_training_stage stage;
    uint64_t update;          /* of the last checkpoint */
    double seconds;           /* spent so far, and */
    double images_per_second; /* how many it embedded meanwhile; 0 while the log is empty */
} imp_training_state;

/* Looks into the folder of a run that should have these settings. A run that has others is refused:
 * IMP_EINVAL names the setting. */
imp_status imp_training_look(const char *folder, const imp_settings *wanted,
                             imp_training_state *state, imp_error *error);

#endif
