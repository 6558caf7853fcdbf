/* mixture.c - reading and describing fitted mixtures. */
#include "cli/mixture.h"

#include <stdlib.h>

#include "cli/vectors.h"

int imp_mixture_read(const char *command, const char *path, imp_mixture **mixture)
{
    imp_error error;
    if (imp_mixture_load(path, mixture, &error) != IMP_OK)
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    return IMP_GO_ON;
}

static int print_json(const char *command, const imp_mixture *mixture)
{
    imp_mixture_summary summary = imp_mixture_summarize(mixture);
    json_t *object = imp_json_begin(), *clusters = json_array();
    for (size_t c = 0; c < summary.clusters; c++) {
        imp_mixture_cluster cluster = imp_mixture_cluster_at(mixture, c);
        json_t *entry = json_object(), *mean = json_array();
        for (size_t j = 0; j < summary.dimensions; j++)
            json_array_append_new(mean, imp_json_number(cluster.mean[j]));
        json_object_set_new(entry, "label", json_integer(cluster.label));
        json_object_set_new(entry, "sigma", imp_json_number(cluster.sigma));
        json_object_set_new(entry, "weight", imp_json_number(cluster.weight));
        json_object_set_new(entry, "mean", mean);
        json_array_append_new(clusters, entry);
    }
    json_object_set_new(object, "dimensions", json_integer((json_int_t)summary.dimensions));
    json_object_set_new(object, "classes", json_integer((json_int_t)summary.classes));
    json_object_set_new(object, "lambda", imp_json_number(summary.lambda));
    json_object_set_new(object, "sigma_l", imp_json_number(summary.sigma_l));
    json_object_set_new(object, "sigma_u", imp_json_number(summary.sigma_u));
    json_object_set_new(object, "clusters", clusters);
    return imp_json_print(command, object);
}

int imp_mixture_print(const char *command, const imp_mixture *mixture, bool json)
{
    if (json)
        return print_json(command, mixture);
    size_t size = imp_mixture_describe(mixture, NULL, 0) + 1;
    char *text = malloc(size);
    if (!text)
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    imp_mixture_describe(mixture, text, size);
    fputs(text, stdout);
    free(text);
    return EXIT_SUCCESS;
}
