/*
 * classify_pictures.c - `imp classify --support FOLDER PICTURE...`: pictures, from a folder of
 * examples.
 *
 * The sub-folders give the classes, and the model says how to embed and cluster, so a user with a
 * few sorted pictures need not decide anything.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/classify.h"
#include "cli/destination.h"
#include "cli/interrupt.h"
#include "cli/sorted_folder.h"
#include "evaluate/contestant.h"
#include "methods/gaussian.h"
#include "methods/method.h"

static const char command[] = "classify";

static const char nobody[] = "none of these";

static int fail(const imp_error *error)
{
    int status = imp_interrupted() ? IMP_EXIT_INTERRUPTED : IMP_EXIT_FAILURE;
    return imp_complain(status, command, "%s", error->message);
}

/* ---- pictures ---- */

/* Labelled pictures, and unlabelled ones beside them or from --unlabeled. */
static int gather_support(const imp_classify_settings *given, imp_embedded *support)
{
    const char *folder = given->files.support, *unlabeled = given->files.unlabeled;
    if (!folder)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "give --support FOLDER, whose sub-folders are the classes");
    int status = imp_gather_classes(command, &given->pictures, folder, support);
    if (status != IMP_GO_ON)
        return status;
    if (support->gallery.class_count == 0)
        return imp_complain(IMP_EXIT_FAILURE, command,
                            "the folder '%s' has no sub-folders with %ss; they are the classes",
                            folder, imp_picture_word(&given->pictures));
    imp_error error;
    if (unlabeled && imp_gallery_add(&support->gallery, unlabeled, &error) != IMP_OK)
        return fail(&error);
    return IMP_GO_ON;
}

/* All pictures of a class may be broken. */
static int check_classes(const imp_gallery *gallery)
{
    for (size_t c = 0; c < gallery->class_count; c++) {
        bool any = false;
        for (size_t i = 0; i < gallery->count && !any; i++)
            any = gallery->pictures[i].class == (int32_t)c;
        if (!any)
            return imp_complain(IMP_EXIT_FAILURE, command,
                                "the class '%s' has no picture that can be read",
                                gallery->classes[c]);
    }
    return IMP_GO_ON;
}

/* ---- method ---- */

/* The model's method as trained, or another one with the parameters that the model learned.
 *
 * A model trained without unlabelled pictures has learned nothing about their variance; their
 * clusters then get the labelled ones' variance, so that neither has an advantage. */
static int make_method(const imp_classify_settings *given, const imp_model *model, const char *name,
                       imp_method **method)
{
    imp_settings settings = imp_settings_for(&model->settings, name);
    bool own = strcmp(name, model->settings.method) == 0, knows_unlabeled = settings.unlabeled > 0;
    imp_method_options options = imp_settings_method(&settings);
    imp_classify_options(given, &options);
    bool sigma_given = !isnan(given->rule.sigma_l) || !isnan(given->rule.sigma_u);
    if (!knows_unlabeled && !imp_has_distractors(name) && isnan(given->rule.sigma_u))
        options.rule.sigma_u = options.rule.sigma_l;
    imp_error error;
    if (imp_method_create(name, &options, method, &error) != IMP_OK)
        return fail(&error);
    if (own && knows_unlabeled && !sigma_given && model->values)
        memcpy(imp_method_values(*method, NULL), model->values,
               model->value_count * sizeof *model->values);
    return IMP_GO_ON;
}

static int run_method(imp_classification *work, imp_method *method)
{
    const imp_gallery *gallery = &work->support.gallery;
    int32_t *labels = malloc(gallery->count * sizeof *labels);
    if (!labels)
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    for (size_t i = 0; i < gallery->count; i++)
        labels[i] = gallery->pictures[i].class;
    imp_episode_view episode = {
        .dimensions = work->support.rows.dimensions,
        .way = gallery->class_count,
        .support = work->support.rows.values,
        .support_label = labels,
        .support_count = work->support.rows.count,
        .query = work->queries.rows.values,
        .query_count = work->queries.rows.count,
    };
    imp_error error;
    imp_status failed = imp_method_run(method, &episode, false, &work->result, &error);
    free(labels);
    return failed ? fail(&error) : IMP_GO_ON;
}

/* ---- answers ---- */

static double distance_between(const float *a, const float *b, size_t dimensions)
{
    double sum = 0;
    for (size_t j = 0; j < dimensions; j++)
        sum += ((double)a[j] - b[j]) * ((double)a[j] - b[j]);
    return sum;
}

/* A support's likeliest cluster: one with its label, or any if it has none. */
static size_t likeliest_cluster(const imp_classification *work, const float *x, int32_t label)
{
    const imp_method_result *result = &work->result;
    size_t best = 0, d = work->support.rows.dimensions;
    double best_score = -INFINITY;
    for (size_t c = 0; c < result->cluster_count; c++) {
        if (label >= 0 && result->cluster_label[c] != label)
            continue;
        double score = imp_log_density(distance_between(x, result->cluster_mean + c * d, d),
                                       result->cluster_sigma[c], d);
        if (score > best_score) {
            best_score = score;
            best = c;
        }
    }
    return best;
}

static imp_answer find_answer(const imp_classification *work, size_t query)
{
    const imp_method_result *result = &work->result;
    const imp_rows *support = &work->support.rows;
    size_t d = support->dimensions, way = work->support.gallery.class_count;
    const float *x = work->queries.rows.values + query * d;
    imp_answer answer = {.class = result->predictions[query], .distance = INFINITY};
    size_t outcome = answer.class < 0 ? way : (size_t)answer.class;
    answer.probability = result->probabilities[query * result->outcomes + outcome];
    answer.cluster = (size_t)result->deciding_cluster[query];
    for (size_t i = 0; i < support->count; i++) {
        double distance = distance_between(x, support->values + i * d, d);
        if (distance < answer.distance) {
            answer.distance = distance;
            answer.nearest = i;
        }
    }
    return answer;
}

static int find_answers(imp_classification *work)
{
    const imp_rows *support = &work->support.rows, *queries = &work->queries.rows;
    work->answers = malloc(queries->count * sizeof *work->answers);
    work->support_cluster = malloc(support->count * sizeof *work->support_cluster);
    if (!work->answers || !work->support_cluster)
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    for (size_t q = 0; q < queries->count; q++)
        work->answers[q] = find_answer(work, q);
    for (size_t i = 0; i < support->count; i++) {
        int32_t class = work->support.gallery.pictures[i].class;
        work->support_cluster[i] =
            likeliest_cluster(work, support->values + i * support->dimensions, class);
    }
    return IMP_GO_ON;
}

/* ---- output ---- */

static const char *name_of(const imp_classification *work, int32_t class)
{
    return class < 0 ? nobody : work->support.gallery.classes[class];
}

static json_t *class_json(const imp_classification *work, int32_t class)
{
    return class < 0 ? json_null() : imp_json_any_text(work->support.gallery.classes[class]);
}

static json_t *picture_json(const imp_classification *work, size_t query)
{
    const imp_answer *answer = &work->answers[query];
    const imp_method_result *result = &work->result;
    const imp_gallery_picture *nearest = &work->support.gallery.pictures[answer->nearest];
    json_t *picture = json_object(), *neighbor = json_object();
    json_object_set_new(picture, "picture",
                        imp_json_any_text(work->queries.gallery.pictures[query].path));
    json_object_set_new(picture, "answer", class_json(work, answer->class));
    json_object_set_new(picture, "probability", imp_json_number(answer->probability));
    json_object_set_new(
        picture, "probabilities",
        imp_json_floats(result->probabilities + query * result->outcomes, result->outcomes));
    json_object_set_new(picture, "cluster", json_integer((json_int_t)answer->cluster));
    json_object_set_new(neighbor, "picture", imp_json_any_text(nearest->path));
    json_object_set_new(neighbor, "class", class_json(work, nearest->class));
    json_object_set_new(neighbor, "distance", imp_json_number(answer->distance));
    json_object_set_new(picture, "nearest", neighbor);
    return picture;
}

static int print_json(const imp_classification *work)
{
    const imp_gallery *gallery = &work->support.gallery;
    const imp_method_result *result = &work->result;
    json_t *object = imp_json_begin(), *classes = json_array(), *clusters = json_array();
    json_t *pictures = json_array();
    for (size_t c = 0; c < gallery->class_count; c++)
        json_array_append_new(classes, imp_json_any_text(gallery->classes[c]));
    for (size_t c = 0; c < result->cluster_count; c++) {
        json_t *cluster = json_object();
        json_object_set_new(cluster, "class", class_json(work, result->cluster_label[c]));
        json_object_set_new(cluster, "sigma", imp_json_number(result->cluster_sigma[c]));
        json_object_set_new(cluster, "weight", imp_json_number(result->cluster_weight[c]));
        json_array_append_new(clusters, cluster);
    }
    for (size_t q = 0; q < work->queries.rows.count; q++)
        json_array_append_new(pictures, picture_json(work, q));
    json_object_set_new(object, "model", imp_json_any_text(work->model));
    json_object_set_new(object, "method", json_string(work->method));
    json_object_set_new(object, "lambda", imp_json_number(result->lambda));
    json_object_set_new(object, "classes", classes);
    json_object_set_new(object, "clusters", clusters);
    json_object_set_new(object, "pictures", pictures);
    imp_classify_truth_to_json(work, object);
    imp_passed_over_to_json(gallery, &work->queries.gallery, object);
    return imp_json_print(command, object);
}

/* Prints a string padded to `width` characters. */
static void print_padded(const char *text, size_t width)
{
    size_t length = imp_utf8_length(text);
    imp_print_text(text, stdout);
    printf("%*s", length < width ? (int)(width - length) : 0, "");
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void print_table(const imp_classification *work)
{
    const imp_method_result *result = &work->result;
    size_t clusters = result->cluster_count, classes = work->support.gallery.class_count;
    size_t picture_width = strlen("picture"), answer_width = strlen("answer");
    for (size_t q = 0; q < work->queries.rows.count; q++) {
        const char *path = work->queries.gallery.pictures[q].path;
        picture_width = larger(picture_width, imp_utf8_length(path));
        answer_width = larger(answer_width, imp_utf8_length(name_of(work, work->answers[q].class)));
    }
    printf("%s: %zu cluster%s of %zu class%s", work->method, clusters, clusters == 1 ? "" : "s",
           classes, classes == 1 ? "" : "es");
    if (!isnan(result->lambda))
        printf(", lambda %.6g", result->lambda);
    printf("\n\n");
    print_padded(imp_picture_word(&work->given->pictures), picture_width + 2);
    print_padded("answer", answer_width + 2);
    printf("probability  nearest\n");
    for (size_t i = 0; i < work->queries.rows.count; i++) {
        size_t q = work->order[i];
        const imp_answer *answer = &work->answers[q];
        print_padded(work->queries.gallery.pictures[q].path, picture_width + 2);
        print_padded(name_of(work, answer->class), answer_width + 2);
        printf("%11.4f  ", answer->probability);
        imp_print_text(work->support.gallery.pictures[answer->nearest].path, stdout);
        putchar('\n');
    }
    imp_classify_print_truth(work);
}

static const char *sorted_folder(const imp_classify_settings *given)
{
    return given->copy_to ? given->copy_to : given->link_to;
}

/* A sub-folder for each class, and one for "none of these". */
static int sort_into_folder(const imp_classification *work)
{
    const char *folder = sorted_folder(work->given);
    if (!folder)
        return IMP_GO_ON;
    const imp_gallery *support = &work->support.gallery;
    size_t queries = work->queries.rows.count, classes = support->class_count;
    size_t *pile = malloc(queries * sizeof *pile);
    const char **names = malloc((classes + 1) * sizeof *names);
    if (!pile || !names) {
        free(pile);
        free(names);
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    }
    for (size_t c = 0; c < classes; c++)
        names[c] = support->classes[c];
    names[classes] = nobody;
    for (size_t q = 0; q < queries; q++)
        pile[q] = work->answers[q].class < 0 ? classes : (size_t)work->answers[q].class;
    imp_piles piles = {&work->queries.gallery, pile, work->order, names,
                       classes + work->given->open_set};
    imp_error error;
    imp_status failed = imp_sorted_folder(&piles, folder, !work->given->copy_to, &error);
    free(pile);
    free(names);
    return failed ? fail(&error) : IMP_GO_ON;
}

/* The page first: if it cannot be written, the user sees that before answers suggest success. */
static int show(const imp_classification *work)
{
    imp_error error;
    const char *html = work->given->html;
    imp_interrupt_catch(); /* from here on there is something to undo */
    if (html && imp_classification_page(work, html, &error) != IMP_OK)
        return fail(&error);
    if (work->given->csv && imp_classify_csv(work, work->given->csv, &error) != IMP_OK)
        return fail(&error);
    int status = sort_into_folder(work);
    if (status != IMP_GO_ON)
        return status;
    if (work->given->json)
        return print_json(work);
    print_table(work);
    return EXIT_SUCCESS;
}

/* ---- the command ---- */

static int classify(imp_classification *work, char **paths, int count)
{
    const imp_classify_settings *given = work->given;
    const imp_picture_settings *pictures = &given->pictures;
    imp_model *model;
    int status = imp_open_model(command, pictures, &model);
    if (status == IMP_GO_ON)
        status = imp_embed_pictures(command, pictures, model, &work->support);
    if (status == IMP_GO_ON)
        status = check_classes(&work->support.gallery);
    if (status == IMP_GO_ON)
        status = imp_embed_pictures(command, pictures, model, &work->queries);
    imp_method *method = NULL;
    if (status == IMP_GO_ON) {
        const imp_gallery *known = &work->support.gallery, *asked = &work->queries.gallery;
        work->doubt = imp_tell_coloured(command, pictures,
                                        imp_gallery_coloured(known) + imp_gallery_coloured(asked),
                                        known->count + asked->count);
        work->model = imp_model_word(pictures, model);
        work->method = given->method ? given->method : model->settings.method;
        status = make_method(given, model, work->method, &method);
    }
    if (status == IMP_GO_ON)
        status = run_method(work, method);
    if (status == IMP_GO_ON) {
        imp_tell_open_set(given, &work->result, "pictures", "FOLDER");
        status = find_answers(work);
    }
    if (status == IMP_GO_ON)
        status = imp_classify_truth(work, paths, count);
    if (status == IMP_GO_ON) {
        work->order = imp_classify_order(work);
        imp_classify_doubt(work);
        status =
            work->order ? show(work) : imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    }
    imp_method_free(method);
    imp_model_free(model);
    return status;
}

int imp_classify_pictures(const imp_classify_settings *given, char **paths, int count)
{
    if (count == 0)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "give the pictures to classify from those in '%s': PICTURE|FOLDER...",
                            given->files.support);
    imp_classification work = {.given = given};
    if (given->copy_to && given->link_to)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "give either --copy-to or --link-to, not both");
    const imp_destination files[] = {{"--html", "a page", given->html},
                                     {"--csv", "a table", given->csv}};
    int status = imp_check_files(command, files, 2);
    for (size_t i = 0; i < 2 && status == IMP_GO_ON; i++)
        status = imp_check_inputs(command, files[i].path, &given->pictures.model, 1);
    for (int i = 0; i < count && status == IMP_GO_ON; i++)
        status = imp_check_folder(command, sorted_folder(given), paths[i]);
    if (status == IMP_GO_ON)
        status = gather_support(given, &work.support);
    if (status == IMP_GO_ON)
        status = imp_gather_pictures(command, &given->pictures, paths, count, &work.queries);
    if (status == IMP_GO_ON) {
        imp_tell_passed_over(command, &work.support.gallery, &work.queries.gallery);
        status = classify(&work, paths, count);
    }
    free(work.answers);
    free(work.order);
    free(work.truth);
    free(work.support_cluster);
    imp_embedded_clear(&work.support);
    imp_embedded_clear(&work.queries);
    return status;
}
