/* runs.c - the table of runs, and the settings that a row stands for. */
#include "paper/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "paper/words.h"
#include "train/recipe.h"

/* Schedules: how many updates, at which the learning rate is halved first, and after how many more
 * each time. The paper's is FULL. CUT is the same ended early, when the rate is a 16th and little
 * changes any more; SHORT is FULL scaled down. */
#define FULL 20000, 4000, 2000
#define CUT 12000, 4000, 2000
#define SHORT 5000, 1000, 500

/* The distractors' variance of Ren et al. starts at 100 and is learned. */
#define REN "--method soft-kmeans-cluster --sigma-u 100 --learn-sigma-u yes"

/* clang-format off */
static const imp_paper_run runs[] = {
    /* name                                  recipe                       changes                              schedule, seeds */
    {"alphabets-imp",                        "omniglot-alphabets",        "",                                  CUT,   3},
    {"alphabets-prototypes",                 "omniglot-alphabets",        "--method prototypes",               CUT,   3},
    {"alphabets-neighbors",                  "omniglot-alphabets",        "--method neighbors",                CUT,   1},
    {"alphabets-prototypes-sigma",           "omniglot-alphabets",        "--method prototypes --learn-sigma", CUT,   1},

    {"modes-imp",                            "omniglot-held-out-modes",   "",                                  FULL,  1},
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

    {"semi-5way-1shot-imp",                  "omniglot-semi-5way-1shot",  "",                                  FULL,  3},
    {"semi-5way-1shot-prototypes",           "omniglot-semi-5way-1shot",  "--method prototypes",               FULL,  1},
    {"semi-5way-1shot-neighbors",            "omniglot-semi-5way-1shot",  "--method neighbors",                FULL,  1},
    {"semi-5way-1shot-soft-kmeans-cluster",  "omniglot-semi-5way-1shot",  REN,                                 FULL,  1},
    {"semi-5way-5shot-imp",                  "omniglot-semi-5way-5shot",  "",                                  FULL,  1},
    {"semi-5way-5shot-prototypes",           "omniglot-semi-5way-5shot",  "--method prototypes",               FULL,  1},
    {"semi-5way-5shot-neighbors",            "omniglot-semi-5way-5shot",  "--method neighbors",                FULL,  1},
    {"semi-5way-5shot-soft-kmeans-cluster",  "omniglot-semi-5way-5shot",  REN,                                 FULL,  1},
    {"semi-20way-1shot-imp",                 "omniglot-semi-20way-1shot", "",                                  FULL,  1},
    {"semi-20way-1shot-prototypes",          "omniglot-semi-20way-1shot", "--method prototypes",               FULL,  1},
    {"semi-20way-1shot-neighbors",           "omniglot-semi-20way-1shot", "--method neighbors",                FULL,  1},
    {"semi-20way-1shot-soft-kmeans-cluster", "omniglot-semi-20way-1shot", REN,                                 FULL,  1},
    {"semi-20way-5shot-imp",                 "omniglot-semi-20way-5shot", "",                                  FULL,  1},
    {"semi-20way-5shot-prototypes",          "omniglot-semi-20way-5shot", "--method prototypes",               FULL,  1},
    {"semi-20way-5shot-neighbors",           "omniglot-semi-20way-5shot", "--method neighbors",                FULL,  1},
    {"semi-20way-5shot-soft-kmeans-cluster", "omniglot-semi-20way-5shot", REN,                                 FULL,  1},

    /* Ablations of semi-5way-1shot, which compare with each other. */
    {"ablation-imp",                         "omniglot-semi-5way-1shot",  "",                                  SHORT, 1},
    {"ablation-imp-tied",                    "omniglot-semi-5way-1shot",  "--method imp-tied",                 SHORT, 1},
    {"ablation-imp-2-steps",                 "omniglot-semi-5way-1shot",  "--cluster-steps 2",                 SHORT, 1},
    {"ablation-map-dp",                      "omniglot-semi-5way-1shot",  "--method map-dp",                   SHORT, 1},
    {"ablation-em",                          "omniglot-semi-5way-1shot",  "--method em",                       SHORT, 1},
    {"ablation-em-no-prior",                 "omniglot-semi-5way-1shot",  "--method em --no-prior",            SHORT, 1},
    {"ablation-dp-means",                    "omniglot-semi-5way-1shot",  "--method dp-means",                 SHORT, 1},

    {"accumulation-1shot-16-episodes",       "omniglot-accumulation",     "",                                  FULL,  1},
    {"accumulation-1shot-1-episode",         "omniglot-accumulation",     "--accumulate 1",                    FULL,  1},
    {"accumulation-5shot-16-episodes",       "omniglot-accumulation",     "--shot 5",                          FULL,  1},
    {"accumulation-5shot-1-episode",         "omniglot-accumulation",     "--shot 5 --accumulate 1",           FULL,  1},
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

imp_status imp_paper_settings(const imp_paper_run *run, int seed, const char *data, int64_t updates,
                              imp_settings *settings, imp_error *error)
{
    imp_settings_init(settings);
    imp_status status = imp_recipe_apply(settings, run->recipe, error);
    if (!status)
        status = apply_changes(settings, run->changes, error);
    if (status)
        return status;
    settings->data = data;
    settings->seed = seed;
    /* The paper halves the rate at a fifth of its updates, and from there on at each tenth. */
    settings->updates = updates > 0 ? updates : run->updates;
    settings->halve_from = updates > 0 ? updates / 5 : run->halve_from;
    settings->halve_every = updates > 0 ? updates / 10 : run->halve_every;
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
