/* merge.c - `imp merge`: one mixture of what two know. */
#include <stdlib.h>

#include "base/memory.h"
#include "cli/class_names.h"
#include "cli/mixture.h"

typedef struct settings {
    const char *output;
    bool json;
} settings;

static const imp_option options[] = {IMP_MIXTURE_OUTPUT_OPTIONS(settings), {IMP_OPTION_END}};

static const char *const examples[] = {"imp merge m.safetensors theirs.safetensors",
                                       "imp merge a.safetensors b.safetensors -o both.safetensors",
                                       NULL};

const imp_usage imp_merge_usage = {
    .command = "merge",
    .summary = "Merge two fitted mixtures",
    .details = "Merges two mixtures. Classes with the same name are merged; others are added. If "
               "both were fitted by cross-validation, their samples are joined and the parameters "
               "are chosen again; with the paper's rule, clusters of a class within its threshold "
               "are merged. Describes the mixture on standard output and replaces the first file, "
               "unless -o names another.",
    .operands = "MIXTURE OTHER",
    .fewest = 2,
    .most = 2,
    .options = options,
    .examples = examples,
};

static const char *const command = "merge";

/* The numbers of the classes of `other` in `names`, to which new ones are added. */
static int match(imp_labels *names, imp_labels *other, int32_t *number)
{
    char **all = imp_enlarge(names->names, names->classes, names->classes + other->classes,
                             sizeof *names->names);
    if (!all)
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    imp_release(names->names);
    names->names = all;
    names->integers = names->integers && other->integers;
    for (size_t c = 0; c < other->classes; c++) {
        number[c] = imp_name_find((const char *const *)all, names->classes, other->names[c]);
        if (number[c] >= 0)
            continue;
        number[c] = (int32_t)names->classes;
        all[names->classes++] = other->names[c];
        other->names[c] = NULL;
    }
    return IMP_GO_ON;
}

static int merge(const settings *given, const imp_mixture *mixture, const imp_mixture *other,
                 const char *output)
{
    imp_labels names = {0}, theirs = {0};
    imp_mixture *made = NULL;
    imp_error error;
    int status = imp_names_of_mixture(command, mixture, &names);
    if (status == IMP_GO_ON)
        status = imp_names_of_mixture(command, other, &theirs);
    int32_t *number = imp_allocate(theirs.classes, sizeof *number);
    if (status == IMP_GO_ON)
        status = number ? match(&names, &theirs, number)
                        : imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    if (status == IMP_GO_ON && imp_mixture_merge_as(mixture, other, number, &made, &error))
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    if (status == IMP_GO_ON)
        status = imp_mixture_finish(command, made, &names, output, given->json);
    imp_release(number);
    imp_mixture_free(made);
    imp_labels_clear(&names);
    imp_labels_clear(&theirs);
    return status;
}

int imp_command_merge(int argc, char **argv)
{
    settings given = {0};
    int operands;
    int status = imp_parse(&imp_merge_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    const char *output = given.output ? given.output : argv[1];
    imp_mixture *mixture, *other = NULL;
    imp_lock lock;
    status = imp_mixture_take(command, argv[1], output, &mixture, &lock);
    if (status == IMP_GO_ON)
        status = imp_mixture_read(command, argv[2], &other);
    if (status == IMP_GO_ON)
        status = merge(&given, mixture, other, output);
    imp_lock_release(&lock);
    imp_mixture_free(mixture);
    imp_mixture_free(other);
    return status;
}
