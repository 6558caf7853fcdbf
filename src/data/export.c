/* export.c - a dataset as a folder of PNG files, a sub-folder for each class. */
#include <stdio.h>
#include <string.h>

#include "base/create.h"
#include "base/error.h"
#include "base/memory.h"
#include "data/dataset.h"
#include "data/image.h"

enum { PATH_ROOM = 4096 };

/* Makes the folders that lead to `path`, below the first `root` characters of it. */
static imp_status make_folders(char *path, size_t root, imp_error *error)
{
    for (char *slash = strchr(path + root + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        imp_status status = imp_create_folder(path, error);
        *slash = '/';
        /* One that is not empty is an earlier picture's. */
        if (status != IMP_OK && status != IMP_EINVAL)
            return status;
    }
    return IMP_OK;
}

/* FOLDER/NAME.png, whatever the name ended in. */
static imp_status path_of(const imp_dataset *dataset, size_t picture, const char *folder,
                          char *path, imp_error *error)
{
    const char *name = imp_picture_name(dataset, picture);
    const char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');
    size_t length = dot != NULL && dot > slash ? (size_t)(dot - name) : strlen(name);
    int whole = snprintf(path, PATH_ROOM, "%s/%.*s.png", folder, (int)length, name);
    if (whole < 0 || whole >= PATH_ROOM)
        return imp_fail(error, IMP_EUNSUPPORTED, "a path below '%s' is too long", folder);
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

static imp_status write_picture(const imp_dataset *dataset, size_t picture, const char *folder,
                                const imp_image *image, imp_error *error)
{
    char path[PATH_ROOM];
    uint8_t *bytes;
    size_t size;
    imp_status status = path_of(dataset, picture, folder, path, error);
    if (status == IMP_OK)
        status = make_folders(path, strlen(folder), error);
    if (status != IMP_OK)
        return status;
    status = imp_png_encode(image, &bytes, &size, error);
    if (status == IMP_OK)
        status = imp_create_file(path, bytes, size, error);
    imp_release(bytes);
    return status;
}

imp_status imp_dataset_export(const imp_dataset *dataset, const char *folder, bool invert,
                              imp_error *error)
{
    imp_image image;
    imp_status status =
        imp_image_create(&image, dataset->size, dataset->size, dataset->channels, error);
    if (status == IMP_OK)
        status = imp_create_folder(folder, error);
    for (size_t i = 0; i < dataset->picture_count && status == IMP_OK; i++) {
        to_image(dataset, dataset->pixels + i * imp_picture_bytes(dataset), invert, &image);
        status = write_picture(dataset, i, folder, &image, error);
    }
    imp_image_clear(&image);
    return status;
}
