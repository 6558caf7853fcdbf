/*
 * eval_report.h - what `imp eval --json` prints, with labels or without: one object that says where
 * the figures come from, and a list of results.
 */
#ifndef IMP_CLI_EVAL_REPORT_H
#define IMP_CLI_EVAL_REPORT_H

#include <imp/metrics.h>

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

/* A mean over episodes with half the width of its interval, as results show it. */
json_t *imp_eval_interval(imp_interval interval);

/* Prints the report with these results, which it takes over. Returns the exit status. */
int imp_eval_print(const imp_eval_report *report, json_t *results);

#endif
