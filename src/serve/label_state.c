/* label_state.c - the state of the project as JSON for the page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "serve/label_page.h"

enum { GUESSES = 3, HISTORY = 30 };

static json_t *classes_json(const imp_project *project)
{
    const imp_labelling *all = &project->state.all;
    size_t *answered = calloc(2 * project->class_count, sizeof *answered);
    if (!answered)
        return NULL;
    size_t *guessed = answered + project->class_count;
    for (size_t i = 0; i < project->count; i++) {
        if (all->class[i] != IMP_UNKNOWN)
            answered[all->class[i]]++;
        else if (all->guess[i].class != IMP_UNKNOWN && project->place[i] >= 0)
            guessed[all->guess[i].class]++;
    }
    json_t *list = json_array();
    for (size_t c = 0; c < project->class_count; c++)
        json_array_append_new(list, json_pack("{s: s, s: I, s: I}", "name", project->classes[c],
                                              "answered", (json_int_t)answered[c], "guessed",
                                              (json_int_t)guessed[c]));
    free(answered);
    return list;
}

/* The likeliest classes of an item, best first. */
static json_t *guesses_json(const imp_project *project, size_t item)
{
    const imp_labelling *all = &project->state.all;
    json_t *list = json_array();
    float *probability = malloc((all->class_count + 1) * sizeof *probability);
    if (!probability)
        return list;
    imp_labelling_probabilities(all, item, probability);
    for (int k = 0; k < GUESSES; k++) {
        size_t best = all->class_count;
        float most = 0;
        for (size_t c = 0; c < all->class_count; c++)
            if (probability[c] > most) {
                most = probability[c];
                best = c;
            }
        if (best == all->class_count)
            break;
        json_array_append_new(list, json_pack("{s: I, s: f}", "class", (json_int_t)best,
                                              "probability", (double)most));
        probability[best] = 0;
    }
    free(probability);
    return list;
}

static json_t *question_json(const imp_project *project)
{
    imp_question question = imp_label_state_question(&project->state);
    if (question.item == IMP_NO_ITEM)
        return json_null();
    size_t item = (size_t)question.item;
    return json_pack("{s: I, s: s, s: s, s: I, s: o}", "item", (json_int_t)item, "kind",
                     imp_question_kind_name(question.kind), "name", project->name[item],
                     "group_size", (json_int_t)question.group_size, "guesses",
                     guesses_json(project, item));
}

static json_t *history_json(const imp_project *project)
{
    json_t *list = json_array();
    for (size_t k = project->past_count; k-- > 0 && json_array_size(list) < HISTORY;) {
        const imp_past_change *past = &project->past[k];
        json_t *entry = json_object();
        json_object_set(entry, "change", json_object_get(past->what, "change"));
        static const char *const kept[] = {"class", "from", "to"};
        for (size_t n = 0; n < sizeof kept / sizeof *kept; n++)
            if (json_object_get(past->what, kept[n]))
                json_object_set(entry, kept[n], json_object_get(past->what, kept[n]));
        json_object_set_new(entry, "count", json_integer((json_int_t)past->count));
        json_t *items = json_array();
        for (size_t i = 0; i < past->count && i < 200; i++)
            json_array_append_new(items, json_integer(past->item[i]));
        json_object_set_new(entry, "items", items);
        json_object_set_new(entry, "undone", json_boolean(past->undone));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *estimate_json(const imp_project *project)
{
    imp_estimate estimate = imp_label_state_estimate(&project->state);
    json_t *object =
        json_pack("{s: I, s: i}", "drawn", (json_int_t)estimate.drawn, "needed", IMP_ESTIMATE_FROM);
    json_object_set_new(object, "right", imp_json_number(estimate.right));
    json_object_set_new(object, "least", imp_json_number(estimate.least));
    json_object_set_new(object, "most", imp_json_number(estimate.most));
    return object;
}

json_t *imp_label_page_state(const imp_label_page *page)
{
    const imp_project *project = page->project;
    size_t gone = 0, changed = 0;
    for (size_t i = 0; i < project->count; i++) {
        gone += project->place[i] < 0;
        changed += project->changed[i];
    }
    return json_pack("{s: I, s: s, s: s, s: I, s: I, s: I, s: I, s: I, s: I, s: o, s: o, s: o, "
                     "s: o}",
                     "revision", (json_int_t)project->revision, "kind", page->kind, "place",
                     page->place, "items", (json_int_t)project->count, "gone", (json_int_t)gone,
                     "changed", (json_int_t)changed, "answered",
                     (json_int_t)project->state.all.answered, "moved", (json_int_t)project->moved,
                     "groups", (json_int_t)project->state.groups.count, "classes",
                     classes_json(project), "question", question_json(project), "estimate",
                     estimate_json(project), "history", history_json(project));
}
