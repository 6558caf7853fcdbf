/* completion_bash.c - completion for bash, with or without the package bash-completion. */
#include "cli/completion.h"

static const char *const paths[] = {
    [IMP_PATHS_NONE] = "", [IMP_PATHS_FILES] = "-f", [IMP_PATHS_FOLDERS] = "-d"};

static const char beginning[] =
    "# Completion of imp for bash; made by 'imp help --completion bash'.\n"
    "\n"
    "_imp()\n"
    "{\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local command='' words='' paths='' options=''\n"
    "    ((COMP_CWORD == 1)) || command=${COMP_WORDS[1]}\n"
    "    # Of --name=value bash makes three words.\n"
    "    if [[ $current == = ]]; then\n"
    "        current=''\n"
    "    elif [[ $previous == = ]]; then\n"
    "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "\n";

static const char ending[] = "    if [[ -n $options && $current == -* ]]; then\n"
                             "        words=$options paths=''\n"
                             "    fi\n"
                             "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                             "    if [[ -n $paths ]]; then\n"
                             "        local found\n"
                             "        mapfile -t found < <(compgen \"$paths\" -- \"$current\")\n"
                             "        COMPREPLY+=(\"${found[@]}\")\n"
                             "        compopt -o filenames 2>/dev/null || :\n"
                             "    fi\n"
                             "}\n"
                             "\n"
                             "complete -F _imp imp\n";

static void print_offer(const imp_offer *offer, FILE *stream)
{
    fprintf(stream, "words='%s' paths='%s'", offer->words, paths[offer->paths]);
}

static void print_values(const imp_usage *usage, FILE *stream)
{
    imp_option_walk walk = {.usage = usage};
    for (const imp_option *option; (option = imp_option_next(&walk));) {
        if (!option->argument)
            continue;
        fputs("        ", stream);
        if (option->letter)
            fprintf(stream, "-%c | ", option->letter);
        fprintf(stream, "--%s) ", option->name);
        imp_offer offer = imp_offer_value(option);
        print_offer(&offer, stream);
        fputs(" ;;\n", stream);
    }
}

static void print_option_names(const imp_usage *usage, FILE *stream)
{
    fputs("            options='", stream);
    imp_option_walk walk = {.usage = usage};
    for (const imp_option *option; (option = imp_option_next(&walk));)
        if (option->name)
            fprintf(stream, "--%s ", option->name);
    fputs("--help --help-all'\n", stream);
}

static void print_operands(const imp_usage *usage, FILE *stream)
{
    if (!usage->actions) {
        imp_offer offer = imp_offer_operands(usage->operands);
        fputs("            ", stream);
        print_offer(&offer, stream);
        fputc('\n', stream);
        return;
    }
    fputs("            if ((COMP_CWORD == 2)); then\n"
          "                words='",
          stream);
    for (const imp_action *action = usage->actions; action->name; action++)
        fprintf(stream, "%s%s", action == usage->actions ? "" : " ", action->name);
    fputs("'\n"
          "            else\n"
          "                case ${COMP_WORDS[2]} in\n",
          stream);
    for (const imp_action *action = usage->actions; action->name; action++) {
        imp_offer offer = imp_offer_operands(action->operands);
        fprintf(stream, "                %s) ", action->name);
        print_offer(&offer, stream);
        fputs(" ;;\n", stream);
    }
    fputs("                esac\n"
          "            fi\n",
          stream);
}

static void print_command(const imp_usage *usage, FILE *stream)
{
    fprintf(stream,
            "    %s)\n"
            "        case $previous in\n",
            usage->command);
    print_values(usage, stream);
    fputs("        *)\n", stream);
    print_option_names(usage, stream);
    print_operands(usage, stream);
    fputs("            ;;\n"
          "        esac\n"
          "        ;;\n",
          stream);
}

void imp_completion_print_bash(FILE *stream)
{
    fputs(beginning, stream);
    fprintf(stream,
            "    case $command in\n"
            "    '')\n"
            "        options='--help --version'\n"
            "        words='%s'\n"
            "        ;;\n",
            imp_offer_operands("COMMAND").words);
    for (const imp_command *command = imp_commands; command->usage; command++)
        print_command(command->usage, stream);
    fputs("    esac\n", stream);
    fputs(ending, stream);
}
