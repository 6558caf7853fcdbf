/*
 * metrics_roundtrip.c - for check_metrics.py: reads labelings from stdin and writes their metrics.
 *
 * In: per case the number of points, then the true labels, then the found ones. Out: per case one
 * line of purity, NMI and AMI by each average, adjusted Rand index, and accuracy with its interval.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <imp/metrics.h>

int main(void)
{
    static const imp_average averages[] = {IMP_ARITHMETIC, IMP_GEOMETRIC, IMP_MIN, IMP_MAX};
    size_t count;
    while (scanf("%zu", &count) == 1) {
        int32_t *labels = malloc((2 * count + 1) * sizeof *labels);
        if (!labels)
            return 1;
        for (size_t i = 0; i < 2 * count; i++)
            if (scanf("%" SCNd32, &labels[i]) != 1)
                return 1;
        imp_contingency *contingency;
        if (imp_contingency_create(labels, labels + count, count, &contingency, NULL) != IMP_OK)
            return 1;
        printf("%.17g", imp_purity(contingency));
        for (size_t a = 0; a < 4; a++)
            printf(" %.17g", imp_nmi(contingency, averages[a]));
        for (size_t a = 0; a < 4; a++) {
            double ami;
            if (imp_ami(contingency, averages[a], &ami, NULL) != IMP_OK)
                return 1;
            printf(" %.17g", ami);
        }
        printf(" %.17g", imp_adjusted_rand(contingency));
        imp_interval accuracy = imp_accuracy(labels, labels + count, count);
        printf(" %.17g %.17g\n", accuracy.mean, accuracy.half_width);
        imp_contingency_free(contingency);
        free(labels);
    }
    return 0;
}
