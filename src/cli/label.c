/* label.c - `imp label`: a page that asks for labels and guesses the rest from the answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/label.h"

typedef struct settings {
    imp_picture_settings pictures;
    const char *project, *labels, *texts, *address;
    imp_texts exports;
    const char *simulate, *figure;
    int64_t port, seed, answers;
    bool no_browser, json;
} settings;

static const imp_option options[] = {
    {IMP_OPTION_HEADING("Project")},
    {IMP_OPTION_TEXT(settings, project), .name = "project", .argument = "FILE",
     .help = "project file to create or continue (default PILE.imp-label, in this folder)"},
    {IMP_OPTION_TEXT(settings, labels), .name = "labels", .argument = "FILE",
     .help = "initial labels: CSV with columns name and class, a JSON export, .npy, or a folder "
             "whose sub-folders are classes"},
    {IMP_OPTION_TEXT(settings, texts), .name = "texts", .argument = "FILE",
     .help = "for vectors: text to show, one line per vector"},
    {IMP_OPTION_TEXTS(settings, exports), .name = "export", .argument = "FORMAT:PATH",
     .help = "no page; export the current labels as csv, json, copy, link, support or mixture"},
    {IMP_OPTION_HEADING("Pictures")},
    IMP_PICTURE_OPTIONS(settings, pictures),
    {IMP_OPTION_HEADING("Page")},
    {IMP_OPTION_FLAG(settings, no_browser), .name = "no-browser",
     .help = "print the address without opening a browser"},
    {IMP_OPTION_REST},
    {IMP_OPTION_TEXT(settings, address), .name = "address", .argument = "IP",
     .otherwise = "127.0.0.1",
     .help = "address to listen on; by default only this machine can reach the page"},
    {IMP_OPTION_INTEGER(settings, port), .name = "port", .argument = "N", .integers = {0, 65535},
     .initial = "0", .help = "port; 0: any free one"},
    {IMP_OPTION_INTEGER(settings, seed), .name = "seed", .argument = "N",
     .integers = {0, INT64_MAX}, .initial = "1",
     .help = "fraction of questions drawn at random, in a new project"},
    {IMP_OPTION_HEADING("Simulation")},
    {IMP_OPTION_TEXT(settings, simulate), .name = "simulate", .argument = "TRUTH",
     .help =
         "no page; answer from this file, as for --labels, or from the pile's sub-folders if it is "
         "'folders', and print the accuracy after each answer, compared with random order"},
    {IMP_OPTION_INTEGER(settings, answers), .name = "answers", .argument = "N",
     .integers = {1, 1000000}, .initial = "500", .help = "number of answers to simulate"},
    {IMP_OPTION_TEXT(settings, figure), .name = "output", .letter = 'o', .argument = "FILE",
     .help = "plot the simulation (.png or .svg)"},
    {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "write the simulation as JSON"},
    {IMP_OPTION_END}};

static const char *const examples[] = {
    "imp label drawings", "imp label photos --embedder 'python3 -m pyimp.embedders.onnx net.onnx'",
    "imp label drawings --export csv:labels.csv --export copy:sorted",
    "imp label drawings --simulate folders -o curve.png", NULL};

const imp_usage imp_label_usage = {
    .command = "label",
    .summary = "Label a pile of pictures, files or vectors on a page",
    .details = "Embeds the pile, groups it and opens a page in the browser that asks about the "
               "items whose labels help most, in the order of imp suggest. Every answer is used "
               "immediately and is on disk before the page confirms "
               "it. The page estimates how many labels would be right if you stopped now. It is "
               "served only on this machine, and only at the printed address, which contains a "
               "secret. Ctrl-C ends it; the same command continues.",
    .operands = "PILE",
    .fewest = 1,
    .most = 1,
    .options = options,
    .examples = examples,
};

static const char command[] = "label";

static int fail(const imp_error *error)
{
    return imp_complain(imp_interrupted() ? IMP_EXIT_INTERRUPTED : IMP_EXIT_FAILURE, command, "%s",
                        error->message);
}

/* ---- the project's file ---- */

/* "pile.imp-label", named after the pile's last part; free with free(). */
static char *default_project(const char *place)
{
    static const char ending[] = ".imp-label";
    size_t end = strlen(place);
    while (end > 1 && place[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && place[begin - 1] != '/')
        begin--;
    char *path = malloc(end - begin + sizeof ending);
    if (path) {
        memcpy(path, place + begin, end - begin);
        memcpy(path + end - begin, ending, sizeof ending);
    }
    return path;
}

static void tell_news(const char *path, const imp_project *project, const imp_project_news *news)
{
    fprintf(stderr, "project '%s': %zu items, %zu named\n", path, project->count,
            project->state.all.answered);
    if (news->lost > 0)
        imp_complain(EXIT_SUCCESS, command,
                     "the last answer was incompletely written and is left out");
    if (news->added > 0)
        imp_complain(EXIT_SUCCESS, command, "%zu items are new in the pile", news->added);
    if (news->gone > 0)
        imp_complain(EXIT_SUCCESS, command,
                     "%zu items are no longer in the pile; their labels are kept", news->gone);
    if (news->changed > 0)
        imp_complain(EXIT_SUCCESS, command,
                     "%zu items have changed since the project last saw them; the page marks those "
                     "that were labelled",
                     news->changed);
}

/* ---- exports ---- */

static int export_all(const imp_project *project, const imp_label_pile *pile,
                      const imp_texts *wanted)
{
    for (size_t k = 0; k < wanted->count; k++) {
        const char *colon = strchr(wanted->items[k], ':');
        if (!colon || colon == wanted->items[k] || !colon[1])
            return imp_complain(IMP_EXIT_USAGE, command,
                                "--export needs FORMAT:PATH, such as csv:labels.csv, not '%s'",
                                wanted->items[k]);
        char format[16];
        imp_error error;
        snprintf(format, sizeof format, "%.*s", (int)(colon - wanted->items[k]), wanted->items[k]);
        if (imp_label_export(project, format, colon + 1, NULL, 0, &error, (void *)pile) != IMP_OK)
            return fail(&error);
        fprintf(stderr, "written: %s\n", colon + 1);
    }
    return EXIT_SUCCESS;
}

/* ---- the page ---- */

/* Opens the address in the user's browser, if there is one; it is printed in any case. */
static void open_browser(const char *address)
{
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) { /* a grandchild, so that nobody has to wait for it */
            if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))
                _exit(127);
            execlp("xdg-open", "xdg-open", address, (char *)NULL);
            _exit(127);
        }
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static int serve(const settings *given, imp_project *project, const imp_label_pile *pile)
{
    imp_label_page page;
    imp_label_source source = imp_label_pile_source(pile);
    imp_server *server;
    imp_error error;
    if (imp_label_page_create(&page, project, pile->kind, pile->place, &source, &error) != IMP_OK)
        return fail(&error);
    imp_interrupt_catch();
    if (imp_server_start(given->address, (uint16_t)given->port, imp_label_page_serve, &page,
                         &server, &error) != IMP_OK) {
        imp_label_page_release(&page);
        return fail(&error);
    }
    printf("%s\n", imp_server_address(server));
    fflush(stdout);
    if (!given->no_browser && isatty(STDOUT_FILENO) &&
        (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")))
        open_browser(imp_server_address(server));
    fprintf(stderr, "open that address in a browser; Ctrl-C ends\n");
    while (!imp_interrupted())
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    imp_server_stop(server);
    imp_label_page_release(&page);
    fprintf(stderr, "\nall answers are saved\n");
    return EXIT_SUCCESS;
}

/* ---- the command ---- */

static int work_on(const settings *given, const imp_label_pile *pile)
{
    char *named = given->project ? NULL : default_project(pile->place);
    const char *path = given->project ? given->project : named;
    imp_project project;
    imp_project_news news;
    imp_project_pile view = imp_label_pile_view(pile);
    imp_error error;
    if (!path)
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    if (imp_project_open(&project, path, &view, (uint64_t)given->seed, (int)given->pictures.threads,
                         &news, &error) != IMP_OK) {
        free(named);
        return fail(&error);
    }
    tell_news(path, &project, &news);
    free(named);
    int status = given->labels ? imp_label_import(&project, given->labels) : IMP_GO_ON;
    if (status == IMP_GO_ON)
        status = given->exports.count > 0 ? export_all(&project, pile, &given->exports)
                                          : serve(given, &project, pile);
    imp_project_close(&project);
    return status;
}

int imp_command_label(int argc, char **argv)
{
    settings given = {0};
    int operands, status = imp_parse(&imp_label_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    if (given.project && !*given.project)
        return imp_complain(IMP_EXIT_USAGE, command, "--project is empty; it must name a file");
    if ((given.figure || given.json) && !given.simulate)
        return imp_complain(IMP_EXIT_USAGE, command, "%s needs --simulate",
                            given.figure ? "--output" : "--json");
    imp_label_pile pile;
    status = imp_label_pile_open(&pile, argv[1], given.texts, &given.pictures);
    if (status == IMP_GO_ON && given.simulate)
        status =
            imp_label_simulate(&pile, &(imp_label_simulation){.truth = given.simulate,
                                                              .figure = given.figure,
                                                              .answers = given.answers,
                                                              .seed = given.seed,
                                                              .threads = given.pictures.threads,
                                                              .json = given.json});
    else if (status == IMP_GO_ON)
        status = work_on(&given, &pile);
    imp_label_pile_clear(&pile);
    return status;
}
