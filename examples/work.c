/*
 * work.c - hears that a clustering would take long, before it begins, and declines it.
 *
 * Last line: 30000 clusters of 30000 points: declined
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <imp/cluster.h>
#include <imp/work.h>

enum { POINTS = 30000, DIMENSIONS = 2 };

/* Keeps what it is told, and declines. */
static bool decline(const imp_work *work, void *context)
{
    printf("%s\n", work->sentence);
    *(imp_work *)context = *work;
    return false;
}

int main(void)
{
    float *x = malloc(sizeof *x * POINTS * DIMENSIONS);
    if (!x)
        return 1;
    for (size_t i = 0; i < POINTS; i++) {
        x[DIMENSIONS * i] = (float)i;
        x[DIMENSIONS * i + 1] = (float)(i % 7);
    }
    imp_cluster_options options = imp_cluster_defaults();
    options.rule.lambda = 0; /* every point that differs from the others is a cluster */
    imp_clustering *clustering;
    imp_error error;
    imp_work work = {0};
    imp_notice_work(decline, &work);
    imp_status status = imp_cluster(x, POINTS, DIMENSIONS, &options, &clustering, &error);
    imp_notice_work(NULL, NULL);
    printf("%zu clusters of %zu points: %s\n", work.clusters, work.points,
           status ? "declined" : "done");
    imp_clustering_free(clustering);
    free(x);
    return status ? 0 : 1;
}
