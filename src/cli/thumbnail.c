/* thumbnail.c - decodes, shrinks and encodes pictures. */
#include "cli/thumbnail.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"

enum { QUALITY = 80 };

void imp_thumbnail_make(imp_thumbnail *thumbnail)
{
    imp_image image;
    imp_error *error = &thumbnail->error;
    imp_status status =
        imp_gallery_open(thumbnail->of.gallery, thumbnail->of.picture, &image, error);
    if (!status)
        status = imp_image_shrink(&image, thumbnail->of.side, error);
    bool coloured = !status && image.channels == 3;
    if (coloured)
        status = imp_jpeg_encode(&image, QUALITY, &thumbnail->bytes, &thumbnail->size, error);
    else if (!status)
        status = imp_png_encode(&image, &thumbnail->bytes, &thumbnail->size, error);
    thumbnail->kind = coloured ? "jpeg" : "png";
    thumbnail->width = image.width;
    thumbnail->height = image.height;
    thumbnail->status = status;
    imp_image_clear(&image);
}

void imp_thumbnail_clear(imp_thumbnail *thumbnail)
{
    imp_release(thumbnail->bytes);
    thumbnail->bytes = NULL;
}

static void make_one(size_t block, int worker, void *context)
{
    (void)worker;
    imp_thumbnail *items = context;
    imp_thumbnail_make(&items[block]);
}

imp_status imp_thumbnails_make(imp_thumbnails *all, const imp_thumbnail_of *wanted, size_t count,
                               imp_error *error)
{
    imp_thumbnails_clear(all);
    all->items = imp_allocate_zeroed(count, sizeof *all->items);
    if (!all->items)
        return imp_fail_memory(error, "small pictures");
    all->count = count;
    for (size_t i = 0; i < count; i++)
        all->items[i] = (imp_thumbnail){.of = wanted[i]};
    imp_parallel(count, imp_parallel_threads(0), make_one, all->items);
    return IMP_OK;
}

imp_thumbnail *imp_thumbnails_take(imp_thumbnails *all, imp_thumbnail_of wanted)
{
    imp_thumbnail *next = all->next < all->count ? &all->items[all->next] : NULL;
    if (!next || next->of.gallery != wanted.gallery || next->of.picture != wanted.picture ||
        next->of.side != wanted.side)
        return NULL;
    all->next++;
    return next;
}

void imp_thumbnails_clear(imp_thumbnails *all)
{
    for (size_t i = 0; i < all->count; i++)
        imp_thumbnail_clear(&all->items[i]);
    imp_release(all->items);
    *all = (imp_thumbnails){0};
}
