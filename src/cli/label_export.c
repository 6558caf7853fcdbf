/* label_export.c - exports labels: files, folders and a mixture. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <imp/mixture.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/label.h"
#include "cli/sorted_folder.h"

/* An export in progress. */
typedef struct work {
    const imp_project *project;
    const imp_label_pile *pile;
    const char *path;
    bool *wanted; /* (items) */
    imp_error *error;
} work;

static bool is_answered(const work *own, size_t item)
{
    return own->project->state.all.class[item] != IMP_UNKNOWN;
}

static const char *class_of(const work *own, size_t item)
{
    int32_t class = imp_labelling_class(&own->project->state.all, item);
    return class == IMP_UNKNOWN ? "" : own->project->classes[class];
}

static double probability_of(const work *own, size_t item)
{
    return is_answered(own, item) ? 1 : (double)own->project->state.all.guess[item].probability;
}

/* ---- files ---- */

static void put_quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

/* Writes a text from memory atomically, and frees it. */
static imp_status save(const work *own, char *text, size_t size)
{
    imp_writer writer;
    imp_status status = text ? imp_writer_open(&writer, own->path, own->error)
                             : imp_fail_memory(own->error, "an export");
    if (!status)
        status = imp_writer_write(&writer, text, size, own->error);
    if (!status)
        status = imp_writer_commit(&writer, own->error);
    free(text);
    return status;
}

static imp_status export_csv(const work *own)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return imp_fail_memory(own->error, "an export");
    fputs("name,class,answered,probability\n", file);
    for (size_t i = 0; i < own->project->count; i++) {
        if (!own->wanted[i])
            continue;
        put_quoted(file, own->project->name[i]);
        fputc(',', file);
        put_quoted(file, class_of(own, i));
        fprintf(file, ",%s,%.4f\n", is_answered(own, i) ? "yes" : "no", probability_of(own, i));
    }
    fclose(file);
    return save(own, text, size);
}

static imp_status export_json(const work *own)
{
    json_t *items = json_array();
    for (size_t i = 0; i < own->project->count; i++)
        if (own->wanted[i])
            json_array_append_new(items, json_pack("{s: s, s: s, s: b, s: f, s: b}", "name",
                                                   own->project->name[i], "class", class_of(own, i),
                                                   "answered", is_answered(own, i), "probability",
                                                   probability_of(own, i), "gone",
                                                   own->project->place[i] < 0));
    imp_estimate estimate = imp_label_state_estimate(&own->project->state);
    json_t *object =
        json_pack("{s: s, s: o, s: o}", "pile", own->pile->place, "estimate",
                  isnan(estimate.right) ? json_null()
                                        : json_pack("{s: f, s: f, s: f}", "right", estimate.right,
                                                    "least", estimate.least, "most", estimate.most),
                  "items", items);
    imp_status status = object ? imp_json_save(own->path, object, own->error)
                               : imp_fail_memory(own->error, "an export");
    json_decref(object);
    return status;
}

/* The answers as a mixture, with the class names in its note. */
static imp_status export_mixture(const work *own)
{
    const imp_project *project = own->project;
    size_t d = project->state.all.dimensions, count = 0, classes = 0;
    float *points = imp_allocate(project->count * d, sizeof *points);
    int32_t *labels = imp_allocate(project->count, sizeof *labels);
    int32_t *number = imp_allocate(project->class_count, sizeof *number);
    json_t *names = json_array();
    imp_mixture *mixture = NULL;
    imp_status status =
        points && labels && number ? IMP_OK : imp_fail_memory(own->error, "a mixture");
    for (size_t c = 0; c < project->class_count && !status; c++)
        number[c] = IMP_UNKNOWN;
    for (size_t i = 0; i < project->count && !status; i++) {
        int32_t class = project->state.all.class[i];
        if (class <= 0 || project->place[i] < 0 || !own->wanted[i])
            continue; /* "none of these" is not a class of the mixture */
        if (number[class] == IMP_UNKNOWN) {
            number[class] = (int32_t)classes++;
            json_array_append_new(names, json_string(project->classes[class]));
        }
        memcpy(points + count * d, project->points + i * d, d * sizeof *points);
        labels[count++] = number[class];
    }
    if (!status && count == 0)
        status = imp_fail(own->error, IMP_EINVAL,
                          "nothing is labelled yet, so there is no mixture to fit");
    if (!status)
        status = imp_mixture_fit(points, labels, count, d, NULL, &mixture, own->error);
    json_t *note = json_pack("{s: O}", "classes", names);
    char *text = imp_json_text(note);
    if (!status)
        status = imp_mixture_set_note(mixture, text, own->error);
    if (!status)
        status = imp_mixture_save(mixture, own->path, own->error);
    imp_release(text);
    json_decref(note);
    json_decref(names);
    imp_mixture_free(mixture);
    imp_release(points);
    imp_release(labels);
    imp_release(number);
    return status;
}

/* ---- folders ---- */

static imp_status check_folder_name(const char *name, imp_error *error)
{
    if (strchr(name, '/') || name[0] == '.' || strcmp(name, "_unlabeled") == 0)
        return imp_fail(error, IMP_EINVAL,
                        "the class '%s' cannot be the name of a folder; rename it first", name);
    return IMP_OK;
}

typedef enum folder_kind { COPY, LINK, SUPPORT } folder_kind;

/* A sub-folder for each class. A support folder has only the answers, and the rest in
 * "_unlabeled". */
static imp_status export_folder(const work *own, folder_kind kind)
{
    const imp_project *project = own->project;
    const imp_gallery *gallery = &own->pile->embedded.gallery;
    if (gallery->count == 0)
        return imp_fail(
            own->error, IMP_EINVAL,
            "vectors are not files and cannot be sorted into folders; export csv, json or mixture");
    size_t classes = project->class_count;
    size_t *pile = imp_allocate(gallery->count, sizeof *pile);
    const char **names = imp_allocate(classes + 1, sizeof *names);
    size_t *used = imp_allocate_zeroed(classes + 1, sizeof *used);
    imp_status status = pile && names && used ? IMP_OK : imp_fail_memory(own->error, "an export");
    for (size_t i = 0; i < gallery->count && !status; i++)
        pile[i] = SIZE_MAX;
    for (size_t i = 0; i < project->count && !status; i++) {
        int32_t class = imp_labelling_class(&project->state.all, i);
        if (project->place[i] < 0 || !own->wanted[i])
            continue;
        bool known = kind == SUPPORT ? project->state.all.class[i] > 0 : class != IMP_UNKNOWN;
        size_t into = known ? (size_t) class : classes;
        pile[project->place[i]] = into;
        used[into]++;
    }
    size_t count = 0; /* folders of non-empty classes */
    for (size_t c = 0; c <= classes && !status; c++) {
        if (used[c] == 0)
            continue;
        if (c < classes && c > 0)
            status = check_folder_name(project->classes[c], own->error);
        names[count] = c < classes ? project->classes[c] : "_unlabeled";
        for (size_t i = 0; i < gallery->count; i++)
            pile[i] = pile[i] == c ? count : pile[i];
        count++; /* never more than c, so no class is renumbered twice */
    }
    if (!status)
        status = imp_sorted_folder(&(imp_piles){gallery, pile, NULL, names, count}, own->path,
                                   kind == LINK, own->error);
    imp_release(pile);
    imp_release(names);
    imp_release(used);
    return status;
}

imp_status imp_label_export(const imp_project *project, const char *format, const char *path,
                            const uint32_t *items, size_t count, imp_error *error, void *pile)
{
    work own = {project, pile, path, imp_allocate_zeroed(project->count, sizeof *own.wanted),
                error};
    if (!own.wanted)
        return imp_fail_memory(error, "an export");
    for (size_t i = 0; i < project->count && !items; i++)
        own.wanted[i] = true;
    for (size_t k = 0; k < count && items; k++)
        own.wanted[items[k]] = true;
    imp_status status;
    if (strcmp(format, "csv") == 0)
        status = export_csv(&own);
    else if (strcmp(format, "json") == 0)
        status = export_json(&own);
    else if (strcmp(format, "mixture") == 0)
        status = export_mixture(&own);
    else if (strcmp(format, "copy") == 0)
        status = export_folder(&own, COPY);
    else if (strcmp(format, "link") == 0)
        status = export_folder(&own, LINK);
    else if (strcmp(format, "support") == 0)
        status = export_folder(&own, SUPPORT);
    else
        status = imp_fail(error, IMP_EINVAL,
                          "there is no export '%s'; there are csv, json, copy, link, support and "
                          "mixture",
                          format);
    imp_release(own.wanted);
    return status;
}
