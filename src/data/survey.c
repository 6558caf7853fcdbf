/*
 * survey.c - counts names, and examines an evenly spaced sample of pictures.
 */
#include "data/survey.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/image.h"
#include "data/source.h"

enum { SAMPLE = 64 };

/* ---- names ---- */

/* Length of the class's name in a picture's name. */
static size_t class_length(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? (size_t)(slash - name) : 0;
}

static bool same_start(const char *a, size_t a_length, const char *b, size_t b_length)
{
    return a_length == b_length && memcmp(a, b, a_length) == 0;
}

/* Length of the super-class's name in a class's name; 0 if it has none. */
static size_t super_length(const char *name, size_t length)
{
    for (size_t i = length; i > 0; i--)
        if (name[i - 1] == '/')
            return i - 1;
    return 0;
}

static void end_class(imp_survey *survey, const char *name, size_t count)
{
    if (survey->classes == 1 || count < survey->smallest) {
        survey->smallest = count;
        snprintf(survey->smallest_class, sizeof survey->smallest_class, "%.*s",
                 (int)class_length(name), name);
    }
    if (count > survey->largest)
        survey->largest = count;
}

/* Names are sorted, so the pictures of a class are adjacent. */
static void count_names(const imp_source *source, imp_survey *survey)
{
    const char *last = NULL;
    size_t count = 0, skip = imp_source_common_folder(source, false);
    for (size_t i = 0; i < source->count; i++) {
        const char *name = source->names[i] + skip;
        if (!imp_source_is_picture(name)) {
            imp_foreign_note(&survey->foreign, name);
            continue;
        }
        if (imp_source_is_unlabeled(name)) {
            survey->unlabeled++;
            continue;
        }
        size_t length = class_length(name), above = super_length(name, length);
        size_t last_length = last != NULL ? class_length(last) : 0;
        bool first = last == NULL;
        bool known = !first && same_start(name, length, last, last_length);
        if (!known) {
            if (!first)
                end_class(survey, last, count);
            survey->classes++;
            count = 0;
        }
        if (above > 0 && (first || !same_start(name, above, last, super_length(last, last_length))))
            survey->super_classes++;
        survey->pictures++;
        count++;
        last = name;
    }
    if (last != NULL)
        end_class(survey, last, count);
    survey->empty = source->empty_count;
    if (source->empty != NULL)
        snprintf(survey->first_empty, sizeof survey->first_empty, "%s", source->empty);
}

/* ---- pictures ---- */

/* Properties of a sampled picture. */
enum { READABLE = 1, COLOURED = 2, ON_LIGHT = 4 };

typedef struct seen {
    uint8_t notes;
    uint32_t side;
} seen;

static void look(size_t member, const uint8_t *bytes, size_t size, const imp_error *fault,
                 void *context)
{
    seen *found = context;
    imp_image image;
    if (fault != NULL || imp_image_decode(bytes, size, IMP_PIXEL_LIMIT, &image, NULL))
        return;
    found[member].side = image.width < image.height ? image.width : image.height;
    found[member].notes = (uint8_t)(READABLE | (imp_image_has_colour(&image) ? COLOURED : 0) |
                                    (imp_image_on_light(&image) ? ON_LIGHT : 0));
    imp_image_clear(&image);
}

static int compare_sides(const void *a, const void *b)
{
    const seen *left = a, *right = b;
    return left->side < right->side ? -1 : left->side > right->side;
}

static size_t median_side(seen *found, size_t count)
{
    if (count == 0)
        return 0;
    qsort(found, count, sizeof *found, compare_sides);
    return found[(count - 1) / 2].side;
}

/* Selects up to SAMPLE pictures, evenly spaced in the list. */
static void choose(const imp_source *source, size_t pictures, bool *wanted)
{
    size_t step = (pictures + SAMPLE - 1) / SAMPLE, number = 0;
    size_t skip = imp_source_common_folder(source, false);
    for (size_t i = 0; i < source->count; i++) {
        const char *name = source->names[i] + skip;
        if (imp_source_is_picture(name) && !imp_source_is_unlabeled(name))
            wanted[i] = number++ % step == 0;
    }
}

static imp_status look_around(const imp_source *source, imp_survey *survey, imp_error *error)
{
    bool *wanted = imp_allocate_zeroed(source->count, sizeof *wanted);
    seen *found = imp_allocate_zeroed(source->count, sizeof *found);
    imp_status status = IMP_OK;
    if (wanted == NULL || found == NULL) {
        status = imp_fail_memory(error, "a sample of pictures");
    } else {
        choose(source, survey->pictures, wanted);
        /* Damage of an archive is reported when all of it is read. */
        imp_source_read(source, wanted, 1, look, found, NULL);
        size_t readable = 0, coloured = 0, light = 0;
        for (size_t i = 0; i < source->count; i++) {
            coloured += (found[i].notes & COLOURED) != 0;
            light += (found[i].notes & ON_LIGHT) != 0;
            if (found[i].notes & READABLE)
                found[readable++] = found[i];
        }
        survey->side = median_side(found, readable);
        survey->coloured = 2 * coloured > readable;
        survey->on_light = readable > 0 && 10 * light >= 9 * readable;
    }
    imp_release(wanted);
    imp_release(found);
    return status;
}

imp_status imp_survey_make(imp_survey *survey, const char *path, imp_error *error)
{
    *survey = (imp_survey){0};
    imp_source source;
    imp_status status = imp_source_open(&source, path, error);
    if (status)
        return status;
    count_names(&source, survey);
    if (survey->pictures > 0)
        status = look_around(&source, survey, error);
    imp_source_clear(&source);
    if (status)
        *survey = (imp_survey){0};
    return status;
}
