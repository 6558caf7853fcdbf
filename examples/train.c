/*
 * train.c - trains a model from settings, stops, resumes, and evaluates it, as `imp train` and `imp
 * eval` do.
 *
 * Last line: the model tells glyphs apart
 */
#include <stdlib.h>

#include <imp/evaluate.h>
#include <imp/train.h>

#include "must.h"

/* Small enough to train in a few seconds. */
static const char *const wanted[][2] = {
    {"data", "glyphs"},  {"size", "14"},
    {"alphabets", "6"},  {"way", "5"},
    {"shot", "2"},       {"network", "conv3x3:16,bn,relu,pool"},
    {"updates", "60"},   {"validate-every", "0"},
    {"log-every", "20"}, {"split", "classes:0.6/0.2/0.2"},
};

static bool proceed(const imp_train_report *report, void *context)
{
    if (report->new_line)
        printf("update %llu: loss %.3f, accuracy %.0f%%\n", (unsigned long long)report->update,
               report->line.loss, 100 * report->line.accuracy);
    return report->update != *(const uint64_t *)context; /* false ends the run after a checkpoint */
}

int main(void)
{
    imp_error error;
    imp_settings *settings;
    must(imp_settings_create(NULL, &settings, &error), &error);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        must(imp_settings_set(settings, wanted[i][0], wanted[i][1], &error), &error);

    char folder[] = "/tmp/imp-example-XXXXXX", path[200], run[100];
    if (!mkdtemp(folder))
        return 1;
    snprintf(run, sizeof run, "%s/run", folder);
    uint64_t last = 40;
    imp_train_options options = imp_train_defaults();
    options.folder = run;
    options.proceed = proceed;
    options.context = &last;
    imp_train_result result;
    must(imp_train(settings, NULL, &options, &result, &error), &error);
    printf("stopped after update %llu, finished: %s\n", (unsigned long long)result.update,
           result.finished ? "yes" : "no");
    imp_settings_free(settings);

    char updates[20];
    must(imp_train_settings(run, &settings, &error), &error);
    must(imp_settings_get(settings, "updates", updates, sizeof updates, &error), &error);
    printf("going on to update %s\n", updates);
    must(imp_train_resume(settings, NULL, &options, &result, &error), &error);
    imp_settings_free(settings);

    imp_model *model;
    snprintf(path, sizeof path, "%s/model.safetensors", run);
    must(imp_model_open(path, NULL, &model, &error), &error);
    imp_settings *by_imp, *by_prototypes;
    must(imp_evaluation_settings(model, &by_imp, &error), &error);
    must(imp_evaluation_settings(model, &by_prototypes, &error), &error);
    must(imp_settings_set(by_prototypes, "method", "prototypes", &error), &error);
    const imp_settings *both[] = {by_imp, by_prototypes};
    imp_evaluation found[2];
    imp_evaluation_options testing = imp_evaluation_defaults();
    testing.episodes = 50;
    must(imp_evaluate_model(model, both, 2, NULL, &testing, found, &error), &error);
    printf("imp %.0f%%, prototypes %.0f%%; chance is 20%%\n", 100 * found[0].accuracy.mean,
           100 * found[1].accuracy.mean);
    bool good = found[0].accuracy.mean > 0.4 && found[1].accuracy.mean > 0.4;
    imp_settings_free(by_imp);
    imp_settings_free(by_prototypes);
    imp_model_free(model);

    static const char *const files[] = {"run/settings.json",     "run/checkpoint.safetensors",
                                        "run/model.safetensors", "run/log.jsonl",
                                        "run/log.csv",           "run"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
    remove(folder);
    printf("%s\n", good ? "the model tells glyphs apart" : "the model has learned nothing");
    return 0;
}
