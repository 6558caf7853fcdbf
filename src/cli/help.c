/* help.c - `imp help`: explains imp, or one of its commands. */
#include <stdlib.h>

#include "cli/cli.h"

static const imp_option options[] = {{IMP_OPTION_END}};

static const char *const examples[] = {"imp help", "imp help help", NULL};

const imp_usage imp_help_usage = {
    .command = "help",
    .summary = "Explain a command, or list them all",
    .operands = "[COMMAND]",
    .fewest = 0,
    .most = 1,
    .options = options,
    .examples = examples,
};

int imp_command_help(int argc, char **argv)
{
    int operands;
    int status = imp_parse(&imp_help_usage, argc, argv, NULL, &operands);
    if (status != IMP_GO_ON)
        return status;

    if (operands == 0) {
        imp_commands_print(stdout);
        return EXIT_SUCCESS;
    }
    const imp_command *command = imp_command_find(argv[1]);
    if (!command)
        return IMP_EXIT_USAGE;
    imp_usage_print(command->usage, IMP_DETAIL_SCREEN, stdout);
    return EXIT_SUCCESS;
}
