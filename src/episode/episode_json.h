/* episode_json.h - an episode as JSON and back; see episode_file.c for files of them. */
#ifndef IMP_EPISODE_EPISODE_JSON_H
#define IMP_EPISODE_EPISODE_JSON_H

#include <imp/episode.h>

#include "base/json.h"

/* What imp_episode_to_json() wrote. Every image is found in the dataset, is of the class that its
 * label stands for, and appears once; every label has supports, and there are queries, but in an
 * unsupervised episode. */
imp_status imp_episode_read_json(const imp_dataset *dataset, const json_t *value,
                                 imp_episode *episode, imp_error *error);

#endif
