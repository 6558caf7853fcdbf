/* choices.c - settings that suit a folder of pictures or a set of vectors. */
#include "settings/choices.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/dataset.h"
#include "methods/rule.h"

enum { OPEN_NUMBER = -1 }; /* no setting that can be open may be negative */

/* Sets a number that is open. */
#define CHOOSE(settings, member, value)        \
    do {                                       \
        if ((settings)->member == OPEN_NUMBER) \
            (settings)->member = (value);      \
    } while (0)

/* The paper's values for mini-ImageNet. */
static const imp_rule of_photographs = {
    .alpha = 1e-5, .sigma_l = 15, .sigma_u = 15, .lambda = IMP_AUTO, .steps = IMP_AUTO};

enum { GRAY = 1, RGB = 2 }; /* imp_colour_names */
enum { PER_PICTURE = 20, FEWEST_UPDATES = 500, MOST_UPDATES = 20000 };
enum { WAY = 5, WAY_OF_ALPHABETS = 10, MOST_SHOT = 5 };

/* The numbers that can be open; the split can be, too. */
/* clang-format off */
#define EACH_NUMBER(X)                                                  \
    X(size) X(colour) X(ink) X(way) X(shot)                             \
    X(updates) X(halve_from) X(halve_every) X(validate_every) X(validation_way)
/* clang-format on */

void imp_choices_open(imp_settings *settings)
{
#define OPEN(member) settings->member = OPEN_NUMBER;
    settings->split = NULL;
    EACH_NUMBER(OPEN)
#undef OPEN
}

static void take_defaults(imp_settings *settings, const imp_settings *from)
{
#define TAKE(member) CHOOSE(settings, member, from->member);
    settings->split = settings->split ? settings->split : from->split;
    EACH_NUMBER(TAKE)
#undef TAKE
}

void imp_choices_default(imp_settings *settings)
{
    imp_settings defaults;
    imp_settings_init(&defaults);
    take_defaults(settings, &defaults);
    imp_settings_clear(&defaults);
}

/* ---- before the data is opened ---- */

/* Enlarging pictures costs time and adds no information. */
static int64_t size_for(const imp_survey *survey, int64_t usual)
{
    enum { LEAST = 16 }; /* conv4 halves the picture four times */
    int64_t side = survey->side > 0 ? (int64_t)survey->side : usual;
    return side >= usual ? usual : side < LEAST ? LEAST : side;
}

static void choose_pictures(imp_settings *settings, const imp_survey *survey)
{
    CHOOSE(settings, colour, survey->coloured ? RGB : GRAY);
    bool coloured = settings->colour == RGB;
    CHOOSE(settings, size, size_for(survey, coloured ? 84 : 28));
    CHOOSE(settings, ink, survey->on_light && !coloured ? IMP_INK_INVERT : IMP_INK_AS_IS);
    if (coloured)
        settings->rule = imp_rule_over(&settings->rule, &of_photographs);
}

static const char *split_for(const imp_settings *settings, const imp_survey *survey)
{
    enum { FOR_TWO = 8, FOR_THREE = 20 };
    if (imp_settings_by_super_class(settings))
        return survey->super_classes >= FOR_THREE ? "super-classes:0.64/0.16/0.2"
               : survey->super_classes >= FOR_TWO ? "super-classes:0.75/0.25/0"
                                                  : "super-classes:1/0/0";
    return survey->classes >= FOR_THREE ? IMP_USUAL_SPLIT
           : survey->classes >= FOR_TWO ? "classes:0.75/0.25/0"
                                        : "classes:1/0/0";
}

static int64_t shot_for(const imp_settings *settings, const imp_survey *survey)
{
    if (imp_settings_by_super_class(settings))
        return 1; /* per character */
    size_t half = survey->smallest / 2;
    return half < 1 ? 1 : half > MOST_SHOT ? MOST_SHOT : (int64_t)half;
}

static int64_t updates_for(const imp_survey *survey)
{
    double wanted = PER_PICTURE * (double)survey->pictures;
    return wanted < FEWEST_UPDATES ? FEWEST_UPDATES
           : wanted > MOST_UPDATES ? MOST_UPDATES
                                   : (int64_t)wanted / 100 * 100;
}

/* The defaults halve the rate after a fifth of the updates, and then every tenth. */
static void choose_training(imp_settings *settings, const imp_survey *survey)
{
    CHOOSE(settings, updates, updates_for(survey));
    CHOOSE(settings, halve_from, settings->updates / 5);
    CHOOSE(settings, halve_every, settings->updates / 10);
}

imp_status imp_choices_before(imp_settings *settings, const imp_survey *survey, const char *path,
                              imp_error *error)
{
    bool splits = !settings->split;
    if (splits && survey->classes == 1)
        return imp_fail(error, IMP_EINVAL,
                        "'%s' has only one class, '%s'; training needs at least two", path,
                        survey->smallest_class);
    if (splits && survey->smallest == 1)
        return imp_fail(error, IMP_EINVAL,
                        "the class '%s' of '%s' has one picture; training needs at least two of "
                        "each class, a support and a query",
                        survey->smallest_class, path);
    if (splits)
        settings->split = split_for(settings, survey);
    choose_pictures(settings, survey);
    choose_training(settings, survey);
    CHOOSE(settings, shot, shot_for(settings, survey));
    return IMP_OK;
}

/* ---- after it is opened ---- */

size_t imp_choices_labels(const imp_settings *settings, const imp_dataset *dataset, imp_split split)
{
    size_t labels = 0;
    int64_t last = -1;
    for (size_t i = 0; i < imp_dataset_classes(dataset); i++) {
        imp_class_info about = imp_dataset_class(dataset, i);
        if (about.split != split)
            continue;
        /* the classes of a super-class follow each other */
        labels += !imp_settings_by_super_class(settings) || about.super_class != last;
        last = about.super_class;
    }
    return labels;
}

void imp_choices_after(imp_settings *settings, const imp_dataset *dataset)
{
    size_t train = imp_choices_labels(settings, dataset, IMP_SPLIT_TRAIN);
    size_t validation = imp_choices_labels(settings, dataset, IMP_SPLIT_VALIDATION);
    size_t way = imp_settings_by_super_class(settings) ? WAY_OF_ALPHABETS : WAY;
    CHOOSE(settings, way, (int64_t)(train < way ? train : way));
    bool can_validate = validation >= 2;
    CHOOSE(settings, validate_every, can_validate ? (settings->updates + 9) / 10 : 0);
    CHOOSE(settings, validation_way,
           (int64_t)(validation < (size_t)settings->way ? validation : (size_t)settings->way));
    imp_choices_default(settings);
}

/* ---- vectors ---- */

static bool begins_with(const char *layers, const char *word)
{
    size_t length = strlen(word);
    layers += strspn(layers, " ");
    return strncmp(layers, word, length) == 0 &&
           (layers[length] == ',' || layers[length] == ' ' || layers[length] == '\0');
}

imp_status imp_choices_network(imp_settings *settings, const imp_dataset *dataset, imp_error *error)
{
    static const char standard[] = "standard,";
    if (!imp_dataset_has_vectors(dataset) || begins_with(settings->network, "standard") ||
        begins_with(settings->network, "flatten"))
        return IMP_OK;
    const char *layers = strcmp(settings->network, "conv4") == 0 ? "linear:64" : settings->network;
    size_t size = sizeof standard + strlen(layers);
    char *text = imp_allocate(size, 1);
    if (!text)
        return imp_fail_memory(error, "the settings");
    snprintf(text, size, "%s%s", standard, layers);
    imp_status status = imp_settings_set(settings, "network", text, error);
    imp_release(text);
    return status;
}

/* What a survey of pictures would have reported. */
static imp_survey survey_vectors(const imp_dataset *dataset)
{
    imp_survey survey = {.unlabeled = dataset->unlabeled};
    for (size_t i = 0; i < imp_dataset_classes(dataset); i++) {
        imp_class_info about = imp_dataset_class(dataset, i);
        survey.pictures += about.images;
        survey.classes += !dataset->by_points || about.split == IMP_SPLIT_TRAIN;
        if (about.split != IMP_SPLIT_TRAIN)
            continue;
        survey.largest = about.images > survey.largest ? about.images : survey.largest;
        if (survey.smallest == 0 || about.images < survey.smallest) {
            survey.smallest = about.images;
            snprintf(survey.smallest_class, sizeof survey.smallest_class, "%s", about.name);
        }
    }
    return survey;
}

static imp_status choose_for_vectors(imp_settings *settings, const imp_dataset *dataset,
                                     imp_survey *found, imp_error *error)
{
    enum { MOST_WAY = 20 };
    size_t train = imp_choices_labels(settings, dataset, IMP_SPLIT_TRAIN);
    *found = survey_vectors(dataset);
    if (train < 2)
        return imp_fail(error, IMP_EINVAL,
                        "the training split of '%s' has %zu class%s; training needs at least two",
                        settings->data, train, train == 1 ? "" : "es");
    if (found->smallest == 1)
        return imp_fail(error, IMP_EINVAL,
                        "the class '%s' of '%s' has one training point; training needs at least "
                        "two of each class, a support and a query",
                        found->smallest_class, settings->data);
    if (dataset->by_points)
        CHOOSE(settings, way, (int64_t)(train < MOST_WAY ? train : MOST_WAY));
    choose_training(settings, found);
    CHOOSE(settings, shot, shot_for(settings, found));
    imp_choices_after(settings, dataset);
    return IMP_OK;
}

/* ---- both ---- */

bool imp_choices_are_open(const imp_settings *settings)
{
#define IS_OPEN(member) || settings->member == OPEN_NUMBER
    return !settings->split EACH_NUMBER(IS_OPEN);
#undef IS_OPEN
}

imp_status imp_choices_open_data(imp_settings *settings, bool chooses, bool skip_broken,
                                 int threads, imp_survey *survey, imp_dataset **dataset,
                                 imp_error *error)
{
    *dataset = NULL;
    const char *path;
    imp_survey found = {0};
    imp_status status = IMP_OK;
    bool vectors = strcmp(imp_dataset_kind_of(settings->data).text, "vectors") == 0;
    bool folder = chooses && imp_names_folder(settings->data, &path);
    if (settings->embedded_by[0] && !vectors)
        return imp_fail(error, IMP_EINVAL,
                        "embedded-by goes with vectors; '%s' are pictures, which no embedder has "
                        "made",
                        settings->data);
    if (folder)
        status = imp_survey_make(&found, path, error);
    if (!status && folder)
        status = imp_choices_before(settings, &found, path, error);
    if (status)
        return status;
    imp_settings opening = *settings; /* the rest is chosen once the data is open */
    imp_choices_default(&opening);
    imp_dataset_options data = imp_settings_data(&opening, threads);
    data.skip_broken = skip_broken;
    status = imp_dataset_open(settings->data, &data, dataset, error);
    if (!status && folder)
        imp_choices_after(settings, *dataset);
    if (!status && vectors && chooses)
        status = choose_for_vectors(settings, *dataset, &found, error);
    if (!status)
        imp_choices_default(settings);
    if (!status)
        status = imp_choices_network(settings, *dataset, error);
    if (status) {
        imp_dataset_free(*dataset);
        *dataset = NULL;
    }
    if (survey)
        *survey = found;
    return status;
}
