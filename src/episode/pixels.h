/* pixels.h - converts any images of a dataset to floats. */
#ifndef IMP_EPISODE_PIXELS_H
#define IMP_EPISODE_PIXELS_H

#include <imp/episode.h>

/* Writes `count` images to `pixels`, (count, channels, size, size), scaled and normalised. */
void imp_images_to_floats(const imp_dataset *dataset, const uint32_t *images, size_t count,
                          float *pixels);

#endif
