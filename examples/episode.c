/*
 * episode.c - draws a semi-supervised episode: supports, queries, and unlabelled images, some of
 * which belong to none of its classes.
 *
 * Last line: episode 4711 is the same every time
 */
#include <string.h>

#include <imp/episode.h>

#include "must.h"

int main(void)
{
    imp_dataset *dataset;
    imp_error error;
    must(imp_dataset_open("glyphs", NULL, &dataset, &error), &error);

    imp_episode_options options = imp_episode_defaults();
    options.purpose = IMP_FOR_TESTING;
    options.way = 3;
    options.shot = 1;
    options.queries = 2;
    options.unlabeled = 2;
    options.distractors = 1;
    imp_episode episode;
    must(imp_episode_draw(dataset, &options, 4711, &episode, &error), &error);
    printf("%zu-way episode: %zu supports, %zu queries, %zu unlabelled images\n", episode.way,
           episode.supports, episode.queries, episode.unlabeled);
    for (size_t i = 0; i < imp_episode_size(&episode); i++) {
        char name[200];
        imp_dataset_image_name(dataset, episode.images[i], name, sizeof name);
        const char *part = i < episode.supports                     ? "support"
                           : i < episode.supports + episode.queries ? "query"
                                                                    : "unlabelled";
        printf("  %-10s label %2d, in truth %d: %s\n", part, (int)episode.labels[i],
               (int)episode.truth[i], name);
    }

    /* The input of a network: all images in this order, values from 0 to 1. */
    size_t pixels = imp_dataset_size(dataset) * imp_dataset_size(dataset);
    float *images = malloc(imp_episode_size(&episode) * pixels * sizeof *images);
    if (!images)
        return EXIT_FAILURE;
    imp_episode_pixels(dataset, &episode, images);
    double ink = 0;
    for (size_t i = 0; i < pixels; i++)
        ink += images[i];
    printf("ink covers %.0f%% of the first support\n", 100 * ink / (double)pixels);

    /* The same drawings by shaky hands. */
    options.augment = (imp_augmentation){.shift = 0.1, .turn = 10, .zoom = 0.1, .stroke = 0.3};
    must(imp_episode_augmented(dataset, &options, &episode, images, &error), &error);
    double changed = 0;
    for (size_t i = 0; i < pixels; i++)
        changed += images[i];
    printf("and %.0f%% of it when it is changed at random\n", 100 * changed / (double)pixels);
    free(images);

    /* An episode depends on seed, purpose and index alone. */
    imp_episode again;
    char *text, *text_again;
    must(imp_episode_draw(dataset, &options, 4711, &again, &error), &error);
    must(imp_episode_to_json(dataset, &episode, &text, &error), &error);
    must(imp_episode_to_json(dataset, &again, &text_again, &error), &error);
    printf("episode 4711 is %s every time\n", strcmp(text, text_again) == 0 ? "the same" : "new");
    imp_episode_text_free(text);
    imp_episode_text_free(text_again);
    imp_episode_clear(&episode);
    imp_episode_clear(&again);
    imp_dataset_free(dataset);
    return 0;
}
