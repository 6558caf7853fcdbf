/*
 * settings.h - everything that determines what a training run or an evaluation computes, by name.
 *
 * The names and values are those of the command's options and of recipes: "way" is "--way". `imp
 * train --help-all` lists them. What does not change the result, such as the number of threads, is
 * not among them.
 */
#ifndef IMP_SETTINGS_H
#define IMP_SETTINGS_H

#include <stddef.h>

#include <imp/export.h>
#include <imp/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct imp_settings imp_settings;

/* Creates settings from a recipe: the name of a built-in one ("omniglot-20way-1shot") or a file.
 * NULL gives the defaults; if the data is a folder of your own, settings left unset are chosen to
 * suit it when it is opened.
 *
 * On success *out is new; free it with imp_settings_free(). On failure it is NULL: IMP_EINVAL,
 * IMP_EIO, IMP_ENOMEM. */
IMP_API imp_status imp_settings_create(const char *recipe, imp_settings **out, imp_error *error);

/* NULL is allowed. */
IMP_API void imp_settings_free(imp_settings *settings);

/* Sets the setting `name` to `value`. On failure nothing is changed: IMP_EINVAL, with a sentence
 * that names the setting and the values it takes. */
IMP_API imp_status imp_settings_set(imp_settings *settings, const char *name, const char *value,
                                    imp_error *error);

/* Writes the value of a setting as text, in the form that imp_settings_set() takes; one that is
 * open until the data is known has its default. IMP_EINVAL for an unknown name or a value longer
 * than `size` - 1 bytes. */
IMP_API imp_status imp_settings_get(const imp_settings *settings, const char *name, char *value,
                                    size_t size, imp_error *error);

#ifdef __cplusplus
}
#endif

#endif
