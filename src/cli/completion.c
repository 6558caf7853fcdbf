/*
 * completion.c - which values shells may offer, as far as the tables say.
 *
 * For choices the table lists them. For a string, the option's name or the value's placeholder
 * decides; if neither is known here, it is taken for a file name.
 */
#include "cli/completion.h"

#include <string.h>

#include <imp/method.h>

#include "paper/tables.h"
#include "settings/recipe.h"

static bool is_offered(const imp_offer *offer, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = offer->words; (at = strstr(at, word)); at += length)
        if ((at == offer->words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static void offer_word(imp_offer *offer, const char *word)
{
    if (is_offered(offer, word))
        return;
    size_t used = strlen(offer->words);
    snprintf(offer->words + used, sizeof offer->words - used, "%s%s", used > 0 ? " " : "", word);
}

static void offer_methods(imp_offer *offer)
{
    for (size_t i = 0; imp_method_at(i); i++)
        offer_word(offer, imp_method_at(i)->name);
}

static void offer_learners(imp_offer *offer)
{
    for (size_t i = 0; imp_learner_at(i); i++)
        offer_word(offer, imp_learner_at(i)->name);
}

/* Built in, or a file. */
static void offer_recipes(imp_offer *offer)
{
    offer->paths = IMP_PATHS_FILES;
    for (size_t i = 0; imp_recipe_at(i).name; i++)
        offer_word(offer, imp_recipe_at(i).name);
}

static void offer_commands(imp_offer *offer)
{
    for (const imp_command *command = imp_commands; command->usage; command++)
        offer_word(offer, command->usage->command);
}

static void offer_data(imp_offer *offer)
{
    offer->paths = IMP_PATHS_FILES;
    offer_word(offer, "glyphs");
}

/* If files are offered, that includes folders. */
static void offer_folders(imp_offer *offer)
{
    if (offer->paths == IMP_PATHS_NONE)
        offer->paths = IMP_PATHS_FOLDERS;
}

static void offer_splits(imp_offer *offer)
{
    offer_word(offer, "own");
    offer_word(offer, "vinyals");
    offer_word(offer, "lake");
}

static void offer_tables(imp_offer *offer)
{
    for (size_t i = 0; imp_paper_table_at(i).name; i++)
        offer_word(offer, imp_paper_table_at(i).name);
}

static void offer_networks(imp_offer *offer)
{
    offer_word(offer, "conv4");
}

static void offer_automatic(imp_offer *offer)
{
    offer_word(offer, "auto");
}

static void offer_nothing(imp_offer *offer)
{
    (void)offer;
}

/* An option's name, or the placeholder of a value or an operand. */
static const struct {
    const char *name;
    void (*offer)(imp_offer *offer);
} rules[] = {
    {"method", offer_methods},   {"learner", offer_learners}, {"recipe", offer_recipes},
    {"COMMAND", offer_commands}, {"DATA", offer_data},        {"FOLDER", offer_folders},
    {"SPLIT", offer_splits},     {"TABLE", offer_tables},     {"LAYERS", offer_networks},
    {"URL", offer_nothing},      {"A:B:N", offer_nothing},
};

static bool offer_by_name(imp_offer *offer, const char *name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].name, name) == 0) {
            rules[i].offer(offer);
            return true;
        }
    return false;
}

imp_offer imp_offer_value(const imp_option *option)
{
    imp_offer offer = {0};
    if (option->kind == IMP_KIND_CHOICE)
        for (size_t i = 0; option->choices[i]; i++)
            offer_word(&offer, option->choices[i]);
    if (option->info && isnan(option->info->initial))
        offer_automatic(&offer);
    bool text = option->kind == IMP_KIND_TEXT || option->kind == IMP_KIND_TEXTS;
    bool known =
        !text || offer_by_name(&offer, option->name) || offer_by_name(&offer, option->argument);
    if (!known)
        offer.paths = IMP_PATHS_FILES;
    return offer;
}

imp_offer imp_offer_operands(const char *operands)
{
    imp_offer offer = {0};
    static const char separators[] = " []|";
    while (operands && *operands) {
        char name[40];
        size_t length = strcspn(operands, separators);
        snprintf(name, sizeof name, "%.*s", (int)length, operands);
        bool literal = name[0] >= 'a' && name[0] <= 'z';
        if (literal)
            offer_word(&offer, name);
        else if (name[0] != '\0' && !offer_by_name(&offer, name))
            offer.paths = IMP_PATHS_FILES;
        operands += length;
        operands += strspn(operands, separators);
    }
    return offer;
}

size_t imp_offer_length(const char *help)
{
    return strcspn(help, ";");
}
