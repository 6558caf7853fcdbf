/*
 * model.c - `imp model`: describes files of models and mixtures, and exports and imports models.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/destination.h"
#include "cli/mixture.h"
#include "cli/training_options.h"
#include "cli/vectors.h"
#include "model/model.h"
#include "nn/onnx.h"

typedef struct arguments {
    imp_settings settings;
    const char *onnx, *out, *network;
    int64_t channels, side;
    bool json;
} arguments;
#define IMP_ARGUMENTS arguments

/* clang-format off */
static const imp_option options[] = {
    {IMP_OPTION_HEADING("info")},
    {IMP_OPTION_FLAG(arguments, json), .name = "json", .help = "write JSON"},
    {IMP_OPTION_HEADING("export")},
    {IMP_OPTION_TEXT(arguments, onnx), .name = "onnx", .argument = "FILE",
     .help = "write the embedding as ONNX, with batch norm folded in"},
    {IMP_OPTION_HEADING("import")},
    {IMP_OPTION_TEXT(arguments, out), .name = "out", .argument = "FILE",
     .help = "the model to write"},
    {IMP_OPTION_TEXT(arguments, network), .name = "network", .argument = "LAYERS",
     .initial = "conv4", .help = "layers that the tensors belong to"},
    {IMP_OPTION_INTEGER(arguments, channels), .name = "channels", .argument = "N",
     .integers = {1, 64}, .initial = "1", .help = "channels of its images"},
    {IMP_OPTION_INTEGER(arguments, side), .name = "size", .argument = "N",
     .integers = {1, 4096}, .initial = "28", .help = "width and height of its images"},
    {IMP_OPTION_HEADING("import: its method")},
    IMP_METHOD_OPTIONS
    {IMP_OPTION_END}};
/* clang-format on */

enum { INFO, EXPORT, IMPORT };
static const imp_action actions[] = {
    [INFO] = {"info", "MODEL", 1, "what it is and how it was trained"},
    [EXPORT] = {"export", "MODEL", 1, "write its network for other programs"},
    [IMPORT] = {"import", "FILE", 1, "make a model from a PyTorch state dict (safetensors)"},
    {0}};

static const char *const examples[] = {
    "imp model info run/model.safetensors",
    "imp model export run/model.safetensors --onnx embedding.onnx",
    "imp model import state_dict.safetensors --out model.safetensors", NULL};

const imp_usage imp_model_usage = {
    .command = "model",
    .summary = "Show, export and import models",
    .details = "A model is a safetensors file with a network's weights under PyTorch's names, its "
               "preprocessing, its method and how it was trained. info describes the mixtures of "
               "imp fit, too.",
    .actions = actions,
    .options = options,
    .examples = examples,
};

static const char command[] = "model";

static int fail(const imp_error *error)
{
    return imp_complain(IMP_EXIT_FAILURE, command, "%s", error->message);
}

/* ---- info ---- */

static int print_json(const imp_model *model)
{
    const imp_model_info *info = imp_model_info_of(model);
    json_t *report =
        json_pack("{s:s, s:[I,I,I], s:I, s:I, s:b, s:s, s:o, s:o, s:o, s:I, s:o, s:o}", "network",
                  info->network, "input", (json_int_t)info->channels, (json_int_t)info->height,
                  (json_int_t)info->width, "embedding", (json_int_t)info->dimensions, "parameters",
                  (json_int_t)info->parameters, "inverted", model->origin.inverted, "method",
                  info->method, "sigma_l", imp_json_number(model->settings.rule.sigma_l), "sigma_u",
                  imp_json_number(model->settings.rule.sigma_u), "alpha",
                  imp_json_number(imp_settings_rule(&model->settings).alpha), "update",
                  (json_int_t)model->origin.update, "fingerprint",
                  imp_json_any_text(model->origin.data.fingerprint), "settings",
                  imp_settings_to_json(&model->settings));
    if (report && !isnan(model->origin.validation))
        json_object_set_new(report, "validation", json_real(model->origin.validation));
    if (report && model->origin.sha256[0])
        json_object_set_new(report, "sha256", json_string(model->origin.sha256));
    return imp_json_print_report(command, report);
}

static void print_text(const imp_model *model)
{
    const imp_model_info *info = imp_model_info_of(model);
    const imp_settings *settings = &model->settings;
    printf("network     ");
    imp_print_text(info->network, stdout);
    printf(", %zu parameters\n", info->parameters);
    if (imp_model_takes_vectors(model)) {
        printf("vectors     %zu numbers%s", info->channels, info->embedded_by[0] ? " by " : "");
        imp_print_text(info->embedded_by, stdout);
        putchar('\n');
    } else {
        printf("images      %zux%zux%zu, %s\n", info->channels, info->height, info->width,
               model->origin.inverted ? "1 - byte / 255" : "byte / 255");
    }
    printf("embedding   %zu dimensions\n", info->dimensions);
    printf("method      ");
    imp_print_text(settings->method, stdout);
    if (!isnan(settings->rule.sigma_l))
        printf(", sigma_l %.4g", settings->rule.sigma_l);
    if (!isnan(settings->rule.sigma_u))
        printf(", sigma_u %.4g", settings->rule.sigma_u);
    printf(", alpha %g\n", imp_settings_rule(settings).alpha);
    if (model->origin.update > 0) {
        printf("training    %llu updates on ", (unsigned long long)model->origin.update);
        imp_print_text(settings->data, stdout);
        char beginning[13];
        snprintf(beginning, sizeof beginning, "%.12s", model->origin.data.fingerprint);
        printf(" (");
        imp_print_text(beginning, stdout);
        printf("), %s\n", imp_task_names[settings->task]);
    }
    if (!isnan(model->origin.validation))
        printf("validation  %.2f%%\n", 100 * model->origin.validation);
    printf("checksum    %s\n",
           model->origin.sha256[0] ? model->origin.sha256 : "none, so damage cannot be detected");
}

/* ---- the command ---- */

static int show(const arguments *given, const char *path, imp_error *error)
{
    int status = EXIT_SUCCESS;
    imp_model *model;
    imp_mixture *mixture;
    if (imp_model_open(path, NULL, &model, error) != IMP_OK) {
        if (imp_mixture_load(path, &mixture, NULL) != IMP_OK)
            return fail(error);
        status = imp_mixture_print(command, mixture, given->json);
        imp_mixture_free(mixture);
        return status;
    }
    if (given->json)
        status = print_json(model);
    else
        print_text(model);
    imp_model_free(model);
    return status;
}

static int export_model(const arguments *given, const char *path, imp_error *error)
{
    if (!given->onnx)
        return imp_complain(IMP_EXIT_USAGE, command, "export needs --onnx FILE");
    int status = imp_check_inputs(command, given->onnx, &path, 1);
    if (status != IMP_GO_ON)
        return status;
    imp_model *model;
    if (imp_model_open(path, NULL, &model, error) != IMP_OK)
        return fail(error);
    imp_status failed = imp_onnx_save(model->network, given->onnx, error);
    imp_model_free(model);
    return failed ? fail(error) : EXIT_SUCCESS;
}

static int import_model(arguments *given, const char *path, imp_error *error)
{
    if (!given->out)
        return imp_complain(IMP_EXIT_USAGE, command, "import needs --out FILE");
    int status = imp_check_inputs(command, given->out, &path, 1);
    if (status != IMP_GO_ON)
        return status;
    imp_model *model;
    given->settings.network = given->network;
    given->settings.size = given->side;
    imp_status failed = imp_model_import(path, &given->settings, (size_t)given->channels,
                                         (size_t)given->side, &model, error);
    if (!failed) {
        failed = imp_model_write(model, given->out, error);
        imp_model_free(model);
    }
    return failed ? fail(error) : EXIT_SUCCESS;
}

int imp_command_model(int argc, char **argv)
{
    arguments given = {0};
    imp_settings_init(&given.settings);
    int operands, status = imp_parse(&imp_model_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    imp_error error;
    int action = imp_action_find(&imp_model_usage, argv[1]);
    if (action == INFO)
        status = show(&given, argv[2], &error);
    else if (action == EXPORT)
        status = export_model(&given, argv[2], &error);
    else
        status = import_model(&given, argv[2], &error);
    imp_settings_clear(&given.settings);
    return status;
}
