/*
 * manual.c - writes the man pages.
 *
 * A command's page is generated from its table; only what holds for all commands is written out
 * here.
 */
#include "cli/manual.h"

#include <ctype.h>
#include <string.h>

#include <imp/version.h>

#include "cli/roff.h"

/* ---- pieces ---- */

static void print_title(const char *command, FILE *stream)
{
    fputs(".TH IMP", stream);
    if (command)
        fputs("\\-", stream);
    for (; command && *command; command++)
        fputc(toupper((unsigned char)*command), stream);
    fprintf(stream, " 1 \"%s\" \"imp %s\" \"User Commands\"\n", IMP_VERSION_DATE,
            IMP_VERSION_STRING);
}

/* A word in bold. */
static void print_bold(const char *word, FILE *stream)
{
    fputs("\\fB", stream);
    imp_roff_literal(word, stream);
    fputs("\\fR", stream);
}

static void print_operands(const char *operands, FILE *stream)
{
    if (!operands)
        return;
    fputs(" \\fI", stream);
    imp_roff_literal(operands, stream);
    fputs("\\fR", stream);
}

/* A list entry; the text that follows explains `term`. */
static void begin_entry(const char *term, FILE *stream)
{
    fputs(".TP\n", stream);
    print_bold(term, stream);
}

static void print_entry(const char *term, const char *meaning, FILE *stream)
{
    begin_entry(term, stream);
    fputc('\n', stream);
    imp_roff_prose(meaning, stream);
}

static void print_exit_status(FILE *stream)
{
    fputs(".SH EXIT STATUS\n", stream);
    print_entry("0", "Success.", stream);
    print_entry("1", "Failure. A sentence on standard error says why.", stream);
    print_entry("2", "The command line was wrong. Nothing was done.", stream);
    print_entry("130", "The work was interrupted. imp train and imp paper can continue it.",
                stream);
}

static void print_examples(const char *const *examples, FILE *stream)
{
    fputs(".SH EXAMPLES\n.nf\n", stream);
    for (; *examples; examples++) {
        imp_roff_literal(*examples, stream);
        fputc('\n', stream);
    }
    fputs(".fi\n", stream);
}

/* ---- a command ---- */

static void print_synopsis_line(const char *command, const char *action, const char *operands,
                                FILE *stream)
{
    fputs("\\fBimp ", stream);
    imp_roff_literal(command, stream);
    if (action) {
        fputc(' ', stream);
        imp_roff_literal(action, stream);
    }
    fputs("\\fR [\\fIOPTION\\fR]...", stream);
    print_operands(operands, stream);
    fputc('\n', stream);
}

static void print_synopsis(const imp_usage *usage, FILE *stream)
{
    fputs(".SH SYNOPSIS\n", stream);
    if (!usage->actions)
        print_synopsis_line(usage->command, NULL, usage->operands, stream);
    for (const imp_action *action = usage->actions; action && action->name; action++) {
        if (action != usage->actions)
            fputs(".br\n", stream);
        print_synopsis_line(usage->command, action->name, action->operands, stream);
    }
}

static void print_actions(const imp_usage *usage, FILE *stream)
{
    if (!usage->actions)
        return;
    fputs(".SH ACTIONS\n", stream);
    for (const imp_action *action = usage->actions; action->name; action++) {
        begin_entry(action->name, stream);
        print_operands(action->operands, stream);
        fputc('\n', stream);
        imp_roff_prose(action->summary, stream);
    }
}

static void print_option(const imp_option *option, const imp_option *heading, FILE *stream)
{
    fputs(".TP\n", stream);
    if (option->letter)
        fprintf(stream, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", stream);
    imp_roff_literal(option->name, stream);
    fputs("\\fR", stream);
    print_operands(option->argument, stream);
    fputc('\n', stream);
    char text[1200];
    imp_option_explain(option, heading, IMP_DETAIL_ALL, text, sizeof text);
    imp_roff_prose(text, stream);
}

static void print_options(const imp_usage *usage, FILE *stream)
{
    fputs(".SH OPTIONS\n", stream);
    const imp_option *heading = NULL;
    imp_option_walk walk = {.usage = usage};
    for (const imp_option *option; (option = imp_option_next(&walk));) {
        if (option->kind == IMP_KIND_HEADING) {
            heading = option;
            fputs(".SS ", stream);
            imp_roff_literal(heading->help, stream);
            fputc('\n', stream);
            if (heading->otherwise)
                fprintf(stream, "By default %s.\n", heading->otherwise);
        } else if (option->kind != IMP_KIND_REST) {
            print_option(option, heading, stream);
        }
    }
    if (heading)
        fputs(".SS Help\n", stream);
    fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n", stream);
    imp_roff_prose("Show the most common options, on one screen.", stream);
    print_entry("--help-all", "Show every option, as here.", stream);
}

void imp_manual_print(const imp_usage *usage, FILE *stream)
{
    print_title(usage->command, stream);
    fputs(".SH NAME\nimp\\-", stream);
    imp_roff_literal(usage->command, stream);
    fprintf(stream, " \\- %c%s\n", tolower((unsigned char)usage->summary[0]), usage->summary + 1);
    print_synopsis(usage, stream);
    fputs(".SH DESCRIPTION\n", stream);
    imp_roff_prose(usage->details ? usage->details : usage->summary, stream);
    print_actions(usage, stream);
    print_options(usage, stream);
    print_exit_status(stream);
    print_examples(usage->examples, stream);
    fputs(".SH SEE ALSO\n.BR imp (1)\n", stream);
}

/* ---- all of imp ---- */

static const char *const examples[] = {
    "imp demo",
    "imp classify --support s.npy --labels y.npy --query q.npy",
    "imp fit --support s.npy --labels y.npy -o m.safetensors",
    "imp train --recipe omniglot-alphabets --data omniglot:PATH --out run",
    NULL,
};

static void print_environment(FILE *stream)
{
    fputs(".SH ENVIRONMENT\n", stream);
    print_entry("IMP_ISA",
                "The instruction set to use: avx512, avx2 or portable; by default the best that "
                "the processor supports. Results may differ between them in rounding.",
                stream);
    print_entry("OMP_NUM_THREADS",
                "The number of threads for commands without --threads; by default one per "
                "processor. Results do not depend on it.",
                stream);
    print_entry("http_proxy, https_proxy, no_proxy", "Proxies for imp data get, as in curl(1).",
                stream);
    print_entry(
        "XDG_CACHE_HOME",
        "Where imp paper keeps its runs and embedders' vectors are cached; by default ~/.cache.",
        stream);
    print_entry("TERM", "If set to dumb, progress is printed as lines instead of a bar.", stream);
}

static void print_files(FILE *stream)
{
    fputs(".SH FILES\n", stream);
    print_entry("*.npy",
                "NumPy arrays: points as rows of numbers, labels as integers from 0, or -1 for an "
                "unlabelled point.",
                stream);
    print_entry("*.safetensors",
                "Models, checkpoints and fitted mixtures; tensors have PyTorch's names.", stream);
    print_entry(
        "RUN/settings.json, model.safetensors, checkpoint.safetensors, log.jsonl, log.csv",
        "The folder of a training run: its settings, the best model so far, the state to resume "
        "from (the previous one is checkpoint.previous.safetensors), and its log in two formats.",
        stream);
    print_entry("share/imp/recipes/*.recipe",
                "The settings of the paper's experiments, to read and to copy. They are also built "
                "into the command.",
                stream);
    print_entry("share/imp/models/*.safetensors",
                "Trained models. One of them is also built into the command.", stream);
}

void imp_manual_print_overview(FILE *stream)
{
    print_title(NULL, stream);
    fputs(".SH NAME\n"
          "imp \\- clustering and few\\-shot classification by infinite mixture prototypes\n"
          ".SH SYNOPSIS\n"
          "\\fBimp\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n"
          ".br\n"
          "\\fBimp \\-\\-help\\fR\n"
          ".br\n"
          "\\fBimp \\-\\-version\\fR\n"
          ".SH DESCRIPTION\n",
          stream);
    imp_roff_prose(
        "imp learns classes from a few labelled examples and any number of unlabelled ones. A "
        "class is represented by as many clusters as its data needs.\n\nWith vectors, embeddings "
        "from any program, you can classify, cluster, or fit and save a mixture. With pictures, "
        "you can also label a pile, or train an embedding on episodes. The method is from Allen, "
        "Shelhamer, Shin and Tenenbaum, Infinite Mixture Prototypes for Few-Shot Learning (ICML "
        "2019).\n\nResults go to standard output, progress and errors to standard error. The same "
        "command line gives the same bits on any number of threads.",
        stream);
    fputs(".SH COMMANDS\n", stream);
    for (const imp_command *command = imp_commands; command->usage; command++) {
        fputs(".TP\n.BR imp\\-", stream);
        imp_roff_literal(command->usage->command, stream);
        fputs(" (1)\n", stream);
        imp_roff_prose(command->usage->summary, stream);
    }
    print_exit_status(stream);
    print_environment(stream);
    print_files(stream);
    print_examples(examples, stream);
    fputs(".SH SEE ALSO\n", stream);
    for (const imp_command *command = imp_commands; command->usage; command++) {
        fputs(".BR imp\\-", stream);
        imp_roff_literal(command->usage->command, stream);
        fprintf(stream, " (1)%s\n", command[1].usage ? "," : "");
    }
}
