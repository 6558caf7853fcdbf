/*
 * option_checks.c - the checks of options that methods, mixtures and clusterings have in common.
 */
#include "methods/option_checks.h"

#include <math.h>

#include "base/error.h"

imp_status imp_check_sigma(double sigma, const char *name, imp_error *error)
{
    if (imp_is_sigma(sigma))
        return IMP_OK;
    return imp_fail(error, IMP_EINVAL, "%s is %g; a variance is a number from %g to %g", name,
                    sigma, IMP_LEAST_SIGMA, IMP_MOST_SIGMA);
}

imp_status imp_check_alpha(double alpha, imp_error *error)
{
    if (isfinite(alpha) && alpha > 0)
        return IMP_OK;
    return imp_fail(error, IMP_EINVAL, "alpha is %g; a concentration is a finite number above 0",
                    alpha);
}

imp_status imp_check_lambda(double lambda, imp_error *error)
{
    if (isnan(lambda) || (isfinite(lambda) && lambda >= 0))
        return IMP_OK;
    return imp_fail(error, IMP_EINVAL,
                    "lambda is %g; a threshold for squared distances is a finite number of at "
                    "least 0",
                    lambda);
}

imp_status imp_check_steps(size_t cluster_steps, imp_error *error)
{
    if (cluster_steps > 0)
        return IMP_OK;
    return imp_fail(error, IMP_EINVAL, "the number of cluster steps is 0; it is at least 1");
}
