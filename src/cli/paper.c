/*
 * paper.c - `imp paper`: reproduces the paper's tables, or reports how far they are.
 */
#include "paper/paper.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/progress.h"
#include "cli/training_progress.h"
#include "paper/ledger.h"
#include "paper/tables.h"

typedef struct settings {
    imp_texts data;
    const char *out, *runs;
    int64_t updates, seeds, episodes, threads;
    bool list, again, train_nothing, quiet;
} settings;

static const imp_option options[] = {
    {IMP_OPTION_HEADING("Work")},
    {IMP_OPTION_FLAG(settings, list), .name = "list",
     .help = "list the runs that the tables need, their state, and the time they will take"},
    {IMP_OPTION_TEXTS(settings, data), .name = "data", .argument = "DATA", .otherwise = "omniglot",
     .help = "a dataset: omniglot:PATH, mini-imagenet:PATH or a pack of one; repeat for several"},
    {IMP_OPTION_TEXT(settings, out), .name = "out", .argument = "FOLDER", .initial = "results",
     .help =
         "where to write result files and README.md, in sub-folders omniglot and mini-imagenet"},
    {IMP_OPTION_TEXT(settings, runs), .name = "runs", .argument = "FOLDER",
     .help = "where to keep training runs; default: imp/paper in $XDG_CACHE_HOME or ~/.cache"},
    {IMP_OPTION_FLAG(settings, quiet), .name = "quiet", .help = "no progress on stderr"},
    {IMP_OPTION_HEADING("How much")},
    {IMP_OPTION_INTEGER(settings, updates), .name = "updates", .argument = "N",
     .integers = {0, INT64_MAX}, .initial = "0",
     .help = "updates per run, with its schedule scaled to fit; 0: each run's own number"},
    {IMP_OPTION_INTEGER(settings, seeds), .name = "seeds", .argument = "N", .integers = {0, 1000},
     .initial = "0", .help = "train at most this many seeds per run; 0: each run's own number"},
    {IMP_OPTION_INTEGER(settings, episodes), .name = "episodes", .argument = "N",
     .integers = {1, 100000000}, .initial = "1000", .help = "test episodes per figure"},
    {IMP_OPTION_FLAG(settings, again), .name = "again",
     .help = "also measure what already has a result, training runs that are not in --runs"},
    {IMP_OPTION_FLAG(settings, train_nothing), .name = "train-nothing",
     .help = "measure only runs that are already trained"},
    {IMP_OPTION_INTEGER(settings, threads), .name = "threads", .argument = "N",
     .integers = {0, 1024}, .initial = "0",
     .help = "threads; 0: one per core; results do not depend on it"},
    {IMP_OPTION_END}};

static const char *const examples[] = {
    "imp paper --list",
    "imp paper alphabets --data omniglot:PATH",
    "imp paper supervised --data omniglot:PATH --data mini-imagenet:PATH",
    "imp paper alphabets-imp-seed2 5way-1shot-imp --data omniglot:PATH",
    "imp paper all --data omniglot:PATH --runs /scratch/runs",
    NULL};

const imp_usage imp_paper_usage = {
    .command = "paper",
    .summary = "Reproduce the paper's tables",
    .details = "Trains the runs that a table still needs, measures them on test episodes, and "
               "writes a result file for every run and, for each dataset, a README.md that sets "
               "the figures beside the paper's. Instead of a table, single runs can be named, with "
               "or without a seed; they are trained, and measured for all tables. It can be "
               "stopped at any time; the same command continues.",
    .operands = "TABLE|RUN...|all",
    .fewest = 0,
    .most = INT_MAX,
    .options = options,
    .examples = examples,
};

static const char command[] = "paper";

/* ---- progress ---- */

typedef struct teller {
    imp_progress_line line;
    const settings *given;
} teller;

static void tell_how_to_go_on(void)
{
    fputs("stopped; the same command continues\n", stderr);
}

static void begin(const char *run, const char *what, void *context)
{
    teller *tells = context;
    imp_progress_end(&tells->line);
    if (!tells->given->quiet)
        fprintf(stderr, "%s: %s\n", run, what);
}

static void fail_run(const char *run, const char *sentence, void *context)
{
    teller *tells = context;
    imp_progress_end(&tells->line);
    imp_complain(IMP_EXIT_FAILURE, command, "%s: %s", run, sentence);
}

static void give_notice(const char *sentence, void *context)
{
    teller *tells = context;
    imp_progress_end(&tells->line);
    imp_complain(EXIT_SUCCESS, command, "%s", sentence);
}

static bool training(const imp_train_report *report, void *context)
{
    teller *tells = context;
    if (imp_progress_due(&tells->line, report->new_line)) {
        char text[400];
        imp_training_describe(report, NULL, text, sizeof text);
        imp_progress_show(&tells->line, report->update, report->updates, report->new_line, text);
    }
    return !imp_interrupted();
}

/* An unfinished evaluation keeps nothing, and finished ones are on disk, so there is nothing to
 * wait for. */
static void measuring(size_t done, size_t total, void *context)
{
    teller *tells = context;
    imp_progress_show(&tells->line, done, total, false, "measured");
    if (imp_interrupted()) {
        imp_progress_end(&tells->line);
        tell_how_to_go_on();
        exit(IMP_EXIT_INTERRUPTED);
    }
}

/* ---- the list ---- */

typedef struct total {
    double images; /* still to be embedded */
    size_t done, begun, absent, faults;
} total;

static void describe(const imp_paper_state *state, char *text, size_t size)
{
    if (state->done)
        snprintf(text, size, "done");
    else if (state->run.stage == IMP_RUN_TRAINED)
        snprintf(text, size,
                 state->in_part ? "trained, measured in part" : "trained, not measured");
    else if (state->run.stage == IMP_RUN_ABSENT && state->in_part)
        snprintf(text, size, "done in part; its run is not here");
    else if (state->run.stage == IMP_RUN_BEGUN)
        snprintf(text, size, "begun, %llu of %llu updates", (unsigned long long)state->run.update,
                 (unsigned long long)state->updates);
    else
        snprintf(text, size, "not begun, %llu updates", (unsigned long long)state->updates);
}

/* The width of the column of names: the longest plus two. */
static int name_width(void)
{
    size_t most = 0;
    for (size_t r = 0; imp_paper_run_at(r).name; r++) {
        imp_paper_run run = imp_paper_run_at(r);
        size_t length = strlen(imp_paper_run_name(&run, run.seeds).text);
        most = length > most ? length : most;
    }
    return (int)most + 2;
}

static void list_run(const imp_paper_options *wanted, const imp_paper_run *run, int seed,
                     double speed, total *sum)
{
    imp_paper_state state;
    imp_error error;
    imp_paper_name name = imp_paper_run_name(run, seed);
    if (imp_paper_look(wanted, run, seed, &state, &error) != IMP_OK) {
        sum->faults++;
        printf("  %-*s", name_width(), name.text);
        imp_print_text(error.message, stdout);
        putchar('\n');
        return;
    }
    char text[80];
    describe(&state, text, sizeof text);
    printf("  %-*s%-35s", name_width(), name.text, text);
    if (state.images > 0)
        printf("about %s", imp_duration_of(state.images / speed).text);
    putchar('\n');
    sum->images += state.images;
    sum->done += state.done;
    bool begun = state.in_part || state.run.stage != IMP_RUN_ABSENT;
    sum->begun += !state.done && begun;
    sum->absent += !state.done && !begun;
}

/* Each run is listed under the first table that needs it, so that times add up. */
static bool is_listed_before(const char *table, const char *run)
{
    for (size_t t = 0; strcmp(imp_paper_table_at(t).name, table) != 0; t++)
        if (imp_paper_table_needs(imp_paper_table_at(t).name, run))
            return true;
    return false;
}

/* Whether a table has anything to list; if runs were named, any that has not been listed yet. */
static bool is_table_listed(const imp_paper_options *wanted, const char *table, size_t dataset)
{
    imp_paper_options alone = *wanted;
    alone.table = table;
    for (size_t r = 0; imp_paper_run_at(r).name; r++) {
        imp_paper_run run = imp_paper_run_at(r);
        if (imp_paper_dataset_of(run.recipe) == dataset && imp_paper_wants(&alone, &run, 0) &&
            (wanted->only_count == 0 || !is_listed_before(table, run.name)))
            return true;
    }
    return false;
}

static void list_table(imp_paper_options *wanted, const imp_paper_table *table, size_t dataset,
                       bool alone, double speed, total *sum)
{
    printf("%s: %s (%s)\n", table->name, table->title, table->where);
    wanted->table = alone ? table->name : NULL; /* a run listed once counts for all its tables */
    for (size_t r = 0; imp_paper_run_at(r).name; r++) {
        imp_paper_run run = imp_paper_run_at(r);
        if (imp_paper_dataset_of(run.recipe) != dataset ||
            !imp_paper_table_needs(table->name, run.name) || !imp_paper_wants(wanted, &run, 0))
            continue;
        if (!alone && is_listed_before(table->name, run.name)) {
            printf("  %-*s%s\n", name_width(), run.name, "as above");
            continue;
        }
        for (int seed = 1; seed <= imp_paper_seeds(wanted, &run); seed++)
            if (imp_paper_wants(wanted, &run, seed))
                list_run(wanted, &run, seed, speed, sum);
    }
}

/* Whether a folder has the result of any run. */
static bool has_results(const char *folder, size_t dataset)
{
    for (size_t r = 0; imp_paper_run_at(r).name; r++) {
        imp_paper_run run = imp_paper_run_at(r);
        for (int seed = 1; seed <= run.seeds; seed++)
            if (imp_paper_dataset_of(run.recipe) == dataset &&
                access(imp_result_file(folder, &run, seed).text, F_OK) == 0)
                return true;
    }
    return false;
}

static size_t list_dataset(imp_paper_options *wanted, const char *only, size_t dataset)
{
    total sum = {0};
    imp_paper_folder folder = imp_paper_results(wanted->out, dataset);
    double speed = imp_paper_speed(wanted, dataset);
    printf("%s\n", imp_paper_dataset_at(dataset)->title);
    if (!has_results(folder.text, dataset)) {
        printf("There are no result files in '");
        imp_print_text(folder.text, stdout);
        printf("'; name the folder above theirs with --out.\n");
    }
    for (size_t t = 0; imp_paper_table_at(t).name; t++) {
        imp_paper_table table = imp_paper_table_at(t);
        if ((!only || strcmp(table.name, only) == 0) &&
            is_table_listed(wanted, table.name, dataset))
            list_table(wanted, &table, dataset, only != NULL, speed, &sum);
    }
    printf("\n%zu runs are done, %zu begun, %zu not begun; training the rest takes about %s, "
           "estimated at %.0f images/s\n",
           sum.done, sum.begun, sum.absent, imp_duration_of(sum.images / speed).text, speed);
    return sum.faults;
}

static int list(imp_paper_options *wanted)
{
    const char *only = wanted->table;
    size_t faults = 0, listed = 0;
    for (size_t d = 0; d < IMP_PAPER_DATASETS; d++) {
        if (!wanted->data[d] || !imp_paper_is_about(wanted, d))
            continue;
        if (listed++ > 0)
            putchar('\n');
        faults += list_dataset(wanted, only, d);
    }
    return faults > 0 ? IMP_EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- the command ---- */

static int reproduce(imp_paper_options *wanted, teller *tells)
{
    imp_error error;
    imp_paper_outcome outcome;
    imp_interrupt_catch();
    tells->line = imp_progress_start(tells->given->quiet);
    wanted->ranks = imp_job_ranks();
    wanted->listener = (imp_paper_listener){.begin = begin,
                                            .fail = fail_run,
                                            .training = training,
                                            .notice = give_notice,
                                            .measuring = measuring,
                                            .context = tells};
    imp_status failed = imp_paper_reproduce(wanted, &outcome, &error);
    imp_progress_end(&tells->line);
    if (failed)
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    if (outcome.stopped) {
        tell_how_to_go_on();
        return IMP_EXIT_INTERRUPTED;
    }
    if (outcome.failed > 0)
        return imp_complain(IMP_EXIT_FAILURE, command, "%zu of the runs and pictures failed",
                            outcome.failed);
    for (size_t d = 0; d < IMP_PAPER_DATASETS && !tells->given->quiet; d++)
        if (wanted->data[d] && imp_paper_is_about(wanted, d))
            fprintf(stderr, "the report is %s/README.md\n", imp_paper_results(wanted->out, d).text);
    return EXIT_SUCCESS;
}

/* The default folder for runs; false if there is none. */
static bool find_runs(char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (cache && cache[0] == '/')
        length = snprintf(path, size, "%s/imp/paper", cache);
    else if (home && home[0])
        length = snprintf(path, size, "%s/.cache/imp/paper", home);
    return length > 0 && (size_t)length < size;
}

/* Which of the words name runs, with or without a seed. */
static bool is_run(const char *name)
{
    for (size_t r = 0; imp_paper_run_at(r).name; r++) {
        imp_paper_run run = imp_paper_run_at(r);
        const imp_paper_options one = {.only = &name, .only_count = 1};
        if (imp_paper_wants(&one, &run, 0))
            return true;
    }
    return false;
}

/* Complains about a word that is neither a table nor a run. */
static int complain_name(const char *name, bool tables)
{
    char names[300] = "all";
    imp_suggestion suggestion = imp_suggestion_start(name);
    if (tables)
        imp_suggestion_offer(&suggestion, "all");
    for (size_t t = 0; imp_paper_table_at(t).name; t++) {
        const char *known = imp_paper_table_at(t).name;
        size_t used = strlen(names);
        if (tables)
            imp_suggestion_offer(&suggestion, known);
        snprintf(names + used, sizeof names - used, ", %s", known);
    }
    for (size_t r = 0; imp_paper_run_at(r).name; r++)
        imp_suggestion_offer(&suggestion, imp_paper_run_at(r).name);
    const char *what = tables ? "table or run" : "run";
    if (suggestion.nearest)
        return imp_complain(IMP_EXIT_USAGE, command, "there is no %s '%s'; did you mean '%s'?",
                            what, name, suggestion.nearest);
    if (!tables)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "there is no run '%s'; 'imp paper --list' lists them", name);
    return imp_complain(IMP_EXIT_USAGE, command,
                        "there is no table or run '%s'; tables are %s, and 'imp paper --list' "
                        "lists the runs",
                        name, names);
}

/* NULL if the word is not a table. */
static const char *find_table(const char *word)
{
    for (size_t t = 0; imp_paper_table_at(t).name; t++)
        if (strcmp(imp_paper_table_at(t).name, word) == 0)
            return imp_paper_table_at(t).name;
    return NULL;
}

/* Accepts a single table, 'all', or any number of runs. */
static int take_operands(char *const *words, int count, imp_paper_options *wanted)
{
    wanted->table = count == 1 ? find_table(words[0]) : NULL;
    if (count == 0 || wanted->table || (count == 1 && strcmp(words[0], "all") == 0))
        return IMP_GO_ON;
    for (int i = 0; i < count; i++) {
        if (find_table(words[i]) || strcmp(words[i], "all") == 0)
            return imp_complain(
                IMP_EXIT_USAGE, command,
                "'%s' is not a run and must be the only argument; only runs can be combined",
                words[i]);
        if (!is_run(words[i]))
            return complain_name(words[i], count == 1);
    }
    wanted->only = (const char *const *)words;
    wanted->only_count = (size_t)count;
    return IMP_GO_ON;
}

/* Finds out which datasets are given. --list covers all of them if none is given. */
static int take_data(const settings *given, imp_paper_options *wanted)
{
    for (size_t i = 0; i < given->data.count; i++) {
        const char *data = given->data.items[i];
        size_t dataset = imp_paper_dataset_in(data);
        if (wanted->data[dataset])
            return imp_complain(IMP_EXIT_USAGE, command,
                                "'%s' and '%s' are both %s; give one of them",
                                wanted->data[dataset], data, imp_paper_dataset_at(dataset)->title);
        wanted->data[dataset] = data;
    }
    for (size_t d = 0; d < IMP_PAPER_DATASETS && given->data.count == 0; d++)
        if (d == 0 || given->list)
            wanted->data[d] = imp_paper_dataset_at(d)->name;
    for (size_t d = 0; d < IMP_PAPER_DATASETS; d++)
        if (wanted->data[d] && imp_paper_is_about(wanted, d))
            return IMP_GO_ON;
    return imp_complain(IMP_EXIT_USAGE, command,
                        "the %s '%s' needs a dataset that is not given; name it with --data",
                        wanted->table ? "table" : "run",
                        wanted->table ? wanted->table : wanted->only[0]);
}

int imp_command_paper(int argc, char **argv)
{
    settings given = {0};
    int operands, status = imp_parse(&imp_paper_usage, argc, argv, &given, &operands);
    if (status != IMP_GO_ON)
        return status;
    if (operands == 0 && !given.list)
        return imp_complain(IMP_EXIT_USAGE, command,
                            "give a TABLE, RUNs, or 'all'; 'imp paper --list' lists them");
    char runs[4096];
    if (!given.runs && !find_runs(runs, sizeof runs))
        return imp_complain(IMP_EXIT_USAGE, command, "give --runs FOLDER, because HOME is not set");
    imp_paper_options wanted = {.out = given.out,
                                .runs = given.runs ? given.runs : runs,
                                .updates = given.updates,
                                .seeds = given.seeds,
                                .episodes = (size_t)given.episodes,
                                .threads = (int)given.threads,
                                .again = given.again,
                                .train_nothing = given.train_nothing};
    status = take_operands(argv + 1, operands, &wanted);
    if (status == IMP_GO_ON)
        status = take_data(&given, &wanted);
    if (status != IMP_GO_ON)
        return status;
    teller tells = {.given = &given};
    return given.list ? list(&wanted) : reproduce(&wanted, &tells);
}
