/* export.c - writes a dataset as a folder of PNG files, with a sub-folder per class. */
#define _DEFAULT_SOURCE /* strcasecmp */

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/create.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/trail.h"
#include "data/dataset.h"
#include "data/image.h"

enum { PATH_ROOM = 4096 };

/* Creates the folders that lead to `path`, below its first `root` characters. */
static imp_status make_folders(imp_trail *made, char *path, size_t root, imp_error *error)
{
    for (char *slash = strchr(path + root + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        imp_status status = imp_trail_folder(made, path, error);
        *slash = '/';
        /* One that is not empty belongs to an earlier picture. */
        if (status && status != IMP_EINVAL)
            return status;
    }
    return IMP_OK;
}

/* The suffix a name needs to end in ".png". Another one is kept, since there may be both "a.jpg"
 * and "a.png". */
static const char *ending_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && strcasecmp(dot, ".png") == 0 ? "" : ".png";
}

static imp_status path_of(const char *folder, const char *name, char *path, imp_error *error)
{
    int whole = snprintf(path, PATH_ROOM, "%s/%s%s", folder, name, ending_of(name));
    if (whole < 0 || whole >= PATH_ROOM)
        return imp_fail(error, IMP_EUNSUPPORTED, "a path below '%s' is too long", folder);
    return IMP_OK;
}

/* Checks that all pictures become distinct files. */
static imp_status check_paths(const imp_dataset *dataset, const char *folder, imp_error *error)
{
    for (size_t i = 0; i < dataset->picture_count; i++) {
        char path[PATH_ROOM];
        const char *name = imp_picture_name(dataset, i);
        imp_status status = path_of(folder, name, path, error);
        if (status)
            return status;
        const char *file = path + strlen(folder) + 1;
        if (strcmp(file, name) != 0 && imp_dataset_find_image(dataset, file) < dataset->image_count)
            return imp_fail(error, IMP_EINVAL, "'%s' and '%s' would both become '%s'", name, file,
                            path);
    }
    return IMP_OK;
}

static void to_image(const imp_dataset *dataset, const uint8_t *planes, bool invert,
                     imp_image *image)
{
    size_t pixels = (size_t)dataset->size * dataset->size, channels = dataset->channels;
    for (size_t i = 0; i < pixels * channels; i++)
        image->pixels[i % pixels * channels + i / pixels] =
            invert ? (uint8_t)(255 - planes[i]) : planes[i];
}

static imp_status write_picture(imp_trail *made, const imp_dataset *dataset, size_t picture,
                                const char *folder, const imp_image *image, imp_error *error)
{
    char path[PATH_ROOM];
    uint8_t *bytes;
    size_t size;
    imp_status status = path_of(folder, imp_picture_name(dataset, picture), path, error);
    if (!status)
        status = make_folders(made, path, strlen(folder), error);
    if (status)
        return status;
    status = imp_png_encode(image, &bytes, &size, error);
    if (!status)
        status = imp_create_file(path, bytes, size, error);
    if (!status)
        status = imp_trail_note(made, path, error);
    imp_release(bytes);
    return status;
}

imp_status imp_dataset_export(const imp_dataset *dataset, const char *folder, imp_go_on *go_on,
                              imp_error *error)
{
    bool glyphs = strcmp(dataset->kind, "glyphs") == 0;
    bool invert = glyphs ? !dataset->inverted : dataset->inverted;
    imp_image image = {0};
    imp_trail made = {0};
    imp_status status = imp_dataset_need_pictures(dataset, "an export", error);
    if (!status)
        status = imp_image_create(&image, dataset->size, dataset->size, dataset->channels, error);
    if (!status)
        status = check_paths(dataset, folder, error);
    if (!status)
        status = imp_trail_folder(&made, folder, error);
    for (size_t i = 0; i < dataset->picture_count && !status; i++) {
        to_image(dataset, dataset->pixels + i * imp_picture_bytes(dataset), invert, &image);
        status = write_picture(&made, dataset, i, folder, &image, error);
        if (!status && go_on != NULL)
            status = go_on(error);
    }
    imp_trail_end(&made, !status);
    imp_image_clear(&image);
    return status;
}
