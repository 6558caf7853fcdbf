/* fit_state.c - keeps a fit that is stopped, and takes it up again. */
#include "methods/fit_state.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "methods/mixture_file.h"

/* One number for all options, views among them. */
static uint64_t hash_options(const imp_mixture_options *options)
{
    const imp_rule *rule = &options->rule;
    const double numbers[] = {options->preset,
                              options->metric,
                              options->whitening,
                              options->unlabeled_weight,
                              options->open_set_rate,
                              (double)options->view_count,
                              rule->alpha,
                              rule->sigma_l,
                              rule->sigma_u,
                              rule->lambda,
                              rule->steps};
    uint64_t hash = imp_state_hash(IMP_STATE_HASH, numbers, sizeof numbers);
    for (size_t v = 0; v < options->view_count; v++) {
        hash = imp_state_hash(hash, &options->view_dimensions[v], sizeof(size_t));
        if (options->view_weights)
            hash = imp_state_hash(hash, &options->view_weights[v], sizeof(double));
    }
    return hash;
}

imp_status imp_fit_state_begin(imp_fit_state *fit, const imp_point_source *source,
                               const imp_mixture_options *options, imp_error *error)
{
    char method[60];
    if (!fit)
        return IMP_OK;
    fit->stopped = false;
    fit->at = (imp_cluster_state){0};
    snprintf(method, sizeof method, "a fit, %016" PRIx64, hash_options(options));
    imp_status status = imp_state_print_of(source, method, &fit->print, error);
    return status ? status : imp_cluster_state_begin(fit->path, &fit->print, fit->resume, error);
}

/* The classes are those of the points, so clusters of others cannot be. */
static imp_status check_labels(const imp_fit_state *fit, const imp_mixture *mixture,
                               imp_error *error)
{
    const imp_clusters *clusters = &mixture->clusters;
    for (size_t c = 0; c < clusters->count; c++)
        if (clusters->label[c] < IMP_UNLABELED ||
            (clusters->label[c] >= 0 && (size_t)clusters->label[c] >= mixture->classes))
            return imp_cluster_state_refuse(fit->path, "a cluster is of a class that is not there",
                                            error);
    return IMP_OK;
}

imp_status imp_fit_state_take(imp_fit_state *fit, imp_mixture *mixture, int32_t *assignment,
                              size_t points, imp_error *error)
{
    imp_safetensors *file;
    if (!imp_fit_state_resumes(fit))
        return IMP_OK;
    imp_clusters_restart(&mixture->clusters, mixture->clusters.dimensions);
    imp_status status = imp_cluster_state_load(fit->path, &fit->print, &fit->at, &mixture->clusters,
                                               assignment, points, &file, error);
    if (status)
        return status;
    status = check_labels(fit, mixture, error);
    if (!status && fit->at.part == IMP_PART_SAMPLE) {
        mixture->sample.arrived = fit->at.done;
        status = imp_read_sample(file, mixture, error);
    }
    imp_safetensors_free(file);
    return status;
}

imp_status imp_fit_state_keep(const imp_fit_state *fit, imp_status status,
                              const imp_mixture *mixture, const int32_t *assignment, size_t points,
                              imp_error *error)
{
    if (!status || !fit || !fit->stopped)
        return status;
    imp_state_more more = {0};
    if (fit->at.part == IMP_PART_SAMPLE)
        more.count = imp_list_sample(&mixture->sample, more.tensor);
    imp_status kept = imp_cluster_state_save(fit->path, &fit->print, &fit->at, &mixture->clusters,
                                             assignment, points, &more, error);
    return kept ? kept
                : imp_fail(error, status, "'%s' is from where the fit can be resumed", fit->path);
}
