/* data.c - `imp data`: inspects, splits, packs, exports and downloads datasets. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"
#include "cli/cli.h"
#include "cli/data_options.h"
#include "cli/destination.h"
#include "cli/interrupt.h"
#include "cli/vectors.h"
#include "data/dataset.h"

typedef struct arguments {
    imp_settings settings; /* only those of data */
    int64_t threads;
    bool json;
    int64_t rows, columns;
    const char *from;
} arguments;
#define IMP_ARGUMENTS arguments

static const imp_option options[] = {
    IMP_DATA_OPTIONS,
    {IMP_OPTION_HEADING("Output")},
    {IMP_OPTION_FLAG(arguments, json), .name = "json", .help = "info: write JSON"},
    {IMP_OPTION_INTEGER(arguments, rows), .name = "rows", .argument = "N", .integers = {1, 1000},
     .initial = "10", .help = "show: rows of the sheet, one per super-class or class"},
    {IMP_OPTION_INTEGER(arguments, columns), .name = "columns", .argument = "N",
     .integers = {1, 1000}, .initial = "20", .help = "show: images per row"},
    {IMP_OPTION_TEXT(arguments, from), .name = "from", .argument = "URL",
     .help = "get: download from here instead of the original site"},
    {IMP_OPTION_END}};

enum { INFO, SHOW, SPLIT, PACK, EXPORT, GET };
static const imp_action actions[] = {
    [INFO] = {"info", "DATA", 1, "describe it, and list broken pictures"},
    [SHOW] = {"show", "DATA SHEET.png", 2, "draw a contact sheet"},
    [SPLIT] = {"split", "DATA FOLDER", 2, "write its split, as lists of classes"},
    [PACK] = {"pack", "DATA FILE", 2, "write one file that opens in milliseconds"},
    [EXPORT] = {"export", "DATA FOLDER", 2, "write its pictures as PNG files, a folder per class"},
    [GET] = {"get", "omniglot FOLDER", 2, "download Omniglot to a folder"},
    {0}};

static const char *const examples[] = {
    "imp data info glyphs",
    "imp data info omniglot:data/omniglot --rotations 4 --json",
    "imp data show birds.zip sheet.png",
    "imp data split birds lists --split classes:0.6/0.2/0.2 --split-seed 7",
    "imp data pack omniglot:data/omniglot omniglot.pack",
    "imp data export glyphs drawings --alphabets 3 --drawings 5",
    "imp data get omniglot data/omniglot",
    NULL};

const imp_usage imp_data_usage = {
    .command = "data",
    .summary = "Inspect, split, pack, export or download data",
    .details = "DATA is a folder or an archive of CLASS/PICTURE or SUPER-CLASS/CLASS/PICTURE, a "
               "pack, omniglot:PATH, mini-imagenet:PATH, csv:PATH, or glyphs: synthetic alphabets "
               "that need no files. The kind of a path is detected, or stated by folder: or pack: "
               "in front of it. info exits with 1 if a picture is broken; show leaves broken "
               "pictures out; the others stop at the first.\n\nThe fingerprint that info prints is "
               "a SHA-256 of the pictures. A folder, its archive and its pack have the same one.",
    .actions = actions,
    .options = options,
    .examples = examples,
};

static const char command[] = "data";

static int fail(const imp_error *error)
{
    return imp_complain(imp_interrupted() ? IMP_EXIT_INTERRUPTED : IMP_EXIT_FAILURE, command, "%s",
                        error->message);
}

/* ---- info ---- */

/* What one split holds. */
typedef struct tally {
    size_t classes, super_classes, images;
    size_t smallest; /* the class with the fewest images */
} tally;

static tally count_split(const imp_dataset *dataset, imp_split split)
{
    tally sum = {0};
    int64_t last_super = -1;
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < imp_dataset_classes(dataset); i++) {
        imp_class_info about = imp_dataset_class(dataset, i);
        if (about.split != split)
            continue;
        sum.classes++;
        sum.images += about.images;
        if (about.super_class >= 0 && about.super_class != last_super) {
            sum.super_classes++;
            last_super = about.super_class;
        }
        if (about.images < fewest) {
            fewest = about.images;
            sum.smallest = i;
        }
    }
    return sum;
}

static json_t *split_json(const imp_dataset *dataset, const tally *sum)
{
    imp_class_info smallest = imp_dataset_class(dataset, sum->smallest);
    return json_pack("{s:I, s:I, s:I, s:o, s:I}", "classes", (json_int_t)sum->classes,
                     "super_classes", (json_int_t)sum->super_classes, "images",
                     (json_int_t)sum->images, "smallest_class", imp_json_any_text(smallest.name),
                     "smallest_images", (json_int_t)smallest.images);
}

static int info_json(const imp_dataset *dataset)
{
    imp_size_range sizes = imp_dataset_sizes(dataset);
    json_t *splits = json_object(), *broken = json_array(), *foreign = json_array();
    for (imp_split split = IMP_SPLIT_TRAIN; split <= IMP_SPLIT_NONE; split++) {
        tally sum = count_split(dataset, split);
        if (sum.classes > 0)
            json_object_set_new(splits, imp_split_name(split), split_json(dataset, &sum));
    }
    for (size_t i = 0; i < imp_dataset_faults(dataset); i++)
        json_array_append_new(broken, imp_json_any_text(imp_dataset_fault(dataset, i)));
    for (size_t i = 0; i < dataset->foreign.count && i < IMP_FOREIGN_NAMES; i++)
        json_array_append_new(foreign, imp_json_any_text(dataset->foreign.names[i]));
    json_t *report = json_pack(
        "{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:[I, I], s:[I, I], s:s, s:o, s:o}", "kind",
        imp_json_any_text(imp_dataset_kind(dataset)), "size", (json_int_t)imp_dataset_size(dataset),
        "channels", (json_int_t)imp_dataset_channels(dataset), "classes",
        (json_int_t)imp_dataset_classes(dataset), "super_classes",
        (json_int_t)imp_dataset_super_classes(dataset), "images",
        (json_int_t)imp_dataset_images(dataset), "unlabeled", (json_int_t)dataset->unlabeled,
        "passed_over", (json_int_t)dataset->foreign.count, "passed_over_names", foreign,
        "smallest_picture", (json_int_t)sizes.smallest[0], (json_int_t)sizes.smallest[1],
        "largest_picture", (json_int_t)sizes.largest[0], (json_int_t)sizes.largest[1],
        "fingerprint", imp_dataset_fingerprint(dataset), "splits", splits, "broken", broken);
    return imp_json_print_report(command, report);
}

static void info_text(const imp_dataset *dataset)
{
    imp_size_range sizes = imp_dataset_sizes(dataset);
    unsigned size = imp_dataset_size(dataset);
    printf("kind         ");
    imp_print_text(imp_dataset_kind(dataset), stdout);
    putchar('\n');
    if (imp_dataset_has_vectors(dataset))
        printf("vectors      %zu of %u numbers", imp_dataset_images(dataset),
               imp_dataset_channels(dataset));
    else
        printf("images       %zu, %s, %u x %u pixels", imp_dataset_images(dataset),
               imp_dataset_channels(dataset) == 1 ? "gray" : "RGB", size, size);
    if (sizes.largest[0] != size || sizes.largest[1] != size || sizes.smallest[0] != size ||
        sizes.smallest[1] != size)
        printf(" (files %u x %u to %u x %u)", sizes.smallest[0], sizes.smallest[1],
               sizes.largest[0], sizes.largest[1]);
    printf("\nclasses      %zu", imp_dataset_classes(dataset));
    if (imp_dataset_super_classes(dataset) > 0)
        printf(" in %zu super-classes", imp_dataset_super_classes(dataset));
    if (dataset->unlabeled > 0)
        printf("\nunlabelled   %zu, without a class, not used", dataset->unlabeled);
    putchar('\n');
    imp_print_foreign("left out     ", &dataset->foreign, stdout);
    printf("fingerprint  %s\n\n", imp_dataset_fingerprint(dataset));
    printf("split  classes  super-classes  images  smallest class\n");
    for (imp_split split = IMP_SPLIT_TRAIN; split <= IMP_SPLIT_NONE; split++) {
        tally sum = count_split(dataset, split);
        if (sum.classes == 0)
            continue;
        imp_class_info smallest = imp_dataset_class(dataset, sum.smallest);
        printf("%-5s  %7zu  %13zu  %6zu  ", imp_split_name(split), sum.classes, sum.super_classes,
               sum.images);
        imp_print_text(smallest.name, stdout);
        printf(" (%zu)\n", smallest.images);
    }
    if (imp_dataset_faults(dataset) > 0)
        printf("\n%zu broken, left out:\n", imp_dataset_faults(dataset));
    for (size_t i = 0; i < imp_dataset_faults(dataset); i++) {
        imp_print_text(imp_dataset_fault(dataset, i), stdout);
        putchar('\n');
    }
}

static int run_info(const arguments *given, const char *name)
{
    imp_dataset *dataset;
    int status = imp_data_open(command, name, &given->settings, given->threads, true, &dataset);
    if (status != IMP_GO_ON)
        return status;
    status = EXIT_SUCCESS;
    if (given->json)
        status = info_json(dataset);
    else
        info_text(dataset);
    /* So that scripts notice broken pictures. */
    if (imp_dataset_faults(dataset) > 0)
        status = IMP_EXIT_FAILURE;
    imp_dataset_free(dataset);
    return status;
}

/* ---- show ---- */

/* Image `column` of row `row`: a row is a super-class, with one image of each of its classes, or a
 * class with its images; rows are spread evenly over all of them. */
static size_t choose_image(const imp_dataset *dataset, size_t row, size_t rows, size_t column)
{
    size_t classes = imp_dataset_classes(dataset), supers = imp_dataset_super_classes(dataset);
    size_t things = supers > 0 ? supers : classes;
    size_t thing = rows <= things ? row * things / rows : row;
    if (thing >= things)
        return IMP_SHEET_EMPTY;
    if (supers == 0) {
        imp_class_info about = imp_dataset_class(dataset, thing);
        return column < about.images ? about.first_image + column : IMP_SHEET_EMPTY;
    }
    size_t first = 0, count = 0;
    for (size_t i = 0; i < classes; i++)
        if (imp_dataset_class(dataset, i).super_class == (int64_t)thing) {
            first = count == 0 ? i : first;
            count++;
        }
    imp_class_info about = imp_dataset_class(dataset, first + column % count);
    size_t image = column / count;
    return image < about.images ? about.first_image + image : IMP_SHEET_EMPTY;
}

/* imp_data_open(), unless `output` would overwrite the input. */
static int open_apart(const arguments *given, const char *name, const char *output,
                      bool skip_broken, imp_dataset **dataset)
{
    const char *path = imp_dataset_path(name);
    int status = imp_check_inputs(command, output, &path, 1);
    return status == IMP_GO_ON ? imp_data_open(command, name, &given->settings, given->threads,
                                               skip_broken, dataset)
                               : status;
}

static int run_show(const arguments *given, const char *name, const char *output)
{
    imp_dataset *dataset;
    int status = open_apart(given, name, output, true, &dataset);
    if (status != IMP_GO_ON)
        return status;
    size_t rows = (size_t)given->rows, columns = (size_t)given->columns;
    imp_sheet_cell *cells = calloc(rows * columns, sizeof *cells);
    if (!cells) {
        imp_dataset_free(dataset);
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory for a contact sheet");
    }
    for (size_t i = 0; i < rows * columns; i++)
        cells[i].image = choose_image(dataset, i / columns, rows, i % columns);
    imp_error error;
    status = EXIT_SUCCESS;
    if (imp_contact_sheet_save(dataset, cells, rows, columns, output, &error) != IMP_OK)
        status = fail(&error);
    free(cells);
    imp_dataset_free(dataset);
    return status;
}

/* ---- split and pack ---- */

static int run_split(const arguments *given, const char *name, const char *output)
{
    imp_dataset *dataset;
    int status = imp_data_open(command, name, &given->settings, given->threads, false, &dataset);
    if (status != IMP_GO_ON)
        return status;
    imp_error error;
    status = EXIT_SUCCESS;
    if (imp_dataset_write_split(dataset, output, &error) != IMP_OK)
        status = fail(&error);
    imp_dataset_free(dataset);
    return status;
}

static int run_pack(const arguments *given, const char *name, const char *output)
{
    imp_dataset *dataset;
    int status = open_apart(given, name, output, false, &dataset);
    if (status != IMP_GO_ON)
        return status;
    imp_error error;
    status = EXIT_SUCCESS;
    imp_interrupt_catch(); /* from here on there is something to undo */
    if (imp_dataset_pack_while(dataset, output, imp_interrupt_check, &error) != IMP_OK)
        status = fail(&error);
    imp_dataset_free(dataset);
    return status;
}

/* ---- export ---- */

static int run_export(const arguments *given, const char *name, const char *output)
{
    imp_error error;
    if (imp_create_folder_probe(output, &error) != IMP_OK)
        return fail(&error);
    imp_dataset *dataset;
    int status = imp_data_open(command, name, &given->settings, given->threads, false, &dataset);
    if (status != IMP_GO_ON)
        return status;
    status = EXIT_SUCCESS;
    imp_interrupt_catch(); /* from here on there is something to undo */
    if (imp_dataset_export(dataset, output, imp_interrupt_check, &error) != IMP_OK)
        status = fail(&error);
    imp_dataset_free(dataset);
    return status;
}

/* ---- get ---- */

static bool on_progress(const char *file, uint64_t so_far, uint64_t total, void *context)
{
    const bool *terminal = context;
    if (*terminal && total > 0)
        fprintf(stderr, "\r%s: %3.0f%%", file, 100.0 * (double)so_far / (double)total);
    return !imp_interrupted();
}

static int run_get(const arguments *given, const char *name, const char *output)
{
    if (strcmp(name, "mini-imagenet") == 0)
        return imp_complain(
            IMP_EXIT_USAGE, command,
            "mini-ImageNet cannot be downloaded, because its pictures are subject to ImageNet's "
            "terms; put images.zip and Ravi & Larochelle's lists train.csv, val.csv and test.csv "
            "into a folder and use mini-imagenet:FOLDER");
    if (strcmp(name, "omniglot") != 0)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "cannot get '%s'; only omniglot can be downloaded", name);
    /* An interrupted download ends like a failed one and leaves nothing half-written. */
    imp_interrupt_catch();
    bool terminal = isatty(STDERR_FILENO) == 1;
    imp_error error;
    imp_status status = imp_download_omniglot(output, given->from, on_progress, &terminal, &error);
    if (terminal)
        fputc('\n', stderr);
    return status ? fail(&error) : EXIT_SUCCESS;
}

static int run(int argc, char **argv, arguments *given)
{
    int operands;
    int status = imp_parse(&imp_data_usage, argc, argv, given, &operands);
    if (status != IMP_GO_ON)
        return status;
    const char *name = argv[2], *output = argv[3];
    switch (imp_action_find(&imp_data_usage, argv[1])) {
    case INFO:
        return run_info(given, name);
    case SHOW:
        return run_show(given, name, output);
    case SPLIT:
        return run_split(given, name, output);
    case PACK:
        return run_pack(given, name, output);
    case EXPORT:
        return run_export(given, name, output);
    default:
        return run_get(given, name, output);
    }
}

int imp_command_data(int argc, char **argv)
{
    arguments given = {0};
    imp_settings_init(&given.settings);
    int status = run(argc, argv, &given);
    imp_settings_clear(&given.settings);
    return status;
}
