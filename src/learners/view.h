/* view.h - an embedded episode in the form that methods take. */
#ifndef IMP_LEARNERS_VIEW_H
#define IMP_LEARNERS_VIEW_H

#include <imp/episode.h>
#include <imp/method.h>

/* `embeddings` has a row of `d` floats for each image, in the episode's order: supports, queries,
 * unlabelled. */
static inline imp_episode_view imp_view_of(const imp_episode *episode, const float *embeddings,
                                           size_t d)
{
    return (imp_episode_view){
        .dimensions = d,
        .way = episode->way,
        .support = embeddings,
        .support_label = episode->labels,
        .support_count = episode->supports,
        .query = embeddings + episode->supports * d,
        .query_label = episode->labels + episode->supports,
        .query_count = episode->queries,
        .unlabeled = embeddings + (episode->supports + episode->queries) * d,
        .unlabeled_count = episode->unlabeled,
    };
}

#endif
