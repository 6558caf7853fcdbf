/* commands.c - the table of commands. */
#include <string.h>

#include "base/suggest.h"
#include "cli/cli.h"

/* clang-format off */
const imp_command imp_commands[] = {
    {&imp_add_usage, imp_command_add},
    {&imp_bench_usage, imp_command_bench},
    {&imp_classify_usage, imp_command_classify},
    {&imp_cluster_usage, imp_command_cluster},
    {&imp_data_usage, imp_command_data},
    {&imp_demo_usage, imp_command_demo},
    {&imp_embed_usage, imp_command_embed},
    {&imp_episode_usage, imp_command_episode},
    {&imp_eval_usage, imp_command_eval},
    {&imp_fit_usage, imp_command_fit},
    {&imp_forget_usage, imp_command_forget},
    {&imp_help_usage, imp_command_help},
    {&imp_label_usage, imp_command_label},
    {&imp_merge_usage, imp_command_merge},
    {&imp_metrics_usage, imp_command_metrics},
    {&imp_model_usage, imp_command_model},
    {&imp_name_usage, imp_command_name},
    {&imp_paper_usage, imp_command_paper},
    {&imp_plot_usage, imp_command_plot},
    {&imp_predict_usage, imp_command_predict},
    {&imp_suggest_usage, imp_command_suggest},
    {&imp_train_usage, imp_command_train},
    {NULL, NULL},
};
/* clang-format on */

const imp_command *imp_command_find(const char *name)
{
    imp_suggestion suggestion = imp_suggestion_start(name);
    for (const imp_command *command = imp_commands; command->usage; command++) {
        if (strcmp(command->usage->command, name) == 0)
            return command;
        imp_suggestion_offer(&suggestion, command->usage->command);
    }
    if (suggestion.nearest)
        imp_complain(IMP_EXIT_USAGE, NULL, "unknown command '%s'; did you mean '%s'?", name,
                     suggestion.nearest);
    else
        imp_complain(IMP_EXIT_USAGE, NULL, "unknown command '%s'; 'imp --help' lists the commands",
                     name);
    return NULL;
}

void imp_commands_print(FILE *stream)
{
    fputs("Usage: imp COMMAND [OPTION]...\n"
          "\n"
          "Infinite mixture prototypes: clustering and few-shot classification.\n"
          "\n"
          "Commands\n",
          stream);
    for (const imp_command *command = imp_commands; command->usage; command++)
        fprintf(stream, "  %-12s%s\n", command->usage->command, command->usage->summary);
    fputs("\n'imp COMMAND --help' explains a command, 'imp --version' prints the version.\n",
          stream);
}
