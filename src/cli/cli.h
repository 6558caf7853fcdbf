/*
 * cli.h - the commands of `imp`.
 *
 * A command is one file: its table of options, its usage, and a function that parses, calls the
 * library and prints. To add one, declare it here and add its row to commands.c.
 */
#ifndef IMP_CLI_CLI_H
#define IMP_CLI_CLI_H

#include <stdio.h>

#include "cli/options.h"

typedef struct imp_command {
    const imp_usage *usage;
    /* argv[0] is the command's name. Returns the exit status. */
    int (*run)(int argc, char **argv);
} imp_command;

/* All commands in help order; the last row's usage is NULL. */
extern const imp_command imp_commands[];

/* The command of that name, or NULL after an error on stderr that suggests the nearest one. */
const imp_command *imp_command_find(const char *name);

/* Prints what `imp --help` prints. */
void imp_commands_print(FILE *stream);

extern const imp_usage imp_bench_usage;
int imp_command_bench(int argc, char **argv);

extern const imp_usage imp_data_usage;
int imp_command_data(int argc, char **argv);

extern const imp_usage imp_episode_usage;
int imp_command_episode(int argc, char **argv);

extern const imp_usage imp_help_usage;
int imp_command_help(int argc, char **argv);

extern const imp_usage imp_add_usage;
int imp_command_add(int argc, char **argv);

extern const imp_usage imp_classify_usage;
int imp_command_classify(int argc, char **argv);

extern const imp_usage imp_cluster_usage;
int imp_command_cluster(int argc, char **argv);

extern const imp_usage imp_fit_usage;
int imp_command_fit(int argc, char **argv);

extern const imp_usage imp_forget_usage;
int imp_command_forget(int argc, char **argv);

extern const imp_usage imp_label_usage;
int imp_command_label(int argc, char **argv);

extern const imp_usage imp_merge_usage;
int imp_command_merge(int argc, char **argv);

extern const imp_usage imp_metrics_usage;
int imp_command_metrics(int argc, char **argv);

extern const imp_usage imp_paper_usage;
int imp_command_paper(int argc, char **argv);

extern const imp_usage imp_plot_usage;
int imp_command_plot(int argc, char **argv);

extern const imp_usage imp_predict_usage;
int imp_command_predict(int argc, char **argv);

extern const imp_usage imp_embed_usage;
int imp_command_embed(int argc, char **argv);

extern const imp_usage imp_suggest_usage;
int imp_command_suggest(int argc, char **argv);
extern const imp_usage imp_train_usage;
int imp_command_train(int argc, char **argv);

extern const imp_usage imp_eval_usage;
int imp_command_eval(int argc, char **argv);

extern const imp_usage imp_model_usage;
int imp_command_model(int argc, char **argv);

extern const imp_usage imp_name_usage;
int imp_command_name(int argc, char **argv);

extern const imp_usage imp_demo_usage;
int imp_command_demo(int argc, char **argv);

#endif
