/*
 * cluster.c - clusters points without labels: into as many clusters as the data shows or as are
 * wanted, under constraints, or by a threshold tuned on labelled points.
 *
 * Last line: by a tuned threshold: 3 clusters, (11, 1) belongs to number 1
 */
#include <imp/cluster.h>

#include "must.h"

enum { GROUPS = 3, EACH = 20, POINTS = GROUPS * EACH };

/* Three groups of points, scattered over squares of this side. */
static void make_points(float *points, int32_t *labels, float side)
{
    static const float corner[GROUPS][2] = {{0, 0}, {10, 0}, {0, 10}};
    for (int i = 0; i < POINTS; i++) {
        labels[i] = i % GROUPS;
        points[2 * i] = corner[labels[i]][0] + side * (float)(i * 37 % 101) / 101;
        points[2 * i + 1] = corner[labels[i]][1] + side * (float)(i * 59 % 103) / 103;
    }
}

static void cluster(const char *how, const float *points, const imp_cluster_options *options)
{
    imp_clustering *found;
    imp_error error;
    must(imp_cluster(points, POINTS, 2, options, &found, &error), &error);
    const float later[] = {11, 1}; /* a point that arrives after the clustering */
    int32_t nearest;
    must(imp_cluster_assign(found->mean, found->clusters, later, 1, 2, &nearest, &error), &error);
    printf("%s: %zu clusters, (11, 1) belongs to number %d\n", how, found->clusters, (int)nearest);
    imp_clustering_free(found);
}

int main(void)
{
    float points[2 * POINTS], known[2 * POINTS];
    int32_t labels[POINTS], known_labels[POINTS];
    make_points(points, labels, 1);
    make_points(known, known_labels, 0.8f);

    cluster("as many as the points show", points, NULL);

    imp_cluster_options options = imp_cluster_defaults();
    options.clusters = 6;
    options.method = "dp-means";
    cluster("as many as wanted, which is six", points, &options);

    /* Points 0 and 1 must be in one cluster, 0 and 3 must not. */
    const imp_cluster_pair pairs[] = {{0, 1, false}, {0, 3, true}};
    options = imp_cluster_defaults();
    options.pairs = pairs;
    options.pair_count = 2;
    cluster("as two pairs want it", points, &options);

    options = imp_cluster_defaults();
    options.method = "dp-means";
    imp_error error;
    imp_labeled_points validation = {known, known_labels, POINTS};
    must(imp_cluster_tune(&validation, 1, 2, &options, &options.rule.lambda, &error), &error);
    cluster("by a tuned threshold", points, &options);
    return 0;
}
