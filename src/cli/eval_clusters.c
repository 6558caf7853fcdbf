/*
 * eval_clusters.c - `imp eval --unsupervised`: clusters images of unseen classes and measures how
 * well the clusters agree with the classes.
 */
#include "cli/eval_clusters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/eval_report.h"
#include "cli/job.h"
#include "cli/progress.h"
#include "cli/vectors.h"
#include "evaluate/clustering.h"

static const char command[] = "eval";

enum { MOST_RULES = 1000 };

typedef struct field {
    imp_cluster_options rules[MOST_RULES];
    imp_clustering_evaluation results[MOST_RULES];
    size_t count;
    bool chosen; /* lambda was chosen, on validation episodes */
} field;

/* ---- the rules ---- */

/* One rule per method, or one per method and value of lambda. */
static int gather(const imp_cluster_contest *contest, field *all)
{
    size_t thresholds = contest->lambda_count > 0 ? contest->lambda_count : 1;
    imp_error error;
    if (!*contest->settings->method)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "option '--method' needs the name of a method");
    all->count = 0;
    for (const char *list = contest->settings->method; *list;) {
        char name[32];
        size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        imp_settings settings = *contest->settings;
        settings.method = name;
        imp_cluster_options rule;
        if (imp_clustering_options(&settings, &rule, &error) != IMP_OK)
            return imp_complain(IMP_EXIT_USAGE, command, "%s; choose with --method", error.message);
        if (all->count + thresholds > MOST_RULES)
            return imp_complain(IMP_EXIT_USAGE, command, "methods times values of lambda exceed %d",
                                MOST_RULES);
        for (size_t i = 0; i < thresholds; i++) {
            all->rules[all->count] = rule;
            if (contest->lambda_count > 0)
                all->rules[all->count].rule.lambda = contest->lambdas[i];
            all->count++;
        }
        list += length + (list[length] == ',');
    }
    return IMP_GO_ON;
}

/* ---- the work ---- */

static void show_episodes(size_t done, size_t total, void *context)
{
    imp_progress_show(context, done, total, false, "episodes");
}

static void show_candidates(size_t done, size_t total, void *context)
{
    imp_progress_show(context, done, total, false,
                      "candidate values of lambda, on validation episodes");
}

static imp_evaluate_options episodes_of(const imp_cluster_contest *contest, imp_purpose purpose,
                                        imp_progress_line *line)
{
    imp_evaluate_options options = {.task = imp_clustering_task(contest->settings, purpose),
                                    .episodes = contest->episodes,
                                    .threads = contest->threads,
                                    .ranks = imp_job_ranks(),
                                    .network = contest->network,
                                    .episode_statistics = contest->network,
                                    .progress = show_episodes,
                                    .context = line};
    options.task.seed = contest->seed;
    return options;
}

static imp_status choose_lambdas(const imp_cluster_contest *contest, field *all,
                                 imp_progress_line *line, imp_error *error)
{
    imp_evaluate_options options = episodes_of(contest, IMP_FOR_VALIDATION, line);
    options.episodes = contest->validation;
    options.progress = show_candidates;
    for (size_t r = 0; r < all->count; r++) {
        imp_cluster_options *rule = &all->rules[r];
        if (!isnan(rule->rule.lambda))
            continue;
        all->chosen = true;
        imp_status status = imp_tune_clustering(contest->encoder, contest->dataset, rule, &options,
                                                &rule->rule.lambda, error);
        if (status)
            return status;
    }
    return IMP_OK;
}

/* ---- output ---- */

static int print_json(const imp_cluster_contest *contest, const field *all)
{
    json_t *list = json_array();
    for (size_t r = 0; r < all->count; r++) {
        const imp_cluster_options *rule = &all->rules[r];
        const imp_clustering_evaluation *result = &all->results[r];
        json_array_append_new(
            list, json_pack("{s:s, s:f, s:b, s:o, s:o, s:o, s:o}", "method", rule->method, "lambda",
                            rule->rule.lambda, "lambda_chosen", all->chosen, "purity",
                            imp_eval_interval(result->purity), "nmi",
                            imp_eval_interval(result->nmi), "ami", imp_eval_interval(result->ami),
                            "clusters", imp_eval_interval(result->clusters)));
    }
    const imp_eval_report report = {.command_line = contest->command_line,
                                    .model = contest->model,
                                    .settings = contest->settings,
                                    .dataset = contest->dataset,
                                    .seed = contest->seed,
                                    .episodes = contest->episodes,
                                    .validation = all->chosen ? contest->validation : 0,
                                    .statistics = contest->statistics};
    return imp_eval_print(&report, list);
}

static void print_table(const imp_cluster_contest *contest, const field *all)
{
    static const char *const purposes[] = {"training", "validation", "testing"};
    printf("%zu %s episodes without labels, seed %llu, of ", contest->episodes,
           purposes[contest->purpose], (unsigned long long)contest->seed);
    imp_print_text(contest->settings->data, stdout);
    printf(" (%.12s), batch norm with %s\n", imp_dataset_fingerprint(contest->dataset),
           contest->statistics);
    if (all->chosen)
        printf("lambda chosen by AMI on %zu validation episodes\n", contest->validation);
    printf("\n%-12s%10s%17s%17s%17s%12s\n", "method", "lambda", "purity", "NMI", "AMI", "clusters");
    for (size_t r = 0; r < all->count; r++) {
        const imp_clustering_evaluation *result = &all->results[r];
        const imp_interval measures[] = {result->purity, result->nmi, result->ami};
        printf("%-12s%10.3f", all->rules[r].method, all->rules[r].rule.lambda);
        for (size_t m = 0; m < sizeof measures / sizeof *measures; m++) {
            char text[40];
            snprintf(text, sizeof text, "%.3f ± %.3f", measures[m].mean, measures[m].half_width);
            printf("%18s", text); /* the sign is two bytes long */
        }
        printf("%12.2f\n", result->clusters.mean);
    }
}

int imp_eval_clusters(const imp_cluster_contest *contest)
{
    field *all = calloc(1, sizeof *all);
    if (!all)
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    int status = gather(contest, all);
    if (status == IMP_GO_ON) {
        imp_progress_line line = imp_progress_start(contest->quiet);
        imp_evaluate_options options = episodes_of(contest, contest->purpose, &line);
        options.task.pool = contest->pool;
        imp_error error;
        imp_status failed = choose_lambdas(contest, all, &line, &error);
        if (!failed)
            failed = imp_evaluate_clustering(contest->encoder, contest->dataset, all->rules,
                                             all->count, &options, all->results, &error);
        imp_progress_end(&line);
        status =
            failed ? imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message) : EXIT_SUCCESS;
        if (!failed && contest->json)
            status = print_json(contest, all);
        else if (!failed)
            print_table(contest, all);
    }
    free(all);
    return status;
}
