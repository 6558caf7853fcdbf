/*
 * options.c - a program that fills every struct of options and prints what the library makes of it,
 * and every struct that the library fills and that may grow.
 *
 * check_options.py compiles it against headers of which the structs are shorter or longer than the
 * library's, as in a program that is older or newer: what it prints must be the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <imp/imp.h>

enum { GUARD = 256, MARK = 0xA5 };

static void check(int good, const char *sentence)
{
    if (good)
        return;
    fprintf(stderr, "%s\n", sentence);
    exit(1);
}

static void must(imp_status status, const imp_error *error)
{
    check(status == IMP_OK, error->message);
}

static int untouched(const unsigned char *guard)
{
    for (size_t i = 0; i < GUARD; i++)
        if (guard[i] != MARK)
            return 0;
    return 1;
}

/* A struct of this type between guards. */
#define ROOM(type)                   \
    struct {                         \
        unsigned char before[GUARD]; \
        type options;                \
        unsigned char after[GUARD];  \
    } box;                           \
    memset(&box, MARK, sizeof box)

#define UNTOUCHED(type, member)                                                              \
    check(untouched(box.before) && untouched(box.after), #type " was written over its end"); \
    check(box.options.member == sizeof box.options, #type " has another size")

/* Options between guards, initialised, with the size that they have here. */
#define BEGIN(type, member, ...)                                              \
    ROOM(type);                                                               \
    type##_init(&box.options, sizeof box.options __VA_OPT__(, ) __VA_ARGS__); \
    UNTOUCHED(type, member)

/* Options that say something the library does not know are refused. */
#ifdef LONGER
#define REFUSED(call)                                                     \
    do {                                                                  \
        box.options.added = 1;                                            \
        check((call) == IMP_EINVAL, #call " took what it does not know"); \
        check(strstr(error.message, "newer") != NULL, error.message);     \
        box.options.added = 0;                                            \
    } while (0)
#else
#define REFUSED(call) (void)0
#endif

static const float x[] = {0, 0, 1, 0, 30, 0, 31, 0, 0, 40, 1, 40};
static const int32_t y[] = {0, 0, 1, 1, -1, -1};

/* Not options but what the library tells, by the same rule. */
static void choices(const imp_mixture *mixture)
{
    ROOM(imp_mixture_choice);
    imp_mixture_choice_of(mixture, &box.options, sizeof box.options);
    UNTOUCHED(imp_mixture_choice, size);
    printf("choice: metric %d, of %zu points held out\n", (int)box.options.metric,
           box.options.held_out);
}

static void mixtures(void)
{
    BEGIN(imp_mixture_options, size);
    imp_mixture *mixture;
    imp_error error;
    REFUSED(imp_mixture_fit(x, y, 6, 2, &box.options, &mixture, &error));
    must(imp_mixture_fit(x, y, 6, 2, &box.options, &mixture, &error), &error);
    imp_mixture_summary summary = imp_mixture_summarize(mixture);
    printf("mixture: %zu clusters, lambda %.17g\n", summary.clusters, summary.rule.lambda);
    choices(mixture);
    imp_mixture_free(mixture);
}

static void clusterings(void)
{
    BEGIN(imp_cluster_options, size);
    imp_clustering *found;
    imp_error error;
    REFUSED(imp_cluster(x, 6, 2, &box.options, &found, &error));
    must(imp_cluster(x, 6, 2, &box.options, &found, &error), &error);
    printf("clustering: %zu clusters, lambda %.17g\n", found->clusters, found->lambda);
    imp_clustering_free(found);
}

static void suggesters(void)
{
    BEGIN(imp_suggester_options, size);
    imp_suggester *suggester;
    imp_error error;
    REFUSED(imp_suggester_create(x, 6, 2, &box.options, &suggester, &error));
    must(imp_suggester_create(x, 6, 2, &box.options, &suggester, &error), &error);
    printf("suggester: %zu groups\n", imp_suggester_summarize(suggester).groups);
    imp_suggester_free(suggester);
}

static void methods(void)
{
    BEGIN(imp_method_options, size);
    imp_method *method;
    imp_error error;
    REFUSED(imp_method_create("soft-kmeans-masked", &box.options, &method, &error));
    must(imp_method_create("soft-kmeans-masked", &box.options, &method, &error), &error);
    printf("method: its first weight is %.17g\n", imp_method_values(method, NULL)[0]);
    imp_method_free(method);
}

static void networks(void)
{
    BEGIN(imp_network_options, size);
    imp_network *network;
    imp_error error;
    box.options.channels = 1;
    box.options.height = box.options.width = 8;
    REFUSED(imp_network_create("conv3x3:4,bn,relu,pool", &box.options, &network, &error));
    must(imp_network_create("conv3x3:4,bn,relu,pool", &box.options, &network, &error), &error);
    printf("network: its first weight is %.9g\n", (double)imp_network_parameters(network)[0]);
    imp_network_free(network);
}

static void models(void)
{
    BEGIN(imp_model_options, size);
    imp_model *model;
    imp_error error;
    REFUSED(imp_model_open(NULL, &box.options, &model, &error));
    must(imp_model_open(NULL, &box.options, &model, &error), &error);
    printf("model: %zu dimensions\n", imp_model_info_of(model)->dimensions);
    imp_model_free(model);
}

static void optimizers(void)
{
    BEGIN(imp_optimizer_options, size, IMP_ADAM);
    imp_optimizer *optimizer;
    imp_error error;
    REFUSED(imp_optimizer_create(1, &box.options, &optimizer, &error));
    must(imp_optimizer_create(1, &box.options, &optimizer, &error), &error);
    float parameter = 1, gradient = 3;
    imp_optimizer_step(optimizer, &parameter, &gradient, 0.1);
    printf("optimizer: a step leads to %.9g\n", (double)parameter);
    imp_optimizer_free(optimizer);
}

static imp_dataset *datasets(void)
{
    BEGIN(imp_dataset_options, struct_size);
    imp_dataset *dataset;
    imp_error error;
    box.options.glyphs.alphabets = 5;
    REFUSED(imp_dataset_open("glyphs", &box.options, &dataset, &error));
    must(imp_dataset_open("glyphs", &box.options, &dataset, &error), &error);
    printf("dataset: %s\n", imp_dataset_fingerprint(dataset));
    return dataset;
}

static void episodes(const imp_dataset *dataset)
{
    BEGIN(imp_episode_options, struct_size);
    imp_episode episode;
    imp_error error;
    REFUSED(imp_episode_draw(dataset, &box.options, 7, &episode, &error));
    must(imp_episode_draw(dataset, &box.options, 7, &episode, &error), &error);
    printf("episode:");
    for (size_t i = 0; i < imp_episode_size(&episode); i++)
        printf(" %u", episode.images[i]);
    puts("");
    imp_episode_clear(&episode);
}

static void trainings(const imp_dataset *dataset)
{
    BEGIN(imp_train_options, size);
    char folder[] = "/tmp/imp-options-XXXXXX", path[100];
    check(mkdtemp(folder) != NULL, "there is no folder for a run");
    imp_settings *settings;
    imp_train_result result;
    imp_error error;
    must(imp_settings_create(NULL, &settings, &error), &error);
    must(imp_settings_set(settings, "updates", "1", &error), &error);
    must(imp_settings_set(settings, "network", "conv3x3:2,bn,relu,pool", &error), &error);
    must(imp_settings_set(settings, "validate-every", "0", &error), &error);
    box.options.folder = folder;
    REFUSED(imp_train(settings, dataset, &box.options, &result, &error));
    must(imp_train(settings, dataset, &box.options, &result, &error), &error);
    printf("training: %llu update, %s\n", (unsigned long long)result.update,
           result.finished ? "finished" : "stopped");
    imp_settings_free(settings);
    static const char *const files[] = {"settings.json",
                                        "checkpoint.safetensors",
                                        "checkpoint.previous.safetensors",
                                        "model.safetensors",
                                        "log.jsonl",
                                        "log.csv",
                                        ""};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
}

static void evaluations(void)
{
    BEGIN(imp_evaluation_options, size);
    imp_model *model;
    imp_settings *settings;
    imp_evaluation result;
    imp_error error;
    must(imp_model_open(NULL, NULL, &model, &error), &error);
    must(imp_evaluation_settings(model, &settings, &error), &error);
    must(imp_settings_set(settings, "data", "glyphs", &error), &error);
    must(imp_settings_set(settings, "alphabets", "12", &error), &error);
    must(imp_settings_set(settings, "split", "own", &error), &error);
    must(imp_settings_set(settings, "task", "classes", &error), &error);
    must(imp_settings_set(settings, "way", "3", &error), &error);
    box.options.episodes = 2;
    const imp_settings *const list[] = {settings};
    REFUSED(imp_evaluate_model(model, list, 1, NULL, &box.options, &result, &error));
    must(imp_evaluate_model(model, list, 1, NULL, &box.options, &result, &error), &error);
    printf("evaluation: %.9g\n", result.accuracy.mean);
    imp_settings_free(settings);
    imp_model_free(model);
}

int main(void)
{
    mixtures();
    clusterings();
    suggesters();
    methods();
    networks();
    models();
    optimizers();
    imp_dataset *dataset = datasets();
    episodes(dataset);
    trainings(dataset);
    imp_dataset_free(dataset);
    evaluations();
    return 0;
}
