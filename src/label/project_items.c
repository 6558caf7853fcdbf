/* project_items.c - opens a project and matches its items with the current pile. */
#include "label/project_items.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "label/directory.h"

enum { FORMAT = 1, ITEMS_PER_LINE = 1000, MOST_ITEMS = 10000000 };

static const char magic[] = "imp label";

/* ---- lines ---- */

static json_t *digest_json(uint64_t digest)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    return json_string(text);
}

/* {"items": [[name, digest], ...]} of items first .. end-1 */
static json_t *items_line(const imp_project *project, size_t first, size_t end)
{
    json_t *list = json_array();
    for (size_t i = first; i < end; i++) {
        json_t *pair = json_array();
        json_array_append_new(pair, json_string(project->name[i]));
        json_array_append_new(pair, digest_json(project->digest[i]));
        json_array_append_new(list, pair);
    }
    return json_pack("{s: o}", "items", list);
}

static json_t *first_line(const imp_project_pile *pile, uint64_t seed)
{
    return json_pack("{s: s, s: i, s: s, s: s, s: s, s: I}", "project", magic, "format", FORMAT,
                     "kind", pile->kind, "place", pile->place, "embedder", pile->embedder, "seed",
                     (json_int_t)seed);
}

/* ---- items ---- */

static imp_status add_item(imp_project *project, const char *name, uint64_t digest,
                           imp_error *error)
{
    if (project->count == project->capacity) {
        size_t capacity = project->capacity * 2 + 1024, count = project->count;
        char **names = imp_enlarge(project->name, count, capacity, sizeof *names);
        uint64_t *digests = imp_enlarge(project->digest, count, capacity, sizeof *digests);
        int64_t *places = imp_enlarge(project->place, count, capacity, sizeof *places);
        if (!names || !digests || !places) {
            imp_release(names);
            imp_release(digests);
            imp_release(places);
            return imp_fail_memory(error, "the items of a project");
        }
        imp_release(project->name);
        imp_release(project->digest);
        imp_release(project->place);
        project->name = names;
        project->digest = digests;
        project->place = places;
        project->capacity = capacity;
    }
    char *copy = imp_duplicate(name);
    if (!copy)
        return imp_fail_memory(error, "the items of a project");
    project->name[project->count] = copy;
    project->digest[project->count] = digest;
    project->place[project->count++] = -1;
    return IMP_OK;
}

static imp_status read_digest(const json_t *value, uint64_t *digest, imp_error *error)
{
    const char *text = json_string_value(value);
    char *end = NULL;
    if (text && strlen(text) == 16)
        *digest = strtoull(text, &end, 16);
    return end && *end == '\0' && strspn(text, "0123456789abcdef") == 16
               ? IMP_OK
               : imp_fail(error, IMP_EFORMAT, "a digest is not 16 hexadecimal digits");
}

static imp_status read_items(imp_project *project, const json_t *list, imp_error *error)
{
    size_t index;
    json_t *pair;
    json_array_foreach(list, index, pair)
    {
        const char *name = json_string_value(json_array_get(pair, 0));
        uint64_t digest = 0;
        if (json_array_size(pair) != 2 || !name)
            return imp_fail(error, IMP_EFORMAT, "an item is not its name and digest");
        imp_status status = read_digest(json_array_get(pair, 1), &digest, error);
        if (!status && project->count >= MOST_ITEMS)
            status = imp_fail(error, IMP_EFORMAT, "there are more than %d items", MOST_ITEMS);
        if (!status)
            status = add_item(project, name, digest, error);
        if (status)
            return status;
    }
    return IMP_OK;
}

/* ---- the current pile ---- */

/* Finds each item of the project in the pile; adds items that are new. */
static imp_status meet_pile(imp_project *project, const imp_project_pile *pile,
                            imp_project_news *news, imp_error *error)
{
    size_t known = project->count;
    imp_directory names;
    imp_status status = imp_directory_create(&names, project->name, known, error);
    if (status)
        return status;
    for (size_t k = 0; k < pile->count && !status; k++) {
        size_t item = imp_directory_find(&names, pile->name[k]);
        if (item != SIZE_MAX) {
            project->place[item] = (int64_t)k;
            continue;
        }
        status = add_item(project, pile->name[k], pile->digest[k], error);
        if (!status)
            project->place[project->count - 1] = (int64_t)k;
        news->added++;
    }
    imp_directory_release(&names);
    for (size_t i = 0; i < known; i++)
        news->gone += project->place[i] < 0;
    return status;
}

static imp_status place_points(imp_project *project, const imp_project_pile *pile, uint64_t seed,
                               imp_error *error)
{
    size_t d = pile->dimensions;
    project->points = imp_allocate(project->count * d, sizeof *project->points);
    project->changed = imp_allocate_zeroed(project->count, sizeof *project->changed);
    if (!project->points || !project->changed)
        return imp_fail_memory(error, "the points of a project");
    for (size_t i = 0; i < project->count; i++)
        for (size_t j = 0; j < d; j++)
            project->points[i * d + j] =
                project->place[i] < 0 ? NAN : pile->points[(size_t)project->place[i] * d + j];
    imp_status status = imp_label_state_create(&project->state, project->points, project->count, d,
                                               seed, project->threads, error);
    for (size_t i = 0; i < project->count && !status; i++)
        project->state.closed[i] = project->place[i] < 0;
    return status;
}

/* Changed contents: recorded in the journal, and marked if the item was named. */
static imp_status note_changed(imp_project *project, const imp_project_pile *pile,
                               imp_project_news *news, imp_error *error)
{
    json_t *list = json_array();
    for (size_t i = 0; i < project->count; i++) {
        if (project->place[i] < 0 || project->digest[i] == pile->digest[project->place[i]])
            continue;
        project->digest[i] = pile->digest[project->place[i]];
        project->changed[i] = project->state.all.class[i] != IMP_UNKNOWN;
        news->changed++;
        json_t *pair = json_array();
        json_array_append_new(pair, json_integer((json_int_t)i));
        json_array_append_new(pair, digest_json(project->digest[i]));
        json_array_append_new(list, pair);
    }
    json_t *line = json_pack("{s: o}", "digests", list);
    imp_status status = IMP_OK;
    if (!line)
        status = imp_fail_memory(error, "a line of the project");
    else if (news->changed > 0 && project->journal.path)
        status = imp_journal_append(&project->journal, line, error);
    json_decref(line);
    return status;
}

static imp_status repeat_digests(imp_project *project, const json_t *list, imp_error *error)
{
    size_t index;
    json_t *pair;
    json_array_foreach(list, index, pair)
    {
        json_int_t item = json_integer_value(json_array_get(pair, 0));
        uint64_t digest = 0;
        imp_status status = read_digest(json_array_get(pair, 1), &digest, error);
        if (status)
            return status;
        if (!json_is_integer(json_array_get(pair, 0)) || item < 0 || (size_t)item >= project->count)
            return imp_fail(error, IMP_EFORMAT, "a digest belongs to no item");
        project->digest[item] = digest;
        project->changed[item] = project->state.all.class[item] != IMP_UNKNOWN;
    }
    return IMP_OK;
}

/* ---- opening ---- */

static imp_status check_first(const json_t *first, const imp_project_pile *pile, uint64_t *seed,
                              imp_error *error)
{
    const char *project = json_string_value(json_object_get(first, "project"));
    const char *kind = json_string_value(json_object_get(first, "kind"));
    const char *embedder = json_string_value(json_object_get(first, "embedder"));
    if (!project || strcmp(project, magic) != 0 || !kind || !embedder)
        return imp_fail(error, IMP_EFORMAT, "it is not a project of 'imp label'");
    if (json_integer_value(json_object_get(first, "format")) != FORMAT)
        return imp_fail(error, IMP_EUNSUPPORTED, "it was written by a later version of imp");
    if (strcmp(kind, pile->kind) != 0)
        return imp_fail(error, IMP_EINVAL, "it is about %s, but the pile is %s", kind, pile->kind);
    if (strcmp(embedder, pile->embedder) != 0)
        return imp_fail(error, IMP_EINVAL,
                        "its vectors were made by '%s', not by '%s'; use the same, or start a new "
                        "project with its labels (--labels)",
                        embedder, pile->embedder);
    *seed = (uint64_t)json_integer_value(json_object_get(first, "seed"));
    return IMP_OK;
}

static imp_status create(const char *path, const imp_project_pile *pile, uint64_t seed,
                         imp_error *error)
{
    imp_project fresh = {0};
    imp_status status = IMP_OK;
    for (size_t i = 0; i < pile->count && !status; i++)
        status = add_item(&fresh, pile->name[i], pile->digest[i], error);
    json_t *lines = json_array();
    json_array_append_new(lines, first_line(pile, seed));
    for (size_t i = 0; i < fresh.count; i += ITEMS_PER_LINE)
        json_array_append_new(
            lines, items_line(&fresh, i,
                              i + ITEMS_PER_LINE < fresh.count ? i + ITEMS_PER_LINE : fresh.count));
    if (!status &&
        json_array_size(lines) != 1 + (fresh.count + ITEMS_PER_LINE - 1) / ITEMS_PER_LINE)
        status = imp_fail(error, IMP_EINVAL, "a name in the pile is not UTF-8, or memory ran out");
    if (!status)
        status = imp_journal_create(path, lines, error);
    json_decref(lines);
    imp_project_close(&fresh);
    return status;
}

/* Reads all lines. All items are added before any change is made, which is safe because a change
 * names only items above it. */
static imp_status repeat_all(imp_project *project, const json_t *lines,
                             const imp_project_pile *pile, imp_project_news *news, imp_error *error)
{
    size_t index;
    json_t *line;
    uint64_t seed = 0;
    imp_status status = check_first(json_array_get(lines, 0), pile, &seed, error);
    json_array_foreach(lines, index, line) if (!status && json_object_get(line, "items") &&
                                               !json_object_get(line, "change")) status =
        read_items(project, json_object_get(line, "items"), error);
    size_t known = project->count;
    if (!status)
        status = meet_pile(project, pile, news, error);
    if (!status)
        status = place_points(project, pile, seed, error);
    json_array_foreach(lines, index, line)
    {
        if (status)
            break;
        if (json_object_get(line, "change"))
            status = imp_as_format(imp_project_repeat(project, line, error), error);
        else if (json_object_get(line, "digests"))
            status = repeat_digests(project, json_object_get(line, "digests"), error);
    }
    for (size_t i = known; i < project->count && !status; i += ITEMS_PER_LINE) {
        size_t end = i + ITEMS_PER_LINE < project->count ? i + ITEMS_PER_LINE : project->count;
        json_t *added = items_line(project, i, end);
        status = !added                   ? imp_fail_memory(error, "a line of the project")
                 : !project->journal.path ? IMP_OK
                                          : imp_journal_append(&project->journal, added, error);
        json_decref(added);
    }
    if (!status)
        status = note_changed(project, pile, news, error);
    return status;
}

/* A project that is not saved. */
static imp_status begin_unkept(imp_project *project, const imp_project_pile *pile, uint64_t seed,
                               imp_project_news *news, imp_error *error)
{
    imp_status status = meet_pile(project, pile, news, error);
    news->added = 0;
    return status ? status : place_points(project, pile, seed, error);
}

imp_status imp_project_open(imp_project *project, const char *path, const imp_project_pile *pile,
                            uint64_t seed, int threads, imp_project_news *news, imp_error *error)
{
    *project = (imp_project){.journal.descriptor = -1, .threads = threads};
    *news = (imp_project_news){0};
    imp_status status = imp_project_begin_classes(project, error);
    if (!status && !path)
        status = begin_unkept(project, pile, seed, news, error);
    if (!status && path && access(path, F_OK) != 0)
        status = create(path, pile, seed, error);
    json_t *lines = NULL;
    if (!status && path)
        status = imp_journal_open(&project->journal, path, &lines, &news->lost, error);
    if (lines) {
        status = repeat_all(project, lines, pile, news, error);
        if (status)
            imp_error_prefix(error, path);
    }
    json_decref(lines);
    if (status)
        imp_project_close(project);
    else
        imp_label_state_look(&project->state);
    return status;
}

void imp_project_close(imp_project *project)
{
    imp_journal_close(&project->journal);
    for (size_t i = 0; i < project->count; i++)
        imp_release(project->name[i]);
    for (size_t c = 0; c < project->class_count; c++)
        imp_release(project->classes[c]);
    for (size_t k = 0; k < project->past_count; k++) {
        json_decref(project->past[k].what);
        imp_release(project->past[k].item);
        imp_release(project->past[k].before);
    }
    imp_label_state_release(&project->state);
    imp_release(project->name);
    imp_release(project->digest);
    imp_release(project->place);
    imp_release(project->changed);
    imp_release(project->points);
    imp_release(project->classes);
    imp_release(project->past);
    *project = (imp_project){.journal.descriptor = -1};
}
