/* help.c - `imp help`: help, man pages and shell completions. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/completion.h"
#include "cli/manual.h"

typedef struct settings {
    bool man;
    int shell;
} settings;

enum { NO_SHELL, BASH, ZSH, FISH };
static const char *const shells[] = {"none", "bash", "zsh", "fish", NULL};

static const imp_option options[] = {{IMP_OPTION_FLAG(settings, man), .name = "man",
                                      .help = "print the man page of the command, or of imp"},
                                     {IMP_OPTION_CHOICE(settings, shell), .name = "completion",
                                      .argument = "SHELL", .choices = shells, .initial = "none",
                                      .help = "print completions for a shell"},
                                     {IMP_OPTION_END}};

static const char *const examples[] = {
    "imp help train", "imp help --man train | man -l -",
    "imp help --completion bash > ~/.local/share/bash-completion/completions/imp", NULL};

const imp_usage imp_help_usage = {
    .command = "help",
    .summary = "Explain a command, or list them all",
    .details = "Prints the help of a command, or the list of commands. It also generates the man "
               "pages and shell completions, which are installed with imp.",
    .operands = "[COMMAND]",
    .fewest = 0,
    .most = 1,
    .options = options,
    .examples = examples,
};

static int complete(int shell, int operands)
{
    if (operands > 0)
        return imp_complain(IMP_EXIT_USAGE, "help",
                            "--completion is for all commands; leave out the command");
    if (shell == BASH)
        imp_completion_print_bash(stdout);
    else if (shell == ZSH)
        imp_completion_print_zsh(stdout);
    else
        imp_completion_print_fish(stdout);
    return EXIT_SUCCESS;
}

int imp_command_help(int argc, char **argv)
{
    settings given = {0};
    int operands;
    int status = imp_parse(&imp_help_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    if (given.shell != NO_SHELL)
        return complete(given.shell, operands);

    const imp_command *command = NULL;
    if (operands > 0 && !(command = imp_command_find(argv[1])))
        return IMP_EXIT_USAGE;
    if (command && given.man)
        imp_manual_print(command->usage, stdout);
    else if (command)
        imp_usage_print(command->usage, IMP_DETAIL_SCREEN, stdout);
    else if (given.man)
        imp_manual_print_overview(stdout);
    else
        imp_commands_print(stdout);
    return EXIT_SUCCESS;
}
