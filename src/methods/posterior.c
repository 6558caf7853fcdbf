/* posterior.c - posteriors of cluster means from counts and sums. */
#include "methods/posterior.h"

#include <math.h>

/* The posterior of the mean has variance s = 1 / (1/sigma_0 + N/sigma) and mean s (sum/sigma +
 * mu_0/sigma_0); the predictive variance of a point is s + sigma. */
void imp_posterior_place(imp_clusters *clusters, size_t c, const imp_base *base)
{
    double members = clusters->weight[c];
    double total = base->sigma + members * base->sigma_0;
    const double *sum = imp_clusters_sum(clusters, c);
    double *mean = imp_clusters_mean(clusters, c);
    for (size_t j = 0; j < clusters->dimensions; j++)
        mean[j] = (base->sigma_0 * sum[j] + base->sigma * base->mu_0[j]) / total;
    double spread = base->sigma * base->sigma_0 / total;
    imp_clusters_set_density(clusters, c, spread + base->sigma, log(members));
}

void imp_posterior_join(imp_clusters *clusters, size_t c, const float *x, double by)
{
    double *sum = imp_clusters_sum(clusters, c);
    clusters->weight[c] += by;
    for (size_t j = 0; j < clusters->dimensions; j++)
        sum[j] += by * x[j];
}

double imp_posterior_new(const imp_base *base, double alpha, const float *x, size_t dimensions)
{
    return log(alpha) + imp_log_density(imp_squared_distance(x, base->mu_0, dimensions),
                                        base->sigma_0 + base->sigma, dimensions);
}

imp_status imp_posterior_begin(imp_run *run, imp_base *base, double *mu_0, imp_error *error)
{
    imp_clusters *clusters = &run->clusters;
    imp_status status =
        imp_clusters_add_class_means(clusters, &run->points, run->way, base->sigma, error);
    if (!status)
        status = imp_shares_add_labeled(&run->shares, &run->points, error);
    if (status)
        return status;
    imp_clusters_center(clusters, run->way, mu_0);
    base->mu_0 = mu_0;
    for (size_t c = 0; c < clusters->count; c++)
        imp_posterior_place(clusters, c, base);
    return IMP_OK;
}

void imp_posterior_place_all(imp_run *run, imp_base *base, double *mu_0)
{
    const imp_points *points = &run->points;
    imp_clusters *clusters = &run->clusters;
    /* the labelled points' shares come first, and only they determine mu_0 */
    size_t labeled = imp_points_count(points) - points->unlabeled_count;
    imp_shares first = {.share = run->shares.share, .count = labeled};
    imp_shares rest = {.share = run->shares.share + labeled, .count = run->shares.count - labeled};
    imp_means_begin(clusters);
    imp_means_add(clusters, points, &first);
    for (size_t c = 0; c < run->way; c++)
        for (size_t j = 0; j < clusters->dimensions; j++)
            imp_clusters_mean(clusters, c)[j] =
                imp_clusters_sum(clusters, c)[j] / clusters->weight[c];
    imp_clusters_center(clusters, run->way, mu_0);
    base->mu_0 = mu_0;
    imp_means_add(clusters, points, &rest);
    for (size_t c = 0; c < clusters->count; c++)
        imp_posterior_place(clusters, c, base);
}
