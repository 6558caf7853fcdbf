/*
 * metrics.c - accuracy, purity, normalised and adjusted mutual information, adjusted Rand index.
 */
#include <imp/metrics.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "methods/contingency.h"

/* ---- means and accuracy ---- */

static imp_interval interval(double sum, double deviation, size_t count)
{
    imp_interval result = {NAN, NAN};
    if (count > 0)
        result.mean = sum / (double)count;
    if (count > 1)
        result.half_width = 1.96 * sqrt(deviation / (double)(count - 1)) / sqrt((double)count);
    return result;
}

imp_interval imp_mean_interval(const double *values, size_t count)
{
    double sum = 0, deviation = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    for (size_t i = 0; i < count; i++) {
        double difference = values[i] - sum / (double)count;
        deviation += difference * difference;
    }
    return interval(sum, deviation, count);
}

imp_interval imp_accuracy(const int32_t *truth, const int32_t *found, size_t count)
{
    size_t right = 0;
    for (size_t i = 0; i < count; i++)
        right += truth[i] == found[i];
    double share = count > 0 ? (double)right / (double)count : 0;
    return interval((double)right, (double)count * share * (1 - share), count);
}

/* ---- information ---- */

/* One term of a sum over pairs or clusters. */
typedef double sum_term(const imp_contingency *contingency, size_t index);

/* The sum of terms begin .. begin+count-1 in NumPy's order: pairwise, from blocks of up to 128 that
 * are summed in eight lanes. */
static double pairwise_sum(const imp_contingency *contingency, sum_term *term, size_t begin,
                           size_t count)
{
    if (count > 128) {
        size_t half = count / 2;
        half -= half % 8;
        return pairwise_sum(contingency, term, begin, half) +
               pairwise_sum(contingency, term, begin + half, count - half);
    }
    size_t whole = count - count % 8;
    double sum = 0, lane[8] = {0};
    for (size_t i = 0; i < whole; i++)
        lane[i % 8] += term(contingency, begin + i);
    if (whole > 0)
        sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
              ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    for (size_t i = whole; i < count; i++)
        sum += term(contingency, begin + i);
    return sum;
}

static double entropy_term(const imp_contingency *contingency, double size)
{
    double points = (double)contingency->points;
    return size / points * (log(size) - log(points));
}

static double class_term(const imp_contingency *contingency, size_t index)
{
    return entropy_term(contingency, contingency->class_size[index]);
}

static double cluster_term(const imp_contingency *contingency, size_t index)
{
    return entropy_term(contingency, contingency->cluster_size[index]);
}

static double information_term(const imp_contingency *contingency, size_t index)
{
    double points = (double)contingency->points, size = contingency->pair_size[index];
    double by_chance = (double)contingency->class_size[contingency->pair_class[index]] *
                       contingency->cluster_size[contingency->pair_cluster[index]];
    double share = size / points;
    double value =
        share * (log(size) - log(points)) + share * (-log(by_chance) + log(points) + log(points));
    return fabs(value) < DBL_EPSILON ? 0 : value;
}

static double mutual_information(const imp_contingency *contingency)
{
    if (contingency->classes <= 1 || contingency->clusters <= 1)
        return 0;
    double sum = pairwise_sum(contingency, information_term, 0, contingency->pairs);
    return sum > 0 ? sum : 0;
}

/* The average of the two labelings' entropies. */
static double normalizer(const imp_contingency *contingency, imp_average average)
{
    double classes = 0, clusters = 0; /* 0 for a single label */
    if (contingency->classes > 1)
        classes = -pairwise_sum(contingency, class_term, 0, contingency->classes);
    if (contingency->clusters > 1)
        clusters = -pairwise_sum(contingency, cluster_term, 0, contingency->clusters);
    switch (average) {
    case IMP_GEOMETRIC:
        return sqrt(classes * clusters);
    case IMP_MIN:
        return classes < clusters ? classes : clusters;
    case IMP_MAX:
        return classes > clusters ? classes : clusters;
    case IMP_ARITHMETIC:
        break;
    }
    return (classes + clusters) / 2;
}

/* Neither labeling divides the points: a perfect match. */
static bool is_whole(const imp_contingency *contingency)
{
    return contingency->classes <= 1 && contingency->clusters <= 1;
}

double imp_nmi(const imp_contingency *contingency, imp_average average)
{
    if (is_whole(contingency))
        return 1;
    double information = mutual_information(contingency);
    return information == 0 ? 0 : information / normalizer(contingency, average);
}

double imp_adjusted_information(const imp_contingency *contingency, imp_average average,
                                double expected)
{
    if (is_whole(contingency))
        return 1;
    double most = normalizer(contingency, average), room = most - expected;
    /* If chance alone gives perfect agreement, both differences are rounding errors, which depend
     * on the machine's logarithm. */
    if (fabs(room) <= 1e-12 * fmax(most, 1))
        return 0;
    return (mutual_information(contingency) - expected) / room;
}

imp_status imp_ami(const imp_contingency *contingency, imp_average average, double *ami,
                   imp_error *error)
{
    double expected;
    imp_status status = imp_expected_information(contingency, &expected, error);
    if (!status)
        *ami = imp_adjusted_information(contingency, average, expected);
    return status;
}

/* ---- counts ---- */

double imp_purity(const imp_contingency *contingency)
{
    if (contingency->points == 0)
        return 1;
    size_t right = 0;
    /* The pairs of one cluster are adjacent. */
    for (size_t p = 0; p < contingency->pairs;) {
        uint32_t cluster = contingency->pair_cluster[p], most = 0;
        for (; p < contingency->pairs && contingency->pair_cluster[p] == cluster; p++)
            if (contingency->pair_size[p] > most)
                most = contingency->pair_size[p];
        right += most;
    }
    return (double)right / (double)contingency->points;
}

double imp_adjusted_rand(const imp_contingency *contingency)
{
    /* Ordered pairs of points; at most 2^62, so that products of two fit in 128 bits. */
    typedef __int128 wide;
    wide points = (wide)contingency->points, together = 0, same_class = 0, same_cluster = 0;
    for (size_t p = 0; p < contingency->pairs; p++)
        together += (wide)contingency->pair_size[p] * contingency->pair_size[p];
    for (size_t i = 0; i < contingency->classes; i++)
        same_class += (wide)contingency->class_size[i] * contingency->class_size[i];
    for (size_t i = 0; i < contingency->clusters; i++)
        same_cluster += (wide)contingency->cluster_size[i] * contingency->cluster_size[i];

    wide in_both = together - points, only_class = same_class - together;
    wide only_cluster = same_cluster - together;
    wide in_neither = points * points - only_class - only_cluster - together;
    if (only_class == 0 && only_cluster == 0)
        return 1;
    return 2.0 * (double)(in_both * in_neither - only_class * only_cluster) /
           (double)((in_both + only_class) * (only_class + in_neither) +
                    (in_both + only_cluster) * (only_cluster + in_neither));
}
