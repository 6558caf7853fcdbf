/* completion_zsh.c - completion for zsh, by its _arguments. */
#include <string.h>

#include "cli/completion.h"

/* Writes text inside of single quotes; `special` are the characters _arguments would understand. */
static void print_quoted(const char *text, size_t length, const char *special, FILE *stream)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            fputs("'\\''", stream);
        else if (strchr(special, text[i]))
            fprintf(stream, "\\%c", text[i]);
        else
            fputc(text[i], stream);
    }
}

/* What is done for a value or an operand that the message calls `name`. */
static void print_offer(const char *name, const imp_offer *offer, FILE *stream)
{
    fputc(':', stream);
    print_quoted(name, strlen(name), ":", stream);
    fputc(':', stream);
    bool words = offer->words[0] != '\0';
    if (words && offer->paths != IMP_PATHS_NONE)
        fprintf(stream, " _imp_words_or_files %s", offer->words);
    else if (words)
        fprintf(stream, "(%s)", offer->words);
    else if (offer->paths == IMP_PATHS_FOLDERS)
        fputs("_files -/", stream);
    else if (offer->paths == IMP_PATHS_FILES)
        fputs("_files", stream);
}

static void print_option(const imp_option *option, FILE *stream)
{
    fputs(" \\\n            ", stream);
    const char *equals = option->argument ? "=" : "";
    if (option->letter)
        fprintf(stream, "'(-%c --%s)'{-%c,--%s%s}'[", option->letter, option->name, option->letter,
                option->name, equals);
    else
        fprintf(stream, "'--%s%s[", option->name, equals);
    print_quoted(option->help, imp_offer_length(option->help), "[]", stream);
    fputc(']', stream);
    if (option->argument) {
        imp_offer offer = imp_offer_value(option);
        print_offer(option->argument, &offer, stream);
    }
    fputc('\'', stream);
}

/* The operands of all actions are offered together: they hardly differ. */
static void print_actions(const imp_usage *usage, FILE *stream)
{
    char operands[400] = "";
    fputs(" \\\n            '1:ACTION:((", stream);
    for (const imp_action *action = usage->actions; action->name; action++) {
        fprintf(stream, "%s%s\\:\"", action == usage->actions ? "" : " ", action->name);
        print_quoted(action->summary, strlen(action->summary), ":\"", stream);
        fputc('"', stream);
        size_t used = strlen(operands);
        snprintf(operands + used, sizeof operands - used, "%s ", action->operands);
    }
    fputs("))' \\\n            '*", stream);
    imp_offer offer = imp_offer_operands(operands);
    print_offer("operand", &offer, stream);
    fputc('\'', stream);
}

static void print_command(const imp_usage *usage, FILE *stream)
{
    fprintf(stream,
            "    %s)\n"
            "        _arguments",
            usage->command);
    imp_option_walk walk = {.usage = usage};
    for (const imp_option *option; (option = imp_option_next(&walk));)
        if (option->name)
            print_option(option, stream);
    fputs(" \\\n            '(- *)'{-h,--help}'[what most people need]'"
          " \\\n            '(- *)--help-all[every option]'",
          stream);
    if (usage->actions) {
        print_actions(usage, stream);
    } else if (usage->operands) {
        imp_offer offer = imp_offer_operands(usage->operands);
        fputs(" \\\n            '*", stream);
        print_offer(usage->operands, &offer, stream);
        fputc('\'', stream);
    }
    fputs("\n        ;;\n", stream);
}

void imp_completion_print_zsh(FILE *stream)
{
    fputs("#compdef imp\n"
          "# Completion of imp for zsh; made by 'imp help --completion zsh'.\n"
          "\n"
          "_imp_words_or_files() {\n"
          "    _alternative \"words:name:($*)\" 'files:file:_files'\n"
          "}\n"
          "\n"
          "_imp() {\n"
          "    if ((CURRENT == 2)); then\n"
          "        local -a commands=(\n",
          stream);
    for (const imp_command *command = imp_commands; command->usage; command++) {
        fprintf(stream, "            '%s:", command->usage->command);
        print_quoted(command->usage->summary, strlen(command->usage->summary), "", stream);
        fputs("'\n", stream);
    }
    fputs("            '--help:List the commands'\n"
          "            '--version:Tell the version')\n"
          "        _describe -t commands 'command of imp' commands\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    ((CURRENT--))\n"
          "    case $words[1] in\n",
          stream);
    for (const imp_command *command = imp_commands; command->usage; command++)
        print_command(command->usage, stream);
    fputs("    esac\n"
          "}\n"
          "\n"
          "_imp \"$@\"\n",
          stream);
}
