/*
 * settings.c - any text at all as a recipe, or, where it begins with '{', as settings.json:
 * settings that are written and read again to the same, or a sentence.
 */
#define _GNU_SOURCE /* memfd_create */

#include "fuzz.h"

#include "base/utf8.h"
#include "settings/recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    imp_settings settings, again;
    imp_settings_init(&settings);
    imp_settings_init(&again);
    imp_error error = {0};
    imp_status status = text[0] == '{' ? imp_settings_parse(&settings, text, &error)
                                       : imp_recipe_parse(&settings, text, "input", &error);
    fuzz_check(status, &error);
    /* JSON has no other text than UTF-8; a run with another is refused before it is written. */
    json_t *object = status || !imp_is_utf8(text) ? NULL : imp_settings_to_json(&settings);
    static const char *const none[] = {NULL};
    if (object != NULL && (imp_settings_from_json(&again, object, NULL) != IMP_OK ||
                           imp_settings_difference(&settings, &again, none) != NULL))
        abort();
    json_decref(object);
    imp_settings_clear(&settings);
    imp_settings_clear(&again);
    free(text);
    return 0;
}
