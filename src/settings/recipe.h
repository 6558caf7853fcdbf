/*
 * recipe.h - recipes: settings of the paper's experiments, in small readable files.
 *
 *     # What it is, in a line or two.
 *     data = omniglot
 *     task = super-classes
 *
 * A line is NAME = VALUE, with the names of settings_list.h; # begins a comment. The recipes of
 * recipes/ are built in.
 */
#ifndef IMP_SETTINGS_RECIPE_H
#define IMP_SETTINGS_RECIPE_H

#include "settings/settings.h"

typedef struct imp_recipe {
    const char *name, *text;
} imp_recipe;

/* Built-in recipe number `index` in the order of their names; name is NULL after the last. */
imp_recipe imp_recipe_at(size_t index);

/* The first comment of a recipe without "# ", truncated to fit `room`. */
void imp_recipe_summary(const char *text, char *summary, size_t room);

/* Applies the settings in `text`. IMP_EFORMAT names `origin` and the line. */
imp_status imp_recipe_parse(imp_settings *settings, const char *text, const char *origin,
                            imp_error *error);

/* Applies a recipe: a file if the name has a slash or ends in ".recipe", else a built-in one.
 * IMP_EINVAL for an unknown name; the error suggests the nearest one or lists them all. */
imp_status imp_recipe_apply(imp_settings *settings, const char *name, imp_error *error);

#endif
