/* runs.c - the table of runs, and the settings of each. */
#include "paper/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "paper/datasets.h"
#include "paper/words.h"
#include "settings/recipe.h"

/* Schedules: the number of updates, the update of the first halving of the learning rate, and the
 * updates between halvings. FULL is the paper's for Omniglot. CUT ends it early, when the rate is a
 * 16th and little changes any more; CUT_8 does the same to that of omniglot-alphabets-8, whose
 * updates of 8 episodes are a fifth as many; HALF and SHORT scale it down; MINI and MINI_SHORT
 * scale down the paper's schedule for mini-ImageNet, of 100,000 updates. */
#define FULL 20000, 4000, 2000
#define CUT 12000, 4000, 2000
#define CUT_8 2400, 800, 400
#define HALF 10000, 2000, 1000
#define SHORT 5000, 1000, 500
#define MINI 30000, 6000, 6000
#define MINI_SHORT 10000, 2000, 2000
/* Constant rate. */
#define STEADY(updates) updates, 0, 0
/* Halved periodically. */
#define EVERY(count, updates) updates, count, count

/* The distractors' variance of Ren et al. starts at 100 and is learned. */
#define REN "--method soft-kmeans-cluster --sigma-u 100 --learn-sigma-u yes"

/* clang-format off */
static const imp_paper_run runs[] = {
    /* name                                  recipe                       changes                              schedule, seeds */
    {"alphabets-imp",                        "omniglot-alphabets",        "",                                  CUT,   3},
    {"alphabets-prototypes",                 "omniglot-alphabets",        "--method prototypes",               CUT,   3},
    {"alphabets-neighbors",                  "omniglot-alphabets",        "--method neighbors",                CUT,   1},
    {"alphabets-maml",                       "omniglot-maml-alphabets",   "",                                  STEADY(5000), 1},
    {"alphabets-prototypes-sigma",           "omniglot-alphabets",        "--method prototypes --learn-sigma", CUT,   1},

    {"alphabets-imp-unmasked",               "omniglot-alphabets",        "--unmasked-loss",                   CUT,   1},
    {"alphabets-neighbors-unmasked",         "omniglot-alphabets",        "--method neighbors --unmasked-loss", CUT,  1},
    {"alphabets-nca",                        "omniglot-alphabets",        "--method nca",                      CUT,   1},
    {"alphabets-fixed-modes",                "omniglot-alphabets",        "--method fixed-modes",              CUT,   1},

    {"modes-imp",                            "omniglot-held-out-modes",   "",                                  FULL,  1},
    {"modes-imp-turned",                     "omniglot-held-out-modes",   "--split turned-modes:0.4/0/0.6",    FULL,  1},
    {"modes-prototypes",                     "omniglot-held-out-modes",   "--method prototypes",               FULL,  1},

    {"5way-1shot-imp",                       "omniglot-5way-1shot",       "",                                  FULL,  1},
    {"5way-1shot-prototypes",                "omniglot-5way-1shot",       "--method prototypes",               FULL,  1},
    {"5way-1shot-neighbors",                 "omniglot-5way-1shot",       "--method neighbors",                FULL,  1},
    {"5way-5shot-imp",                       "omniglot-5way-5shot",       "",                                  FULL,  1},
    {"5way-5shot-prototypes",                "omniglot-5way-5shot",       "--method prototypes",               FULL,  1},
    {"5way-5shot-neighbors",                 "omniglot-5way-5shot",       "--method neighbors",                FULL,  1},
    {"20way-1shot-imp",                      "omniglot-20way-1shot",      "",                                  FULL,  1},
    {"20way-1shot-prototypes",               "omniglot-20way-1shot",      "--method prototypes",               FULL,  1},
    {"20way-1shot-neighbors",                "omniglot-20way-1shot",      "--method neighbors",                FULL,  1},
    {"20way-5shot-imp",                      "omniglot-20way-5shot",      "",                                  FULL,  1},
    {"20way-5shot-prototypes",               "omniglot-20way-5shot",      "--method prototypes",               FULL,  1},
    {"20way-5shot-neighbors",                "omniglot-20way-5shot",      "--method neighbors",                FULL,  1},

    {"60way-1shot-prototypes",               "omniglot-20way-1shot",      "--method prototypes --way 60",      FULL,  1},
    {"60way-5shot-prototypes",               "omniglot-20way-5shot",      "--method prototypes --way 60",      FULL,  1},

    {"5way-1shot-maml",                      "omniglot-maml-5way",        "",                                  STEADY(60000), 1},
    {"5way-5shot-maml",                      "omniglot-maml-5way",        "--shot 5 --queries 5",              STEADY(60000), 1},
    {"20way-1shot-maml",                     "omniglot-maml-20way",       "",                                  STEADY(60000), 1},
    {"20way-5shot-maml",                     "omniglot-maml-20way",       "--shot 5 --queries 5",              STEADY(60000), 1},

    {"5way-memory",                          "omniglot-memory-5way",      "",                                  STEADY(100000), 1},
    {"20way-memory",                         "omniglot-memory-20way",     "",                                  STEADY(100000), 1},
    {"5way-1shot-graph",                     "omniglot-graph-5way",       "",                                  EVERY(10000, 100000), 1},
    {"5way-5shot-graph",                     "omniglot-graph-5way",       "--shot 5",                          EVERY(10000, 100000), 1},
    {"20way-1shot-graph",                    "omniglot-graph-20way",      "",                                  EVERY(10000, 80000), 1},
    {"20way-5shot-graph",                    "omniglot-graph-20way",      "--shot 5",                          EVERY(10000, 80000), 1},
    {"5way-reptile",                         "omniglot-reptile-5way",     "",                                  STEADY(100000), 1},
    {"20way-reptile",                        "omniglot-reptile-20way",    "",                                  STEADY(200000), 1},

    {"semi-5way-1shot-imp",                  "omniglot-semi-5way-1shot",  "",                                  FULL,  3},
    {"semi-5way-1shot-prototypes",           "omniglot-semi-5way-1shot",  "--method prototypes",               FULL,  1},
    {"semi-5way-1shot-neighbors",            "omniglot-semi-5way-1shot",  "--method neighbors",                HALF,  1},
    {"semi-5way-1shot-soft-kmeans-cluster",  "omniglot-semi-5way-1shot",  REN,                                 HALF,  1},
    {"semi-5way-5shot-imp",                  "omniglot-semi-5way-5shot",  "",                                  FULL,  1},
    {"semi-5way-5shot-prototypes",           "omniglot-semi-5way-5shot",  "--method prototypes",               HALF,  1},
    {"semi-5way-5shot-neighbors",            "omniglot-semi-5way-5shot",  "--method neighbors",                HALF,  1},
    {"semi-5way-5shot-soft-kmeans-cluster",  "omniglot-semi-5way-5shot",  REN,                                 HALF,  1},
    {"semi-20way-1shot-imp",                 "omniglot-semi-20way-1shot", "",                                  FULL,  1},
    {"semi-20way-1shot-prototypes",          "omniglot-semi-20way-1shot", "--method prototypes",               HALF,  1},
    {"semi-20way-1shot-neighbors",           "omniglot-semi-20way-1shot", "--method neighbors",                HALF,  1},
    {"semi-20way-1shot-soft-kmeans-cluster", "omniglot-semi-20way-1shot", REN,                                 HALF,  1},
    {"semi-20way-5shot-imp",                 "omniglot-semi-20way-5shot", "",                                  FULL,  1},
    {"semi-20way-5shot-prototypes",          "omniglot-semi-20way-5shot", "--method prototypes",               HALF,  1},
    {"semi-20way-5shot-neighbors",           "omniglot-semi-20way-5shot", "--method neighbors",                HALF,  1},
    {"semi-20way-5shot-soft-kmeans-cluster", "omniglot-semi-20way-5shot", REN,                                 HALF,  1},

    /* Ablations of semi-5way-1shot, to be compared with each other. */
    {"ablation-imp",                         "omniglot-semi-5way-1shot",  "",                                  SHORT, 1},
    {"ablation-imp-tied",                    "omniglot-semi-5way-1shot",  "--method imp-tied",                 SHORT, 1},
    {"ablation-imp-2-steps",                 "omniglot-semi-5way-1shot",  "--cluster-steps 2",                 SHORT, 1},
    {"ablation-map-dp",                      "omniglot-semi-5way-1shot",  "--method map-dp",                   SHORT, 1},
    {"ablation-em",                          "omniglot-semi-5way-1shot",  "--method em",                       SHORT, 1},
    {"ablation-em-no-prior",                 "omniglot-semi-5way-1shot",  "--method em --no-prior",            SHORT, 1},
    {"ablation-dp-means",                    "omniglot-semi-5way-1shot",  "--method dp-means",                 SHORT, 1},

    {"accumulation-1shot-16-episodes",       "omniglot-accumulation",     "",                                  HALF,  1},
    {"accumulation-1shot-1-episode",         "omniglot-accumulation",     "--accumulate 1",                    FULL,  1},
    {"accumulation-5shot-16-episodes",       "omniglot-accumulation",     "--shot 5",                          HALF,  1},
    {"accumulation-5shot-1-episode",         "omniglot-accumulation",     "--shot 5 --accumulate 1",           FULL,  1},

    /* Ours, not the paper's. */
    {"own-imp",                              "omniglot-own",              "",                                  FULL,  1},
    {"alphabets-imp-8-episodes",             "omniglot-alphabets-8",      "",                                  CUT_8, 1},
    {"mini-own-imp",                         "mini-imagenet-own",         "",                                  MINI_SHORT, 1},

    {"mini-5way-1shot-imp",              "mini-imagenet-5way-1shot", "",                                  MINI, 1},
    {"mini-5way-1shot-prototypes",       "mini-imagenet-5way-1shot", "--method prototypes",               MINI, 1},
    {"mini-5way-1shot-neighbors",        "mini-imagenet-5way-1shot", "--method neighbors",                MINI, 1},
    {"mini-5way-5shot-imp",              "mini-imagenet-5way-5shot", "",                                  MINI, 1},
    {"mini-5way-5shot-prototypes",       "mini-imagenet-5way-5shot", "--method prototypes",               MINI, 1},
    {"mini-5way-5shot-prototypes-sigma", "mini-imagenet-5way-5shot", "--method prototypes --learn-sigma", MINI, 1},
    {"mini-5way-5shot-neighbors",        "mini-imagenet-5way-5shot", "--method neighbors",                MINI, 1},

    {"mini-30way-1shot-prototypes",      "mini-imagenet-5way-1shot", "--method prototypes --way 30",      MINI, 1},
    {"mini-20way-5shot-prototypes",      "mini-imagenet-5way-5shot", "--method prototypes --way 20",      MINI, 1},

    {"mini-5way-1shot-maml",             "mini-imagenet-maml",       "",                                  STEADY(60000), 1},
    {"mini-5way-5shot-maml",             "mini-imagenet-maml",       "--shot 5",                          STEADY(60000), 1},

    {"mini-5way-1shot-graph",            "mini-imagenet-graph",      "",                                  EVERY(15000, 80000), 1},
    {"mini-5way-5shot-graph",            "mini-imagenet-graph",      "--shot 5 --accumulate 2",           EVERY(15000, 90000), 1},

    {"mini-5way-reptile",                "mini-imagenet-reptile",    "",                                  STEADY(100000), 1},

    {"mini-semi-5way-1shot-imp",                 "mini-imagenet-semi-5way-1shot", "",                    MINI_SHORT, 1},
    {"mini-semi-5way-1shot-prototypes",          "mini-imagenet-semi-5way-1shot", "--method prototypes", MINI_SHORT, 1},
    {"mini-semi-5way-1shot-neighbors",           "mini-imagenet-semi-5way-1shot", "--method neighbors",  MINI_SHORT, 1},
    {"mini-semi-5way-1shot-soft-kmeans-cluster", "mini-imagenet-semi-5way-1shot", REN,                   MINI_SHORT, 1},
    {"mini-semi-5way-5shot-imp",                 "mini-imagenet-semi-5way-5shot", "",                    MINI_SHORT, 1},
    {"mini-semi-5way-5shot-prototypes",          "mini-imagenet-semi-5way-5shot", "--method prototypes", MINI_SHORT, 1},
    {"mini-semi-5way-5shot-neighbors",           "mini-imagenet-semi-5way-5shot", "--method neighbors",  MINI_SHORT, 1},
    {"mini-semi-5way-5shot-soft-kmeans-cluster", "mini-imagenet-semi-5way-5shot", REN,                   MINI_SHORT, 1},

    /* Ablations of mini-semi-5way-1shot, to be compared with its IMP. */
    {"mini-ablation-imp-tied",    "mini-imagenet-semi-5way-1shot", "--method imp-tied",      MINI_SHORT, 1},
    {"mini-ablation-map-dp",      "mini-imagenet-semi-5way-1shot", "--method map-dp",        MINI_SHORT, 1},
    {"mini-ablation-em",          "mini-imagenet-semi-5way-1shot", "--method em",            MINI_SHORT, 1},
    {"mini-ablation-em-no-prior", "mini-imagenet-semi-5way-1shot", "--method em --no-prior", MINI_SHORT, 1},
    {"mini-ablation-dp-means",    "mini-imagenet-semi-5way-1shot", "--method dp-means",      MINI_SHORT, 1},
};
/* clang-format on */

enum { RUNS = sizeof runs / sizeof *runs };

imp_paper_run imp_paper_run_at(size_t index)
{
    return index < RUNS ? runs[index] : (imp_paper_run){0};
}

size_t imp_paper_run_find(const char *name)
{
    size_t index = 0;
    while (index < RUNS && strcmp(runs[index].name, name) != 0)
        index++;
    return index;
}

imp_paper_name imp_paper_run_name(const imp_paper_run *run, int seed)
{
    imp_paper_name name;
    snprintf(name.text, sizeof name.text, "%s-seed%d", run->name, seed);
    return name;
}

/* ---- settings ---- */

static imp_status apply_changes(imp_settings *settings, const char *changes, imp_error *error)
{
    imp_words words = imp_words_of(changes);
    imp_option_words option;
    while (imp_words_next(&words, &option)) {
        imp_status status = imp_settings_set(settings, option.name, option.value, error);
        if (status)
            return status;
    }
    return IMP_OK;
}

/* The number of updates that a run's schedule was made for: the recipe's, if its halvings are the
 * recipe's and the run may just end early. */
static int64_t whole_schedule(const imp_paper_run *run, const imp_settings *recipe)
{
    bool as_recipe =
        run->halve_from == recipe->halve_from && run->halve_every == recipe->halve_every;
    return as_recipe && run->updates < recipe->updates ? recipe->updates : run->updates;
}

imp_status imp_paper_settings(const imp_paper_run *run, int seed, const char *data, int64_t updates,
                              imp_settings *settings, imp_error *error)
{
    imp_settings_init(settings);
    imp_status status = imp_recipe_apply(settings, run->recipe, error);
    if (!status)
        status = apply_changes(settings, run->changes, error);
    if (status)
        return status;
    double whole = (double)whole_schedule(run, settings);
    settings->data = data;
    settings->seed = seed;
    settings->updates = updates > 0 ? updates : run->updates;
    settings->halve_from = run->halve_from;
    settings->halve_every = run->halve_every;
    if (updates > 0 && settings->fade_until > 0)
        settings->fade_until = updates;
    if (updates > 0 && run->halve_every > 0) {
        double made = (double)updates;
        settings->halve_from = (int64_t)(made * (double)run->halve_from / whole);
        settings->halve_every = (int64_t)(made * (double)run->halve_every / whole);
    }
    return IMP_OK;
}

void imp_paper_train_command(const imp_paper_run *run, const imp_settings *settings, char *text,
                             size_t size)
{
    snprintf(text, size,
             "imp train --recipe %s --data DATA%s%s --updates %" PRId64 " --halve-from %" PRId64
             " --halve-every %" PRId64 " --seed %" PRId64 " --out %s",
             run->recipe, run->changes[0] ? " " : "", run->changes, settings->updates,
             settings->halve_from, settings->halve_every, settings->seed,
             imp_paper_run_name(run, (int)settings->seed).text);
}

const char *imp_paper_disagreement(const imp_settings *there, const imp_settings *wanted)
{
    static const char *const free_names[] = {"data", "checkpoint-every", "log-every", NULL};
    return imp_settings_difference(there, wanted, free_names);
}

double imp_paper_images(const imp_settings *settings)
{
    double modes = imp_settings_by_super_class(settings) ? (double)settings->modes : 1;
    double labeled = (double)(settings->shot + settings->queries + settings->unlabeled);
    double episode = (double)settings->way * modes * labeled +
                     (double)settings->distractors * modes * (double)settings->unlabeled;
    return episode * (double)settings->accumulate;
}
