/* settings_object.c - settings as an opaque object for programs. */
#include <imp/settings.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "settings/choices.h"
#include "settings/recipe.h"

imp_status imp_settings_create(const char *recipe, imp_settings **out, imp_error *error)
{
    *out = NULL;
    imp_settings *settings = imp_allocate(1, sizeof *settings);
    if (!settings)
        return imp_fail_memory(error, "the settings");
    imp_settings_init(settings);
    imp_status status = IMP_OK;
    if (recipe)
        status = imp_recipe_apply(settings, recipe, error);
    else
        imp_choices_open(settings);
    if (status)
        imp_settings_free(settings);
    else
        *out = settings;
    return status;
}

void imp_settings_free(imp_settings *settings)
{
    if (!settings)
        return;
    imp_settings_clear(settings);
    imp_release(settings);
}

imp_status imp_settings_get(const imp_settings *settings, const char *name, char *value,
                            size_t size, imp_error *error)
{
    imp_settings known = *settings; /* open ones are not valid JSON */
    imp_choices_default(&known);
    json_t *all = imp_settings_to_json(&known), *one = json_object_get(all, name);
    char room[64];
    const char *text = one ? imp_settings_json_text(one, room, sizeof room) : NULL;
    imp_status status = IMP_OK;
    if (!all)
        status = imp_fail_memory(error, "the settings");
    else if (!one)
        status = imp_fail(error, IMP_EINVAL, "'%.100s' is not a setting, or not one of this method",
                          name);
    else if (strlen(text) >= size)
        status = imp_fail(error, IMP_EINVAL, "the value of '%s' has %zu bytes, which is too long",
                          name, strlen(text));
    else
        memcpy(value, text, strlen(text) + 1);
    json_decref(all);
    return status;
}
