/*
 * cluster_pictures.c - `imp cluster FOLDER`: sorts a pile of pictures into groups.
 *
 * Unless lambda or a number of groups is given, lambda is Algorithm 1's estimate with the model's
 * variance and concentration, each picture counting as a class: real pictures have no clear gap in
 * their distances, which well-separated points do.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cluster.h"
#include "cli/destination.h"
#include "cli/interrupt.h"
#include "cli/sorted_folder.h"
#include "methods/imp.h"
#include "model/built_in_model.h"

static const char command[] = "cluster";

static int fail(const imp_error *error)
{
    int status = imp_interrupted() ? IMP_EXIT_INTERRUPTED : IMP_EXIT_FAILURE;
    return imp_complain(status, command, "%s", error->message);
}

static int out_of_memory(void)
{
    return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
}

/* ---- clustering ---- */

static int estimate_lambda(const imp_rows *rows, double sigma, double alpha, double *lambda)
{
    size_t values = rows->count * rows->dimensions;
    double *points = malloc(values * sizeof *points);
    if (!points)
        return out_of_memory();
    for (size_t i = 0; i < values; i++)
        points[i] = rows->values[i];
    *lambda = imp_estimate_lambda(points, rows->count, rows->dimensions, sigma, alpha);
    free(points);
    return IMP_GO_ON;
}

static int find_clusters(imp_sorting *work, const imp_model *model)
{
    const imp_cluster_settings *given = work->given;
    const imp_rows *rows = &work->pile.rows;
    imp_cluster_options options = imp_cluster_options_from(given);
    imp_rule trained = imp_settings_rule(&model->settings);
    if (isnan(options.rule.sigma_u))
        options.rule.sigma_u = trained.sigma_l;
    if (isnan(options.rule.lambda) && given->clusters == 0) {
        int status =
            estimate_lambda(rows, options.rule.sigma_u, trained.alpha, &options.rule.lambda);
        if (status != IMP_GO_ON)
            return status;
    }
    /* File names should not influence the groups. */
    if (options.order == IMP_ORDER_DEFAULT)
        options.order = IMP_ORDER_FARTHEST_FIRST;
    imp_error error;
    if (imp_cluster(rows->values, rows->count, rows->dimensions, &options, &work->found, &error) !=
        IMP_OK)
        return fail(&error);
    return IMP_GO_ON;
}

/* ---- groups ---- */

/* A cluster or a picture with its sort key. */
typedef struct ranked {
    size_t group;
    double key;
    size_t index;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

static double distance_to_mean(const imp_sorting *work, size_t picture)
{
    size_t d = work->pile.rows.dimensions;
    const float *x = work->pile.rows.values + picture * d;
    const float *mean = work->found->mean + (size_t)work->found->assignment[picture] * d;
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += ((double)x[j] - mean[j]) * ((double)x[j] - mean[j]);
    return sum;
}

/* The clusters with pictures, largest first. */
static void rank_groups(imp_sorting *work, ranked *items)
{
    const imp_clustering *found = work->found;
    size_t first = 0;
    for (size_t c = 0; c < found->clusters; c++)
        items[c] = (ranked){.key = -(double)found->cluster_size[c], .index = c};
    qsort(items, found->clusters, sizeof *items, compare_ranked);
    for (size_t g = 0; g < found->clusters && items[g].key < 0; g++) {
        size_t count = found->cluster_size[items[g].index];
        work->groups[work->group_count++] = (imp_group){first, count, items[g].index};
        first += count;
    }
}

static void rank_pictures(imp_sorting *work, ranked *items)
{
    for (size_t g = 0; g < work->group_count; g++)
        for (size_t i = 0; i < work->found->points; i++)
            if ((size_t)work->found->assignment[i] == work->groups[g].cluster)
                items[i] = (ranked){g, distance_to_mean(work, i), i};
    qsort(items, work->found->points, sizeof *items, compare_ranked);
    for (size_t i = 0; i < work->found->points; i++)
        work->order[i] = items[i].index;
}

static int make_groups(imp_sorting *work)
{
    const imp_clustering *found = work->found;
    size_t most = found->clusters > found->points ? found->clusters : found->points;
    ranked *items = malloc(most * sizeof *items);
    work->groups = malloc(found->clusters * sizeof *work->groups);
    work->order = malloc(found->points * sizeof *work->order);
    if (items && work->groups && work->order) {
        rank_groups(work, items);
        rank_pictures(work, items);
    }
    bool made = items && work->groups && work->order;
    free(items);
    return made ? IMP_GO_ON : out_of_memory();
}

/* ---- metrics ---- */

/* Compares the groups with the sub-folders, leaving out pictures in none. */
static int measure(imp_sorting *work, bool print)
{
    const imp_gallery *gallery = &work->pile.gallery;
    int32_t *truth = malloc(gallery->count * sizeof *truth);
    int32_t *found = malloc(gallery->count * sizeof *found);
    size_t count = 0;
    int status = truth && found ? IMP_GO_ON : out_of_memory();
    for (size_t i = 0; i < gallery->count && status == IMP_GO_ON; i++)
        if (gallery->pictures[i].class >= 0) {
            truth[count] = gallery->pictures[i].class;
            found[count++] = work->found->assignment[i];
        }
    if (status == IMP_GO_ON && print)
        status = imp_metrics_print(command, truth, found, count, work->group_count);
    if (status == IMP_GO_ON && !print && count > 0) { /* all of them may be broken */
        work->metrics = imp_json_begin();
        status =
            imp_metrics_to_json(command, truth, found, count, work->group_count, work->metrics);
    }
    free(truth);
    free(found);
    return status;
}

/* ---- output ---- */

static int print_json(const imp_sorting *work)
{
    const imp_clustering *found = work->found;
    json_t *object = imp_json_begin(), *groups = json_array();
    for (size_t g = 0; g < work->group_count; g++) {
        const imp_group *group = &work->groups[g];
        json_t *pictures = json_array();
        for (size_t i = group->first; i < group->first + group->count; i++)
            json_array_append_new(
                pictures, imp_json_any_text(work->pile.gallery.pictures[work->order[i]].path));
        json_array_append_new(groups, pictures);
    }
    json_object_set_new(object, "model", imp_json_any_text(work->model));
    json_object_set_new(object, "method", json_string(work->given->method));
    json_object_set_new(object, "lambda", imp_json_number(found->lambda));
    if (!imp_method_find(work->given->method)->hard)
        json_object_set_new(object, "sigma", imp_json_number(found->sigma));
    json_object_set_new(object, "groups", groups);
    imp_passed_over_to_json(&work->pile.gallery, NULL, object);
    if (work->metrics)
        json_object_set(object, "metrics", work->metrics);
    return imp_json_print(command, object);
}

static int print_groups(imp_sorting *work)
{
    const imp_clustering *found = work->found;
    const char *word = imp_picture_word(&work->given->pictures);
    printf("%s: %zu group%s of %zu %s%s, lambda %.6g\n", work->given->method, work->group_count,
           work->group_count == 1 ? "" : "s", found->points, word, found->points == 1 ? "" : "s",
           found->lambda);
    if (work->metrics) {
        printf("\ncompared with the sub-folders of ");
        imp_print_text(work->folder, stdout);
        printf(":\n");
        int status = measure(work, true);
        if (status != IMP_GO_ON)
            return status;
    }
    for (size_t g = 0; g < work->group_count; g++) {
        const imp_group *group = &work->groups[g];
        printf("\ngroup %zu: %zu %s%s\n", g + 1, group->count, word, group->count == 1 ? "" : "s");
        for (size_t i = group->first; i < group->first + group->count; i++) {
            printf("  ");
            imp_print_text(work->pile.gallery.pictures[work->order[i]].path, stdout);
            putchar('\n');
        }
    }
    return EXIT_SUCCESS;
}

/* The folder for copies or links, or NULL. */
static const char *sorted_folder(const imp_cluster_settings *given)
{
    return given->copy_to ? given->copy_to : given->link_to;
}

/* "group-01" and so on. */
typedef struct group_name {
    char text[32];
} group_name;

static int sort_into_folder(const imp_sorting *work)
{
    const imp_cluster_settings *given = work->given;
    const char *folder = sorted_folder(given);
    if (!folder)
        return IMP_GO_ON;
    size_t count = work->group_count;
    size_t *pile = malloc(work->pile.gallery.count * sizeof *pile);
    group_name *texts = malloc(count * sizeof *texts);
    const char **names = malloc(count * sizeof *names);
    int status = pile && texts && names ? IMP_GO_ON : out_of_memory();
    int digits = snprintf(NULL, 0, "%zu", count);
    for (size_t g = 0; g < count && status == IMP_GO_ON; g++) {
        const imp_group *group = &work->groups[g];
        snprintf(texts[g].text, sizeof texts[g].text, "group-%0*zu", digits, g + 1);
        names[g] = texts[g].text;
        for (size_t i = group->first; i < group->first + group->count; i++)
            pile[work->order[i]] = g;
    }
    imp_piles piles = {&work->pile.gallery, pile, work->order, names, count};
    imp_error error;
    if (status == IMP_GO_ON && imp_sorted_folder(&piles, folder, !given->copy_to, &error))
        status = fail(&error);
    free(pile);
    free(texts);
    free(names);
    return status;
}

static int show(imp_sorting *work)
{
    const imp_cluster_settings *given = work->given;
    imp_error error;
    imp_interrupt_catch(); /* from here on there is something to undo */
    if (given->html && imp_sorting_page(work, given->html, &error) != IMP_OK)
        return fail(&error);
    int status = sort_into_folder(work);
    if (status != IMP_GO_ON)
        return status;
    return given->json ? print_json(work) : print_groups(work);
}

/* ---- the command ---- */

static int check_settings(const imp_cluster_settings *given)
{
    if (given->labels || given->truth || given->must_link || given->cannot_link ||
        given->validation || given->validation_labels)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "--labels, --truth, pairs and --validation are for points; the labels "
                            "of pictures are their sub-folders");
    if (given->copy_to && given->link_to)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "give either --copy-to or --link-to, not both");
    return IMP_GO_ON;
}

static int check_destinations(const imp_cluster_settings *given, const char *folder)
{
    const imp_destination page = {"--html", "a page", given->html};
    int status = imp_check_files(command, &page, 1);
    if (status == IMP_GO_ON)
        status = imp_check_inputs(command, page.path, &given->pictures.model, 1);
    return status == IMP_GO_ON ? imp_check_folder(command, sorted_folder(given), folder) : status;
}

int imp_cluster_pictures(const imp_cluster_settings *given, const char *folder)
{
    int status = check_settings(given);
    if (status == IMP_GO_ON)
        status = check_destinations(given, folder);
    if (status != IMP_GO_ON)
        return status;
    imp_sorting work = {.given = given, .folder = folder};
    imp_model *model = NULL;
    status = imp_gather_classes(command, &given->pictures, folder, &work.pile);
    if (status == IMP_GO_ON) {
        imp_tell_passed_over(command, &work.pile.gallery, NULL);
        status = imp_open_model(command, &given->pictures, &model);
    }
    if (status == IMP_GO_ON)
        status = imp_embed_pictures(command, &given->pictures, model, &work.pile);
    if (status == IMP_GO_ON) {
        work.model = imp_model_word(&given->pictures, model);
        work.doubt =
            imp_tell_coloured(command, &given->pictures, imp_gallery_coloured(&work.pile.gallery),
                              work.pile.gallery.count);
        status = find_clusters(&work, model);
    }
    if (status == IMP_GO_ON)
        status = make_groups(&work);
    if (status == IMP_GO_ON && work.pile.gallery.class_count > 0)
        status = measure(&work, false);
    if (status == IMP_GO_ON)
        status = show(&work);
    json_decref(work.metrics);
    free(work.groups);
    free(work.order);
    imp_clustering_free(work.found);
    imp_embedded_clear(&work.pile);
    imp_model_free(model);
    return status;
}
