/* estimate.c - the stratified estimate of accuracy, with its confidence interval. */
#include "label/estimate.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_STRATA = 6, LEAST_IN_STRATUM = 6 };

/* A drawn item: the certainty of its guess, and whether it was right. */
typedef struct trial {
    float certainty;
    bool right;
} trial;

static int by_certainty(const void *a, const void *b)
{
    const trial *x = a, *y = b;
    return (x->certainty > y->certainty) - (x->certainty < y->certainty);
}

static size_t gather(const imp_labelling *others, const int32_t *drawn, trial *trials)
{
    size_t count = 0;
    for (size_t i = 0; i < others->count; i++)
        if (drawn[i] != IMP_UNKNOWN)
            trials[count++] =
                (trial){others->guess[i].probability, others->guess[i].class == drawn[i]};
    qsort(trials, count, sizeof *trials, by_certainty);
    return count;
}

/* Wilson's interval for a proportion with the variance of `n` trials, estimated with `freedom`
 * degrees of freedom: Student's quantile instead of the normal one, to first order. */
static void set_interval(imp_estimate *estimate, double share, double n, double freedom)
{
    const double normal = 1.96, z = normal * (1 + (normal * normal + 1) / (4 * freedom));
    double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
    double half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n);
    estimate->right = share;
    estimate->least = fmax(0, middle - half);
    estimate->most = fmin(1, middle + half);
}

/* How much more certain the unnamed items are when all answers are used. */
static double advantage(const imp_labelling *all, const imp_labelling *others)
{
    double sum = 0;
    size_t unnamed = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->class[i] == IMP_UNKNOWN) {
            sum += all->guess[i].probability - others->guess[i].probability;
            unnamed++;
        }
    return sum > 0 ? sum / (double)unnamed : 0;
}

static size_t strata_of(size_t trials)
{
    return trials / LEAST_IN_STRATUM < MOST_STRATA ? trials / LEAST_IN_STRATUM : MOST_STRATA;
}

/* From the strata of the sorted trials: the fraction of unnamed items that is right, and its
 * variance. */
static double weigh(const imp_labelling *all, const imp_labelling *others, const trial *trials,
                    size_t count, double *variance)
{
    size_t strata = strata_of(count);
    double unnamed = (double)(all->count - all->answered), mean = 0;
    float low = -INFINITY;
    *variance = 0;
    for (size_t s = 0; s < strata; s++) {
        size_t begin = s * count / strata, end = (s + 1) * count / strata, inside = 0, right = 0;
        float high = s + 1 < strata ? trials[end].certainty : INFINITY;
        for (size_t i = 0; i < all->count; i++)
            inside += all->class[i] == IMP_UNKNOWN && others->guess[i].probability >= low &&
                      others->guess[i].probability < high;
        for (size_t k = begin; k < end; k++)
            right += trials[k].right;
        double n = (double)(end - begin), share = (double)inside / unnamed;
        /* The variance with Jeffreys' prior: a stratum without errors is not perfect. */
        double p = ((double)right + 0.5) / (n + 1);
        mean += share * (double)right / n;
        *variance += share * share * p * (1 - p) / n;
        low = high;
    }
    return mean;
}

imp_estimate imp_estimate_of(const imp_labelling *all, const imp_labelling *others,
                             const int32_t *drawn)
{
    imp_estimate estimate = {0, NAN, NAN, NAN};
    size_t unnamed = all->count - all->answered;
    if (unnamed == 0)
        return (imp_estimate){0, 1, 1, 1};
    trial *trials = malloc(all->count * sizeof *trials);
    if (!trials)
        return estimate;
    size_t count = estimate.drawn = gather(others, drawn, trials);
    if (count >= IMP_ESTIMATE_FROM) {
        double variance, mean = weigh(all, others, trials, count, &variance);
        double spread = mean * (1 - mean) + 0.25 / (double)count;
        set_interval(&estimate, mean, fmax(1, fmin((double)count, spread / variance)),
                     (double)count - (double)strata_of(count));
        double more = advantage(all, others), rest = (double)unnamed / (double)all->count;
        estimate.right = 1 - rest + rest * fmin(1, estimate.right + more);
        estimate.least = 1 - rest + rest * fmin(1, estimate.least + more);
        estimate.most = 1 - rest + rest * fmin(1, estimate.most + more);
    }
    free(trials);
    return estimate;
}
