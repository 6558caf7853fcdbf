/* recipe.c - reads recipes, from a file or built in (the build generates recipes_built_in.c). */
#include "settings/recipe.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/suggest.h"

extern const imp_recipe imp_built_in_recipes[];

imp_recipe imp_recipe_at(size_t index)
{
    return imp_built_in_recipes[index];
}

void imp_recipe_summary(const char *text, char *summary, size_t room)
{
    text += strspn(text, "# ");
    snprintf(summary, room, "%.*s", (int)strcspn(text, "\n"), text);
}

/* ---- one line ---- */

static const char spaces[] = " \t\r";

/* Strips spaces from both ends. */
static char *trim(char *text)
{
    text += strspn(text, spaces);
    size_t length = strlen(text);
    while (length > 0 && strchr(spaces, text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

static imp_status parse_line(imp_settings *settings, char *line, imp_error *error)
{
    line[strcspn(line, "#")] = '\0';
    char *name = trim(line);
    if (name[0] == '\0')
        return IMP_OK;
    char *equals = strchr(name, '=');
    if (!equals)
        return imp_fail(error, IMP_EFORMAT, "'%.60s' should be NAME = VALUE", name);
    *equals = '\0';
    return imp_settings_set(settings, trim(name), trim(equals + 1), error);
}

imp_status imp_recipe_parse(imp_settings *settings, const char *text, const char *origin,
                            imp_error *error)
{
    for (int number = 1; *text; number++) {
        char line[1000], place[300];
        size_t length = strcspn(text, "\n");
        imp_status status;
        if (length < sizeof line) {
            memcpy(line, text, length);
            line[length] = '\0';
            status = parse_line(settings, line, error);
        } else {
            status = imp_fail(error, IMP_EFORMAT, "a line of %zu characters is too long", length);
        }
        if (status) {
            snprintf(place, sizeof place, "%s, line %d", origin, number);
            imp_error_prefix(error, place);
            return imp_as_format(status, error);
        }
        text += length + (text[length] == '\n');
    }
    return IMP_OK;
}

/* ---- finding ---- */

static imp_status parse_file(imp_settings *settings, const char *path, imp_error *error)
{
    enum { LIMIT = 1 << 20 };
    unsigned char *text;
    size_t size;
    imp_status status = imp_file_read(path, LIMIT, &text, &size, error);
    if (status)
        return status;
    status = imp_recipe_parse(settings, (const char *)text, path, error);
    imp_release(text);
    return status;
}

imp_status imp_recipe_apply(imp_settings *settings, const char *name, imp_error *error)
{
    static const char suffix[] = ".recipe";
    size_t length = strlen(name), tail = sizeof suffix - 1;
    if (strchr(name, '/') || (length > tail && strcmp(name + length - tail, suffix) == 0))
        return parse_file(settings, name, error);
    imp_suggestion suggestion = imp_suggestion_start(name);
    for (size_t i = 0; imp_recipe_at(i).name; i++) {
        imp_recipe recipe = imp_recipe_at(i);
        if (strcmp(recipe.name, name) == 0)
            return imp_recipe_parse(settings, recipe.text, name, error);
        imp_suggestion_offer(&suggestion, recipe.name);
    }
    if (suggestion.nearest)
        return imp_fail(error, IMP_EINVAL, "there is no recipe '%.60s'; did you mean '%s'?", name,
                        suggestion.nearest);
    return imp_fail(
        error, IMP_EINVAL,
        "there is no recipe '%.60s'; 'imp train --list-recipes' lists those that are built "
        "in, and a file has a '/' in its name or ends in '.recipe'",
        name);
}
