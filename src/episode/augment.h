/* augment.h - random changes of an episode's pictures. */
#ifndef IMP_EPISODE_AUGMENT_H
#define IMP_EPISODE_AUGMENT_H

#include <imp/episode.h>

/* Whether any change is enabled. */
bool imp_augmentation_is_on(const imp_augmentation *wanted);

/* IMP_EINVAL for a value out of range, which the sentence names. */
imp_status imp_augmentation_check(const imp_augmentation *wanted, imp_error *error);

/* Changes the pixels of an episode, as written by imp_episode_pixels(), with random numbers
 * determined by (seed, purpose, the episode's index). `scratch` has room for one channel of a
 * picture. */
void imp_augment(const imp_dataset *dataset, const imp_episode_options *options,
                 const imp_episode *episode, float *pixels, float *scratch);

#endif
