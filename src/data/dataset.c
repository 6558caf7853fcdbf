/*
 * dataset.c - queries on a dataset, and its rotated classes.
 *
 * A rotated class costs a row in the table of classes and no pixels: images are rotated when they
 * are copied out.
 */
#define _DEFAULT_SOURCE /* munmap's flags */

#include "data/dataset.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bisect.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"

const char *imp_split_name(imp_split split)
{
    static const char *const names[] = {"train", "val", "test", "none"};
    return (unsigned)split <= IMP_SPLIT_NONE ? names[split] : "unknown";
}

void imp_dataset_options_init(imp_dataset_options *options, size_t size)
{
    const imp_dataset_options defaults = {0};
    imp_give_options(options, size, &defaults, sizeof defaults);
}

void imp_dataset_free(imp_dataset *dataset)
{
    if (dataset == NULL)
        return;
    for (size_t i = 0; i < dataset->class_count; i++)
        imp_release(dataset->classes[i].name);
    for (size_t i = 0; i < dataset->super_count; i++)
        imp_release(dataset->super_classes[i]);
    for (size_t i = 0; i < dataset->fault_count; i++)
        imp_fault_release(dataset->faults[i]);
    imp_release(dataset->classes);
    imp_release(dataset->super_classes);
    imp_release(dataset->faults);
    imp_release(dataset->owned_names);
    imp_release(dataset->owned_text);
    imp_release(dataset->owned_pixels);
    imp_release(dataset->owned_vectors);
    imp_release(dataset->owned_rows);
    imp_npy_map_close(&dataset->vector_map);
    if (dataset->map != NULL)
        munmap(dataset->map, dataset->map_size);
    imp_release(dataset);
}

imp_status imp_dataset_need_pictures(const imp_dataset *dataset, const char *what, imp_error *error)
{
    return imp_dataset_has_vectors(dataset)
               ? imp_fail(error, IMP_EUNSUPPORTED,
                          "%s is for pictures, and this is a set of vectors", what)
               : IMP_OK;
}

/* ---- counts and names ---- */

const char *imp_dataset_kind(const imp_dataset *dataset)
{
    return dataset->kind;
}

uint32_t imp_dataset_size(const imp_dataset *dataset)
{
    return dataset->size;
}

uint32_t imp_dataset_channels(const imp_dataset *dataset)
{
    return dataset->channels;
}

size_t imp_dataset_classes(const imp_dataset *dataset)
{
    return dataset->class_count;
}

size_t imp_dataset_super_classes(const imp_dataset *dataset)
{
    return dataset->super_count;
}

size_t imp_dataset_images(const imp_dataset *dataset)
{
    return dataset->image_count;
}

const char *imp_dataset_super_class(const imp_dataset *dataset, size_t index)
{
    return dataset->super_classes[index];
}

const char *imp_dataset_fingerprint(const imp_dataset *dataset)
{
    return dataset->fingerprint_text;
}

size_t imp_dataset_faults(const imp_dataset *dataset)
{
    return dataset->fault_count;
}

const char *imp_dataset_fault(const imp_dataset *dataset, size_t index)
{
    return dataset->faults[index]->sentence;
}

imp_size_range imp_dataset_sizes(const imp_dataset *dataset)
{
    return dataset->sizes;
}

imp_class_info imp_dataset_class(const imp_dataset *dataset, size_t index)
{
    const imp_class *entry = &dataset->classes[index];
    return (imp_class_info){
        .name = entry->name,
        .super_class = entry->super_class == IMP_NO_SUPER_CLASS ? -1 : (int64_t)entry->super_class,
        .split = entry->split,
        .first_image = entry->first_image,
        .images = entry->count,
    };
}

bool imp_is_path_below(const char *name)
{
    for (;;) {
        size_t length = strcspn(name, "/");
        if (length == 0 || (length <= 2 && strncmp(name, "..", length) == 0))
            return false;
        if (name[length] == '\0')
            return true;
        name += length + 1;
    }
}

/* ---- images ---- */

static bool has_begun_by_image(const void *classes, size_t index, const void *image)
{
    return ((const imp_class *)classes)[index].first_image <= *(const size_t *)image;
}

size_t imp_dataset_class_of(const imp_dataset *dataset, size_t image)
{
    return imp_bisect(dataset->classes, dataset->class_count, has_begun_by_image, &image) - 1;
}

size_t imp_dataset_image_name(const imp_dataset *dataset, size_t image, char *text, size_t room)
{
    static const char *const turned[] = {"", "@90", "@180", "@270"};
    const imp_class *entry = &dataset->classes[imp_dataset_class_of(dataset, image)];
    size_t picture = entry->first_picture + (image - entry->first_image);
    int length = imp_dataset_has_vectors(dataset)
                     ? imp_point_name(dataset, picture, text, room)
                     : snprintf(text, room, "%s%s", imp_picture_name(dataset, picture),
                                turned[entry->turns]);
    return length > 0 ? (size_t)length : 0;
}

/* The quarter turns given by a name's suffix, and the length of the name without it. */
static uint32_t parse_turns(const char *name, size_t *length)
{
    *length = strlen(name);
    const char *at = strrchr(name, '@');
    if (at == NULL)
        return 0;
    uint32_t turns = strcmp(at, "@90") == 0    ? 1
                     : strcmp(at, "@180") == 0 ? 2
                     : strcmp(at, "@270") == 0 ? 3
                                               : 0;
    if (turns > 0)
        *length = (size_t)(at - name);
    return turns;
}

static bool has_begun_by_picture(const void *classes, size_t index, const void *picture)
{
    return ((const imp_class *)classes)[index].first_picture <= *(const size_t *)picture;
}

/* A picture's name, which may be the beginning of a text. */
typedef struct prefix {
    const char *text;
    size_t length;
} prefix;

static int compare_prefix(const imp_dataset *dataset, size_t picture, const prefix *name)
{
    const char *text = imp_picture_name(dataset, picture);
    int order = strncmp(text, name->text, name->length);
    return order != 0 ? order : text[name->length] != '\0';
}

static bool is_named_before(const void *dataset, size_t picture, const void *name)
{
    return compare_prefix(dataset, picture, name) < 0;
}

/* The picture of that name, or picture_count. */
static size_t find_picture(const imp_dataset *dataset, const prefix *name)
{
    size_t picture = imp_bisect(dataset, dataset->picture_count, is_named_before, name);
    bool found = picture < dataset->picture_count && compare_prefix(dataset, picture, name) == 0;
    return found ? picture : dataset->picture_count;
}

size_t imp_dataset_find_image(const imp_dataset *dataset, const char *name)
{
    prefix wanted = {.text = name};
    uint32_t turns = parse_turns(name, &wanted.length);
    size_t picture = imp_dataset_has_vectors(dataset)
                         ? imp_point_find(dataset, wanted.text, wanted.length)
                         : find_picture(dataset, &wanted);
    if (picture == dataset->picture_count)
        return dataset->image_count;

    /* Classes are in the order of their pictures, rotated ones right after their base class. */
    size_t found =
        imp_bisect(dataset->classes, dataset->class_count, has_begun_by_picture, &picture) - 1;
    const imp_class *base = &dataset->classes[found - dataset->classes[found].turns];
    const imp_class *last = &dataset->classes[found];
    if (turns > last->turns)
        return dataset->image_count;
    return base[turns].first_image + (picture - base->first_picture);
}

void imp_turn(const uint8_t *from, uint32_t channels, uint32_t size, uint32_t turns, uint8_t *to)
{
    size_t plane = (size_t)size * size;
    if (turns == 0) {
        memcpy(to, from, channels * plane);
        return;
    }
    ptrdiff_t side = (ptrdiff_t)size, right, down;
    ptrdiff_t start = imp_turn_steps(size, turns, &right, &down);
    for (size_t channel = 0; channel < channels; channel++)
        for (ptrdiff_t y = 0; y < side; y++) {
            const uint8_t *row = from + channel * plane + start + y * down;
            for (ptrdiff_t x = 0; x < side; x++)
                *to++ = row[x * right];
        }
}

void imp_dataset_image(const imp_dataset *dataset, size_t image, uint8_t *pixels)
{
    if (imp_dataset_has_vectors(dataset)) {
        memset(pixels, 0, imp_picture_bytes(dataset));
        return;
    }
    const imp_class *entry = &dataset->classes[imp_dataset_class_of(dataset, image)];
    size_t picture = entry->first_picture + (image - entry->first_image);
    imp_turn(dataset->pixels + picture * imp_picture_bytes(dataset), dataset->channels,
             dataset->size, entry->turns, pixels);
}

/* ---- rotated classes ---- */

imp_status imp_dataset_number(imp_dataset *dataset, imp_error *error)
{
    uint64_t next = 0;
    for (size_t i = 0; i < dataset->class_count; i++) {
        dataset->classes[i].first_image = (uint32_t)next;
        next += dataset->classes[i].count;
        if (next > INT32_MAX)
            return imp_fail(error, IMP_EUNSUPPORTED, "more than %d images are not supported",
                            INT32_MAX);
    }
    dataset->image_count = (size_t)next;
    return IMP_OK;
}

imp_status imp_dataset_rotate(imp_dataset *dataset, imp_error *error)
{
    size_t base = dataset->class_count, count;
    imp_class *classes =
        imp_multiply(base, 4, &count) ? imp_allocate_zeroed(count, sizeof *classes) : NULL;
    if (classes == NULL)
        return imp_fail_memory(error, "turned classes");

    for (size_t i = 0; i < count; i++) {
        const imp_class *from = &dataset->classes[i / 4];
        unsigned turns = i % 4;
        classes[i] = *from;
        classes[i].turns = turns;
        if (turns == 0)
            continue; /* the name is taken over once nothing can fail any more */
        size_t room = strlen(from->name) + sizeof "@270";
        classes[i].name = imp_allocate(room, 1);
        if (classes[i].name == NULL) {
            for (size_t j = 0; j < i; j++)
                if (j % 4 != 0)
                    imp_release(classes[j].name);
            imp_release(classes);
            return imp_fail_memory(error, "turned classes");
        }
        snprintf(classes[i].name, room, "%s@%u", from->name, 90 * turns);
    }
    imp_release(dataset->classes);
    dataset->classes = classes;
    dataset->class_count = count;
    return imp_dataset_number(dataset, error);
}
