/*
 * plan.h - an episode's options, completed with defaults and checked against a dataset.
 */
#ifndef IMP_EPISODE_PLAN_H
#define IMP_EPISODE_PLAN_H

#include <imp/episode.h>

/* The default way. */
enum { IMP_USUAL_CLASSES = 5, IMP_USUAL_SUPER_CLASSES = 10 };

typedef struct imp_episode_plan {
    imp_episode_options options; /* with all defaults filled in */
    bool wants_queries;          /* false: as many as the class has, up to options.queries */
    bool parted;                 /* labelled and unlabelled images are disjoint parts of a class */

    /* What may be drawn: groups of classes. A group is one label: a class by itself, or the classes
     * of a super-class that are in the pool. */
    size_t groups;
    uint32_t *group;   /* (groups): the class or super-class */
    uint32_t *begin;   /* (groups + 1): where its classes begin in `classes` */
    uint32_t *classes; /* class numbers, group by group */
} imp_episode_plan;

/* Checks everything that could make an episode impossible. Release with imp_episode_plan_clear();
 * on failure *plan is zeroed. */
imp_status imp_episode_plan_make(imp_episode_plan *plan, const imp_dataset *dataset,
                                 const imp_episode_options *options, imp_error *error);

void imp_episode_plan_clear(imp_episode_plan *plan);

/* How many of a class's images are labelled: all unless plan->parted. */
uint32_t imp_labeled_count(const imp_episode_plan *plan, size_t images);

/* How many queries a class with that many images provides. */
uint32_t imp_query_count(const imp_episode_plan *plan, size_t images);

#endif
