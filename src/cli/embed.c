/* embed.c - `imp embed`: turns pictures into vectors, for imp or any other program. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/npy.h"
#include "cli/destination.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/model_points.h"
#include "cli/pictures.h"
#include "model/model.h"

typedef struct settings {
    imp_picture_settings pictures;
    const char *output, *names, *labels;
    int64_t memory;
} settings;

static const imp_option options[] = {
    {IMP_OPTION_HEADING("Pictures")},
    IMP_PICTURE_OPTIONS(settings, pictures),
    {IMP_OPTION_HEADING("Output")},
    {IMP_OPTION_TEXT(settings, output), .name = "output", .letter = 'o', .argument = "FILE",
     .help = "where to write the vectors, one row per picture (.npy)"},
    {IMP_OPTION_TEXT(settings, names), .name = "names", .argument = "FILE",
     .help = "where to write the pictures' paths, one per line; default: beside the vectors, "
             "ending in .txt"},
    {IMP_OPTION_TEXT(settings, labels), .name = "labels", .argument = "FILE",
     .help = "for one folder whose sub-folders are classes: where to write the class numbers, in "
             "order of name (.npy)"},
    IMP_MEMORY_OPTION(settings, memory, "vectors of pictures"),
    {IMP_OPTION_END}};

static const char *const examples[] = {
    "imp embed drawings -o drawings.npy",
    "imp embed a.png b.jpg more --model run/model.safetensors -o x.npy",
    "imp embed animals -o s.npy --labels y.npy   # for classify and fit",
    "imp embed x.npy --model run/model.safetensors -o z.npy   # trained on vectors", NULL};

const imp_usage imp_embed_usage = {
    .command = "embed",
    .summary = "Turn pictures into vectors",
    .details =
        "Embeds pictures with a model and writes a row of numbers for each, which imp classify, "
        "imp fit, imp cluster and any other program that reads .npy can use as points. Points can "
        "be embedded, too, with a model trained on vectors. At the end it prints the options with "
        "which imp fit and imp classify treat the vectors like the pictures.",
    .operands = "PICTURE|FOLDER...",
    .fewest = 1,
    .most = INT_MAX,
    .options = options,
    .examples = examples,
};

static const char command[] = "embed";

/* The default file for names: "x.npy" becomes "x.txt". Free with free(). */
static char *names_beside(const char *output)
{
    static const char ending[] = ".npy";
    size_t length = strlen(output), tail = sizeof ending - 1;
    if (length > tail && strcmp(output + length - tail, ending) == 0)
        length -= tail;
    char *path = malloc(length + sizeof ".txt");
    if (path)
        sprintf(path, "%.*s.txt", (int)length, output);
    return path;
}

/* A name with a line break cannot be one line. */
static int check_names(const imp_gallery *gallery, const char *path)
{
    for (size_t i = 0; i < gallery->count; i++)
        if (strchr(gallery->pictures[i].path, '\n'))
            return imp_complain(IMP_EXIT_FAILURE, command,
                                "the path '%s' contains a line break, so it cannot be a line of "
                                "'%s'; rename the file",
                                gallery->pictures[i].path, path);
    return IMP_GO_ON;
}

static imp_status write_vectors(const imp_embedded *pictures, imp_writer *writer, imp_error *error)
{
    enum { BLOCK = 4096 };
    const imp_rows *rows = &pictures->rows;
    const size_t shape[2] = {rows->count, rows->dimensions};
    imp_status status = imp_npy_begin(writer, IMP_FLOAT32, 2, shape, error);
    for (size_t begin = 0, end; begin < rows->count && !status; begin = end) {
        end = rows->count - begin < BLOCK ? rows->count : begin + BLOCK;
        status = imp_writer_write(writer, rows->values + begin * rows->dimensions,
                                  (end - begin) * rows->dimensions * sizeof *rows->values, error);
        imp_spill_leave(&pictures->room, begin, end);
    }
    return status;
}

static imp_status write_names(const imp_embedded *pictures, imp_writer *writer, imp_error *error)
{
    imp_status status = IMP_OK;
    for (size_t i = 0; i < pictures->gallery.count && !status; i++) {
        const char *name = pictures->gallery.pictures[i].path;
        status = imp_writer_write(writer, name, strlen(name), error);
        if (!status)
            status = imp_writer_write(writer, "\n", 1, error);
    }
    return status;
}

static imp_status write_labels(const imp_embedded *pictures, imp_writer *writer, imp_error *error)
{
    const imp_gallery *gallery = &pictures->gallery;
    int32_t *labels = imp_allocate(gallery->count, sizeof *labels);
    if (!labels)
        return imp_fail_memory(error, "labels");
    for (size_t i = 0; i < gallery->count; i++)
        labels[i] = gallery->pictures[i].class;
    imp_array array = {.dtype = IMP_INT32,
                       .rank = 1,
                       .shape = {gallery->count},
                       .count = gallery->count,
                       .data = labels};
    imp_status status = imp_npy_write(writer, &array, error);
    imp_release(labels);
    return status;
}

enum { VECTORS, NAMES, LABELS, FILES };

typedef imp_status write_file(const imp_embedded *, imp_writer *, imp_error *);
static write_file *const writes[FILES] = {write_vectors, write_names, write_labels};

/* All files are complete before the first takes its place. */
static int write_all(const imp_destination *files, const imp_embedded *pictures)
{
    imp_writer writers[FILES] = {0};
    imp_error error;
    imp_status status = IMP_OK;
    imp_interrupt_catch(); /* from here on there is something to undo */
    for (int i = 0; i < FILES && !status; i++)
        if (files[i].path)
            status = imp_writer_open(&writers[i], files[i].path, &error);
    for (int i = 0; i < FILES && !status; i++)
        if (files[i].path)
            status = writes[i](pictures, &writers[i], &error);
    if (!status)
        status = imp_interrupt_check(&error);
    for (int i = 0; i < FILES && !status; i++)
        if (files[i].path)
            status = imp_writer_commit(&writers[i], &error);
    for (int i = 0; i < FILES; i++)
        imp_writer_abandon(&writers[i]);
    if (!status)
        return EXIT_SUCCESS;
    return imp_complain(imp_interrupted() ? IMP_EXIT_INTERRUPTED : IMP_EXIT_FAILURE, command, "%s",
                        error.message);
}

/* Receives the vectors, block by block. */
typedef struct vector_file {
    imp_writer writer;
    const char *path;
    size_t dimensions;
} vector_file;

static imp_status write_block(const float *vectors, size_t begin, size_t count, size_t total,
                              void *context, imp_error *error)
{
    vector_file *file = context;
    size_t shape[2] = {total, file->dimensions};
    imp_status status = IMP_OK;
    if (begin == 0)
        status = imp_writer_open(&file->writer, file->path, error);
    if (!status && begin == 0)
        status = imp_npy_begin(&file->writer, IMP_FLOAT32, 2, shape, error);
    if (!status)
        status = imp_writer_write(&file->writer, vectors,
                                  count * file->dimensions * sizeof *vectors, error);
    return status;
}

/* Embeds vectors with a model trained on vectors. */
static int embed_points(const settings *given, const char *path)
{
    if (given->names || given->labels)
        return imp_complain(IMP_EXIT_USAGE, command, "--names and --labels are for pictures");
    if (!given->pictures.model)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "'%s' holds points; give the model that embeds them with --model FILE",
                            path);
    const char *const inputs[] = {path, given->pictures.model};
    imp_model *model = NULL;
    vector_file file = {.path = given->output};
    imp_error error;
    int status = imp_check_inputs(command, given->output, inputs, 2);
    if (status == IMP_GO_ON)
        status = imp_open_vector_model(command, given->pictures.model, &model);
    if (status == IMP_GO_ON) {
        file.dimensions = imp_model_info_of(model)->dimensions;
        imp_interrupt_catch(); /* there is something to undo */
        status = imp_embed_points(command, model, path, imp_job_ranks(), write_block, &file);
    }
    if (status == IMP_GO_ON && imp_job_writes() && imp_writer_commit(&file.writer, &error))
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    imp_writer_abandon(&file.writer);
    if (status == IMP_GO_ON)
        imp_tell_mixture(model);
    imp_model_free(model);
    return status == IMP_GO_ON ? EXIT_SUCCESS : status;
}

/* Whether it holds points. The name of a pipe does not tell; the model does. */
static bool holds_points(const settings *given, const char *path)
{
    if (imp_is_points(path))
        return true;
    struct stat about;
    imp_model *model = NULL;
    bool points = given->pictures.model && !given->pictures.embedder && stat(path, &about) == 0 &&
                  S_ISFIFO(about.st_mode) &&
                  !imp_model_open(given->pictures.model, NULL, &model, NULL) &&
                  imp_model_takes_vectors(model);
    imp_model_free(model);
    return points;
}

int imp_command_embed(int argc, char **argv)
{
    settings given = {0};
    int operands;
    int status = imp_parse(&imp_embed_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    if (!given.output)
        return imp_complain(IMP_EXIT_USAGE, command, "give -o FILE, where to write the vectors");
    if (operands == 1 && holds_points(&given, argv[1]))
        return embed_points(&given, argv[1]);
    if (given.labels && (operands != 1 || !imp_is_folder_or_archive(argv[1])))
        return imp_complain(IMP_EXIT_USAGE, command,
                            "--labels needs one folder, whose sub-folders are the classes");
    char *beside = names_beside(given.output), *folder = imp_scratch_folder(given.output);
    imp_model *model = NULL;
    imp_embedded pictures = {0};
    const imp_destination files[FILES] = {
        [VECTORS] = {"-o", "a .npy file", given.output},
        [NAMES] = {"--names", "a text file", given.names ? given.names : beside},
        [LABELS] = {"--labels", "a .npy file", given.labels},
    };
    status = beside && folder ? imp_check_files(command, files, FILES)
                              : imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    for (int i = 0; i < FILES && status == IMP_GO_ON; i++)
        status = imp_check_inputs(command, files[i].path, &given.pictures.model, 1);
    if (status == IMP_GO_ON)
        status = given.labels
                     ? imp_gather_classes(command, &given.pictures, argv[1], &pictures)
                     : imp_gather_pictures(command, &given.pictures, argv + 1, operands, &pictures);
    if (status == IMP_GO_ON) {
        pictures.place = (imp_spill_place){.folder = folder, .memory = (size_t)given.memory << 20};
        imp_tell_passed_over(command, &pictures.gallery, NULL);
        status = check_names(&pictures.gallery, files[NAMES].path);
    }
    if (status == IMP_GO_ON)
        status = imp_open_model(command, &given.pictures, &model);
    if (status == IMP_GO_ON)
        status = imp_embed_pictures(command, &given.pictures, model, &pictures);
    if (status == IMP_GO_ON) {
        imp_tell_coloured(command, &given.pictures, imp_gallery_coloured(&pictures.gallery),
                          pictures.gallery.count);
        status = imp_job_writes() ? write_all(files, &pictures) : EXIT_SUCCESS;
    }
    if (status == EXIT_SUCCESS)
        imp_tell_mixture(model);
    imp_embedded_clear(&pictures);
    imp_model_free(model);
    free(beside);
    free(folder);
    return status;
}
