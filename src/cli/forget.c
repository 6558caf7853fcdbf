/* forget.c - `imp forget`: removes classes, clusters or old points from a mixture. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/class_names.h"
#include "cli/mixture.h"

typedef struct settings {
    imp_texts classes, clusters;
    int64_t newest;
    const char *output;
    bool json;
} settings;

static const imp_option options[] = {
    {IMP_OPTION_HEADING("What to forget (--cluster and --class may be repeated)")},
    {IMP_OPTION_TEXTS(settings, clusters), .name = "cluster", .argument = "N",
     .help = "a cluster, by its number in imp predict and --json"},
    {IMP_OPTION_TEXTS(settings, classes), .name = "class", .argument = "NAME",
     .help = "a class, by its name"},
    {IMP_OPTION_INTEGER(settings, newest), .name = "keep-newest", .argument = "N",
     .integers = {1, INT64_MAX}, .otherwise = "all",
     .help = "all but the newest N of the points that the mixture keeps"},
    IMP_MIXTURE_OUTPUT_OPTIONS(settings),
    {IMP_OPTION_END}};

static const char *const examples[] = {
    "imp forget m.safetensors --class zebra",
    "imp forget m.safetensors --cluster 12 --cluster 15 -o fewer.safetensors", NULL};

const imp_usage imp_forget_usage = {
    .command = "forget",
    .summary = "Make a mixture forget classes, clusters or old points",
    .details = "Removes clusters, whole classes, or all but the newest points from a mixture. "
               "Cluster numbers are those before the removal. Points of the sample that the "
               "mixture keeps are removed with their clusters. Describes the mixture on standard "
               "output and replaces the file, unless -o names another.",
    .operands = "MIXTURE",
    .fewest = 1,
    .most = 1,
    .options = options,
    .examples = examples,
};

static const char *const command = "forget";

/* Replaces *mixture by the new one. */
static int take(imp_mixture **mixture, imp_mixture *made, imp_status status, const imp_error *error)
{
    if (status)
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error->message);
    imp_mixture_free(*mixture);
    *mixture = made;
    return IMP_GO_ON;
}

static int forget_clusters(const settings *given, imp_mixture **mixture)
{
    size_t cluster[IMP_MOST_TEXTS];
    for (size_t i = 0; i < given->clusters.count; i++) {
        const char *text = given->clusters.items[i];
        char *end;
        errno = 0;
        unsigned long long number = strtoull(text, &end, 10);
        if (errno || end == text || *end || strchr(text, '-'))
            return imp_complain(IMP_EXIT_USAGE, command,
                                "--cluster '%s' is no number of a cluster, such as 12", text);
        cluster[i] = (size_t)number;
    }
    imp_mixture *made;
    imp_error error;
    imp_status status =
        imp_mixture_forget_clusters(*mixture, cluster, given->clusters.count, &made, &error);
    return take(mixture, made, status, &error);
}

static int forget_class(const char *name, imp_mixture **mixture, imp_labels *names)
{
    int32_t class = imp_name_find((const char *const *)names->names, names->classes, name);
    if (class < 0)
        return imp_complain(IMP_EXIT_FAILURE, command, "no class of the mixture is called '%s'",
                            name);
    imp_mixture *made;
    imp_error error;
    imp_status status = imp_mixture_forget_class(*mixture, class, &made, &error);
    int exit_status = take(mixture, made, status, &error);
    if (exit_status != IMP_GO_ON)
        return exit_status;
    imp_release(names->names[class]);
    names->classes--;
    memmove(names->names + class, names->names + class + 1,
            (names->classes - (size_t) class) * sizeof *names->names);
    return IMP_GO_ON;
}

static int forget(const settings *given, imp_mixture **mixture, const char *output)
{
    imp_labels names;
    int status = imp_names_of_mixture(command, *mixture, &names);
    if (status != IMP_GO_ON)
        return status;
    if (given->clusters.count > 0)
        status = forget_clusters(given, mixture);
    for (size_t i = 0; i < given->classes.count && status == IMP_GO_ON; i++)
        status = forget_class(given->classes.items[i], mixture, &names);
    if (given->newest > 0 && status == IMP_GO_ON) {
        imp_mixture *made;
        imp_error error;
        imp_status kept = imp_mixture_keep_newest(*mixture, (uint64_t)given->newest, &made, &error);
        status = take(mixture, made, kept, &error);
    }
    if (status == IMP_GO_ON)
        status = imp_mixture_finish(command, *mixture, &names, output, given->json);
    imp_labels_clear(&names);
    return status;
}

int imp_command_forget(int argc, char **argv)
{
    settings given = {0};
    int operands;
    int status = imp_parse(&imp_forget_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    if (given.classes.count == 0 && given.clusters.count == 0 && given.newest == 0)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "needs what to forget: --class NAME, --cluster N or --keep-newest N");
    const char *output = given.output ? given.output : argv[1];
    imp_mixture *mixture;
    imp_lock lock;
    status = imp_mixture_take(command, argv[1], output, &mixture, &lock);
    if (status == IMP_GO_ON)
        status = forget(&given, &mixture, output);
    imp_lock_release(&lock);
    imp_mixture_free(mixture);
    return status;
}
