/* class_names.c - class names in mixtures' notes and in answers. */
#include "cli/class_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "cli/cli.h"

static int no_memory(const char *command)
{
    return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
}

/* The note as a JSON object; NULL if it is not one. */
static json_t *note_of(const imp_mixture *mixture)
{
    const char *note = imp_mixture_note(mixture);
    json_t *object = note ? json_loads(note, 0, NULL) : NULL;
    if (object && !json_is_object(object)) {
        json_decref(object);
        object = NULL;
    }
    return object;
}

/* Room for `count` names. */
static bool make_room(imp_labels *names, size_t count)
{
    *names = (imp_labels){.integers = true};
    names->names = imp_allocate_zeroed(count, sizeof *names->names);
    names->classes = names->names ? count : 0;
    return names->names;
}

static bool take_values(const json_t *values, imp_labels *names)
{
    for (size_t c = 0; c < names->classes; c++) {
        const json_t *value = json_array_get(values, c);
        char number[40];
        const char *text = number;
        if (json_is_integer(value))
            snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        else if (json_is_boolean(value))
            snprintf(number, sizeof number, "%d", json_is_true(value));
        else if (json_is_real(value))
            snprintf(number, sizeof number, "%.17g", json_real_value(value));
        else
            text = json_string_value(value);
        names->integers = names->integers && (json_is_integer(value) || json_is_boolean(value));
        names->names[c] = imp_duplicate(text ? text : "");
        if (!names->names[c])
            return false;
    }
    return true;
}

static bool take_numbers(imp_labels *names)
{
    for (size_t c = 0; c < names->classes; c++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", c);
        names->names[c] = imp_duplicate(number);
        if (!names->names[c])
            return false;
    }
    return true;
}

int imp_names_of_mixture(const char *command, const imp_mixture *mixture, imp_labels *names)
{
    size_t count = imp_mixture_summarize(mixture).classes;
    json_t *note = note_of(mixture);
    const json_t *values = json_object_get(json_object_get(note, "classes"), "values");
    bool named = json_is_array(values) && json_array_size(values) == count;
    bool enough =
        make_room(names, count) && (named ? take_values(values, names) : take_numbers(names));
    json_decref(note);
    if (enough)
        return IMP_GO_ON;
    imp_labels_clear(names);
    return no_memory(command);
}

int imp_keep_names(const char *command, imp_mixture *mixture, const imp_labels *names)
{
    json_t *note = note_of(mixture);
    bool foreign = imp_mixture_note(mixture) && !note;
    if (foreign || (!note && !imp_names_matter(names))) {
        json_decref(note);
        return IMP_GO_ON;
    }
    if (!note)
        note = json_object();
    json_t *values = json_array();
    size_t width = 1;
    for (size_t c = 0; c < names->classes; c++) {
        size_t length = imp_utf8_length(names->names[c]);
        width = length > width ? length : width;
        json_array_append_new(values, imp_class_to_json(names, (int32_t)c));
    }
    char dtype[32] = "<i8"; /* NumPy's layout */
    if (!names->integers)
        snprintf(dtype, sizeof dtype, "<U%zu", width);
    json_object_set_new(note, "classes", json_pack("{s:s, s:o}", "dtype", dtype, "values", values));
    char *text = json_dumps(note, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(note);
    imp_error error;
    int status = IMP_GO_ON;
    if (!text)
        status = no_memory(command);
    else if (imp_mixture_set_note(mixture, text, &error))
        status = imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    free(text);
    return status;
}

const char *imp_class_name(const imp_labels *names, int32_t class)
{
    return class < 0 ? "none" : names->names[class];
}

json_t *imp_class_to_json(const imp_labels *names, int32_t class)
{
    if (class < 0)
        return names->integers ? json_integer(-1) : json_null();
    if (names->integers)
        return json_integer(strtoll(names->names[class], NULL, 10));
    return imp_json_any_text(names->names[class]);
}

json_t *imp_classes_to_json(const imp_labels *names, const int32_t *classes, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, imp_class_to_json(names, classes[i]));
    return array;
}

json_t *imp_names_to_json(const imp_labels *names)
{
    json_t *array = json_array();
    for (size_t c = 0; c < names->classes; c++)
        json_array_append_new(array, imp_class_to_json(names, (int32_t)c));
    return array;
}

void imp_print_class(const imp_labels *names, int32_t class)
{
    const char *name = imp_class_name(names, class);
    size_t length = imp_utf8_length(name);
    printf("%*s", length < 8 ? (int)(8 - length) : 0, "");
    imp_print_text(name, stdout);
}

bool imp_names_matter(const imp_labels *names)
{
    return !names->integers ||
           !imp_names_are_numbers((const char *const *)names->names, names->classes);
}
