/*
 * episode_files.c - episodes for another program to score, and episodes drawn ahead by a thread.
 *
 * Writes test.jsonl to the current folder.
 *
 * Last line: the feed draws the episodes of the file
 */
#include <string.h>

#include <imp/episode.h>

#include "must.h"

int main(void)
{
    enum { EPISODES = 10 };
    imp_dataset *dataset;
    imp_error error;
    must(imp_dataset_open("glyphs", NULL, &dataset, &error), &error);
    imp_episode_options options = imp_episode_defaults();
    options.purpose = IMP_FOR_TESTING;

    imp_episodes saved;
    must(imp_episodes_save(dataset, &options, 0, EPISODES, "test.jsonl", &error), &error);
    must(imp_episodes_load(dataset, "test.jsonl", &saved, &error), &error);
    printf("test.jsonl holds %zu episodes, %zu-way\n", saved.count, saved.episodes[0].way);

    /* While one episode is worked on, the next two are drawn and their pixels assembled. */
    imp_feed *feed;
    bool same = true;
    must(imp_feed_open(dataset, &options, 0, 2, &feed, &error), &error);
    for (size_t i = 0; i < EPISODES; i++) {
        const imp_task *task;
        must(imp_feed_next(feed, &task, &error), &error);
        const imp_episode *a = &task->episode, *b = &saved.episodes[i];
        same &= memcmp(a->images, b->images, imp_episode_size(b) * sizeof *b->images) == 0;
    }
    imp_feed_close(feed);
    printf("the feed draws %s\n", same ? "the episodes of the file" : "something else");
    imp_episodes_clear(&saved);
    imp_dataset_free(dataset);
    return 0;
}
