/* report.c - gathers figures and writes them as Markdown. */
#include "paper/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "paper/ledger.h"
#include "train/run_folder.h"

static const char title[] = "# The paper's Omniglot tables\n";
static const double allowance = 0.5; /* percent */

/* ---- gathering ---- */

/* From the unit of result files to that of the table. */
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

imp_status imp_paper_find(const imp_paper_row *row, const char *folder, imp_paper_finding *finding,
                          imp_error *error)
{
    *finding = (imp_paper_finding){0};
    imp_paper_run run = imp_paper_run_at(imp_paper_run_find(row->run));
    for (int seed = 1; seed <= run.seeds && row->options; seed++) {
        imp_result result;
        imp_status status = imp_result_load(folder, &run, seed, &result, error);
        if (status)
            return status;
        imp_interval figure;
        if (imp_result_figure(imp_result_evaluation(&result, row->options),
                              imp_paper_measure_name(row->measure), &figure)) {
            figure.mean *= scale_of(row);
            figure.half_width *= scale_of(row);
            take(finding, &result, figure);
        }
        imp_result_clear(&result);
    }
    return IMP_OK;
}

bool imp_paper_is_goal(const imp_paper_row *row)
{
    return strcmp(row->method, "IMP") == 0 && !isnan(row->figure);
}

bool imp_paper_is_met(const imp_paper_row *row, double figure)
{
    return figure >= row->figure - row->interval - allowance * scale_of(row) / 100;
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

/* A difference as it is printed, without the sign that rounding to nothing would leave. */
static double rounded(double difference, int digits)
{
    double unit = pow(10, -digits);
    return round(difference / unit) * unit + 0.0;
}

static void write_findings(FILE *text, const imp_paper_row *row, const imp_paper_finding *found,
                           int digits)
{
    write_figure(text, found->figure.mean, found->figure.half_width, digits);
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
    fputs(" | ", text);
    write_count(text, found->fewest_updates);
    if (found->most_updates > found->fewest_updates) {
        fputs(" to ", text);
        write_count(text, found->most_updates);
    }
    fprintf(text, " | %.0f min |\n", round(found->seconds / 60));
}

static void write_row(FILE *text, const imp_paper_row *row, const imp_paper_finding *found)
{
    bool percent = row->measure == IMP_PAPER_ACCURACY;
    fprintf(text, "| %s | %s", row->setting, row->method);
    write_figure(text, row->figure, row->interval, percent ? 1 : 2);
    if (found->seeds > 0)
        write_findings(text, row, found, percent ? 1 : 3);
    else
        fputs(" | not run | | | | | |\n", text);
}

/* Rows of IMP's with a figure to be reached, and the rest. A figure counts once though several
 * tables may show it. */
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
    bool absent = found->seeds == 0, met = imp_paper_is_met(row, found->figure.mean);
    if (imp_paper_is_goal(row)) {
        sum->absent += absent;
        sum->met += !absent && met;
        sum->missed += !absent && !met;
    } else {
        sum->others++;
        sum->others_absent += absent;
    }
}

/* A table with the paper's figures. */
static imp_status write_rows(FILE *text, const char *table, const char *folder, tally *sum,
                             imp_error *error)
{
    fputs("| setting | method | paper | ours | difference | met | seeds | updates | training |\n"
          "|---|---|---|---|---|---|---|---|---|\n",
          text);
    for (size_t i = 0; imp_paper_row_at(i).table; i++) {
        imp_paper_row row = imp_paper_row_at(i);
        if (!imp_paper_row_is_in(&row, table))
            continue;
        imp_paper_finding found;
        imp_status status = imp_paper_find(&row, folder, &found, error);
        if (status)
            return status;
        write_row(text, &row, &found);
        if (!is_shown_before(i))
            count_row(sum, &row, &found);
    }
    return IMP_OK;
}

/* A table that is a picture in the paper: it has no figures to compare with. */
static void write_picture(FILE *text, const imp_paper_table *table, const char *folder)
{
    char name[80];
    snprintf(name, sizeof name, "%s.svg", table->name);
    if (imp_run_has(folder, name))
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

static imp_status write_tables(FILE *text, const char *folder, tally *sum, imp_error *error)
{
    imp_status status = IMP_OK;
    for (size_t i = 0; imp_paper_table_at(i).name && !status; i++) {
        imp_paper_table table = imp_paper_table_at(i);
        fprintf(text, "\n## %s\n\n%s of the paper; `imp paper %s`.\n\n", table.title, table.where,
                table.name);
        if (is_picture(table.name))
            write_picture(text, &table, folder);
        else
            status = write_rows(text, table.name, folder, sum, error);
    }
    return status;
}

static void write_head(FILE *text, const tally *sum)
{
    fprintf(text,
            "%s\n"
            "Written by `imp paper` from the result files in this folder; only notes.md is written "
            "by hand.\nEach result file says how its model was trained, on which data, and which "
            "`imp eval` gives its\nfigures again.\n\n"
            "Accuracies are in percent, means over test episodes with 95%% intervals. Where a run "
            "has several\nseeds, figure and interval are the means of theirs, and their range "
            "stands beside. A row of IMP's is\nmet if ours is better than the paper's figure, or "
            "below it by no more than the paper's interval and\n%.1f points; the other methods are "
            "there to compare with. The paper's 160,000 iterations are 20,000\nupdates of eight "
            "episodes; where ours are fewer, the result file says how the learning rate was\n"
            "halved on the way. Training is the time that the updates of one seed took.\n\n"
            "Met: %zu of IMP's figures; not met: %zu; not run: %zu, and %zu of the %zu that are "
            "there to compare\nwith. A figure that several tables show is counted once.\n",
            title, allowance, sum->met, sum->missed, sum->absent, sum->others_absent, sum->others);
}

static imp_status write_notes(FILE *text, const char *folder, imp_error *error)
{
    enum { LIMIT = 1 << 20 };
    static const char name[] = "notes.md";
    unsigned char *notes;
    size_t size;
    if (!imp_run_has(folder, name))
        return IMP_OK;
    imp_status status = imp_file_read(imp_run_file(folder, name).text, LIMIT, &notes, &size, error);
    if (status)
        return status;
    fputs("\n", text);
    fwrite(notes, 1, size, text);
    imp_release(notes);
    return IMP_OK;
}

/* ---- the file ---- */

static const char report_name[] = "README.md";

/* Somebody may name a folder that has a README.md of its own. */
static imp_status check_place(const char *folder, imp_error *error)
{
    enum { LIMIT = 16 << 20 };
    unsigned char *text;
    size_t size;
    if (!imp_run_has(folder, report_name))
        return IMP_OK;
    imp_run_path path = imp_run_file(folder, report_name);
    imp_status status = imp_file_read(path.text, LIMIT, &text, &size, error);
    if (status)
        return status;
    if (strncmp((const char *)text, title, strlen(title)) != 0)
        status = imp_fail(error, IMP_EINVAL,
                          "'%s' is no report of the paper's tables and is left as it is; give "
                          "another folder with --out",
                          path.text);
    imp_release(text);
    return status;
}

static imp_status save(const char *folder, const char *head, const char *body, imp_error *error)
{
    imp_writer writer;
    imp_status status = check_place(folder, error);
    if (!status)
        status = imp_writer_open(&writer, imp_run_file(folder, report_name).text, error);
    if (!status)
        status = imp_writer_write(&writer, head, strlen(head), error);
    if (!status)
        status = imp_writer_write(&writer, body, strlen(body), error);
    return status ? status : imp_writer_commit(&writer, error);
}

imp_status imp_paper_report(const char *folder, imp_error *error)
{
    char *head = NULL, *body = NULL;
    size_t head_size, body_size;
    tally sum = {0};
    FILE *head_text = open_memstream(&head, &head_size);
    FILE *body_text = open_memstream(&body, &body_size);
    imp_status status = head_text && body_text ? write_tables(body_text, folder, &sum, error)
                                               : imp_fail_memory(error, "the report");
    if (!status)
        status = write_notes(body_text, folder, error);
    if (!status)
        write_head(head_text, &sum);
    /* closing writes the texts out, and tells whether memory sufficed */
    bool whole = head_text && fclose(head_text) == 0;
    whole = body_text && fclose(body_text) == 0 && whole;
    if (!status)
        status = whole ? save(folder, head, body, error) : imp_fail_memory(error, "the report");
    free(head);
    free(body);
    return status;
}
