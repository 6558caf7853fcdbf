/* completion_fish.c - completion for fish: one `complete` for each thing there is. */
#include <string.h>

#include "cli/completion.h"

/* A word of its own, whatever is in it. */
static void print_quoted(const char *text, size_t length, FILE *stream)
{
    fputc('\'', stream);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'' || text[i] == '\\')
            fputc('\\', stream);
        fputc(text[i], stream);
    }
    fputc('\'', stream);
}

static void print_offer(const imp_offer *offer, FILE *stream)
{
    bool words = offer->words[0] != '\0', folders = offer->paths == IMP_PATHS_FOLDERS;
    if (words || folders)
        fprintf(stream, " -a '%s%s%s'", offer->words, words && folders ? " " : "",
                folders ? "(__fish_complete_directories)" : "");
    if (offer->paths == IMP_PATHS_FILES)
        fputs(" -F", stream);
}

static void print_option(const imp_usage *usage, const imp_option *option, FILE *stream)
{
    fprintf(stream, "complete -c imp -n '__imp_runs %s' -l %s", usage->command, option->name);
    if (option->letter)
        fprintf(stream, " -s %c", option->letter);
    if (option->argument) {
        imp_offer offer = imp_offer_value(option);
        /* -x: and no files, unless they are among what is offered. */
        fputs(offer.paths == IMP_PATHS_FILES ? " -r" : " -x", stream);
        print_offer(&offer, stream);
    }
    fputs(" -d ", stream);
    print_quoted(option->help, imp_offer_length(option->help), stream);
    fputc('\n', stream);
}

static void print_operands(const imp_usage *usage, const char *action, const char *operands,
                           FILE *stream)
{
    imp_offer offer = imp_offer_operands(operands);
    if (offer.words[0] == '\0' && offer.paths == IMP_PATHS_NONE)
        return;
    fprintf(stream, "complete -c imp -n '__imp_runs %s%s%s'", usage->command, action ? " " : "",
            action ? action : "");
    print_offer(&offer, stream);
    fputc('\n', stream);
}

static void print_command(const imp_usage *usage, FILE *stream)
{
    fprintf(stream, "\ncomplete -c imp -n __imp_begins -a %s -d ", usage->command);
    print_quoted(usage->summary, strlen(usage->summary), stream);
    fputc('\n', stream);
    imp_option_walk walk = {.usage = usage};
    for (const imp_option *option; (option = imp_option_next(&walk));)
        if (option->name)
            print_option(usage, option, stream);
    for (const imp_action *action = usage->actions; action && action->name; action++) {
        fprintf(stream, "complete -c imp -n '__imp_acts %s' -a %s -d ", usage->command,
                action->name);
        print_quoted(action->summary, strlen(action->summary), stream);
        fputc('\n', stream);
        print_operands(usage, action->name, action->operands, stream);
    }
    if (!usage->actions)
        print_operands(usage, NULL, usage->operands, stream);
}

void imp_completion_print_fish(FILE *stream)
{
    fputs("# Completion of imp for fish; made by 'imp help --completion fish'.\n"
          "\n"
          "# No word has been typed yet.\n"
          "function __imp_begins\n"
          "    test (count (commandline -opc)) -eq 1\n"
          "end\n"
          "\n"
          "# The command is the first argument and, if there is a second, its action that one.\n"
          "function __imp_runs\n"
          "    set -l words (commandline -opc)\n"
          "    test \"$words[2]\" = $argv[1]\n"
          "    and test -z \"$argv[2]\" -o \"$words[3]\" = \"$argv[2]\"\n"
          "end\n"
          "\n"
          "# The command stands there, its action does not yet.\n"
          "function __imp_acts\n"
          "    __imp_runs $argv\n"
          "    and test (count (commandline -opc)) -eq 2\n"
          "end\n"
          "\n"
          "complete -c imp -f\n"
          "complete -c imp -n __imp_begins -l version -d 'Tell the version'\n"
          "complete -c imp -s h -l help -d 'What most people need'\n"
          "complete -c imp -n 'not __imp_begins' -l help-all -d 'Every option'\n",
          stream);
    for (const imp_command *command = imp_commands; command->usage; command++)
        print_command(command->usage, stream);
}
