/*
 * method.c - one episode, solved by every method there is, and what a method learns from it.
 *
 * Both classes lie in two places, corner to corner: one mean a class cannot tell them apart.
 *
 * Last line: a step along the gradient makes the loss smaller
 */

#include <imp/method.h>
#include <imp/metrics.h>

#include "must.h"

static const float support[] = {0, 0, 20, 20, 0, 20, 20, 0};
static const int32_t support_labels[] = {0, 0, 1, 1};
static const float query[] = {9, 3, 16, 12, 2, 12, 11, 4, 6, 8, 13, 20, 8, 18, 15, 9};
static const int32_t query_labels[] = {0, 0, 1, 1, 0, 0, 1, 1};

static const imp_episode_view episode = {
    .dimensions = 2,
    .way = 2,
    .support = support,
    .support_label = support_labels,
    .support_count = 4,
    .query = query,
    .query_label = query_labels,
    .query_count = 8,
};

int main(void)
{
    imp_error error;
    imp_method *method;
    imp_method_result result;
    for (size_t i = 0; imp_method_name_at(i); i++) {
        const char *name = imp_method_name_at(i);
        must(imp_method_create(name, NULL, &method, &error), &error);
        must(imp_method_run(method, &episode, false, &result, &error), &error);
        printf("%-20s %zu clusters, accuracy %.2f\n", name, result.cluster_count,
               imp_accuracy(query_labels, result.predictions, episode.query_count).mean);
        imp_method_free(method);
    }

    /* What is learned beside the embedding, and the gradient of the loss by it. A threshold that
     * is given stays where it is. */
    imp_method_options options;
    imp_method_options_init(&options, "imp");
    options.lambda = 10;
    must(imp_method_create("imp", &options, &method, &error), &error);
    must(imp_method_run(method, &episode, true, &result, &error), &error);
    size_t parameters, values;
    const imp_method_parameter *parameter = imp_method_parameters(method, &parameters);
    double *value = imp_method_values(method, &values), before = result.loss;
    for (size_t i = 0; i < parameters; i++)
        printf("%s is %.3f, its gradient %.3f\n", parameter[i].name, value[parameter[i].offset],
               result.parameter_gradient[parameter[i].offset]);

    for (size_t i = 0; i < values; i++)
        value[i] -= 0.1 * result.parameter_gradient[i];
    must(imp_method_run(method, &episode, false, &result, &error), &error);
    printf("a step along the gradient makes the loss %s\n",
           result.loss < before ? "smaller" : "no smaller");
    imp_method_free(method);
    return 0;
}
