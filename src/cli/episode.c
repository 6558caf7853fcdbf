/* episode.c - `imp episode draw`: shows one few-shot task, or saves many to replay. */
#include <stdlib.h>

#include <imp/episode.h>

#include "cli/cli.h"
#include "cli/data_options.h"
#include "cli/destination.h"
#include "cli/training_options.h"
#include "data/dataset.h"

typedef struct arguments {
    imp_settings settings; /* only those of data and episodes */
    int64_t threads;
    int kind, purpose, pool;
    int64_t seed, index, count;
    const char *sheet, *save;
} arguments;
#define IMP_ARGUMENTS arguments

/* In the order of imp_episode_kind and imp_purpose. */
static const char *const kinds[] = {"classes", "super-classes", "unsupervised", NULL};
static const char *const purposes[] = {"training", "validation", "testing", NULL};

/* clang-format off */
static const imp_option options[] = {
    {IMP_OPTION_HEADING("Episode")},
    {IMP_OPTION_CHOICE(arguments, kind), .name = "task", .argument = "KIND", .choices = kinds,
     .initial = "classes", .help = "what a label stands for"},
    {IMP_OPTION_CHOICE(arguments, purpose), .name = "for", .argument = "PURPOSE",
     .choices = purposes, .initial = "training",
     .help = "which random sequence and split to draw from"},
    {IMP_OPTION_INTEGER(arguments, seed), .name = "seed", .argument = "N",
     .integers = {0, INT64_MAX}, .initial = "0", .help = "seed of the episodes"},
    {IMP_OPTION_INTEGER(arguments, index), .name = "index", .argument = "N",
     .integers = {0, INT64_MAX}, .initial = "0",
     .help = "index of the episode, or of the first one"},
    IMP_OPTIONS_OF(IMP_COUNT_SETTINGS)
    {IMP_OPTION_CHOICE(arguments, pool), .name = "pool", .argument = "SPLIT",
     .choices = imp_pool_names, .initial = "own", .help = "draw classes from this split"},
    IMP_DATA_OPTIONS,
    {IMP_OPTION_HEADING("Output")},
    {IMP_OPTION_TEXT(arguments, sheet), .name = "sheet", .argument = "FILE",
     .help = "write the episode as a contact sheet (PNG), not as JSON"},
    {IMP_OPTION_TEXT(arguments, save), .name = "save", .argument = "FILE",
     .help = "write an episode file, to replay"},
    {IMP_OPTION_INTEGER(arguments, count), .name = "count", .argument = "N",
     .integers = {0, 1000000}, .initial = "1", .help = "episodes to save"},
    {IMP_OPTION_END}};
/* clang-format on */

static const imp_action actions[] = {
    {"draw", "DATA", 1, "one episode as JSON or a picture, or many to a file"}, {0}};

static const char *const examples[] = {
    "imp episode draw glyphs", "imp episode draw glyphs --task super-classes --sheet episode.png",
    "imp episode draw omniglot.pack --for testing --save test.jsonl --count 600", NULL};

const imp_usage imp_episode_usage = {
    .command = "episode",
    .summary = "Draw few-shot tasks from data",
    .details = "An episode is a small task: labelled supports, queries to classify and, "
               "optionally, unlabelled images. Its seed, purpose and index identify it, and it is "
               "the same on every machine. No image appears twice in it.",
    .actions = actions,
    .options = options,
    .examples = examples,
};

static const char command[] = "episode";

static int fail(const imp_error *error)
{
    return imp_complain(IMP_EXIT_FAILURE, command, "%s", error->message);
}

static imp_episode_options episode_options(const arguments *given)
{
    imp_episode_options wanted = imp_settings_task(&given->settings, (imp_purpose)given->purpose);
    wanted.kind = (imp_episode_kind)given->kind;
    wanted.pool = (imp_pool)given->pool;
    wanted.seed = (uint64_t)given->seed;
    return wanted;
}

/* ---- the sheet ---- */

/* How many of images begin .. begin + count - 1 have the label. */
static size_t count_label(const imp_episode *episode, size_t begin, size_t count, size_t label)
{
    size_t found = 0;
    for (size_t i = begin; i < begin + count; i++)
        found += episode->truth[i] == (int32_t)label;
    return found;
}

/* Puts the images of one part and label into `row`. */
static void fill_row(const imp_episode *episode, size_t begin, size_t count, size_t label,
                     uint32_t mark, imp_sheet_cell *row)
{
    for (size_t i = begin; i < begin + count; i++)
        if (episode->truth[i] == (int32_t)label)
            *row++ = (imp_sheet_cell){episode->images[i], mark};
}

/* A row per label: supports in its colour, then queries, then unlabelled images in gray. */
static int write_sheet(const imp_dataset *dataset, const imp_episode *episode, const char *path)
{
    size_t begin[] = {0, episode->supports, episode->supports + episode->queries};
    size_t count[] = {episode->supports, episode->queries, episode->unlabeled};
    size_t start[3], columns = 0;
    for (int part = 0; part < 3; part++) {
        start[part] = columns;
        size_t widest = 0;
        for (size_t label = 0; label < episode->groups; label++) {
            size_t width = count_label(episode, begin[part], count[part], label);
            widest = width > widest ? width : widest;
        }
        columns += widest;
    }
    imp_sheet_cell *cells = calloc(episode->groups * columns, sizeof *cells);
    if (!cells)
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory for a contact sheet");
    for (size_t i = 0; i < episode->groups * columns; i++)
        cells[i].image = IMP_SHEET_EMPTY;
    for (size_t label = 0; label < episode->groups; label++)
        for (int part = 0; part < 3; part++)
            fill_row(episode, begin[part], count[part], label,
                     part == 0   ? (uint32_t)label + 1
                     : part == 1 ? 0
                                 : IMP_SHEET_GRAY,
                     cells + label * columns + start[part]);
    imp_error error;
    int status = EXIT_SUCCESS;
    if (imp_contact_sheet_save(dataset, cells, episode->groups, columns, path, &error))
        status = fail(&error);
    free(cells);
    return status;
}

/* ---- the command ---- */

static int print_json(const imp_dataset *dataset, const imp_episode *episode)
{
    char *text;
    imp_error error;
    if (imp_episode_to_json(dataset, episode, &text, &error))
        return fail(&error);
    puts(text);
    imp_episode_text_free(text);
    return EXIT_SUCCESS;
}

static int draw(const arguments *given, const imp_dataset *dataset)
{
    imp_episode_options wanted = episode_options(given);
    imp_error error;
    if (given->save) {
        if (imp_episodes_save(dataset, &wanted, (uint64_t)given->index, (size_t)given->count,
                              given->save, &error))
            return fail(&error);
        return EXIT_SUCCESS;
    }
    imp_episode episode;
    if (imp_episode_draw(dataset, &wanted, (uint64_t)given->index, &episode, &error))
        return fail(&error);
    int status =
        given->sheet ? write_sheet(dataset, &episode, given->sheet) : print_json(dataset, &episode);
    imp_episode_clear(&episode);
    return status;
}

static int run(int argc, char **argv, arguments *given)
{
    int operands;
    int status = imp_parse(&imp_episode_usage, argc, argv, given, &operands);
    if (status != IMP_GO_ON)
        return status;
    if (given->save && given->sheet)
        return imp_complain(IMP_EXIT_USAGE, command, "give either --save or --sheet, not both");
    if (given->count != 1 && !given->save)
        return imp_complain(IMP_EXIT_USAGE, command, "--count needs --save");
    const char *path = imp_dataset_path(argv[2]);
    status = imp_check_inputs(command, given->save ? given->save : given->sheet, &path, 1);
    if (status != IMP_GO_ON)
        return status;
    imp_dataset *dataset;
    status = imp_data_open(command, argv[2], &given->settings, given->threads, false, &dataset);
    if (status != IMP_GO_ON)
        return status;
    status = draw(given, dataset);
    imp_dataset_free(dataset);
    return status;
}

int imp_command_episode(int argc, char **argv)
{
    arguments given = {0};
    imp_settings_init(&given.settings);
    int status = run(argc, argv, &given);
    imp_settings_clear(&given.settings);
    return status;
}
