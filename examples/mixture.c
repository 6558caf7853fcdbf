/*
 * mixture.c - fits a mixture to a few labelled points and classifies others with it.
 *
 * Class 0 lies in two places, which one mean could not represent. The unlabelled points belong to
 * neither class.
 *
 * Last line: (30, 30) is none of these, class -1
 */
#include <imp/mixture.h>

#include "must.h"

int main(void)
{
    const float points[] = {0,  0,  0,  1,  20, 20, 20, 21, /* class 0, here and there */
                            10, 10, 10, 11,                 /* class 1, in between */
                            30, 30, 31, 30};                /* unlabelled */
    const int32_t labels[] = {0, 0, 0, 0, 1, 1, IMP_UNLABELED, IMP_UNLABELED};
    imp_error error;

    imp_mixture_options options = imp_mixture_defaults();
    options.rule.sigma_l = options.rule.sigma_u = 1; /* variances on the scale of these points */
    imp_mixture *mixture;
    must(imp_mixture_fit(points, labels, 8, 2, &options, &mixture, &error), &error);

    char text[1000];
    imp_mixture_describe(mixture, text, sizeof text);
    puts(text);
    imp_mixture_summary summary = imp_mixture_summarize(mixture);
    for (size_t i = 0; i < summary.clusters; i++) {
        imp_mixture_cluster cluster = imp_mixture_cluster_at(mixture, i);
        printf("cluster %zu: class %d, mean (%.1f, %.1f), %.1f points\n", i, (int)cluster.label,
               cluster.mean[0], cluster.mean[1], cluster.weight);
    }

    const float queries[] = {1, 1, 19, 19, 11, 9, 30, 30};
    int32_t found[4];
    float probability[4 * 2];
    imp_mixture_predictions wanted = {.label = found, .probability = probability};
    must(imp_mixture_predict(mixture, queries, 4, 2, false, &wanted, &error), &error);
    for (size_t i = 0; i < 4; i++)
        printf("(%g, %g) is class %d with probability %.2f\n", queries[2 * i], queries[2 * i + 1],
               (int)found[i], probability[2 * i + (size_t)found[i]]);

    /* In open-set mode clusters without a label compete too. */
    wanted.probability = NULL;
    must(imp_mixture_predict(mixture, queries, 4, 2, true, &wanted, &error), &error);
    printf("(30, 30) is %s, class %d\n", found[3] < 0 ? "none of these" : "known", (int)found[3]);
    imp_mixture_free(mixture);
    return 0;
}
