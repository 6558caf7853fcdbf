/* report.c - collects figures and writes them as Markdown. */
#include "paper/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "paper/datasets.h"
#include "paper/ledger.h"
#include "train/run_folder.h"

/* The first line of a report. */
static const char title[] = "# The paper's %s tables\n";

/* ---- collecting ---- */

/* Converts from the unit of result files to that of the table. */
static double scale_of(const imp_paper_row *row)
{
    return row->measure == IMP_PAPER_ACCURACY ? 100 : 1;
}

static void take(imp_paper_finding *finding, const imp_result *result, imp_interval figure)
{
    double n = (double)++finding->seeds;
    bool first = finding->seeds == 1;
    finding->figure.mean += (figure.mean - finding->figure.mean) / n;
    finding->figure.half_width += (figure.half_width - finding->figure.half_width) / n;
    finding->seconds += (result->seconds - finding->seconds) / n;
    finding->least = first ? figure.mean : fmin(finding->least, figure.mean);
    finding->most = first ? figure.mean : fmax(finding->most, figure.mean);
    if (first || result->updates < finding->fewest_updates)
        finding->fewest_updates = result->updates;
    if (first || result->updates > finding->most_updates)
        finding->most_updates = result->updates;
}

/* The figure of that name in an evaluation, in the row's units. */
static bool figure_of(const imp_paper_row *row, const json_t *evaluation, const char *name,
                      imp_interval *figure)
{
    if (!imp_result_figure(evaluation, name, figure))
        return false;
    figure->mean *= scale_of(row);
    figure->half_width *= scale_of(row);
    return true;
}

static void take_closed(imp_paper_finding *finding, imp_interval figure)
{
    double n = (double)++finding->closed_seeds;
    finding->closed.mean += (figure.mean - finding->closed.mean) / n;
    finding->closed.half_width += (figure.half_width - finding->closed.half_width) / n;
}

imp_status imp_paper_find(const imp_paper_row *row, const char *folder, imp_paper_finding *finding,
                          imp_error *error)
{
    *finding = (imp_paper_finding){0};
    imp_paper_run run = imp_paper_run_at(imp_paper_run_find(row->run));
    bool open = imp_paper_row_is_open(row);
    const char *name = imp_paper_measure_name(row->measure);
    for (int seed = 1; seed <= run.seeds && row->options; seed++) {
        imp_result result;
        imp_status status = imp_result_load(folder, &run, seed, &result, error);
        if (status)
            return status;
        if (result.unstable_at > 0) {
            finding->unstable++;
            finding->unstable_at = result.unstable_at;
        }
        imp_interval figure;
        const json_t *evaluation = imp_result_evaluation(&result, row->options);
        if (figure_of(row, evaluation, open ? "open_accuracy" : name, &figure))
            take(finding, &result, figure);
        if (open && figure_of(row, evaluation, name, &figure))
            take_closed(finding, figure);
        imp_result_clear(&result);
    }
    return IMP_OK;
}

bool imp_paper_is_goal(const imp_paper_row *row)
{
    for (size_t t = 0; imp_paper_table_at(t).name; t++)
        if (imp_paper_row_is_in(row, imp_paper_table_at(t).name) && imp_paper_table_at(t).compares)
            return false;
    return strcmp(row->method, "IMP") == 0 && !isnan(row->figure);
}

bool imp_paper_is_met(const imp_paper_row *row, double figure)
{
    double unit = row->measure == IMP_PAPER_ACCURACY ? 0.1 : 0.01; /* as the paper prints it */
    return round(figure / unit) >= round((row->figure - row->interval) / unit);
}

/* ---- Markdown ---- */

/* "5,000" */
static void write_count(FILE *text, int64_t count)
{
    if (count >= 1000) {
        write_count(text, count / 1000);
        fprintf(text, ",%03d", (int)(count % 1000));
    } else {
        fprintf(text, "%d", (int)count);
    }
}

static void write_figure(FILE *text, double figure, double interval, int digits)
{
    if (isnan(figure)) {
        fputs(" | ", text);
        return;
    }
    fprintf(text, " | %.*f", digits, figure);
    if (isfinite(interval) && interval > 0)
        fprintf(text, " ± %.*f", digits, interval);
}

/* A difference as printed, without the minus sign of a rounded zero. */
static double rounded(double difference, int digits)
{
    double unit = pow(10, -digits);
    return round(difference / unit) * unit + 0.0;
}

static void write_closed(FILE *text, const imp_paper_finding *found)
{
    write_figure(text, found->closed_seeds > 0 ? found->closed.mean : NAN, found->closed.half_width,
                 1);
}

/* `with_closed`: the table has a column for the closed accuracy. */
static void write_findings(FILE *text, const imp_paper_row *row, const imp_paper_finding *found,
                           int digits, bool with_closed)
{
    write_figure(text, found->figure.mean, found->figure.half_width, digits);
    if (with_closed)
        write_closed(text, found);
    fputs(" | ", text);
    if (!isnan(row->figure))
        fprintf(text, "%+.*f", digits, rounded(found->figure.mean - row->figure, digits));
    fprintf(text, " | %s | %zu",
            !imp_paper_is_goal(row)                     ? ""
            : imp_paper_is_met(row, found->figure.mean) ? "yes"
                                                        : "no",
            found->seeds);
    if (found->seeds > 1)
        fprintf(text, ": %.*f to %.*f", digits, found->least, digits, found->most);
    if (found->unstable > 0)
        fprintf(text, ", %zu unstable", found->unstable);
    fputs(" | ", text);
    write_count(text, found->fewest_updates);
    if (found->most_updates > found->fewest_updates) {
        fputs(" to ", text);
        write_count(text, found->most_updates);
    }
    fprintf(text, " | %.0f min |\n", round(found->seconds / 60));
}

static void write_row(FILE *text, const imp_paper_row *row, const imp_paper_finding *found,
                      bool with_closed)
{
    bool percent = row->measure == IMP_PAPER_ACCURACY;
    fprintf(text, "| %s | %s", row->setting, row->method);
    write_figure(text, row->figure, row->interval, percent ? 1 : 2);
    if (found->seeds > 0) {
        write_findings(text, row, found, percent ? 1 : 3, with_closed);
        return;
    }
    fprintf(text, " | %s",
            found->unstable > 0       ? "unstable"
            : found->closed_seeds > 0 ? "to be measured again"
                                      : "not run");
    if (with_closed)
        write_closed(text, found);
    if (found->unstable > 0) {
        fprintf(text, " | | %s | %zu | ends at ", imp_paper_is_goal(row) ? "no" : "",
                found->unstable);
        write_count(text, found->unstable_at);
        fputs(" | |\n", text);
    } else {
        fputs(" | | | | | |\n", text);
    }
}

/* Rows of IMP's with a figure to reach, and the rest. A figure in several tables counts once. */
typedef struct tally {
    size_t met, missed, absent;
    size_t others, others_absent;
} tally;

static bool is_shown_before(size_t index)
{
    imp_paper_row row = imp_paper_row_at(index);
    for (size_t i = 0; i < index; i++) {
        imp_paper_row other = imp_paper_row_at(i);
        if (imp_paper_rows_share(&other, &row) && other.measure == row.measure)
            return true;
    }
    return false;
}

static void count_row(tally *sum, const imp_paper_row *row, const imp_paper_finding *found)
{
    bool absent = found->seeds == 0 && found->unstable == 0;
    bool met = imp_paper_is_met(row, found->figure.mean);
    if (imp_paper_is_goal(row)) {
        sum->absent += absent;
        sum->met += !absent && met;
        sum->missed += !absent && !met;
    } else {
        sum->others++;
        sum->others_absent += absent;
    }
}

static bool has_open_rows(const char *table, size_t dataset)
{
    for (size_t i = 0; imp_paper_row_at(i).table; i++) {
        imp_paper_row row = imp_paper_row_at(i);
        if (imp_paper_row_is_in(&row, table) && imp_paper_row_dataset(&row) == dataset &&
            imp_paper_row_is_open(&row))
            return true;
    }
    return false;
}

/* A table with the paper's figures. */
static imp_status write_rows(FILE *text, const char *table, size_t dataset, const char *folder,
                             tally *sum, imp_error *error)
{
    bool with_closed = has_open_rows(table, dataset);
    fprintf(
        text,
        "| setting | method | paper | ours |%s difference | met | seeds | updates | training |\n"
        "|---|---|---|---|%s---|---|---|---|---|\n",
        with_closed ? " closed |" : "", with_closed ? "---|" : "");
    for (size_t i = 0; imp_paper_row_at(i).table; i++) {
        imp_paper_row row = imp_paper_row_at(i);
        if (!imp_paper_row_is_in(&row, table) || imp_paper_row_dataset(&row) != dataset)
            continue;
        imp_paper_finding found;
        imp_status status = imp_paper_find(&row, folder, &found, error);
        if (status)
            return status;
        write_row(text, &row, &found, with_closed);
        if (!is_shown_before(i))
            count_row(sum, &row, &found);
    }
    return IMP_OK;
}

/* A picture in the paper, without figures to compare with. */
static void write_picture(FILE *text, const imp_paper_table *table, const char *folder)
{
    char name[80];
    snprintf(name, sizeof name, "%s.svg", table->name);
    if (imp_training_has(folder, name))
        fprintf(text, "![%s](%s.svg)\n\nThe numbers are in [%s.csv](%s.csv).\n", table->title,
                table->name, table->name, table->name);
    else
        fputs("not run\n", text);
}

static bool is_picture(const char *table)
{
    for (size_t i = 0; imp_paper_row_at(i).table; i++) {
        imp_paper_row row = imp_paper_row_at(i);
        if (imp_paper_row_is_in(&row, table) && !isnan(row.figure))
            return false;
    }
    return true;
}

static imp_status write_tables(FILE *text, size_t dataset, const char *folder, tally *sum,
                               imp_error *error)
{
    imp_status status = IMP_OK;
    for (size_t i = 0; imp_paper_table_at(i).name && !status; i++) {
        imp_paper_table table = imp_paper_table_at(i);
        if (!imp_paper_table_is_about(table.name, dataset))
            continue;
        fprintf(text, "\n## %s\n\n%s of the paper; `imp paper %s`.\n\n", table.title, table.where,
                table.name);
        if (is_picture(table.name))
            write_picture(text, &table, folder);
        else
            status = write_rows(text, table.name, dataset, folder, sum, error);
    }
    return status;
}

static void write_head(FILE *text, const imp_paper_dataset *about, const tally *sum)
{
    fprintf(text, title, about->title);
    fprintf(
        text,
        "\nGenerated by `imp paper` from the result files in this folder; only notes.md is written "
        "by hand.\nEach result file says how its model was trained, on which data, and which "
        "`imp eval` reproduces its\nfigures.\n\n"
        "Accuracies are in percent: means over test episodes, with 95%% confidence intervals. If a "
        "run has\nseveral seeds, figure and interval are means over the seeds, and the range of "
        "the seeds is given. A row\nof IMP's is met if our figure, as printed, is at least the "
        "paper's minus the paper's interval. The other\nmethods are there for comparison, and so "
        "are ablations, whose runs are shorter than the paper's. %s\nIf ours are shorter, their "
        "result files give the learning rate schedule. Training is the time of one\nseed's "
        "updates.\n\n"
        "If there can be unlabelled clusters, our figure is the open accuracy, as in the authors' "
        "code: all\nclusters compete for a query, and it is wrong if an unlabelled one wins. The "
        "column closed has the\naccuracy among the classes only; it is blank if the two cannot "
        "differ. \"To be measured again\" marks\nresults from before the open accuracy was "
        "recorded, and \"unstable\" a run that diverged.\n\n"
        "Met: %zu of IMP's figures; not met: %zu; not run, or to be measured again: %zu, and %zu "
        "of the %zu\nthat are there for comparison. A figure in several tables is counted once.\n",
        about->schedule, sum->met, sum->missed, sum->absent, sum->others_absent, sum->others);
}

static imp_status write_notes(FILE *text, const char *folder, imp_error *error)
{
    enum { LIMIT = 1 << 20 };
    static const char name[] = "notes.md";
    unsigned char *notes;
    size_t size;
    if (!imp_training_has(folder, name))
        return IMP_OK;
    imp_status status =
        imp_file_read(imp_training_file(folder, name).text, LIMIT, &notes, &size, error);
    if (status)
        return status;
    fputs("\n", text);
    fwrite(notes, 1, size, text);
    imp_release(notes);
    return IMP_OK;
}

/* ---- the file ---- */

static const char report_name[] = "README.md";

/* The folder may have a README.md of its own. */
static imp_status check_place(const char *folder, const imp_paper_dataset *about, imp_error *error)
{
    enum { LIMIT = 16 << 20 };
    char beginning[100];
    unsigned char *text;
    size_t size;
    snprintf(beginning, sizeof beginning, title, about->title);
    if (!imp_training_has(folder, report_name))
        return IMP_OK;
    imp_training_path path = imp_training_file(folder, report_name);
    imp_status status = imp_file_read(path.text, LIMIT, &text, &size, error);
    if (status)
        return status;
    if (strncmp((const char *)text, beginning, strlen(beginning)) != 0)
        status = imp_fail(error, IMP_EINVAL,
                          "'%s' is not a report of the paper's tables and is left alone; give "
                          "another folder with --out",
                          path.text);
    imp_release(text);
    return status;
}

static imp_status save(const char *folder, const imp_paper_dataset *about, const char *head,
                       const char *body, imp_error *error)
{
    imp_writer writer;
    imp_status status = check_place(folder, about, error);
    if (!status)
        status = imp_writer_open(&writer, imp_training_file(folder, report_name).text, error);
    if (!status)
        status = imp_writer_write(&writer, head, strlen(head), error);
    if (!status)
        status = imp_writer_write(&writer, body, strlen(body), error);
    return status ? status : imp_writer_commit(&writer, error);
}

imp_status imp_paper_report(const char *folder, size_t dataset, imp_error *error)
{
    const imp_paper_dataset *about = imp_paper_dataset_at(dataset);
    char *head = NULL, *body = NULL;
    size_t head_size, body_size;
    tally sum = {0};
    FILE *head_text = open_memstream(&head, &head_size);
    FILE *body_text = open_memstream(&body, &body_size);
    imp_status status = head_text && body_text
                            ? write_tables(body_text, dataset, folder, &sum, error)
                            : imp_fail_memory(error, "the report");
    if (!status)
        status = write_notes(body_text, folder, error);
    if (!status)
        write_head(head_text, about, &sum);
    /* closing flushes, and reports whether memory sufficed */
    bool whole = head_text && fclose(head_text) == 0;
    whole = body_text && fclose(body_text) == 0 && whole;
    if (!status)
        status =
            whole ? save(folder, about, head, body, error) : imp_fail_memory(error, "the report");
    free(head);
    free(body);
    return status;
}
