/*
 * plot.c - `imp plot`: training logs as charts: loss, accuracy, sigma and clusters.
 *
 * A picture has all charts on one sheet; a page also reports the state of the runs, and can follow
 * those in training.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/destination.h"
#include "cli/interrupt.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "draw/canvas.h"
#include "draw/chart.h"
#include "settings/settings.h"
#include "train/log_read.h"
#include "train/run_folder.h"

typedef struct arguments {
    const char *output;
    bool follow;
} arguments;

static const imp_option options[] = {{IMP_OPTION_TEXT(arguments, output), .name = "output",
                                      .letter = 'o', .argument = "FILE", .initial = "training.png",
                                      .help = "where to write the charts; .png, .svg or .html"},
                                     {IMP_OPTION_FLAG(arguments, follow), .name = "follow",
                                      .help = "keep rewriting the page while a run is training"},
                                     {IMP_OPTION_END}};

static const char *const examples[] = {"imp plot run", "imp plot run --follow -o training.html",
                                       "imp plot imp-run baseline -o comparison.svg", NULL};

const imp_usage imp_plot_usage = {
    .command = "plot",
    .summary = "Plot loss, accuracy, sigma and clusters of training runs",
    .details = "Reads the logs of finished or running 'imp train' runs, each given by its folder, "
               "and plots them together: the loss, the accuracy in training (dashed) and "
               "validation, sigma and the number of clusters, by updates. A page (.html) also "
               "shows the progress of the runs; with --follow it is rewritten until no run is "
               "training any more, and the browser reloads it by itself.",
    .operands = "RUN...",
    .fewest = 1,
    .most = 8,
    .options = options,
    .examples = examples,
};

static const char command[] = "plot";

enum { MOST_RUNS = 8, SECONDS = 5 }; /* between two checks of followed runs */

/* ---- runs ---- */

typedef struct run {
    const char *folder;
    char *name; /* in UTF-8 */
    imp_train_line *lines;
    size_t count;
    uint64_t updates; /* that it will make in all */
    bool active;
    double *x, *values; /* (count) and (COLUMNS, count) */
} run;

enum { LOSS, TRAINING, VALIDATION, SIGMA, SIGMA_UNLABELED, CLUSTERS, COLUMNS };

static double column_of(const imp_train_line *line, int column)
{
    switch (column) {
    case LOSS:
        return line->loss;
    case TRAINING:
        return 100 * line->accuracy;
    case VALIDATION:
        return 100 * line->validation;
    case SIGMA:
        return line->sigma_l;
    case SIGMA_UNLABELED:
        return line->sigma_u;
    default:
        return line->clusters;
    }
}

static void clear_runs(run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        imp_release(runs[i].lines);
        free(runs[i].x);
        free(runs[i].values);
        runs[i].lines = NULL;
        runs[i].x = runs[i].values = NULL;
    }
}

/* A validation is on a line of its own, and the curve must have no gaps between validations. So
 * lines without one are dropped from the series; returns how many are left. */
static size_t pack(const double *x, double *y, size_t count, double *packed_x)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(y[i])) {
            packed_x[kept] = x[i];
            y[kept++] = y[i];
        }
    return kept;
}

static imp_status read_run(run *one, imp_error *error)
{
    imp_settings settings;
    uint64_t made;
    imp_status status = imp_training_glance(one->folder, &settings, &made, error);
    one->updates = (uint64_t)settings.updates;
    imp_settings_clear(&settings);
    one->active = imp_log_is_written(one->folder);
    if (!status)
        status = imp_log_read(one->folder, &one->lines, &one->count, error);
    if (status)
        return status;
    size_t room = one->count ? one->count : 1;
    one->x = malloc(2 * room * sizeof *one->x); /* of all lines, and of those with a validation */
    one->values = malloc(COLUMNS * room * sizeof *one->values);
    if (!one->x || !one->values)
        return imp_fail_memory(error, "the log of a run");
    for (size_t i = 0; i < one->count; i++) {
        one->x[i] = (double)one->lines[i].update;
        for (int column = 0; column < COLUMNS; column++)
            one->values[(size_t)column * one->count + i] = column_of(&one->lines[i], column);
    }
    return IMP_OK;
}

/* ---- charts ---- */

enum { CHARTS = 4, MOST_SERIES = 2 * MOST_RUNS };

typedef struct charts {
    imp_chart all[CHARTS];
    imp_chart_series series[CHARTS][MOST_SERIES];
    size_t count;
} charts;

static bool has_points(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            return true;
    return false;
}

typedef struct curve {
    int column;
    bool dashed;
    const char *name; /* of the curve of a single run */
} curve;

/* Adds a chart with up to two curves per run, unless it would be empty. */
static void add_chart(charts *to, run *runs, size_t run_count, const char *title,
                      const curve *curves, size_t curve_count)
{
    imp_chart_series *series = to->series[to->count];
    size_t used = 0;
    for (size_t r = 0; r < run_count; r++)
        for (size_t c = 0; c < curve_count; c++) {
            run *one = &runs[r];
            double *y = one->values + (size_t)curves[c].column * one->count, *x = one->x;
            if (!has_points(y, one->count))
                continue;
            size_t count = one->count;
            bool sparse = curves[c].column == VALIDATION;
            if (sparse) {
                x += one->count;
                count = pack(one->x, y, one->count, x);
            }
            const char *name = run_count > 1     ? (curves[c].dashed ? NULL : one->name)
                               : curve_count > 1 ? curves[c].name
                                                 : NULL;
            series[used++] = (imp_chart_series){.name = name,
                                                .x = x,
                                                .y = y,
                                                .count = count,
                                                .marks = sparse && count <= 60,
                                                .dashed = curves[c].dashed,
                                                .colour = r + 1};
        }
    if (used > 0)
        to->all[to->count++] = (imp_chart){.title = title,
                                           .x_title = "update",
                                           .series = series,
                                           .series_count = used,
                                           .width = 640,
                                           .height = 400};
}

static void make_charts(charts *to, run *runs, size_t count)
{
    static const curve loss[] = {{LOSS, false, NULL}};
    static const curve accuracy[] = {{VALIDATION, false, "validation"},
                                     {TRAINING, true, "training"}};
    static const curve sigma[] = {{SIGMA, false, "labelled clusters"},
                                  {SIGMA_UNLABELED, true, "unlabelled clusters"}};
    static const curve clusters[] = {{CLUSTERS, false, NULL}};
    to->count = 0;
    add_chart(to, runs, count, "Loss", loss, 1);
    add_chart(to, runs, count,
              count > 1 ? "Accuracy in validation, % (dashed: training)" : "Accuracy, %", accuracy,
              2);
    add_chart(to, runs, count,
              count > 1 ? "Variance sigma (dashed: unlabelled clusters)" : "Variance sigma", sigma,
              2);
    add_chart(to, runs, count, "Clusters per episode", clusters, 1);
}

/* ---- the page ---- */

static const char *state_of(const run *one)
{
    uint64_t made = one->count ? one->lines[one->count - 1].update : 0;
    return one->active ? "being trained" : made >= one->updates ? "finished" : "stopped";
}

static void write_percent(imp_page *page, double part)
{
    if (isnan(part))
        imp_page_write(page, "<td>-</td>");
    else
        imp_page_write(page, "<td>%.1f%%</td>", 100 * part);
}

static void write_row(imp_page *page, const run *one)
{
    const imp_train_line *last = one->count ? &one->lines[one->count - 1] : NULL;
    double best = NAN;
    for (size_t i = 0; i < one->count; i++)
        best = fmax(best, one->lines[i].validation); /* fmax() ignores NaN */
    imp_page_write(page, "<tr><td>");
    imp_page_text(page, one->name);
    imp_page_write(page, "</td><td>%s</td><td>%llu of %llu</td><td>%s</td>", state_of(one),
                   (unsigned long long)(last ? last->update : 0), (unsigned long long)one->updates,
                   imp_duration_of(last ? last->seconds : 0).text);
    imp_page_write(page, "<td>%.3f</td>", last ? last->loss : NAN);
    write_percent(page, last ? last->accuracy : NAN);
    write_percent(page, best);
    imp_page_write(page, "</tr>\n");
}

static imp_status write_page(const char *path, const run *runs, size_t count, const charts *drawn,
                             bool live, imp_error *error)
{
    imp_page page;
    imp_page_begin_live(&page, path, count == 1 ? "A training run" : "Training runs",
                        live ? SECONDS : 0);
    imp_page_write(&page, "<div class=\"wide\"><table>\n<tr><th>run</th><th></th><th>updates</th>"
                          "<th>time in updates</th><th>loss</th><th>accuracy</th>"
                          "<th>best validation</th></tr>\n");
    for (size_t r = 0; r < count; r++)
        write_row(&page, &runs[r]);
    imp_page_write(&page, "</table></div>\n<div class=\"charts\">\n");
    for (size_t i = 0; i < drawn->count && !page.status; i++) {
        uint8_t *bytes;
        size_t size;
        page.status = imp_chart_svg(&drawn->all[i], &bytes, &size, &page.error);
        if (!page.status)
            imp_page_svg(&page, bytes, size, drawn->all[i].title);
        imp_release(bytes);
    }
    imp_page_write(&page, "</div>\n%s", drawn->count ? "" : "<p>The logs are still empty.</p>\n");
    return imp_page_end(&page, error);
}

/* ---- the command ---- */

static bool is_page(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".html") == 0;
}

/* Reads the runs and draws them once; *active says whether one of them is training. */
static imp_status draw(const arguments *given, run *runs, size_t count, bool *active,
                       imp_error *error)
{
    charts drawn;
    imp_status status = IMP_OK;
    *active = false;
    for (size_t i = 0; i < count && !status; i++) {
        status = read_run(&runs[i], error);
        *active |= runs[i].active;
    }
    if (!status)
        make_charts(&drawn, runs, count);
    if (!status && is_page(given->output))
        status = write_page(given->output, runs, count, &drawn, given->follow && *active, error);
    else if (!status && drawn.count == 0)
        status = imp_fail(error, IMP_EINVAL, "there is nothing to plot yet: the logs are empty");
    else if (!status)
        status = imp_charts_save(drawn.all, drawn.count, 2, given->output, error);
    return status;
}

/* A run is named after the last part of its folder. */
static const char *name_of(char *folder)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        folder[--length] = '\0';
    return imp_page_name(folder);
}

static int plot(const arguments *given, run *runs, size_t count)
{
    imp_error error;
    bool active = true;
    imp_status status = IMP_OK;
    imp_interrupt_catch();
    for (bool first = true; !status && active && !imp_interrupted(); first = false) {
        if (!first)
            nanosleep(&(struct timespec){.tv_sec = SECONDS}, NULL); /* Ctrl-C ends it */
        status = draw(given, runs, count, &active, &error);
        clear_runs(runs, count);
        if (first && !status) {
            printf("%s\n", given->output);
            fflush(stdout);
        }
        active &= given->follow;
    }
    if (status)
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    return EXIT_SUCCESS;
}

int imp_command_plot(int argc, char **argv)
{
    arguments given = {0};
    int operands, status = imp_parse(&imp_plot_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    imp_error error;
    if (!is_page(given.output) && imp_picture_check(given.output, &error) != IMP_OK)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "cannot plot to '%s': its name must end in .png, .svg or .html",
                            given.output);
    if (given.follow && !is_page(given.output))
        return imp_complain(IMP_EXIT_USAGE, command, "--follow needs a page: -o training.html");
    run runs[MOST_RUNS] = {{0}};
    size_t count = 0;
    const char *folders[MOST_RUNS];
    for (int i = 1; i <= operands; i++) {
        runs[count] = (run){.folder = argv[i], .name = imp_utf8_repair(name_of(argv[i]))};
        folders[count++] = argv[i];
    }
    status = imp_check_inputs(command, given.output, folders, count);
    for (size_t i = 0; i < count && status == IMP_GO_ON; i++)
        if (!runs[i].name)
            status = imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    if (status == IMP_GO_ON)
        status = plot(&given, runs, count);
    for (size_t i = 0; i < count; i++)
        imp_release(runs[i].name);
    return status;
}
