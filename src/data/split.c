/*
 * split.c - assigns classes to training, validation and testing: at random, by lists, or by
 * Omniglot's published splits.
 *
 * A class has one split, so splits cannot overlap; other mistakes are checked: a class on two
 * lists, a requested part that would be empty, an unknown name. Rotated classes have the split of
 * their base class because rotation happens afterwards, except for the one split that treats them
 * separately.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/create.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/random.h"
#include "data/dataset.h"

#define LIST_LIMIT ((size_t)64 << 20)
#define TURNED_MODES "turned-modes:"
#define POINTS "points:"

/* The sequences of IMP_STREAM_SPLIT: what is split, combined with the number of the super-class. */
enum { BY_CLASS, BY_SUPER_CLASS, BY_MODE, BY_TURNED_MODE, BY_POINT };
#define SEQUENCE(purpose, number) ((uint64_t)(purpose) << 32 | (number))

/* ---- at random ---- */

/* "0.64/0.16/0.2": three parts, none negative, that sum to at most one. */
static imp_status parse_parts(const char *text, double part[3], imp_error *error)
{
    const char *at = text;
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        char *end;
        part[i] = imp_number_read(at, &end);
        bool ends_well = *end == (i < 2 ? '/' : '\0');
        if (end == at || !ends_well || !(part[i] >= 0.0 && part[i] <= 1.0))
            return imp_fail(error, IMP_EINVAL,
                            "the parts of a split are three numbers such as 0.64/0.16/0.2, not "
                            "'%s'",
                            text);
        sum += part[i];
        at = end + 1;
    }
    if (sum > 1.0 + 1e-9)
        return imp_fail(error, IMP_EINVAL, "the parts '%s' of a split sum to %g, more than 1", text,
                        sum);
    return IMP_OK;
}

/* Divides `count` items at random into parts of these sizes, rounded so that parts that sum to one
 * take all. */
static imp_status deal(size_t count, const double part[3], imp_random random, imp_split *split,
                       imp_error *error)
{
    uint32_t *order = imp_allocate(count, sizeof *order);
    if (order == NULL)
        return imp_fail_memory(error, "a split");
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    imp_random_shuffle(&random, order, count);

    double bound = 0.0;
    size_t next = 0;
    for (int s = 0; s < 3; s++) {
        bound += part[s];
        size_t end = (size_t)llround(bound * (double)count);
        for (; next < end && next < count; next++)
            split[order[next]] = (imp_split)s;
    }
    for (; next < count; next++)
        split[order[next]] = IMP_SPLIT_NONE;
    imp_release(order);
    return IMP_OK;
}

static imp_status need_super_classes(const imp_dataset *dataset, const char *split,
                                     imp_error *error)
{
    if (dataset->super_count > 0)
        return IMP_OK;
    return imp_fail(error, IMP_EINVAL, "the split '%s' needs super-classes, and there are none",
                    split);
}

static imp_status split_classes(imp_dataset *dataset, const double part[3], uint64_t seed,
                                imp_split *splits, imp_error *error)
{
    return deal(dataset->class_count, part,
                imp_random_start(seed, IMP_STREAM_SPLIT, SEQUENCE(BY_CLASS, 0)), splits, error);
}

static imp_status split_super_classes(imp_dataset *dataset, const double part[3], uint64_t seed,
                                      imp_split *splits, imp_error *error)
{
    imp_split *of_super = imp_allocate(dataset->super_count, sizeof *of_super);
    if (of_super == NULL)
        return imp_fail_memory(error, "a split");
    imp_status status = deal(dataset->super_count, part,
                             imp_random_start(seed, IMP_STREAM_SPLIT, SEQUENCE(BY_SUPER_CLASS, 0)),
                             of_super, error);
    for (size_t i = 0; i < dataset->class_count && !status; i++)
        splits[i] = of_super[dataset->classes[i].super_class];
    imp_release(of_super);
    return status;
}

static imp_status split_modes(imp_dataset *dataset, const double part[3], uint64_t seed,
                              imp_split *splits, imp_error *error)
{
    imp_status status = IMP_OK;
    size_t first = 0; /* the classes of a super-class are adjacent */
    while (first < dataset->class_count && !status) {
        uint32_t super = dataset->classes[first].super_class;
        size_t end = first;
        while (end < dataset->class_count && dataset->classes[end].super_class == super)
            end++;
        status = deal(end - first, part,
                      imp_random_start(seed, IMP_STREAM_SPLIT, SEQUENCE(BY_MODE, super)),
                      splits + first, error);
        first = end;
    }
    return status;
}

bool imp_split_is_of_points(const char *split)
{
    return split != NULL && strncmp(split, POINTS, strlen(POINTS)) == 0;
}

/* Where the points of each class begin if they are ordered by class: (classes + 1), to release. */
static size_t *begin_of_classes(const imp_labels *labels)
{
    size_t *begin = imp_allocate_zeroed(labels->classes + 1, sizeof *begin);
    for (size_t i = 0; begin && i < labels->count; i++)
        if (labels->label[i] >= 0)
            begin[labels->label[i] + 1]++;
    for (size_t c = 0; begin && c < labels->classes; c++)
        begin[c + 1] += begin[c];
    return begin;
}

/* Deals the points of every class: `dealt` has their splits, class by class. */
static imp_status deal_classes(const size_t *begin, size_t classes, const double part[3],
                               uint64_t seed, uint8_t *dealt, imp_error *error)
{
    size_t largest = 0;
    for (size_t c = 0; c < classes; c++)
        largest = begin[c + 1] - begin[c] > largest ? begin[c + 1] - begin[c] : largest;
    imp_split *of_class = imp_allocate(largest, sizeof *of_class);
    imp_status status = of_class ? IMP_OK : imp_fail_memory(error, "a split");
    for (size_t c = 0; c < classes && !status; c++) {
        size_t count = begin[c + 1] - begin[c];
        status = deal(count, part, imp_random_start(seed, IMP_STREAM_SPLIT, SEQUENCE(BY_POINT, c)),
                      of_class, error);
        for (size_t i = 0; i < count && !status; i++)
            dealt[begin[c] + i] = (uint8_t)of_class[i];
    }
    imp_release(of_class);
    return status;
}

imp_status imp_split_points(const char *split, uint64_t seed, const imp_labels *labels,
                            uint8_t **splits, imp_error *error)
{
    double part[3];
    size_t n = labels->count, counts[4] = {0};
    uint8_t *of_point = *splits = imp_allocate(n, sizeof *of_point);
    size_t *next = begin_of_classes(labels);
    uint8_t *dealt = next ? imp_allocate(next[labels->classes], sizeof *dealt) : NULL;
    imp_status status = parse_parts(split + strlen(POINTS), part, error);
    if (!status && (!of_point || !dealt))
        status = imp_fail_memory(error, "a split");
    if (!status)
        status = deal_classes(next, labels->classes, part, seed, dealt, error);
    for (size_t i = 0; i < n && !status; i++) {
        int32_t label = labels->label[i];
        of_point[i] = label < 0 ? IMP_SPLIT_NONE : dealt[next[label]++];
        counts[of_point[i]] += label >= 0;
    }
    for (int s = 0; s < 3 && !status; s++)
        if (part[s] > 0.0 && counts[s] == 0)
            status = imp_fail(error, IMP_EINVAL,
                              "a part of %g for %s leaves it empty: the classes are too small",
                              part[s], imp_split_name((imp_split)s));
    imp_release(dealt);
    imp_release(next);
    return status;
}

static bool is_trained_in(const imp_class *entry, size_t super)
{
    return entry->super_class == super && entry->split == IMP_SPLIT_TRAIN;
}

/* As the paper's authors hold out modes: the training classes of the source's own split are divided
 * within their super-class, each rotation separately. */
static imp_status split_turned_modes(imp_dataset *dataset, const double part[3], uint64_t seed,
                                     imp_split *splits, imp_error *error)
{
    imp_split *dealt = imp_allocate(dataset->class_count, sizeof *dealt);
    if (dealt == NULL)
        return imp_fail_memory(error, "a split");
    imp_status status = IMP_OK;
    for (size_t super = 0; super < dataset->super_count && !status; super++) {
        size_t count = 0;
        for (size_t i = 0; i < dataset->class_count; i++)
            count += is_trained_in(&dataset->classes[i], super);
        status = deal(count, part,
                      imp_random_start(seed, IMP_STREAM_SPLIT, SEQUENCE(BY_TURNED_MODE, super)),
                      dealt, error);
        size_t next = 0;
        for (size_t i = 0; i < dataset->class_count && !status; i++)
            if (is_trained_in(&dataset->classes[i], super))
                splits[i] = dealt[next++];
    }
    imp_release(dealt);
    return status;
}

static imp_status check_parts(const imp_dataset *dataset, const imp_split *splits,
                              const double part[3], imp_error *error)
{
    size_t counts[4] = {0};
    for (size_t i = 0; i < dataset->class_count; i++)
        counts[splits[i]]++;
    for (int s = 0; s < 3; s++)
        if (part[s] > 0.0 && counts[s] == 0)
            return imp_fail(error, IMP_EINVAL,
                            "a part of %g for %s leaves it empty: there are only %zu classes and "
                            "%zu super-classes",
                            part[s], imp_split_name((imp_split)s), dataset->class_count,
                            dataset->super_count);
    return IMP_OK;
}

/* ---- by lists ---- */

/* Puts the class or super-class `name` in a split. */
static imp_status assign(const imp_dataset *dataset, const char *name, imp_split split,
                         imp_split *splits, imp_error *error)
{
    bool found = false;
    for (size_t i = 0; i < dataset->class_count; i++) {
        const imp_class *entry = &dataset->classes[i];
        bool by_super = entry->super_class != IMP_NO_SUPER_CLASS &&
                        strcmp(dataset->super_classes[entry->super_class], name) == 0;
        if (!by_super && strcmp(entry->name, name) != 0)
            continue;
        if (splits[i] != IMP_SPLIT_NONE && splits[i] != split)
            return imp_fail(error, IMP_EINVAL,
                            "the splits overlap: class '%s' is on the lists of %s and %s",
                            entry->name, imp_split_name(splits[i]), imp_split_name(split));
        splits[i] = split;
        found = true;
    }
    if (!found)
        return imp_fail(error, IMP_EINVAL, "there is no class or super-class '%s'", name);
    return IMP_OK;
}

static imp_status read_list(const imp_dataset *dataset, const char *path, imp_split split,
                            imp_split *splits, imp_error *error)
{
    unsigned char *bytes;
    size_t size;
    imp_status status = imp_file_read(path, LIST_LIMIT, &bytes, &size, error);
    if (status)
        return status;
    char *line = (char *)bytes, *end = line + size;
    for (size_t number = 1; line < end && !status; number++) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL)
            stop = end;
        char *last = stop > line && stop[-1] == '\r' ? stop - 1 : stop;
        *last = '\0';
        if (line[0] != '\0')
            status = assign(dataset, line, split, splits, error);
        if (status) {
            char where[300];
            snprintf(where, sizeof where, "%.250s, line %zu", path, number);
            imp_error_prefix(error, where);
        }
        line = stop + 1;
    }
    imp_release(bytes);
    return status;
}

static imp_status split_by_lists(imp_dataset *dataset, const char *folder, imp_split *splits,
                                 imp_error *error)
{
    size_t room = strlen(folder) + sizeof "/split-train.txt", lists = 0;
    char *path = imp_allocate(room, 1);
    if (path == NULL)
        return imp_fail_memory(error, "a path");
    imp_status status = IMP_OK;
    for (imp_split split = IMP_SPLIT_TRAIN; split <= IMP_SPLIT_TEST && !status; split++) {
        struct stat about;
        snprintf(path, room, "%s/%s.txt", folder, imp_split_name(split));
        if (stat(path, &about) != 0)
            snprintf(path, room, "%s/split-%s.txt", folder, imp_split_name(split));
        if (stat(path, &about) != 0)
            continue;
        lists++;
        status = read_list(dataset, path, split, splits, error);
    }
    imp_release(path);
    if (!status && lists == 0)
        status = imp_fail(error, IMP_EINVAL, "'%s' has no train.txt, val.txt or test.txt", folder);
    return status;
}

/* ---- all of them ---- */

static imp_status split_by_fact(imp_dataset *dataset, const char *split,
                                imp_split fact(const char *), imp_split *splits, imp_error *error)
{
    bool any = false;
    for (size_t i = 0; i < dataset->class_count; i++) {
        splits[i] = fact(dataset->classes[i].name);
        any = any || splits[i] != IMP_SPLIT_NONE;
    }
    if (!any)
        return imp_fail(error, IMP_EINVAL,
                        "the split '%s' is Omniglot's; '%s' is none of its "
                        "characters",
                        split, dataset->classes[0].name);
    return IMP_OK;
}

typedef imp_status by_chance(imp_dataset *dataset, const double part[3], uint64_t seed,
                             imp_split *splits, imp_error *error);

static const struct {
    const char *prefix;
    bool needs_super_classes;
    by_chance *deal;
} kinds[] = {
    {"classes:", false, split_classes},
    {"super-classes:", true, split_super_classes},
    {"modes:", true, split_modes},
    {TURNED_MODES, true, split_turned_modes},
};

bool imp_split_is_of_turns(const char *split)
{
    return split != NULL && strncmp(split, TURNED_MODES, sizeof TURNED_MODES - 1) == 0;
}

static imp_status choose(imp_dataset *dataset, const char *split, uint64_t seed, imp_split *splits,
                         imp_error *error)
{
    if (strcmp(split, "vinyals") == 0)
        return split_by_fact(dataset, split, imp_omniglot_vinyals, splits, error);
    if (strcmp(split, "lake") == 0)
        return split_by_fact(dataset, split, imp_omniglot_lake, splits, error);
    if (strncmp(split, "lists:", 6) == 0)
        return split_by_lists(dataset, split + 6, splits, error);

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t length = strlen(kinds[k].prefix);
        if (strncmp(split, kinds[k].prefix, length) != 0)
            continue;
        double part[3];
        imp_status status = parse_parts(split + length, part, error);
        if (!status && kinds[k].needs_super_classes)
            status = need_super_classes(dataset, split, error);
        if (!status)
            status = kinds[k].deal(dataset, part, seed, splits, error);
        if (!status)
            status = check_parts(dataset, splits, part, error);
        return status;
    }
    return imp_fail(error, IMP_EINVAL,
                    "unknown split '%s'; there are own, vinyals, lake, classes:A/B/C, "
                    "super-classes:A/B/C, modes:A/B/C, turned-modes:A/B/C and lists:FOLDER",
                    split);
}

imp_status imp_dataset_apply_split(imp_dataset *dataset, const char *split, uint64_t seed,
                                   imp_error *error)
{
    imp_split *splits = imp_allocate(dataset->class_count, sizeof *splits);
    if (splits == NULL)
        return imp_fail_memory(error, "a split");
    for (size_t i = 0; i < dataset->class_count; i++)
        splits[i] = IMP_SPLIT_NONE;
    imp_status status = choose(dataset, split, seed, splits, error);
    for (size_t i = 0; i < dataset->class_count && !status; i++)
        dataset->classes[i].split = splits[i];
    imp_release(splits);
    return status;
}

/* ---- writing lists ---- */

static imp_status write_list(const imp_dataset *dataset, const char *folder, imp_split split,
                             imp_error *error)
{
    size_t room = strlen(folder) + sizeof "/train.txt";
    char *path = imp_allocate(room, 1);
    if (path == NULL)
        return imp_fail_memory(error, "a path");
    snprintf(path, room, "%s/%s.txt", folder, imp_split_name(split));
    imp_writer writer;
    imp_status status = imp_writer_open(&writer, path, error);
    for (size_t i = 0; i < dataset->class_count && !status; i++) {
        const imp_class *entry = &dataset->classes[i];
        if (entry->split != split || entry->turns != 0)
            continue;
        if (strpbrk(entry->name, "\r\n") != NULL) {
            imp_writer_abandon(&writer);
            status = imp_fail(
                error, IMP_EUNSUPPORTED,
                "the class '%s' has a line break in its name and cannot be written to a list",
                entry->name);
            break;
        }
        status = imp_writer_write(&writer, entry->name, strlen(entry->name), error);
        if (!status)
            status = imp_writer_write(&writer, "\n", 1, error);
    }
    if (!status)
        status = imp_writer_commit(&writer, error);
    imp_release(path);
    return status;
}

imp_status imp_dataset_check_turns(const imp_dataset *dataset, const char *what, imp_error *error)
{
    const imp_class *upright = dataset->classes;
    for (size_t i = 0; i < dataset->class_count; i++) {
        const imp_class *entry = &dataset->classes[i];
        if (entry->turns == 0)
            upright = entry;
        else if (entry->split != upright->split)
            return imp_fail(error, IMP_EUNSUPPORTED,
                            "%s cannot tell that '%s' is in another split than '%s'; use the split "
                            "turned-modes where the data is opened",
                            what, entry->name, upright->name);
    }
    return IMP_OK;
}

imp_status imp_dataset_write_split(const imp_dataset *dataset, const char *folder, imp_error *error)
{
    imp_status status = imp_dataset_check_turns(dataset, "a list of classes", error);
    if (!status)
        status = imp_make_folders(folder, error);
    for (imp_split split = IMP_SPLIT_TRAIN; split <= IMP_SPLIT_TEST && !status; split++)
        status = write_list(dataset, folder, split, error);
    return status;
}
