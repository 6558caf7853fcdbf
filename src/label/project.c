/* project.c - checks changes, writes them to the journal, makes and undoes them. */
#include "label/project.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "label/project_items.h"

const char imp_none_of_these[] = "none of these";

enum { LONGEST_NAME = 200 };

/* ---- reading a change ---- */

typedef enum change_kind {
    LABEL,
    NONE,
    UNLABEL,
    SKIP,
    RENAME,
    SPLIT,
    JOIN,
    UNDO,
    KINDS
} change_kind;

static const char *const kind_names[KINDS] = {"label",  "none",  "unlabel", "skip",
                                              "rename", "split", "join",    "undo"};

/* A valid change. */
typedef struct change {
    change_kind kind;
    uint32_t *items; /* (count); release with imp_release() */
    size_t count, pieces;
    const char *class, *from; /* for "rename", from `from` to `class` */
    bool asked, drawn;
} change;

static imp_status read_kind(const json_t *object, change_kind *kind, imp_error *error)
{
    const char *name = json_string_value(json_object_get(object, "change"));
    for (*kind = 0; name && *kind < KINDS; (*kind)++)
        if (strcmp(name, kind_names[*kind]) == 0)
            return IMP_OK;
    return imp_fail(error, IMP_EINVAL,
                    "\"change\" must be label, none, unlabel, skip, rename, "
                    "split, join or undo");
}

static imp_status read_items(const imp_project *project, const json_t *object, change *out,
                             imp_error *error)
{
    json_t *items = json_object_get(object, "items"), *item;
    if (!json_is_array(items) || json_array_size(items) == 0)
        return imp_fail(error, IMP_EINVAL, "\"items\" must be a list of at least one number");
    out->items = imp_allocate(json_array_size(items), sizeof *out->items);
    bool *met = imp_allocate_zeroed(project->count, sizeof *met);
    imp_status status = out->items && met ? IMP_OK : imp_fail_memory(error, "a change");
    size_t index;
    json_array_foreach(items, index, item)
    {
        json_int_t number = json_integer_value(item);
        if (!status && (!json_is_integer(item) || number < 0 || (size_t)number >= project->count))
            status =
                imp_fail(error, IMP_EINVAL, "item %zu of the list is not a number from 0 to %zu",
                         index + 1, project->count - 1);
        if (status)
            break;
        if (!met[number])
            out->items[out->count++] = (uint32_t)number;
        met[number] = true;
    }
    imp_release(met);
    return status;
}

static imp_status read_name(const json_t *object, const char *key, const char **name,
                            imp_error *error)
{
    const json_t *value = json_object_get(object, key);
    *name = json_string_value(value);
    size_t length = json_string_length(value);
    if (!*name || length == 0 || imp_utf8_length(*name) > LONGEST_NAME)
        return imp_fail(error, IMP_EINVAL, "\"%s\" must be a name of 1 to %d characters", key,
                        LONGEST_NAME);
    for (const char *at = *name; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7F)
            return imp_fail(error, IMP_EINVAL, "a name cannot contain control characters");
    if (strlen(*name) != length)
        return imp_fail(error, IMP_EINVAL, "a name cannot contain a zero character");
    return IMP_OK;
}

static imp_status read_asked(const json_t *object, change *out, imp_error *error)
{
    const json_t *asked = json_object_get(object, "asked");
    if (!asked)
        return IMP_OK;
    const char *kind = json_string_value(asked);
    for (int k = IMP_ASK_TYPICAL; kind && k <= IMP_ASK_UNLIKE; k++)
        if (strcmp(kind, imp_question_kind_name((imp_question_kind)k)) == 0) {
            out->asked = true;
            out->drawn = k == IMP_ASK_DRAWN && out->count == 1;
            return IMP_OK;
        }
    return imp_fail(error, IMP_EINVAL, "\"asked\" must be typical, drawn, unsure or unlike");
}

static imp_status read_change(const imp_project *project, const json_t *object, change *out,
                              imp_error *error)
{
    *out = (change){0};
    imp_status status = read_kind(object, &out->kind, error);
    if (!status && out->kind != RENAME && out->kind != UNDO)
        status = read_items(project, object, out, error);
    if (!status && out->kind == LABEL)
        status = read_name(object, "class", &out->class, error);
    if (!status && out->kind == RENAME)
        status = read_name(object, "from", &out->from, error);
    if (!status && out->kind == RENAME)
        status = read_name(object, "to", &out->class, error);
    if (!status && (out->kind == LABEL || out->kind == NONE))
        status = read_asked(object, out, error);
    if (!status && out->kind == RENAME && imp_project_class(project, out->from) <= 0)
        status = imp_fail(error, IMP_EINVAL, "there is no class '%s' to rename", out->from);
    if (!status && out->class && strcmp(out->class, imp_none_of_these) == 0) {
        if (out->kind == RENAME)
            status = imp_fail(error, IMP_EINVAL, "a class cannot be called '%s'", out->class);
        out->kind = out->kind == LABEL ? NONE : out->kind;
    }
    if (!status && out->class && imp_project_class(project, out->class) == IMP_UNKNOWN &&
        project->class_count >= IMP_MOST_KINDS)
        status = imp_fail(error, IMP_EINVAL, "there can be at most %d classes", IMP_MOST_KINDS);
    if (!status && out->kind == SPLIT) {
        json_int_t pieces = json_integer_value(json_object_get(object, "pieces"));
        if (pieces < 0 || pieces > (json_int_t)out->count || out->count < 2)
            status = imp_fail(error, IMP_EINVAL, "%zu items cannot be split into %lld groups",
                              out->count, (long long)pieces);
        out->pieces = (size_t)pieces;
    }
    return status;
}

/* ---- classes ---- */

int32_t imp_project_class(const imp_project *project, const char *name)
{
    for (size_t c = 0; c < project->class_count; c++)
        if (strcmp(project->classes[c], name) == 0)
            return (int32_t)c;
    return IMP_UNKNOWN;
}

/* The class of that name, created if it is new; IMP_UNKNOWN if out of memory. */
static int32_t add_class(imp_project *project, const char *name)
{
    int32_t class = imp_project_class(project, name);
    if (class != IMP_UNKNOWN)
        return class;
    if (project->class_count == project->class_capacity) {
        size_t capacity = project->class_capacity * 2 + 16;
        char **larger =
            imp_enlarge(project->classes, project->class_count, capacity, sizeof *larger);
        if (!larger)
            return IMP_UNKNOWN;
        imp_release(project->classes);
        project->classes = larger;
        project->class_capacity = capacity;
    }
    char *copy = imp_duplicate(name);
    if (!copy)
        return IMP_UNKNOWN;
    project->classes[project->class_count] = copy;
    return (int32_t)project->class_count++;
}

/* ---- history ---- */

static imp_past_change *remember(imp_project *project, const json_t *object, const uint32_t *items,
                                 size_t count)
{
    if (project->past_count == project->past_capacity) {
        size_t capacity = project->past_capacity * 2 + 64;
        imp_past_change *larger =
            imp_enlarge(project->past, project->past_count, capacity, sizeof *larger);
        if (!larger)
            return NULL;
        imp_release(project->past);
        project->past = larger;
        project->past_capacity = capacity;
    }
    imp_past_change past = {.what = json_deep_copy(object),
                            .count = count,
                            .item = imp_allocate(count, sizeof *past.item),
                            .before = imp_allocate(count, sizeof *past.before)};
    if (!past.what || !past.item || !past.before) {
        json_decref(past.what);
        imp_release(past.item);
        imp_release(past.before);
        return NULL;
    }
    for (size_t k = 0; k < count; k++) {
        past.item[k] = items[k];
        past.before[k] = project->state.all.class[items[k]];
    }
    project->past[project->past_count] = past;
    return &project->past[project->past_count++];
}

/* ---- making a change ---- */

static imp_status name_items(imp_project *project, const change *wanted, int32_t class,
                             imp_error *error)
{
    for (size_t k = 0; k < wanted->count; k++)
        project->changed[wanted->items[k]] = false;
    imp_status status = imp_label_state_answer(&project->state, wanted->items, wanted->count, class,
                                               wanted->drawn, error);
    project->state.asked += !status && wanted->asked;
    return status;
}

static imp_status rename_class(imp_project *project, const change *wanted, imp_error *error)
{
    int32_t from = imp_project_class(project, wanted->from);
    int32_t to = imp_project_class(project, wanted->class);
    if (to == IMP_UNKNOWN) {
        char *copy = imp_duplicate(wanted->class);
        if (!copy)
            return imp_fail_memory(error, "a name");
        imp_release(project->classes[from]);
        project->classes[from] = copy;
        return IMP_OK;
    }
    if (from == to)
        return IMP_OK;
    return imp_label_state_answer(&project->state, wanted->items, wanted->count, to, false, error);
}

/* Items of the renamed class, for undo. */
static imp_status find_renamed(const imp_project *project, change *wanted, imp_error *error)
{
    int32_t from = imp_project_class(project, wanted->from);
    wanted->items = imp_allocate(project->count, sizeof *wanted->items);
    if (!wanted->items)
        return imp_fail_memory(error, "a change");
    for (size_t i = 0; i < project->count; i++)
        if (project->state.all.class[i] == from)
            wanted->items[wanted->count++] = (uint32_t)i;
    return IMP_OK;
}

static imp_past_change *last_standing(const imp_project *project)
{
    for (size_t k = project->past_count; k-- > 0;)
        if (!project->past[k].undone)
            return &project->past[k];
    return NULL;
}

static void reopen(imp_project *project, const imp_past_change *past)
{
    for (size_t k = 0; k < past->count; k++)
        project->state.closed[past->item[k]] = project->place[past->item[k]] < 0;
}

static imp_status undo(imp_project *project, imp_error *error)
{
    imp_past_change *past = last_standing(project);
    if (!past)
        return imp_fail(error, IMP_EINVAL, "there is nothing to undo");
    change_kind kind = LABEL;
    read_kind(past->what, &kind, NULL);
    if (kind == SKIP)
        reopen(project, past);
    imp_status status = IMP_OK;
    if (kind == RENAME) { /* by names: there may be a new class of the old one */
        change back = {.from = json_string_value(json_object_get(past->what, "to")),
                       .class = json_string_value(json_object_get(past->what, "from")),
                       .items = past->item,
                       .count = past->count};
        status = rename_class(project, &back, error);
    } else if (kind != SKIP) {
        /* One call for items that had the same class before. */
        uint32_t *items = imp_allocate(past->count, sizeof *items);
        if (!items)
            return imp_fail_memory(error, "a change");
        bool *done = imp_allocate_zeroed(past->count, sizeof *done);
        for (size_t k = 0; done && k < past->count && !status; k++) {
            size_t count = 0;
            for (size_t m = k; m < past->count && !done[k]; m++)
                if (!done[m] && past->before[m] == past->before[k]) {
                    items[count++] = past->item[m];
                    done[m] = m != k;
                }
            if (count > 0)
                status = imp_label_state_answer(&project->state, items, count, past->before[k],
                                                false, error);
            done[k] = true;
        }
        if (!done)
            status = imp_fail_memory(error, "a change");
        imp_release(done);
        imp_release(items);
        if (!status && json_object_get(past->what, "asked") && project->state.asked > 0)
            project->state.asked--;
    }
    past->undone = !status;
    return status;
}

static imp_status make(imp_project *project, const json_t *object, change *wanted, imp_error *error)
{
    imp_label_state *state = &project->state;
    const float *points = project->points;
    size_t d = state->all.dimensions;
    if (wanted->kind == UNDO)
        return undo(project, error);
    if (wanted->kind == SPLIT)
        return imp_label_groups_split(&state->groups, points, d, wanted->items, wanted->count,
                                      wanted->pieces, project->threads, error);
    if (wanted->kind == JOIN)
        return imp_label_groups_join(&state->groups, points, d, wanted->items, wanted->count,
                                     error);
    if (wanted->kind == RENAME && find_renamed(project, wanted, error) != IMP_OK)
        return IMP_ENOMEM;
    int32_t class = wanted->kind == NONE ? 0 : IMP_UNKNOWN;
    if (wanted->kind == LABEL && (class = add_class(project, wanted->class)) == IMP_UNKNOWN)
        return imp_fail_memory(error, "a name");
    if (!remember(project, object, wanted->items, wanted->count))
        return imp_fail_memory(error, "the history");
    imp_status status = IMP_OK;
    if (wanted->kind == SKIP)
        for (size_t k = 0; k < wanted->count; k++)
            state->closed[wanted->items[k]] = true;
    else if (wanted->kind == RENAME)
        status = rename_class(project, wanted, error);
    else
        status = name_items(project, wanted, class, error);
    if (status) {
        imp_past_change *past = &project->past[--project->past_count];
        json_decref(past->what);
        imp_release(past->item);
        imp_release(past->before);
    }
    return status;
}

/* Updates the guesses after a change, and counts how many changed. */
static void look_again(imp_project *project)
{
    const imp_labelling *all = &project->state.all;
    int32_t *before = imp_allocate(project->count, sizeof *before);
    for (size_t i = 0; i < project->count && before; i++)
        before[i] = all->guess[i].class;
    imp_label_state_look(&project->state);
    project->moved = 0;
    for (size_t i = 0; i < project->count && before; i++)
        project->moved += all->class[i] == IMP_UNKNOWN && before[i] != all->guess[i].class;
    imp_release(before);
}

imp_status imp_project_repeat(imp_project *project, const json_t *object, imp_error *error)
{
    change wanted;
    imp_status status = read_change(project, object, &wanted, error);
    if (!status)
        status = make(project, object, &wanted, error);
    imp_release(wanted.items);
    project->revision += !status;
    return status;
}

imp_status imp_project_change(imp_project *project, const json_t *object, imp_error *error)
{
    change wanted;
    imp_status status = read_change(project, object, &wanted, error);
    if (!status && wanted.kind == UNDO && !last_standing(project))
        status = imp_fail(error, IMP_EINVAL, "there is nothing to undo");
    if (!status && project->journal.path)
        status = imp_journal_append(&project->journal, object, error);
    if (!status)
        status = make(project, object, &wanted, error);
    if (!status && !project->journal.waits)
        look_again(project);
    project->revision += !status;
    imp_release(wanted.items);
    return status;
}

void imp_project_begin_many(imp_project *project)
{
    project->journal.waits = true;
}

imp_status imp_project_end_many(imp_project *project, imp_error *error)
{
    look_again(project);
    if (project->journal.path)
        return imp_journal_flush(&project->journal, error);
    project->journal.waits = false;
    return IMP_OK;
}

imp_status imp_project_begin_classes(imp_project *project, imp_error *error)
{
    return add_class(project, imp_none_of_these) == 0 ? IMP_OK : imp_fail_memory(error, "a name");
}
