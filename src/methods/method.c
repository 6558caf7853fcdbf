/*
 * method.c - the common part of all methods: parameters, checks, one run.
 *
 * What is specific to a method is in the file of its name. A run checks the episode, lets the
 * method make its clusters, classifies the queries and passes the gradient back through the method.
 * All memory is kept for the next run.
 */
#include "methods/method.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "methods/imp.h"
#include "methods/masked_loss.h"
#include "methods/rule.h"

/* Episodes with up to this many classes and points get room for all possible clusters and shares at
 * once. For larger ones memory grows as needed. */
enum { FORESEEN = 1000 };

/* Memory that grows with the largest episode. */
typedef struct buffer {
    void *memory;
    size_t bytes;
} buffer;

struct imp_method {
    const imp_method_kind *kind;
    imp_method_options options;
    double own[IMP_MOST_OWN_OPTIONS];
    double *values, *value_gradient;
    imp_run run;
    bool complete; /* the last run succeeded, so its decisions can be reused */

    buffer seen, order, best, score, row;
    buffer predictions, open_predictions, probabilities, deciding, cluster_means;
    buffer mean_gradient, sigma_gradient, point_gradient;
    buffer query_gradient, support_gradient, unlabeled_gradient;
};

/* ---- what several methods share ---- */

void imp_run_sum_sigma_gradient(const imp_run *run, double *sigma_l, double *sigma_u)
{
    for (size_t c = 0; c < run->clusters.count; c++) {
        double *sum = run->clusters.label[c] < 0 ? sigma_u : sigma_l;
        if (sum)
            *sum += run->sigma_gradient[c];
    }
}

imp_status imp_run_scratch(imp_run *run, size_t count, imp_error *error)
{
    if (count <= run->scratch_capacity)
        return IMP_OK;
    double *scratch = imp_allocate(count, sizeof *scratch);
    if (!scratch)
        return imp_fail_memory(error, "a method's intermediate results");
    imp_release(run->scratch);
    run->scratch = scratch;
    run->scratch_capacity = count;
    return IMP_OK;
}

const imp_option_info imp_unmasked_option = {
    .name = "unmasked-loss",
    .help = "loss over all clusters instead of the best of each class",
    .kind = IMP_FLAG,
    .most = 1,
};

imp_scoring imp_unmasked_scoring(const double *own)
{
    return own[0] != 0 ? IMP_SCORE_UNMASKED : IMP_SCORE_MASKED;
}

const imp_method_parameter imp_sigma_parameters[2] = {
    {.name = "log_sigma_l", .offset = 0, .count = 1},
    {.name = "log_sigma_u", .offset = 1, .count = 1},
};

void imp_initialize_sigmas(const imp_method_options *options, double *values)
{
    values[0] = log(options->rule.sigma_l);
    values[1] = log(options->rule.sigma_u);
}

imp_rule imp_method_learned(const imp_method *method)
{
    imp_rule learned = IMP_RULE_AUTO;
    for (size_t p = 0; p < method->kind->parameter_count; p++) {
        const imp_method_parameter *parameter = &method->kind->parameters[p];
        double value = exp(method->values[parameter->offset]);
        bool both = strcmp(parameter->name, "log_sigma") == 0;
        if (both || strcmp(parameter->name, "log_sigma_l") == 0)
            learned.sigma_l = value;
        if (both || strcmp(parameter->name, "log_sigma_u") == 0)
            learned.sigma_u = value;
    }
    return learned;
}

/* ---- creating and freeing ---- */

void imp_method_options_init(imp_method_options *options, size_t size)
{
    const imp_method_options defaults = {.rule = IMP_RULE_AUTO, .seed = 1};
    imp_give_options(options, size, &defaults, sizeof defaults);
}

imp_status imp_method_create(const char *name, const imp_method_options *options, imp_method **out,
                             imp_error *error)
{
    *out = NULL;
    const imp_method_kind *kind = NULL;
    imp_status status = imp_kind_find(name, &kind, error);
    if (status)
        return status;

    imp_method_options all = imp_method_defaults();
    double own[IMP_MOST_OWN_OPTIONS] = {0};
    status = imp_take_options(&all, sizeof all, options, "imp_method_options", error);
    if (!status)
        status = imp_kind_check_rule(kind, &all.rule, error);
    if (!status)
        status = imp_kind_take_own(kind, &all, own, error);
    if (status)
        return status;
    all.rule = imp_rule_over(&all.rule, &kind->info.rule);
    if (kind->variant)
        kind = kind->variant(own);

    imp_method *method = imp_allocate_zeroed(1, sizeof *method);
    if (!method)
        return imp_fail_memory(error, "a method");
    method->kind = kind;
    method->options = all;
    memcpy(method->own, own, sizeof own);
    method->values = imp_allocate_zeroed(kind->value_count, sizeof(double));
    method->value_gradient = imp_allocate_zeroed(kind->value_count, sizeof(double));
    if (!method->values || !method->value_gradient) {
        imp_method_free(method);
        return imp_fail_memory(error, "a method's parameters");
    }
    if (kind->initialize)
        kind->initialize(&method->options, method->values);
    *out = method;
    return IMP_OK;
}

void imp_method_free(imp_method *method)
{
    if (!method)
        return;
    buffer *buffers[] = {&method->seen,
                         &method->order,
                         &method->best,
                         &method->score,
                         &method->row,
                         &method->predictions,
                         &method->open_predictions,
                         &method->deciding,
                         &method->probabilities,
                         &method->cluster_means,
                         &method->mean_gradient,
                         &method->sigma_gradient,
                         &method->point_gradient,
                         &method->query_gradient,
                         &method->support_gradient,
                         &method->unlabeled_gradient};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        imp_release(buffers[i]->memory);
    imp_clusters_release(&method->run.clusters);
    imp_shares_release(&method->run.shares);
    imp_release(method->run.scratch);
    imp_release(method->values);
    imp_release(method->value_gradient);
    imp_release(method);
}

const imp_method_parameter *imp_method_parameters(const imp_method *method, size_t *count)
{
    *count = method->kind->parameter_count;
    return method->kind->parameters;
}

double *imp_method_values(imp_method *method, size_t *count)
{
    if (count)
        *count = method->kind->value_count;
    return method->values;
}

imp_status imp_method_check_gradient(const imp_method *method, imp_error *error)
{
    if (method->kind->differentiate)
        return IMP_OK;
    return imp_fail(error, IMP_EUNSUPPORTED,
                    "'%s' has no gradient: it classifies and cannot be trained; choose another "
                    "method",
                    method->kind->info.name);
}

/* ---- one run ---- */

/* Makes room for at least (rows, columns) items of that size; the contents may be lost. */
static imp_status ensure(buffer *kept, size_t rows, size_t columns, size_t size, imp_error *error)
{
    size_t count, bytes;
    if (!imp_multiply(rows, columns, &count) || !imp_multiply(count, size, &bytes))
        return imp_fail_memory(error, "an episode");
    if (bytes <= kept->bytes && kept->memory)
        return IMP_OK;
    void *memory = imp_allocate(bytes, 1);
    if (!memory)
        return imp_fail_memory(error, "an episode");
    imp_release(kept->memory);
    kept->memory = memory;
    kept->bytes = bytes;
    return IMP_OK;
}

/* Whether this is the logarithm of a valid variance, up to rounding at the bounds, which are valid
 * options. */
static bool is_log_sigma(double value)
{
    return value >= log(IMP_LEAST_SIGMA) - 1e-9 && value <= log(IMP_MOST_SIGMA) + 1e-9;
}

/* An update may have moved a variance out of the valid range. */
static imp_status check_values(const imp_method *method, imp_error *error)
{
    for (size_t p = 0; p < method->kind->parameter_count; p++) {
        const imp_method_parameter *parameter = &method->kind->parameters[p];
        bool is_sigma = strncmp(parameter->name, "log_sigma", strlen("log_sigma")) == 0;
        for (size_t i = 0; i < parameter->count; i++) {
            double value = method->values[parameter->offset + i];
            if (!isfinite(value))
                return imp_fail(error, IMP_EINVAL,
                                "the parameter %s is %g; it must be a finite "
                                "number",
                                parameter->name, value);
            if (is_sigma && !is_log_sigma(value))
                return imp_fail(error, IMP_EINVAL,
                                "the parameter %s is %g; its exponential is a variance, a number "
                                "from %g to %g",
                                parameter->name, value, IMP_LEAST_SIGMA, IMP_MOST_SIGMA);
        }
    }
    return IMP_OK;
}

static imp_status check_episode(imp_method *method, const imp_episode_view *episode,
                                imp_error *error)
{
    if (episode->dimensions == 0)
        return imp_fail(error, IMP_EINVAL, "the points have no dimensions; they need at least 1");
    const size_t most = (size_t)INT32_MAX + 1; /* labels go up to INT32_MAX */
    if (episode->way == 0 || episode->way > most)
        return imp_fail(error, IMP_EINVAL,
                        "the episode has %zu classes; it needs at least 1 and at most %zu",
                        episode->way, most);
    if (episode->support_count > UINT32_MAX ||
        episode->unlabeled_count > UINT32_MAX - episode->support_count)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "the episode has more than %u points, the most a method takes", UINT32_MAX);

    const struct {
        const float *rows;
        size_t count;
        const char *name;
    } arrays[] = {{episode->support, episode->support_count, "support"},
                  {episode->unlabeled, episode->unlabeled_count, "unlabelled"},
                  {episode->query, episode->query_count, "query"}};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        imp_status status = imp_check_finite(arrays[a].rows, arrays[a].count, episode->dimensions,
                                             0, arrays[a].name, error);
        if (status)
            return status;
    }
    imp_status status = imp_check_labels(episode->support_label, episode->support_count,
                                         IMP_UNLABELED, episode->way, "support", error);
    if (!status)
        status = ensure(&method->seen, imp_seen_bytes(episode->support_count, episode->way), 1, 1,
                        error);
    if (!status)
        status = imp_check_complete(episode->support_label, episode->support_count, episode->way,
                                    method->seen.memory, error);
    if (!status && episode->query_label)
        status = imp_check_labels(episode->query_label, episode->query_count, 0, episode->way,
                                  "query", error);

    return status ? status : check_values(method, error);
}

/* Makes room for all clusters and shares that one pass over the episode may need; later passes may
 * start more. */
static imp_status foresee(imp_method *method, const imp_episode_view *episode, imp_error *error)
{
    imp_run *run = &method->run;
    size_t points = episode->support_count + episode->unlabeled_count;
    if (episode->way > FORESEEN || points > FORESEEN - episode->way)
        return IMP_OK;
    /* One cluster per class and per point, and one for distractors. */
    size_t clusters = episode->way + points + 1;
    imp_status status = imp_clusters_reserve(&run->clusters, clusters, error);
    if (!status)
        status = imp_shares_reserve(&run->shares, points * clusters, error);
    return status;
}

static imp_status prepare(imp_method *method, const imp_episode_view *episode, bool keep,
                          imp_error *error)
{
    imp_run *run = &method->run;
    size_t first = episode->support_count, second = episode->unlabeled_count;
    size_t unlabeled = imp_count_unlabeled(episode->support_label, first);
    imp_status status = ensure(&method->order, first + second, 1, sizeof(uint32_t), error);
    if (status)
        return status;
    if (unlabeled > 0)
        imp_order_labeled_first(episode->support_label, first, second, method->order.memory);

    run->options = &method->options;
    run->own = method->own;
    run->values = method->values;
    run->value_gradient = method->value_gradient;
    run->way = episode->way;
    run->points = (imp_points){
        .dimensions = episode->dimensions,
        .first = episode->support,
        .label = episode->support_label,
        .first_count = first,
        .second = episode->unlabeled,
        .second_count = second,
        .order = unlabeled > 0 ? method->order.memory : NULL,
        .unlabeled_count = unlabeled + second,
    };
    if (!keep) {
        run->lambda = NAN;
        run->shares.count = 0;
        imp_clusters_restart(&run->clusters, episode->dimensions);
    }
    return foresee(method, episode, error);
}

static imp_status place(imp_method *method, imp_error *error)
{
    method->kind->place(&method->run);
    return imp_check_classes(&method->run.clusters, method->run.way, error);
}

static imp_status classify(imp_method *method, const imp_episode_view *episode, bool gradients,
                           imp_answers *answers, imp_error *error)
{
    imp_run *run = &method->run;
    size_t dimensions = episode->dimensions;
    size_t room = run->clusters.capacity;
    size_t outcomes = episode->way + method->options.open_set;
    imp_status status = ensure(&method->best, episode->way + 1, 1, sizeof(size_t), error);
    if (!status)
        status = ensure(&method->score, episode->way + 1, 2, sizeof(double), error);
    if (!status)
        status = ensure(&method->row, dimensions, 1, sizeof(double), error);
    if (!status)
        status = ensure(&method->predictions, episode->query_count, 1, sizeof(int32_t), error);
    if (!status)
        status = ensure(&method->open_predictions, episode->query_count, 1, sizeof(int32_t), error);
    if (!status)
        status = ensure(&method->deciding, episode->query_count, 1, sizeof(int32_t), error);
    if (!status)
        status =
            ensure(&method->probabilities, episode->query_count, outcomes, sizeof(float), error);
    if (!status && gradients)
        status =
            ensure(&method->query_gradient, episode->query_count, dimensions, sizeof(float), error);
    if (!status && gradients)
        status = ensure(&method->mean_gradient, room, dimensions, sizeof(double), error);
    if (!status && gradients)
        status = ensure(&method->sigma_gradient, room, 1, sizeof(double), error);
    if (status)
        return status;

    imp_queries queries = {
        .x = episode->query,
        .label = episode->query_label,
        .count = episode->query_count,
        .way = episode->way,
        .open_set = method->options.open_set,
        .scoring = method->kind->scoring ? method->kind->scoring(method->own) : IMP_SCORE_MASKED,
        .best = method->best.memory,
        .score = method->score.memory,
        .sum = (double *)method->score.memory + episode->way + 1,
        .row = method->row.memory,
    };
    *answers = (imp_answers){
        .decisions = {.label = method->predictions.memory,
                      .probability = method->probabilities.memory,
                      .cluster = method->deciding.memory},
        .open_label = method->open_predictions.memory,
        .query_gradient = gradients ? method->query_gradient.memory : NULL,
        .mean_gradient = gradients ? method->mean_gradient.memory : NULL,
        .sigma_gradient = gradients ? method->sigma_gradient.memory : NULL,
    };
    imp_classify(&run->clusters, &queries, answers);
    return IMP_OK;
}

static void to_floats(const double *from, size_t count, float *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)from[i];
}

static imp_status differentiate(imp_method *method, const imp_answers *answers,
                                imp_method_result *result, imp_error *error)
{
    imp_run *run = &method->run;
    const imp_points *points = &run->points;
    size_t d = points->dimensions, first = points->first_count, second = points->second_count;
    imp_status status = ensure(&method->point_gradient, first + second, d, sizeof(double), error);
    if (!status)
        status = ensure(&method->support_gradient, first, d, sizeof(float), error);
    if (!status)
        status = ensure(&method->unlabeled_gradient, second, d, sizeof(float), error);
    if (status)
        return status;

    run->mean_gradient = answers->mean_gradient;
    run->sigma_gradient = answers->sigma_gradient;
    run->point_gradient = method->point_gradient.memory;
    memset(run->point_gradient, 0, (first + second) * d * sizeof(double));
    memset(run->value_gradient, 0, method->kind->value_count * sizeof(double));
    method->kind->differentiate(run);

    to_floats(run->point_gradient, first * d, method->support_gradient.memory);
    to_floats(run->point_gradient + first * d, second * d, method->unlabeled_gradient.memory);
    result->support_gradient = method->support_gradient.memory;
    result->unlabeled_gradient = method->unlabeled_gradient.memory;
    result->query_gradient = answers->query_gradient;
    result->parameter_gradient = run->value_gradient;
    return IMP_OK;
}

static imp_status run(imp_method *method, const imp_episode_view *episode, bool keep,
                      bool gradients, imp_method_result *result, imp_error *error)
{
    *result = (imp_method_result){0};
    imp_status status = gradients ? imp_method_check_gradient(method, error) : IMP_OK;
    if (!status)
        status = check_episode(method, episode, error);
    if (!status)
        status = prepare(method, episode, keep, error);
    if (status)
        return status;

    if (!keep)
        status = method->kind->decide(&method->run, error);
    if (!status)
        status = place(method, error);
    imp_clusters *clusters = &method->run.clusters;
    size_t values = clusters->count * clusters->dimensions;
    imp_answers answers = {.loss = NAN};
    if (!status)
        status = classify(method, episode, gradients, &answers, error);
    if (!status)
        status = ensure(&method->cluster_means, clusters->capacity, clusters->dimensions,
                        sizeof(float), error);
    imp_method_result found = {0};
    if (!status && gradients && !isnan(answers.loss))
        status = differentiate(method, &answers, &found, error);
    if (status)
        return status;

    to_floats(clusters->mean, values, method->cluster_means.memory);
    found.loss = answers.loss;
    found.lambda = method->run.lambda;
    found.predictions = answers.decisions.label;
    found.probabilities = answers.decisions.probability;
    found.deciding_cluster = answers.decisions.cluster;
    found.open_predictions = answers.open_label;
    found.outcomes = episode->way + method->options.open_set;
    found.cluster_count = clusters->count;
    found.cluster_label = clusters->label;
    found.cluster_sigma = clusters->sigma;
    found.cluster_weight = clusters->weight;
    found.cluster_mean = method->cluster_means.memory;
    *result = found;
    return IMP_OK;
}

imp_status imp_method_run(imp_method *method, const imp_episode_view *episode, bool gradients,
                          imp_method_result *result, imp_error *error)
{
    method->complete = false;
    imp_status status = run(method, episode, false, gradients, result, error);
    method->complete = !status;
    return status;
}

imp_status imp_method_run_again(imp_method *method, const imp_episode_view *episode, bool gradients,
                                imp_method_result *result, imp_error *error)
{
    if (!method->complete) {
        *result = (imp_method_result){0};
        return imp_fail(error, IMP_EINVAL, "there is no run whose decisions could be kept");
    }
    return run(method, episode, true, gradients, result, error);
}
