/*
 * episode_json.c - an episode as JSON, with names instead of numbers, so that any program can read
 * it.
 *
 *     {"index": 4711, "kind": "classes", "way": 2,
 *      "classes": ["Greek/character07", "Greek/character09@90"],
 *      "supports": {"images": ["Greek/character07/0394_01.png", ...], "labels": [0, 1]},
 *      "queries": {"images": [...], "labels": [...]},
 *      "unlabeled": {"images": [...], "truth": [...]}}
 */
#include "episode/episode_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "episode/draw.h"

static const char *const kind_names[] = {"classes", "super-classes", "unsupervised"};

enum { NAME_ROOM = 4096 };

/* ---- writing ---- */

static const char *group_name(const imp_dataset *dataset, const imp_episode *episode, size_t group)
{
    uint32_t number = episode->classes[group];
    return episode->kind == IMP_EPISODE_SUPER_CLASSES ? imp_dataset_super_class(dataset, number)
                                                      : imp_dataset_class(dataset, number).name;
}

static json_t *write_part(const imp_dataset *dataset, const imp_episode *episode, size_t begin,
                          size_t count, const char *labels_key)
{
    json_t *images = json_array(), *labels = json_array();
    char name[NAME_ROOM];
    bool sound = images != NULL && labels != NULL;
    for (size_t i = begin; i < begin + count && sound; i++) {
        imp_dataset_image_name(dataset, episode->images[i], name, sizeof name);
        sound = json_array_append_new(images, json_string(name)) == 0 &&
                json_array_append_new(labels, json_integer(episode->truth[i])) == 0;
    }
    if (!sound) {
        json_decref(images);
        json_decref(labels);
        return NULL;
    }
    return json_pack("{s:o, s:o}", "images", images, labels_key, labels);
}

static json_t *write_classes(const imp_dataset *dataset, const imp_episode *episode)
{
    json_t *names = json_array();
    bool sound = names != NULL;
    for (size_t g = 0; g < episode->groups && sound; g++) {
        const char *name = group_name(dataset, episode, g);
        sound = json_array_append_new(names, json_string(name)) == 0;
    }
    if (!sound) {
        json_decref(names);
        return NULL;
    }
    return names;
}

static imp_status check_names(const imp_dataset *dataset, const imp_episode *episode,
                              imp_error *error)
{
    char name[NAME_ROOM];
    for (size_t g = 0; g < episode->groups; g++)
        if (!imp_is_utf8(group_name(dataset, episode, g)))
            return imp_fail(error, IMP_EUNSUPPORTED,
                            "the name of the class '%.400s' is not UTF-8, as JSON wants it; "
                            "rename it",
                            group_name(dataset, episode, g));
    for (size_t i = 0; i < imp_episode_size(episode); i++) {
        size_t length = imp_dataset_image_name(dataset, episode->images[i], name, sizeof name);
        if (length >= sizeof name)
            return imp_fail(error, IMP_EUNSUPPORTED,
                            "the picture '%.60s...' has a name of %zu bytes; JSON takes up to %d",
                            name, length, NAME_ROOM - 1);
        if (!imp_is_utf8(name))
            return imp_fail(error, IMP_EUNSUPPORTED,
                            "the name of the picture '%.400s' is not UTF-8, as JSON wants it; "
                            "rename it",
                            name);
    }
    return IMP_OK;
}

imp_status imp_episode_to_json(const imp_dataset *dataset, const imp_episode *episode, char **text,
                               imp_error *error)
{
    *text = NULL;
    imp_status status = check_names(dataset, episode, error);
    if (status)
        return status;
    size_t queries = episode->supports, unlabeled = queries + episode->queries;
    /* json_pack() releases its arguments even if one of them is NULL. */
    json_t *value =
        json_pack("{s:I, s:s, s:I, s:o, s:o, s:o, s:o}", "index", (json_int_t)episode->index,
                  "kind", kind_names[episode->kind], "way", (json_int_t)episode->way, "classes",
                  write_classes(dataset, episode), "supports",
                  write_part(dataset, episode, 0, episode->supports, "labels"), "queries",
                  write_part(dataset, episode, queries, episode->queries, "labels"), "unlabeled",
                  write_part(dataset, episode, unlabeled, episode->unlabeled, "truth"));
    if (value == NULL)
        return imp_fail_memory(error, "the JSON of an episode");
    *text = imp_json_text(value);
    json_decref(value);
    return *text != NULL ? IMP_OK : imp_fail_memory(error, "the JSON of an episode");
}

void imp_episode_text_free(char *text)
{
    imp_release(text);
}

/* ---- reading ---- */

static imp_status read_part(const imp_dataset *dataset, const json_t *part, const char *name,
                            const char *labels_key, size_t bound, imp_episode *episode,
                            size_t begin, imp_error *error)
{
    const json_t *images = json_object_get(part, "images");
    const json_t *labels = json_object_get(part, labels_key);
    bool labeled = strcmp(labels_key, "labels") == 0;
    for (size_t i = 0; i < json_array_size(images); i++) {
        const char *image = json_string_value(json_array_get(images, i));
        if (image == NULL)
            return imp_fail(error, IMP_EFORMAT, "image %zu of %s is not a name", i, name);
        size_t number = imp_dataset_find_image(dataset, image);
        if (number >= imp_dataset_images(dataset))
            return imp_fail(error, IMP_EINVAL,
                            "the dataset has no image '%s'; it may need the rotations the episodes "
                            "were drawn with",
                            image);
        const json_t *label = json_array_get(labels, i);
        if (!json_is_integer(label) || json_integer_value(label) < 0 ||
            (uint64_t)json_integer_value(label) >= bound)
            return imp_fail(error, IMP_EFORMAT, "label %zu of %s must be from 0 to %zu", i, name,
                            bound - 1);
        episode->images[begin + i] = (uint32_t)number;
        episode->truth[begin + i] = (int32_t)json_integer_value(label);
        episode->labels[begin + i] = labeled ? episode->truth[begin + i] : -1;
    }
    return IMP_OK;
}

/* The length of a part's two lists, which must be the same. */
static imp_status part_size(const json_t *part, const char *name, const char *labels_key,
                            size_t *size, imp_error *error)
{
    const json_t *images = json_object_get(part, "images");
    const json_t *labels = json_object_get(part, labels_key);
    *size = json_array_size(images);
    if (!json_is_array(images) || !json_is_array(labels) || json_array_size(labels) != *size)
        return imp_fail(error, IMP_EFORMAT, "%s needs equally long lists 'images' and '%s'", name,
                        labels_key);
    return IMP_OK;
}

/* The class or super-class of an image, and its name. */
static int64_t group_of(const imp_dataset *dataset, const imp_episode *episode, size_t i,
                        const char **name)
{
    size_t number = imp_dataset_class_of(dataset, episode->images[i]);
    imp_class_info about = imp_dataset_class(dataset, number);
    *name = about.name;
    if (episode->kind != IMP_EPISODE_SUPER_CLASSES)
        return (int64_t)number;
    *name = about.super_class >= 0 ? imp_dataset_super_class(dataset, (size_t)about.super_class)
                                   : "(no super-class)";
    return about.super_class;
}

/* Finds the class of each label from its images, which must all be of the class that `names` gives.
 */
static imp_status read_classes(const imp_dataset *dataset, const json_t *names,
                               imp_episode *episode, imp_error *error)
{
    enum { NOT_SEEN = UINT32_MAX };
    for (size_t g = 0; g < episode->groups; g++)
        episode->classes[g] = NOT_SEEN;
    for (size_t i = 0; i < imp_episode_size(episode); i++) {
        size_t label = (size_t)episode->truth[i];
        const char *claimed = json_string_value(json_array_get(names, label)), *name;
        int64_t group = group_of(dataset, episode, i, &name);
        if (claimed == NULL || group < 0 || strcmp(name, claimed) != 0) {
            char image[300];
            imp_dataset_image_name(dataset, episode->images[i], image, sizeof image);
            return imp_fail(error, IMP_EINVAL,
                            "the image '%s' belongs to '%s', but its label %zu stands for '%s'",
                            image, name, label, claimed != NULL ? claimed : "");
        }
        episode->classes[label] = (uint32_t)group;
    }
    for (size_t g = 0; g < episode->groups; g++) {
        const char *name = json_string_value(json_array_get(names, g));
        if (episode->classes[g] == NOT_SEEN)
            return imp_fail(error, IMP_EFORMAT, "the class '%s' has no images",
                            name != NULL ? name : "");
    }
    return IMP_OK;
}

/* An unsupervised episode has only unlabelled images; any other has queries, and supports of every
 * label. */
static imp_status check_parts(const json_t *names, const imp_episode *episode, imp_error *error)
{
    size_t labeled = episode->supports + episode->queries;
    if (episode->kind == IMP_EPISODE_UNSUPERVISED)
        return labeled == 0 ? IMP_OK
                            : imp_fail(error, IMP_EFORMAT,
                                       "an unsupervised episode has no supports and queries");
    if (episode->queries == 0)
        return imp_fail(error, IMP_EFORMAT, "the episode has no queries");
    bool *seen = imp_allocate_zeroed(episode->way, sizeof *seen);
    if (seen == NULL)
        return imp_fail_memory(error, "an episode");
    for (size_t i = 0; i < episode->supports; i++)
        seen[episode->truth[i]] = true;
    imp_status status = IMP_OK;
    for (size_t label = 0; label < episode->way && !status; label++)
        if (!seen[label])
            status = imp_fail(error, IMP_EFORMAT, "the class '%s' has no supports",
                              json_string_value(json_array_get(names, label)));
    imp_release(seen);
    return status;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Sets *twice to a number that occurs more than once, if there is one. */
static imp_status find_twice(const uint32_t *numbers, size_t count, int64_t *twice,
                             imp_error *error)
{
    uint32_t *sorted = imp_allocate(count, sizeof *sorted);
    if (sorted == NULL)
        return imp_fail_memory(error, "an episode");
    memcpy(sorted, numbers, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    for (size_t i = 1; i < count; i++)
        if (sorted[i - 1] == sorted[i])
            *twice = sorted[i];
    imp_release(sorted);
    return IMP_OK;
}

static imp_status check_distinct(const imp_dataset *dataset, const imp_episode *episode,
                                 imp_error *error)
{
    int64_t image = -1, class_number = -1;
    imp_status status = find_twice(episode->images, imp_episode_size(episode), &image, error);
    if (!status)
        status = find_twice(episode->classes, episode->groups, &class_number, error);
    if (!status && image >= 0) {
        char name[300];
        imp_dataset_image_name(dataset, (size_t)image, name, sizeof name);
        status = imp_fail(error, IMP_EFORMAT, "the image '%s' appears twice", name);
    }
    if (!status && class_number >= 0)
        status = imp_fail(error, IMP_EFORMAT, "two labels stand for the same class '%s'",
                          episode->kind == IMP_EPISODE_SUPER_CLASSES
                              ? imp_dataset_super_class(dataset, (size_t)class_number)
                              : imp_dataset_class(dataset, (size_t)class_number).name);
    return status;
}

static imp_status read_head(const json_t *value, imp_episode *episode, imp_error *error)
{
    const json_t *index = json_object_get(value, "index"), *way = json_object_get(value, "way");
    const char *kind = json_string_value(json_object_get(value, "kind"));
    const json_t *classes = json_object_get(value, "classes");
    if (!json_is_integer(index) || !json_is_integer(way) || kind == NULL ||
        !json_is_array(classes) || json_integer_value(way) < 1 ||
        (uint64_t)json_integer_value(way) > json_array_size(classes))
        return imp_fail(error, IMP_EFORMAT,
                        "an episode needs 'index', 'kind', 'way' and at least as many 'classes'");
    episode->index = (uint64_t)json_integer_value(index);
    episode->way = (size_t)json_integer_value(way);
    for (int k = IMP_EPISODE_CLASSES; k <= IMP_EPISODE_UNSUPERVISED; k++)
        if (strcmp(kind, kind_names[k]) == 0) {
            episode->kind = (imp_episode_kind)k;
            return IMP_OK;
        }
    return imp_fail(error, IMP_EFORMAT, "unknown kind of episode '%s'", kind);
}

static imp_status read_body(const imp_dataset *dataset, const json_t *value, imp_episode *episode,
                            imp_error *error)
{
    static const struct {
        const char *name, *labels_key;
    } parts[] = {{"supports", "labels"}, {"queries", "labels"}, {"unlabeled", "truth"}};
    size_t sizes[3];
    imp_status status = IMP_OK;
    for (int p = 0; p < 3 && !status; p++)
        status = part_size(json_object_get(value, parts[p].name), parts[p].name,
                           parts[p].labels_key, &sizes[p], error);
    const json_t *classes = json_object_get(value, "classes");
    if (!status)
        status = imp_episode_allocate(episode, sizes[0] + sizes[1] + sizes[2],
                                      json_array_size(classes), error);
    if (status)
        return status;
    episode->groups = json_array_size(classes);
    episode->supports = sizes[0];
    episode->queries = sizes[1];
    episode->unlabeled = sizes[2];
    size_t begin = 0;
    for (int p = 0; p < 3 && !status; p++) {
        status = read_part(dataset, json_object_get(value, parts[p].name), parts[p].name,
                           parts[p].labels_key, p < 2 ? episode->way : episode->groups, episode,
                           begin, error);
        begin += sizes[p];
    }
    if (!status)
        status = read_classes(dataset, classes, episode, error);
    if (!status)
        status = check_parts(classes, episode, error);
    if (!status)
        status = check_distinct(dataset, episode, error);
    return status;
}

imp_status imp_episode_read_json(const imp_dataset *dataset, const json_t *value,
                                 imp_episode *episode, imp_error *error)
{
    *episode = (imp_episode){0};
    imp_episode read = {0};
    imp_status status = read_head(value, &read, error);
    if (!status)
        status = read_body(dataset, value, &read, error);
    if (!status)
        *episode = read;
    else
        imp_episode_clear(&read);
    return status;
}
