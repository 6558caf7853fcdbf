/* classify.c - step 6 of Algorithm 1 for one query: a class scores by its best cluster. */
#include "methods/classify.h"

#include <float.h>
#include <math.h>

#include "methods/softmax.h"

/* Considers cluster c with that density; ties go to the first in the list. */
static void consider(const imp_clusters *clusters, size_t way, size_t c, double density,
                     size_t *best, double *score)
{
    size_t class = clusters->label[c] < 0 ? way : (size_t)clusters->label[c];
    /* Any cluster, however unlikely, beats none. */
    density = density > -DBL_MAX ? density : -DBL_MAX;
    if (best[class] == IMP_NO_CLUSTER || density > score[class] ||
        (density == score[class] && c < best[class])) {
        best[class] = c;
        score[class] = density;
    }
}

void imp_best_clusters(const imp_clusters *clusters, size_t way, const float *x, size_t *best,
                       double *score)
{
    for (size_t k = 0; k <= way; k++) {
        best[k] = IMP_NO_CLUSTER;
        score[k] = -INFINITY;
    }
    for (size_t c = 0; c < clusters->count; c++)
        consider(clusters, way, c, imp_clusters_log_density(clusters, c, x), best, score);
}

void imp_agree(float *probability, size_t outcomes, size_t chosen)
{
    float most = probability[chosen];
    int rivals = 0;
    for (size_t o = 0; o < chosen; o++)
        rivals |= probability[o] >= most;
    for (size_t o = chosen + 1; o < outcomes; o++)
        rivals |= probability[o] > most;
    if (!rivals)
        return;
    for (size_t o = 0; o < outcomes; o++)
        most = probability[o] > most ? probability[o] : most;
    probability[chosen] = nextafterf(most, INFINITY);
}

void imp_write_decision(const imp_decision *made, size_t way, size_t q,
                        const imp_decisions *decisions)
{
    bool decided = made->cluster != IMP_NO_CLUSTER;
    if (decisions->label)
        decisions->label[q] = made->class < way ? (int32_t)made->class : IMP_UNLABELED;
    if (decisions->cluster)
        decisions->cluster[q] = decided ? (int32_t)made->cluster : -1;
    if (decisions->distance)
        decisions->distance[q] = decided ? (float)made->distance : INFINITY;
}

void imp_decide(const imp_clusters *clusters, size_t way, bool open_set, const float *x,
                const size_t *best, const double *score, size_t q, const imp_decisions *decisions)
{
    /* Without classes the only choice is "none of these". */
    imp_decision made = {.class = way > 0 ? imp_largest(score, way + open_set) : 0};
    made.cluster = best[made.class];
    if (decisions->distance && made.cluster != IMP_NO_CLUSTER)
        made.distance = imp_clusters_distance(clusters, made.cluster, x);
    imp_write_decision(&made, way, q, decisions);
    size_t outcomes = way + open_set;
    if (decisions->probability && outcomes > 0) {
        float *probability = decisions->probability + q * outcomes;
        imp_probabilities(score, outcomes, probability);
        imp_agree(probability, outcomes, made.class);
    }
}
