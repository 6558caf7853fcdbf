/*
 * pictures.c - from arguments on the command line to embedded pictures.
 */
#include "cli/pictures.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/npy_shards.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/progress.h"
#include "data/source.h"
#include "model/built_in_model.h"

bool imp_is_folder(const char *path)
{
    struct stat about;
    return path && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Whether a folder holds points and no pictures or sub-folders: a user may have written vectors
 * beside the pictures. */
static bool is_point_folder(const char *path)
{
    DIR *folder = opendir(path);
    bool points = false, pictures = false;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char *inside = entry->d_name[0] != '.' ? imp_source_join(path, entry->d_name) : NULL;
        points |= imp_npy_is_shard(entry->d_name);
        pictures |= imp_source_is_picture(entry->d_name) || (inside && imp_is_folder(inside));
        imp_release(inside);
    }
    if (folder)
        closedir(folder);
    return points && !pictures;
}

bool imp_is_points(const char *path)
{
    return imp_is_folder(path) ? is_point_folder(path) : imp_npy_is_shard(path);
}

bool imp_is_folder_or_archive(const char *path)
{
    struct stat about;
    return (imp_is_folder(path) && !is_point_folder(path)) ||
           (path && imp_source_is_archive(path) && stat(path, &about) == 0 &&
            S_ISREG(about.st_mode));
}

const char *imp_picture_word(const imp_picture_settings *settings)
{
    return settings->embedder ? "file" : "picture";
}

const char *imp_model_word(const imp_picture_settings *settings, const imp_model *model)
{
    if (settings->model)
        return settings->model;
    return settings->embedder ? imp_model_info_of(model)->embedder : imp_built_in_model_name;
}

const char *imp_only_for_pictures(const imp_picture_settings *settings)
{
    if (settings->model)
        return "--model";
    if (settings->embedder)
        return "--embedder";
    if (settings->no_cache)
        return "--no-cache";
    if (settings->skip_broken)
        return "--skip-broken";
    return settings->ink != IMP_INK_OWN ? "--ink" : NULL;
}

static int fail(const char *command, const imp_error *error)
{
    return imp_complain(imp_interrupted() ? IMP_EXIT_INTERRUPTED : IMP_EXIT_FAILURE, command, "%s",
                        error->message);
}

/* The user's cache folder, "" if there is none; free with free(). */
static char *cache_folder(void)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool named = base && base[0] == '/'; /* as the XDG specification requires */
    if (!named)
        base = home && home[0] == '/' ? home : NULL;
    static const char *const below[] = {"/.cache/imp", "/imp"};
    size_t room = (base ? strlen(base) : 0) + sizeof "/.cache/imp";
    char *folder = malloc(room);
    if (folder)
        snprintf(folder, room, "%s%s", base ? base : "", base ? below[named] : "");
    return folder;
}

int imp_open_model(const char *command, const imp_picture_settings *settings, imp_model **model)
{
    *model = NULL;
    if (!settings->model && !settings->embedder && imp_built_in_model_size == 0)
        return imp_complain(
            IMP_EXIT_USAGE, command,
            "give --model FILE, written by 'imp train': no model is built into this command");
    char *cache = cache_folder();
    if (!cache)
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    imp_model_options options = imp_model_defaults();
    options.ink = (imp_ink)settings->ink;
    options.embedder = settings->embedder;
    options.patience = settings->patience;
    options.cache = settings->no_cache || !cache[0] ? NULL : cache;
    imp_error error;
    imp_status status = imp_model_open(settings->model, &options, model, &error);
    free(cache);
    return status ? fail(command, &error) : imp_job_agree(command, settings->model);
}

int imp_gather_pictures(const char *command, const imp_picture_settings *settings, char **paths,
                        int count, imp_embedded *pictures)
{
    *pictures = (imp_embedded){.gallery.any = settings->embedder != NULL};
    imp_error error;
    int status = IMP_GO_ON;
    for (int i = 0; i < count && status == IMP_GO_ON; i++)
        status = imp_gallery_add(&pictures->gallery, paths[i], &error) != IMP_OK
                     ? fail(command, &error)
                     : imp_job_agree(command, paths[i]);
    return status;
}

/* Warns of sub-folders that are not classes because they have no pictures: the user may expect them
 * to be. Without any classes there is no such expectation. */
static void tell_empty_folders(const char *command, const imp_gallery *gallery)
{
    if (gallery->class_count == 0 || gallery->empty_count == 0)
        return;
    if (gallery->empty_count == 1)
        imp_complain(EXIT_SUCCESS, command,
                     "the sub-folder '%s' has no pictures (%s) and is not a class", gallery->empty,
                     imp_source_picture_endings().text);
    else
        imp_complain(EXIT_SUCCESS, command,
                     "%zu sub-folders, including '%s', have no pictures (%s) and are not classes",
                     gallery->empty_count, gallery->empty, imp_source_picture_endings().text);
}

int imp_gather_classes(const char *command, const imp_picture_settings *settings,
                       const char *folder, imp_embedded *pictures)
{
    *pictures = (imp_embedded){.gallery.any = settings->embedder != NULL};
    imp_error error;
    if (imp_gallery_add_classes(&pictures->gallery, folder, &error) != IMP_OK)
        return fail(command, &error);
    tell_empty_folders(command, &pictures->gallery);
    return IMP_GO_ON;
}

/* ---- ignored files ---- */

static const char *passed_path(const imp_gallery *gallery, const imp_gallery *more, size_t index)
{
    if (index < gallery->passed_count)
        return gallery->passed_over[index];
    index -= gallery->passed_count;
    return more && index < more->passed_count ? more->passed_over[index] : NULL;
}

void imp_tell_passed_over(const char *command, const imp_gallery *gallery, const imp_gallery *more)
{
    enum { LISTED = 10 };
    size_t count = gallery->passed_count + (more ? more->passed_count : 0);
    if (count == 0)
        return;
    imp_complain(EXIT_SUCCESS, command, "%zu picture%s ignored: only %s are read%s", count,
                 count == 1 ? " is" : "s are", imp_source_picture_endings().text,
                 imp_source_absent_formats().text);
    for (size_t i = 0; i < count && i < LISTED; i++) {
        fputs("  ", stderr);
        imp_print_text(passed_path(gallery, more, i), stderr);
        fputc('\n', stderr);
    }
    if (count > LISTED)
        fprintf(stderr, "  and %zu more\n", count - LISTED);
}

void imp_passed_over_to_json(const imp_gallery *gallery, const imp_gallery *more, json_t *object)
{
    const char *path;
    json_t *list = json_array();
    for (size_t i = 0; (path = passed_path(gallery, more, i)); i++)
        json_array_append_new(list, imp_json_any_text(path));
    json_object_set_new(object, "passed_over", list);
}

/* ---- embedding ---- */

typedef struct watch {
    const char *command, *word;
    imp_progress_line line;
    double begin;
    size_t first; /* how many were done when progress was first shown */
    const imp_spill *room;
    size_t left; /* how many of its rows are not needed for a while */
} watch;

static void tell_skipped(const char *fault, void *context)
{
    watch *own = context;
    imp_progress_end(&own->line);
    imp_complain(EXIT_SUCCESS, own->command, "left out: %s", fault);
}

static imp_status show_progress(size_t done, size_t total, imp_error *error, void *context)
{
    watch *own = context;
    if (!imp_ranks_any(imp_job_ranks())) { /* they count their own */
        imp_spill_leave(own->room, own->left, done);
        own->left = done;
    }
    if (imp_progress_due(&own->line, false)) {
        char text[80];
        double spent = imp_clock() - own->begin, left = NAN;
        if (own->begin == 0) {
            own->begin = imp_clock();
            own->first = done;
        } else if (done > own->first) {
            left = spent / (double)(done - own->first) * (double)(total - done);
        }
        snprintf(text, sizeof text, "%ss, %s left", own->word, imp_duration_of(left).text);
        imp_progress_show(&own->line, done, total, false, text);
    }
    return imp_interrupt_check(error);
}

int imp_embed_pictures(const char *command, const imp_picture_settings *settings,
                       const imp_model *model, imp_embedded *pictures)
{
    imp_gallery *gallery = &pictures->gallery;
    size_t dimensions = imp_model_info_of(model)->dimensions;
    watch own = {.command = command,
                 .word = imp_picture_word(settings),
                 .line = imp_progress_start(false),
                 .room = &pictures->room};
    imp_embed_listener listener = {.skip = settings->skip_broken ? tell_skipped : NULL,
                                   .progress = show_progress,
                                   .context = &own};
    imp_error error;
    int status = IMP_GO_ON;
    if (settings->embedder)
        imp_interrupt_catch(); /* temporary files and a running program may need cleaning up */
    if (imp_spill_create(&pictures->room, &pictures->place, gallery->count,
                         dimensions * sizeof(float), &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    float *values = pictures->room.values;
    if (!pictures->room.mapped) /* files that cannot be read have no vector */
        memset(values, 0, gallery->count * dimensions * sizeof *values);
    if (imp_embed_gallery(model, gallery, imp_job_ranks(), (int)settings->threads, &listener,
                          values, &error))
        status = IMP_EXIT_FAILURE;
    imp_progress_end(&own.line);
    if (status == IMP_EXIT_FAILURE)
        status = fail(command, &error);
    else if (gallery->count == 0)
        status = imp_complain(IMP_EXIT_FAILURE, command, "none of the %ss could be read", own.word);
    pictures->rows = (imp_rows){values, gallery->count, dimensions};
    return status;
}

void imp_tell_mixture(const imp_model *model)
{
    imp_rule rule = imp_model_info_of(model)->rule;
    fprintf(stderr, "for imp fit and imp classify: --sigma-l %.9g --sigma-u %.9g --alpha %.9g",
            rule.sigma_l, rule.sigma_u, rule.alpha);
    if (!isnan(rule.lambda))
        fprintf(stderr, " --lambda %.9g", rule.lambda);
    if (rule.steps > 1)
        fprintf(stderr, " --cluster-steps %.0f", rule.steps);
    fputc('\n', stderr);
    if (model->embedder && !model->network) {
        fputs("for imp train: --embedded-by \"", stderr);
        imp_print_text(imp_embedder_title_of(model->embedder).text, stderr);
        fputs("\"\n", stderr);
    }
}

const char *imp_tell_coloured(const char *command, const imp_picture_settings *settings,
                              size_t coloured, size_t count)
{
    static const char sentence[] =
        "the built-in model knows only drawings, and these pictures are coloured; train a model "
        "with 'imp train --data FOLDER', give one with --model, or any network with --embedder";
    if (settings->model || settings->embedder || 2 * coloured <= count)
        return NULL;
    imp_complain(EXIT_SUCCESS, command, "%s", sentence);
    return sentence;
}

void imp_embedded_clear(imp_embedded *pictures)
{
    imp_gallery_clear(&pictures->gallery);
    imp_spill_release(&pictures->room);
    *pictures = (imp_embedded){0};
}
