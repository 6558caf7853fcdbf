/* mixture.c - reading and describing fitted mixtures. */
#include "cli/mixture.h"

#include <math.h>
#include <stdlib.h>

#include "cli/class_names.h"
#include "cli/job.h"
#include "cli/vectors.h"

int imp_mixture_read(const char *command, const char *path, imp_mixture **mixture)
{
    imp_error error;
    if (imp_mixture_load(path, mixture, &error) != IMP_OK)
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    return imp_job_agree(command, path);
}

int imp_mixture_lock(const char *command, const char *path, imp_lock *lock)
{
    imp_error error;
    if (imp_lock_take(lock, path, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    return IMP_GO_ON;
}

int imp_mixture_take(const char *command, const char *path, const char *output,
                     imp_mixture **mixture, imp_lock *lock)
{
    *mixture = NULL;
    *lock = (imp_lock){-1};
    int status = imp_mixture_lock(command, output, lock);
    return status == IMP_GO_ON ? imp_mixture_read(command, path, mixture) : status;
}

const char *const imp_preset_names[] = {"auto", "paper", NULL};
const char *const imp_metric_names[] = {"auto", "as-is", "scaled", "standard",
                                        "unit", "root",  "cosine", NULL};
const char *const imp_whitening_names[] = {"auto", "no", "yes", NULL};
const imp_option_info imp_unlabeled_weight_info = {
    .name = "unlabeled-weight", .kind = IMP_NUMBER, .least = 0, .most = 1, .initial = IMP_AUTO};

imp_mixture_options imp_choice_options(const imp_choice_settings *given, const imp_rule *rule)
{
    imp_mixture_options options = imp_mixture_defaults();
    options.rule = *rule;
    options.preset = (imp_preset)given->preset;
    options.metric = (imp_metric_kind)given->metric;
    options.whitening = (imp_whitening)given->whitening;
    options.unlabeled_weight = given->unlabeled_weight;
    options.open_set_rate = given->open_set_rate;
    return options;
}

void imp_views_option(const imp_labeled_rows *points, imp_mixture_options *options)
{
    if (points->view_count < 2)
        return;
    options->view_count = points->view_count;
    options->view_dimensions = points->view_dimensions;
}

static const char *whitening_of(bool whitened)
{
    return whitened ? ", whitened" : "";
}

void imp_mixture_tell(const char *command, const imp_mixture *mixture)
{
    imp_mixture_choice choice;
    imp_mixture_choice_of(mixture, &choice, sizeof choice);
    size_t clusters = imp_mixture_summarize(mixture).clusters;
    char views[60 * IMP_MOST_TEXTS] = "";
    for (size_t v = 0, used = 0; v < choice.views && v < IMP_MOST_TEXTS; v++) {
        imp_mixture_view view = imp_mixture_view_at(mixture, v);
        used += (size_t)snprintf(views + used, sizeof views - used, "%s%s %.2f",
                                 v == 0 ? "weights of the views: " : ", ",
                                 imp_metric_name(view.metric), view.weight);
    }
    if (choice.views > 0)
        imp_complain(EXIT_SUCCESS, command, "%s", views);
    if (choice.held_out > 0)
        imp_complain(
            EXIT_SUCCESS, command,
            "%zu held-out points chose: metric %s%s, %zu cluster%s, loss %.3f, accuracy %.3f",
            choice.held_out, imp_metric_name(choice.metric), whitening_of(choice.whitened),
            clusters, clusters == 1 ? "" : "s", choice.loss, choice.accuracy);
    if (choice.little)
        imp_complain(EXIT_SUCCESS, command,
                     "the metric (%s) and the variance are defaults: choosing them needs two "
                     "labelled points of a class, and two classes",
                     imp_metric_name(choice.metric));
    if (choice.every_point)
        imp_complain(EXIT_SUCCESS, command,
                     "every labelled point became a cluster, so the nearest one decides");
}

void imp_mixture_tell_rate(const char *command, const imp_mixture *mixture)
{
    imp_mixture_choice choice;
    imp_mixture_choice_of(mixture, &choice, sizeof choice);
    double least = 1 / ((double)choice.open_set_points + 1);
    if (choice.open_set_points > 0 && choice.open_set_rate > 0 && choice.open_set_rate < least)
        imp_complain(EXIT_SUCCESS, command,
                     "%zu labelled points promise open-set rates from %.2g on; the threshold for "
                     "%.2g, which needs %.0f points, is extrapolated",
                     choice.open_set_points, least, choice.open_set_rate,
                     ceil(1 / choice.open_set_rate - 1 - 1e-9));
}

void imp_choice_to_json(const imp_mixture *mixture, json_t *object)
{
    imp_mixture_choice choice;
    imp_mixture_choice_of(mixture, &choice, sizeof choice);
    json_t *told = json_object(), *candidates = json_array();
    for (size_t i = 0; i < choice.candidates; i++) {
        imp_mixture_candidate tried = imp_mixture_candidate_at(mixture, i);
        json_t *entry = json_object();
        json_object_set_new(entry, "metric", json_string(imp_metric_name(tried.metric)));
        json_object_set_new(entry, "whitened", json_boolean(tried.whitened));
        json_object_set_new(entry, "loss", imp_json_number(tried.loss));
        json_array_append_new(candidates, entry);
    }
    json_object_set_new(told, "metric", json_string(imp_metric_name(choice.metric)));
    json_object_set_new(told, "whitened", json_boolean(choice.whitened));
    json_object_set_new(told, "unlabeled_weight", imp_json_number(choice.unlabeled_weight));
    json_object_set_new(told, "held_out", json_integer((json_int_t)choice.held_out));
    json_object_set_new(told, "loss", imp_json_number(choice.loss));
    json_object_set_new(told, "accuracy", imp_json_number(choice.accuracy));
    json_object_set_new(told, "open_set_distance", imp_json_number(choice.open_set_distance));
    json_object_set_new(told, "open_set_rate", imp_json_number(choice.open_set_rate));
    json_object_set_new(told, "open_set_points", json_integer((json_int_t)choice.open_set_points));
    json_object_set_new(told, "candidates", candidates);
    json_t *views = json_array();
    for (size_t v = 0; v < choice.views; v++) {
        imp_mixture_view view = imp_mixture_view_at(mixture, v);
        json_t *entry = json_object();
        json_object_set_new(entry, "dimensions", json_integer((json_int_t)view.dimensions));
        json_object_set_new(entry, "metric", json_string(imp_metric_name(view.metric)));
        json_object_set_new(entry, "weight", imp_json_number(view.weight));
        json_object_set_new(entry, "loss", imp_json_number(view.loss));
        json_array_append_new(views, entry);
    }
    if (choice.views > 0)
        json_object_set_new(told, "views", views);
    else
        json_decref(views);
    json_object_set_new(object, "choice", told);
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
    json_object_set_new(object, "lambda", imp_json_number(summary.rule.lambda));
    json_object_set_new(object, "sigma_l", imp_json_number(summary.rule.sigma_l));
    json_object_set_new(object, "sigma_u", imp_json_number(summary.rule.sigma_u));
    json_object_set_new(object, "clusters", clusters);
    imp_choice_to_json(mixture, object);
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

int imp_mixture_finish(const char *command, imp_mixture *made, const imp_labels *names,
                       const char *output, bool json)
{
    imp_error error;
    int status = imp_keep_names(command, made, names);
    if (status == IMP_GO_ON && imp_mixture_save(made, output, &error))
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    return status == IMP_GO_ON ? imp_mixture_print(command, made, json) : status;
}
