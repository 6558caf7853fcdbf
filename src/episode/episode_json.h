/* episode_json.h - an episode as JSON and back; episode_file.c has files of them. */
#ifndef IMP_EPISODE_EPISODE_JSON_H
#define IMP_EPISODE_EPISODE_JSON_H

#include <imp/episode.h>

#include "base/json.h"

/* Reads what imp_episode_to_json() wrote. Every image must exist in the dataset, have the class of
 * its label and appear once; except in an unsupervised episode, every label must have supports and
 * there must be queries. */
imp_status imp_episode_read_json(const imp_dataset *dataset, const json_t *value,
                                 imp_episode *episode, imp_error *error);

#endif
