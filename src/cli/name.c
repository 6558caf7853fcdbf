/* name.c - `imp name`: what a cluster is that points without a label have started. */
#include <stdlib.h>

#include "base/memory.h"
#include "cli/class_names.h"
#include "cli/mixture.h"

typedef struct settings {
    int64_t cluster;
    const char *name, *output;
    bool json;
} settings;

static const imp_option options[] = {
    {IMP_OPTION_HEADING("The cluster and its class")},
    {IMP_OPTION_INTEGER(settings, cluster), .name = "cluster", .argument = "N",
     .integers = {0, INT64_MAX}, .otherwise = "none",
     .help = "an unlabelled cluster, by its number in imp predict --open-set and --json"},
    {IMP_OPTION_TEXT(settings, name), .name = "class", .argument = "NAME", .once = true,
     .help = "its class, existing or new"},
    IMP_MIXTURE_OUTPUT_OPTIONS(settings),
    {IMP_OPTION_END}};

static const char *const examples[] = {
    "imp name m.safetensors --cluster 12 --class zebra",
    "imp name m.safetensors --cluster 3 --class 5 -o named.safetensors", NULL};

const imp_usage imp_name_usage = {
    .command = "name",
    .summary = "Give an unlabelled cluster a class",
    .details = "Unlabelled points far from all classes form clusters of their own. Once you know "
               "what they are, this turns such a cluster into one of a class, and the points of it "
               "that the mixture keeps become labelled. Describes the mixture on standard output "
               "and replaces the file, unless -o names another.",
    .operands = "MIXTURE",
    .fewest = 1,
    .most = 1,
    .options = options,
    .examples = examples,
};

static const char *const command = "name";

/* One more name. */
static int add_name(imp_labels *names, const char *name)
{
    char **more =
        imp_enlarge(names->names, names->classes, names->classes + 1, sizeof *names->names);
    char *copy = more ? imp_duplicate(name) : NULL;
    if (!copy) {
        imp_release(more);
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    }
    char *end;
    (void)strtoll(name, &end, 10);
    names->integers = names->integers && *name && !*end;
    imp_release(names->names);
    names->names = more;
    names->names[names->classes++] = copy;
    return IMP_GO_ON;
}

static int name_cluster(const settings *given, const imp_mixture *mixture, const char *output)
{
    imp_labels names;
    imp_mixture *made = NULL;
    imp_error error;
    int status = imp_names_of_mixture(command, mixture, &names);
    if (status != IMP_GO_ON)
        return status;
    int32_t class = imp_name_find((const char *const *)names.names, names.classes, given->name);
    if (class < 0) {
        class = (int32_t)names.classes;
        status = add_name(&names, given->name);
    }
    if (status == IMP_GO_ON &&
        imp_mixture_name_cluster(mixture, (size_t)given->cluster, class, &made, &error))
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    if (status == IMP_GO_ON)
        status = imp_mixture_finish(command, made, &names, output, given->json);
    imp_mixture_free(made);
    imp_labels_clear(&names);
    return status;
}

int imp_command_name(int argc, char **argv)
{
    settings given = {.cluster = -1};
    int operands;
    int status = imp_parse(&imp_name_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    if (given.cluster < 0 || !given.name || !*given.name)
        return imp_complain(IMP_EXIT_USAGE, command, "needs --cluster N and --class NAME");
    const char *output = given.output ? given.output : argv[1];
    imp_mixture *mixture;
    imp_lock lock;
    status = imp_mixture_take(command, argv[1], output, &mixture, &lock);
    if (status == IMP_GO_ON)
        status = name_cluster(&given, mixture, output);
    imp_lock_release(&lock);
    imp_mixture_free(mixture);
    return status;
}
