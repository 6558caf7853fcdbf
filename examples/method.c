/*
 * method.c - one episode, solved by every method; how methods describe themselves, and what one
 * learns.
 *
 * Both classes lie in two places, at opposite corners: one mean per class cannot tell them apart.
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
    for (size_t i = 0; imp_method_at(i); i++) {
        const imp_method_info *info = imp_method_at(i);
        must(imp_method_create(info->name, NULL, &method, &error), &error);
        must(imp_method_run(method, &episode, false, &result, &error), &error);
        printf("%s: %s\n", info->name, info->summary);
        for (size_t o = 0; o < info->option_count; o++)
            printf("    %s: %s\n", info->options[o].name, info->options[o].help);
        printf("    %zu clusters, accuracy %.2f\n", result.cluster_count,
               imp_accuracy(query_labels, result.predictions, episode.query_count).mean);
        imp_method_free(method);
    }

    /* The parameters that all of them share, and imp's defaults. */
    const imp_rule *own = &imp_method_find("imp")->rule;
    for (size_t i = 0; imp_rule_option_at(i); i++)
        printf("%s: %s\n", imp_rule_option_at(i)->name, imp_rule_option_at(i)->help);
    printf("alpha is %g, sigma-l %g, sigma-u %g\n", own->alpha, own->sigma_l, own->sigma_u);

    /* What is learned besides the embedding, and its gradient. A lambda that is given stays fixed.
     */
    imp_method_options options = imp_method_defaults();
    options.rule.lambda = 10;
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
