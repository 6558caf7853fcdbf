/*
 * pictures.c - from what stands on the command line to embedded pictures.
 */
#include "cli/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/built_in_model.h"

bool imp_is_folder(const char *path)
{
    struct stat about;
    return path && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

const char *imp_only_for_pictures(const imp_picture_settings *settings)
{
    if (settings->model)
        return "--model";
    if (settings->skip_broken)
        return "--skip-broken";
    return settings->ink != IMP_INK_OWN ? "--ink" : NULL;
}

static int fail(const char *command, const imp_error *error)
{
    return imp_complain(IMP_EXIT_FAILURE, command, "%s", error->message);
}

int imp_read_model(const char *command, const imp_picture_settings *settings, imp_model *model)
{
    *model = (imp_model){0};
    imp_error error;
    imp_status status;
    if (settings->model)
        status = imp_model_load(settings->model, (int)settings->threads, model, &error);
    else if (imp_built_in_model_size > 0)
        status = imp_model_parse(imp_built_in_model, imp_built_in_model_size,
                                 imp_built_in_model_name, (int)settings->threads, model, &error);
    else
        return imp_complain(IMP_EXIT_USAGE, command,
                            "needs --model FILE, as 'imp train' writes it: no model is built into "
                            "this command");
    return status ? fail(command, &error) : IMP_GO_ON;
}

int imp_gather_pictures(const char *command, char **paths, int count, imp_embedded *pictures)
{
    *pictures = (imp_embedded){0};
    imp_error error;
    for (int i = 0; i < count; i++)
        if (imp_gallery_add(&pictures->gallery, paths[i], &error) != IMP_OK)
            return fail(command, &error);
    return IMP_GO_ON;
}

/* Says which sub-folders are no classes since they have no pictures: who made them expects them to
 * be. Where there are no classes at all, there is no such expectation. */
static void tell_empty_folders(const char *command, const imp_gallery *gallery)
{
    if (gallery->class_count == 0 || gallery->empty_count == 0)
        return;
    if (gallery->empty_count == 1)
        imp_complain(EXIT_SUCCESS, command,
                     "the sub-folder '%s' has no pictures (.png, .jpg, .jpeg) and is no class",
                     gallery->empty);
    else
        imp_complain(EXIT_SUCCESS, command,
                     "%zu sub-folders, '%s' among them, have no pictures (.png, .jpg, .jpeg) and "
                     "are no classes",
                     gallery->empty_count, gallery->empty);
}

int imp_gather_classes(const char *command, const char *folder, imp_embedded *pictures)
{
    *pictures = (imp_embedded){0};
    imp_error error;
    if (imp_gallery_add_classes(&pictures->gallery, folder, &error) != IMP_OK)
        return fail(command, &error);
    tell_empty_folders(command, &pictures->gallery);
    return IMP_GO_ON;
}

void imp_tell_passed_over(const char *command, size_t count)
{
    if (count > 0)
        imp_complain(EXIT_SUCCESS, command,
                     "%zu picture%s passed over: only .png, .jpg and .jpeg are read, no .gif, "
                     ".webp, .bmp, .tif, .tiff and .heic",
                     count, count == 1 ? " is" : "s are");
}

static void tell_skipped(const char *fault, void *context)
{
    imp_complain(EXIT_SUCCESS, context, "left out: %s", fault);
}

int imp_embed_pictures(const char *command, const imp_picture_settings *settings,
                       const imp_model *model, imp_embedded *pictures)
{
    imp_gallery *gallery = &pictures->gallery;
    imp_embedder embedder;
    imp_error error;
    if (imp_embedder_make(&embedder, model, (imp_ink)settings->ink, &error) != IMP_OK)
        return fail(command, &error);
    int status = IMP_GO_ON;
    float *values =
        calloc(gallery->count ? gallery->count : 1, embedder.dimensions * sizeof *values);
    if (!values)
        status = imp_complain(IMP_EXIT_FAILURE, command, "out of memory for %zu pictures",
                              gallery->count);
    else if (imp_embed(&embedder, gallery, (int)settings->threads,
                       settings->skip_broken ? tell_skipped : NULL, (void *)command, values,
                       &error) != IMP_OK)
        status = fail(command, &error);
    else if (gallery->count == 0)
        status = imp_complain(IMP_EXIT_FAILURE, command, "none of the pictures could be read");
    pictures->rows = (imp_rows){values, gallery->count, embedder.dimensions};
    imp_embedder_clear(&embedder);
    return status;
}

void imp_tell_mixture(const imp_model *model)
{
    imp_mixture_options options = imp_model_mixture(model);
    fprintf(stderr, "for imp fit and imp classify: --sigma-l %.9g --sigma-u %.9g --alpha %.9g",
            options.sigma_l, options.sigma_u, options.alpha);
    if (!isnan(options.lambda))
        fprintf(stderr, " --lambda %.9g", options.lambda);
    if (options.cluster_steps > 1)
        fprintf(stderr, " --cluster-steps %zu", options.cluster_steps);
    fputc('\n', stderr);
}

const char *imp_tell_coloured(const char *command, const imp_picture_settings *settings,
                              size_t coloured, size_t count)
{
    static const char sentence[] =
        "the built-in model knows drawings, and these pictures are coloured: train one with 'imp "
        "train --data FOLDER', or name one with --model";
    if (settings->model || 2 * coloured <= count)
        return NULL;
    imp_complain(EXIT_SUCCESS, command, "%s", sentence);
    return sentence;
}

void imp_embedded_clear(imp_embedded *pictures)
{
    imp_gallery_clear(&pictures->gallery);
    free(pictures->rows.values);
    *pictures = (imp_embedded){0};
}
