/*
 * pixels.c - converts an episode's images to the input of a network.
 *
 * Vectors are copied. A byte of a picture has only 256 values, so scaling and normalising is a
 * table lookup; rotated classes are rotated on the way.
 */
#include "episode/pixels.h"

#include <string.h>

#include "data/dataset.h"

enum { VALUES = 256, MOST_CHANNELS = 3 };

/* Converts one plane, rotated counter-clockwise. */
static void convert(const uint8_t *from, uint32_t size, uint32_t turns, const float *table,
                    float *to)
{
    ptrdiff_t side = (ptrdiff_t)size;
    if (turns == 0) {
        for (ptrdiff_t i = 0; i < side * side; i++)
            to[i] = table[from[i]];
        return;
    }
    ptrdiff_t right, down;
    from += imp_turn_steps(size, turns, &right, &down);
    for (ptrdiff_t y = 0; y < side; y++)
        for (ptrdiff_t x = 0; x < side; x++)
            *to++ = table[from[y * down + x * right]];
}

void imp_images_to_floats(const imp_dataset *dataset, const uint32_t *images, size_t count,
                          float *pixels)
{
    if (imp_dataset_has_vectors(dataset)) {
        size_t d = dataset->channels;
        for (size_t i = 0; i < count; i++) {
            const imp_class *entry = &dataset->classes[imp_dataset_class_of(dataset, images[i])];
            size_t point = entry->first_picture + (images[i] - entry->first_image);
            memcpy(pixels + i * d, imp_dataset_vector(dataset, point), d * sizeof *pixels);
        }
        return;
    }
    float table[MOST_CHANNELS][VALUES];
    for (size_t channel = 0; channel < dataset->channels; channel++)
        for (int value = 0; value < VALUES; value++)
            table[channel][value] =
                ((float)value / 255.0f - dataset->mean[channel]) / dataset->deviation[channel];

    size_t plane = (size_t)dataset->size * dataset->size;
    for (size_t i = 0; i < count; i++) {
        const imp_class *entry = &dataset->classes[imp_dataset_class_of(dataset, images[i])];
        size_t picture = entry->first_picture + (images[i] - entry->first_image);
        const uint8_t *from = dataset->pixels + picture * imp_picture_bytes(dataset);
        for (size_t channel = 0; channel < dataset->channels; channel++) {
            convert(from + channel * plane, dataset->size, entry->turns, table[channel], pixels);
            pixels += plane;
        }
    }
}

void imp_episode_pixels(const imp_dataset *dataset, const imp_episode *episode, float *pixels)
{
    imp_images_to_floats(dataset, episode->images, imp_episode_size(episode), pixels);
}
