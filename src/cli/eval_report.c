/* eval_report.c - prints the evaluation of methods as JSON. */
#include "cli/eval_report.h"

#include <imp/version.h>

#include "cli/vectors.h"

json_t *imp_eval_interval(imp_interval interval)
{
    return imp_json_interval(interval.mean, interval.half_width);
}

int imp_eval_print(const imp_eval_report *report, json_t *results)
{
    return imp_json_print_report(
        "eval",
        json_pack("{s:s, s:o, s:o, s:o, s:s, s:I, s:I, s:I, s:s, s:o, s:o}", "version",
                  imp_version(), "command", imp_json_any_text(report->command_line), "model",
                  imp_json_any_text(report->model), "data",
                  imp_json_any_text(report->settings->data), "fingerprint",
                  imp_dataset_fingerprint(report->dataset), "seed", (json_int_t)report->seed,
                  "episodes", (json_int_t)report->episodes, "validation_episodes",
                  (json_int_t)report->validation, "batch_norm", report->statistics, "settings",
                  imp_settings_to_json(report->settings), "results", results));
}
