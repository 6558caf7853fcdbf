/* add.c - `imp add`: adds points to a fitted mixture without fitting it again. */
#include <stdlib.h>

#include "cli/class_names.h"
#include "cli/mixture.h"
#include "cli/model_points.h"
#include "cli/vectors.h"

typedef struct settings {
    imp_point_files files;
    const char *output, *model;
    bool json;
} settings;

static const imp_option options[] = {
    {IMP_OPTION_HEADING("Points (.npy files), added in order, supports first")},
    IMP_POINT_OPTIONS(settings, files, "", "old or new", ""),
    IMP_POINT_MODEL_OPTION(settings, model),
    IMP_MIXTURE_OUTPUT_OPTIONS(settings),
    {IMP_OPTION_END}};

static const char *const examples[] = {
    "imp add m.safetensors --support s.npy --labels y.npy",
    "imp add m.safetensors --unlabeled u.npy -o grown.safetensors", NULL};

const imp_usage imp_add_usage = {
    .command = "add",
    .summary = "Add points to a fitted mixture",
    .details = "Adds points one by one to a mixture written by imp fit. A labelled point joins the "
               "clusters of its class or, if it is far from all of them, starts a new one; labels "
               "may include new classes. The mixture keeps a sample of all points; when enough of "
               "it is new, the metric and the variance are chosen again. Describes the mixture on "
               "standard output and replaces the file, unless -o names another.",
    .operands = "MIXTURE",
    .fewest = 1,
    .most = 1,
    .options = options,
    .examples = examples,
};

static const char *const command = "add";

/* Checks that the points have the same views as the mixture, if it has several. */
static int check_views(const imp_mixture *mixture, const imp_labeled_rows *points)
{
    imp_mixture_choice choice;
    imp_mixture_choice_of(mixture, &choice, sizeof choice);
    for (size_t v = 0; v < choice.views && points->view_count == choice.views; v++) {
        size_t wanted = imp_mixture_view_at(mixture, v).dimensions;
        if (points->view_dimensions[v] != wanted)
            return imp_complain(
                IMP_EXIT_FAILURE, command,
                "view %zu of the points has %zu dimensions, but the mixture's has %zu", v,
                points->view_dimensions[v], wanted);
    }
    if (points->view_count == choice.views || (choice.views == 0 && points->view_count == 1))
        return IMP_GO_ON;
    return imp_complain(IMP_EXIT_FAILURE, command,
                        "the points have %zu view%s, but the mixture has %zu", points->view_count,
                        points->view_count == 1 ? "" : "s", choice.views > 0 ? choice.views : 1);
}

static int add(const settings *given, const imp_mixture *mixture, imp_labeled_rows *points,
               const char *output)
{
    imp_mixture *grown = NULL;
    imp_error error;
    imp_labels known;
    int exit_status = check_views(mixture, points);
    if (exit_status == IMP_GO_ON)
        exit_status = imp_names_of_mixture(command, mixture, &known);
    if (exit_status != IMP_GO_ON)
        return exit_status;
    exit_status = imp_number_classes(command, points, &known);
    imp_labels_clear(&known);
    if (exit_status != IMP_GO_ON)
        return exit_status;
    imp_status status =
        imp_mixture_add(mixture, points->rows.values, points->labels, points->rows.count,
                        points->rows.dimensions, &grown, &error);
    exit_status = status
                      ? imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message)
                      : imp_mixture_finish(command, grown, &points->classes, output, given->json);
    imp_mixture_free(grown);
    return exit_status;
}

int imp_command_add(int argc, char **argv)
{
    settings given = {0};
    int operands;
    int status = imp_parse(&imp_add_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    imp_point_files_settle(&given.files);
    const char *output = given.output ? given.output : argv[1];
    status = imp_check_point_files(command, &given.files, output);
    if (status != IMP_GO_ON)
        return status;
    imp_mixture *mixture = NULL;
    imp_lock lock = {-1};
    imp_labeled_rows points = {0};
    imp_model *model;
    status = imp_open_vector_model(command, given.model, &model);
    given.files.model = model;
    if (status == IMP_GO_ON)
        status = imp_read_labeled_rows(command, &given.files, &points);
    if (status == IMP_GO_ON)
        status = imp_mixture_take(command, argv[1], output, &mixture, &lock);
    if (status == IMP_GO_ON)
        status = add(&given, mixture, &points, output);
    imp_lock_release(&lock);
    imp_labeled_rows_clear(&points);
    imp_model_free(model);
    imp_mixture_free(mixture);
    return status;
}
