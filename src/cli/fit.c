/* fit.c - `imp fit`: fits a mixture to labelled and unlabelled points and saves it. */
#include <stdlib.h>

#include <imp/mixture.h>

#include "cli/class_names.h"
#include "cli/destination.h"
#include "cli/interrupt.h"
#include "cli/mixture.h"
#include "cli/model_points.h"
#include "cli/point_views.h"
#include "cli/progress.h"
#include "methods/fit_state.h"
#include "methods/mixture.h"
#include "methods/rule.h"

typedef struct settings {
    imp_point_files files;
    imp_rule rule;
    imp_choice_settings choice;
    const char *output, *model;
    int64_t memory;
    bool resume, json;
} settings;

static const imp_option options[] = {
    {IMP_OPTION_HEADING("Points (.npy files)")},
    IMP_POINT_OPTIONS(settings, files, "", "integers from 0 or names", ""),
    {IMP_OPTION_HEADING("Method")},
    IMP_PRESET_OPTION(settings, choice),
    {IMP_OPTION_REST},
    IMP_POINT_MODEL_OPTION(settings, model),
    IMP_MORE_CHOICE_OPTIONS(settings, choice),
    {IMP_OPTION_RULE(settings, rule)},
    {IMP_OPTION_NUMBER(settings, choice.open_set_rate), .name = "open-set-rate", .argument = "R",
     .numbers = {0, 1}, .initial = "0.05",
     .help = "fraction of points of known classes that imp predict --open-set rejects"},
    {IMP_OPTION_HEADING("Output")},
    {IMP_OPTION_TEXT(settings, output), .name = "output", .letter = 'o', .argument = "FILE",
     .help = "where to write the mixture (safetensors)"},
    {IMP_OPTION_INTEGER(settings, memory), .name = "memory", .argument = "MB",
     .integers = {0, INT32_MAX}, .initial = "256",
     .help = "memory in which unlabelled points may be kept between passes over them"},
    {IMP_OPTION_FLAG(settings, resume), .name = "resume",
     .help = "continue where Ctrl-C stopped it, from the file left beside the output"},
    {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "describe the mixture in JSON"},
    {IMP_OPTION_END}};

static const char *const examples[] = {
    "imp fit --support s.npy --labels y.npy -o m.safetensors",
    "imp fit --support s.npy --labels y.npy --unlabeled u.npy --alpha 0.01 \\\n"
    "      -o m.safetensors",
    NULL};

const imp_usage imp_fit_usage = {
    .command = "fit",
    .summary = "Fit a mixture to labelled and unlabelled points and save it",
    .details = "Clusters labelled and unlabelled points with Algorithm 1 of the paper and saves "
               "the mixture, for imp predict to classify with and imp add to extend. Parameters "
               "that are not given are chosen by cross-validation on the labelled points. At least "
               "one point must have a label, or --lambda must be given.",
    .options = options,
    .examples = examples,
};

static const char *const command = "fit";

/* Supports in memory, then unlabelled points, which are read on demand. */
typedef struct points {
    imp_labeled_rows supports;
    imp_point_views unlabeled;
    imp_point_source first;
    imp_source_pair both;
    imp_point_source source; /* all of them */
} points;

static int open_points(const imp_point_files *files, points *all)
{
    imp_labeled_rows *supports = &all->supports;
    int status = imp_read_supports(command, files, supports);
    if (status != IMP_GO_ON)
        return status;
    const imp_rows *rows = &supports->rows;
    all->first =
        imp_source_of_labeled(rows->values, supports->labels, rows->count, rows->dimensions);
    all->source = all->first;
    if (!files->unlabeled)
        return IMP_GO_ON;
    imp_texts paths = imp_unlabeled_paths(files);
    status = imp_point_views_open(command, files->model, &paths, false, &all->unlabeled);
    if (status == IMP_GO_ON)
        status = imp_join_views(command, &paths, all->unlabeled.dimensions, supports);
    all->both = (imp_source_pair){&all->first, &all->unlabeled.source};
    all->source = rows->count > 0 ? imp_source_of_pair(&all->both) : all->unlabeled.source;
    return status;
}

static void close_points(points *all)
{
    imp_point_views_close(&all->unlabeled);
    imp_labeled_rows_clear(&all->supports);
}

typedef struct watch {
    imp_pass_line line;
    size_t pass, points;
    imp_fit_state fit;
} watch;

static imp_status block_done(size_t begin, size_t end, void *context, imp_error *error)
{
    watch *own = context;
    own->pass += begin == 0 || own->pass == 0;
    imp_pass_show(&own->line, own->pass, 0, end, own->points, "");
    own->fit.stopped = imp_interrupted();
    return imp_interrupt_check(error);
}

/* Fits with what has room beside the output, where it also leaves how far it was if it is
 * interrupted. */
static int find_mixture(const settings *given, const points *all,
                        const imp_mixture_options *mixture_options, imp_mixture **mixture)
{
    imp_error error;
    char *folder = imp_scratch_folder(given->output), *state = imp_state_file(given->output);
    const imp_spill_place place = {.folder = folder, .memory = (size_t)given->memory << 20};
    watch own = {.line = imp_pass_start(),
                 .points = all->source.count,
                 .fit = {.path = state, .resume = given->resume}};
    const imp_crew crew = {
        .place = &place, .done = block_done, .context = &own, .fit = state ? &own.fit : NULL};
    imp_interrupt_catch();
    imp_status status =
        imp_mixture_fit_source(&all->source, mixture_options, &crew, mixture, &error);
    imp_progress_end(&own.line.line);
    free(folder);
    free(state);
    if (!status)
        return IMP_GO_ON;
    return own.fit.stopped
               ? imp_complain(IMP_EXIT_INTERRUPTED, command, "interrupted: %s", error.message)
               : imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
}

static int fit(const settings *given, const points *all)
{
    imp_mixture_options mixture_options = imp_choice_options(&given->choice, &given->rule);
    imp_views_option(&all->supports, &mixture_options);
    imp_mixture *mixture;
    imp_error error;
    int exit_status = find_mixture(given, all, &mixture_options, &mixture);
    if (exit_status == IMP_GO_ON)
        exit_status = imp_keep_names(command, mixture, &all->supports.classes);
    if (exit_status == IMP_GO_ON && imp_mixture_save(mixture, given->output, &error))
        exit_status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    if (exit_status == IMP_GO_ON && given->resume)
        imp_state_remove(given->output);
    if (exit_status == IMP_GO_ON) {
        imp_mixture_tell(command, mixture);
        exit_status = imp_mixture_print(command, mixture, given->json);
    }
    imp_mixture_free(mixture);
    return exit_status;
}

int imp_command_fit(int argc, char **argv)
{
    settings given = {.rule = IMP_RULE_AUTO};
    int operands;
    int status = imp_parse(&imp_fit_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    imp_point_files_settle(&given.files);
    if (!given.output)
        return imp_complain(IMP_EXIT_USAGE, command, "give -o FILE, where to write the mixture");
    status = imp_check_point_files(command, &given.files, given.output);
    if (status != IMP_GO_ON)
        return status;
    imp_lock lock = {-1};
    points all = {0};
    imp_model *model;
    status = imp_open_vector_model(command, given.model, &model);
    if (model) {
        given.files.model = model;
        given.rule = imp_rule_over(&given.rule, &imp_model_info_of(model)->rule);
    }
    if (status == IMP_GO_ON)
        status = open_points(&given.files, &all);
    if (status == IMP_GO_ON)
        status = imp_mixture_lock(command, given.output, &lock);
    if (status == IMP_GO_ON)
        status = fit(&given, &all);
    imp_lock_release(&lock);
    close_points(&all);
    imp_model_free(model);
    return status;
}
