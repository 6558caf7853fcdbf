/* augment.h - pictures of an episode changed a little at random, so that no two are ever alike. */
#ifndef IMP_EPISODE_AUGMENT_H
#define IMP_EPISODE_AUGMENT_H

#include <imp/episode.h>

/* Whether any change is asked for. */
bool imp_augmentation_is_on(const imp_augmentation *wanted);

/* IMP_EINVAL names the number that is out of its range. */
imp_status imp_augmentation_check(const imp_augmentation *wanted, imp_error *error);

/* Changes the pixels of an episode, as imp_episode_pixels() wrote them, by random numbers that
 * (seed, purpose, the episode's index) name. `scratch` has room for one channel of a
 * picture. */
void imp_augment(const imp_dataset *dataset, const imp_episode_options *options,
                 const imp_episode *episode, float *pixels, float *scratch);

#endif
