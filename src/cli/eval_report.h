/*
 * eval_report.h - what `imp eval --json` prints, with labels or without: one object that says where
 * the figures come from, and a list of results.
 */
#ifndef IMP_CLI_EVAL_REPORT_H
#define IMP_CLI_EVAL_REPORT_H

#include "base/json.h"
#include "settings/settings.h"

typedef struct imp_eval_report {
    const char *command_line, *model;
    const imp_settings *settings;
    const imp_dataset *dataset;
    uint64_t seed;
    size_t episodes;        /* measured on */
    size_t validation;      /* episodes that lambda was chosen on */
    const char *statistics; /* of batch norm */
} imp_eval_report;

/* Prints the report with these results, which it takes over. Returns the exit status. */
int imp_eval_print(const imp_eval_report *report, json_t *results);

#endif
