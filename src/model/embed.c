/*
 * embed.c - embeds pictures from files and from memory, a few hundred at a time.
 *
 * Pictures of any size and kind are converted to what the model was trained on: its size, its
 * channels (gray or RGB) and its ink.
 */
#include "model/embed.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/first_failure.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "model/model.h"

enum { BATCH = 256 };

static imp_status needs_network(const imp_model *model, imp_error *error)
{
    return model->embedder
               ? imp_fail(error, IMP_EUNSUPPORTED,
                          "the model has an embedder, which reads files, not pixels; give it files")
               : IMP_OK;
}

imp_status imp_model_embed(const imp_model *model, const float *images, size_t count, int threads,
                           float *embeddings, imp_error *error)
{
    imp_status status = needs_network(model, error);
    return status ? status
                  : imp_encoder_encode(imp_model_encoder(model), images, count, threads, embeddings,
                                       error);
}

/* ---- the work on a batch ---- */

/* One batch: pictures as bytes, and as floats for the network. */
typedef struct desk {
    const imp_model_info *model;
    size_t bytes; /* per image */
    uint8_t *planes;
    float *pixels;
} desk;

static imp_status make_desk(desk *own, const imp_model *model, size_t count, imp_error *error)
{
    const imp_model_info *info = imp_model_info_of(model);
    size_t images = count < BATCH ? count : BATCH;
    *own = (desk){.model = info, .bytes = info->channels * info->height * info->width};
    own->planes = imp_allocate(images, own->bytes);
    own->pixels = imp_allocate(images, own->bytes * sizeof *own->pixels);
    return own->planes && own->pixels ? IMP_OK : imp_fail_memory(error, "pictures");
}

static void clear_desk(desk *own)
{
    imp_release(own->planes);
    imp_release(own->pixels);
}

/* Embeds the planes, scaled as by imp_images_to_floats(). */
static imp_status embed_planes(const desk *own, const imp_model *model, size_t count, int threads,
                               float *embeddings, imp_error *error)
{
    for (size_t i = 0; i < count * own->bytes; i++)
        own->pixels[i] = (float)own->planes[i] / 255.0f;
    return imp_model_embed(model, own->pixels, count, threads, embeddings, error);
}

/* ---- pictures in files ---- */

/* Pictures become square, and gray or RGB. */
static imp_status check_model(const imp_model_info *model, imp_error *error)
{
    if (model->height == 1 && model->width == 1)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "the model needs vectors of %zu dimensions%s%s; for pictures and files, "
                        "give the embedder that makes them",
                        model->channels, model->embedded_by[0] ? " from " : "", model->embedded_by);
    if (model->height == model->width && (model->channels == 1 || model->channels == 3))
        return IMP_OK;
    return imp_fail(
        error, IMP_EUNSUPPORTED,
        "the model's images are %zux%zux%zu, but pictures can only be made square, and gray or RGB",
        model->channels, model->height, model->width);
}

/* A picture that cannot be read gets its fault in the gallery. */
static imp_status embed_by_network(const imp_model *model, imp_gallery *gallery, int threads,
                                   const imp_embed_listener *listener, float *embeddings,
                                   imp_error *error)
{
    const imp_model_info *info = imp_model_info_of(model);
    imp_picture_format format = {.size = (uint32_t)info->width,
                                 .channels = (uint32_t)info->channels,
                                 .inversion = info->inversion};
    desk own = {0};
    imp_status status = check_model(info, error);
    if (!status)
        status = make_desk(&own, model, gallery->count, error);
    for (size_t first = 0; first < gallery->count && !status; first += BATCH) {
        size_t left = gallery->count - first, count = left < BATCH ? left : BATCH;
        memset(own.planes, 0, count * own.bytes); /* for pictures that cannot be read */
        status = imp_gallery_read(gallery, first, count, &format, threads, own.planes, error);
        if (!status)
            status = embed_planes(&own, model, count, threads,
                                  embeddings + first * info->dimensions, error);
        if (!status && listener->progress)
            status = listener->progress(first + count, gallery->count, error, listener->context);
    }
    clear_desk(&own);
    return status;
}

/* Embeds files with the embedder, and its vectors with the network, if there is one. */
static imp_status embed_by_both(const imp_model *model, imp_gallery *gallery, int threads,
                                const imp_embed_listener *listener, float *embeddings,
                                imp_error *error)
{
    size_t values;
    float *vectors = imp_multiply(gallery->count, imp_model_info_of(model)->channels, &values)
                         ? imp_allocate_zeroed(values, sizeof *vectors)
                         : NULL; /* zeros for files with faults */
    if (!vectors)
        return imp_fail_memory(error, "vectors");
    imp_status status = imp_embedder_embed(model->embedder, gallery, threads, listener->progress,
                                           listener->context, vectors, error);
    if (!status)
        status = imp_encoder_encode(imp_model_encoder(model), vectors, gallery->count, threads,
                                    embeddings, error);
    imp_release(vectors);
    return status;
}

static imp_status embed_all(const imp_model *model, imp_gallery *gallery, int threads,
                            const imp_embed_listener *listener, float *embeddings, imp_error *error)
{
    static const imp_embed_listener nobody = {0};
    if (!listener)
        listener = &nobody;
    if (model->embedder && model->encoder)
        return embed_by_both(model, gallery, threads, listener, embeddings, error);
    if (model->embedder)
        return imp_embedder_embed(model->embedder, gallery, threads, listener->progress,
                                  listener->context, embeddings, error);
    return embed_by_network(model, gallery, threads, listener, embeddings, error);
}

/* Removes pictures with faults, and their rows. */
static void skip_broken(imp_gallery *gallery, size_t dimensions, const imp_embed_listener *listener,
                        float *embeddings)
{
    size_t kept = 0;
    for (size_t i = 0; i < gallery->count; i++) {
        if (gallery->pictures[i].fault)
            listener->skip(gallery->pictures[i].fault->sentence, listener->context);
        else
            memmove(embeddings + kept++ * dimensions, embeddings + i * dimensions,
                    dimensions * sizeof *embeddings);
    }
    imp_gallery_drop_broken(gallery);
}

static imp_status first_fault(const imp_gallery *gallery, imp_error *error)
{
    const imp_fault *fault = imp_gallery_fault(gallery);
    return fault ? imp_fail(error, fault->status, "%s", fault->sentence) : IMP_OK;
}

/* What a rank reports of a picture it has read. */
typedef struct note {
    bool coloured, broken;
    imp_error error;
} note;

/* Shares pictures first .. first + count - 1, embedded by rank `from`, with all ranks. */
static imp_status tell_block(imp_gallery *gallery, const imp_ranks *ranks, int from, size_t first,
                             size_t count, note *notes, imp_error *error)
{
    imp_gallery_picture *pictures = gallery->pictures + first;
    for (size_t i = 0; i < count && ranks->rank == from; i++) {
        const imp_fault *fault = pictures[i].fault;
        notes[i] = (note){.coloured = pictures[i].coloured, .broken = fault != NULL};
        if (fault)
            imp_fail(&notes[i].error, fault->status, "%s", fault->sentence);
    }
    imp_status status = ranks->broadcast(ranks, from, notes, count * sizeof *notes, error);
    for (size_t i = 0; i < count && !status && ranks->rank != from; i++) {
        pictures[i].coloured = notes[i].coloured;
        if (notes[i].broken)
            pictures[i].fault = imp_fault_keep(NULL, &notes[i].error);
    }
    return status;
}

static imp_status tell_others(imp_gallery *gallery, const imp_ranks *ranks, size_t dimensions,
                              float *embeddings, imp_error *error)
{
    note *notes = imp_allocate(BATCH, sizeof *notes);
    imp_status status = notes ? IMP_OK : imp_fail_memory(error, "what ranks tell of pictures");
    for (int r = 0; r < ranks->size && !status; r++) {
        size_t begin, end;
        imp_ranks_share(ranks, r, gallery->count, &begin, &end);
        status = ranks->broadcast(ranks, r, embeddings + begin * dimensions,
                                  (end - begin) * dimensions * sizeof *embeddings, error);
        for (; begin < end && !status; begin += BATCH)
            status = tell_block(gallery, ranks, r, begin, end - begin < BATCH ? end - begin : BATCH,
                                notes, error);
    }
    imp_release(notes);
    return status;
}

imp_status imp_embed_gallery(const imp_model *model, imp_gallery *gallery, const imp_ranks *ranks,
                             int threads, const imp_embed_listener *listener, float *embeddings,
                             imp_error *error)
{
    size_t dimensions = imp_model_info_of(model)->dimensions, begin, end;
    imp_gallery share = *gallery; /* whose pictures belong to the gallery */
    imp_ranks_share(ranks, imp_rank_of(ranks), gallery->count, &begin, &end);
    share.pictures += begin;
    share.count = end - begin;
    imp_status status =
        embed_all(model, &share, threads, listener, embeddings + begin * dimensions, error);
    if (!status && imp_ranks_any(ranks))
        status = tell_others(gallery, ranks, dimensions, embeddings, error);
    if (!status && listener && listener->skip)
        skip_broken(gallery, imp_model_info_of(model)->dimensions, listener, embeddings);
    return status ? status : first_fault(gallery, error);
}

imp_status imp_model_embed_files(const imp_model *model, const char *const *paths, size_t count,
                                 int threads, imp_file_fault *fault, void *context,
                                 float *embeddings, imp_error *error)
{
    /* a gallery that does not own its paths, so it is not cleared */
    imp_gallery gallery = {.pictures = imp_allocate_zeroed(count, sizeof *gallery.pictures),
                           .count = count};
    if (!gallery.pictures)
        return imp_fail_memory(error, "pictures");
    for (size_t i = 0; i < count; i++)
        gallery.pictures[i] = (imp_gallery_picture){.path = (char *)paths[i], .class = -1};
    imp_status status = embed_all(model, &gallery, threads, NULL, embeddings, error);
    if (!status && !fault)
        status = first_fault(&gallery, error);
    for (size_t i = 0; i < count; i++) {
        imp_fault *found = gallery.pictures[i].fault;
        if (!status && found)
            fault(i, found->status, found->sentence, context);
        imp_fault_release(found);
    }
    imp_release(gallery.pictures);
    return status;
}

/* ---- pictures in memory ---- */

static imp_status check_picture(const imp_model_info *model, const imp_picture *picture, bool fits,
                                imp_error *error)
{
    bool known = picture->channels == 1 || picture->channels == 3;
    if (!picture->pixels || picture->width == 0 || picture->height == 0)
        return imp_fail(error, IMP_EINVAL, "the picture is empty");
    if (!fits && (!known || picture->width > UINT32_MAX || picture->height > UINT32_MAX))
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "the picture is %zux%zux%zu; it must be gray (1) or RGB (3), or exactly "
                        "like the model's images, %zux%zux%zu",
                        picture->channels, picture->height, picture->width, model->channels,
                        model->height, model->width);
    if (fits && !known && model->inversion == IMP_INVERT_LIGHT)
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "a light background cannot be detected in a picture with %zu channels, "
                        "only in gray and RGB",
                        picture->channels);
    return IMP_OK;
}

/* A picture of a different size or kind. */
static imp_status fit(const imp_model_info *model, const imp_image *image, bool invert,
                      uint8_t *planes, imp_error *error)
{
    imp_image copy; /* which may be changed */
    imp_status status = check_model(model, error);
    if (!status)
        status = imp_image_create(&copy, image->width, image->height, image->channels, error);
    if (status)
        return status;
    memcpy(copy.pixels, image->pixels, (size_t)image->width * image->height * image->channels);
    status = imp_image_prepare(&copy, (uint32_t)model->width, (uint32_t)model->channels, invert,
                               planes, error);
    imp_image_clear(&copy);
    return status;
}

/* Converts one picture to the model's planes. */
static imp_status prepare(const imp_model_info *model, const imp_picture *picture, uint8_t *planes,
                          imp_error *error)
{
    bool fits = picture->channels == model->channels && picture->height == model->height &&
                picture->width == model->width;
    imp_status status = check_picture(model, picture, fits, error);
    if (status)
        return status;
    imp_image image = {.width = (uint32_t)picture->width,
                       .height = (uint32_t)picture->height,
                       .channels = (uint32_t)picture->channels,
                       .pixels = (uint8_t *)picture->pixels};
    bool invert = imp_image_inverts(&image, model->inversion);
    if (!fits)
        return fit(model, &image, invert, planes, error);
    imp_image_to_planes(&image, invert, planes);
    return IMP_OK;
}

typedef struct batch {
    const desk *own;
    const imp_picture *pictures;
    size_t first; /* its index in the call */
    imp_first_failure failure;
} batch;

static void prepare_one(size_t index, int worker, void *context)
{
    (void)worker;
    batch *work = context;
    imp_error error;
    imp_status status = prepare(work->own->model, &work->pictures[index],
                                work->own->planes + index * work->own->bytes, &error);
    if (status) {
        char name[40];
        snprintf(name, sizeof name, "picture %zu", work->first + index);
        imp_error_prefix(&error, name);
    }
    imp_first_failure_note(&work->failure, index, status, &error);
}

imp_status imp_model_embed_pictures(const imp_model *model, const imp_picture *pictures,
                                    size_t count, int threads, float *embeddings, imp_error *error)
{
    desk own = {0};
    imp_status status = needs_network(model, error);
    if (!status)
        status = make_desk(&own, model, count, error);
    for (size_t first = 0; first < count && !status; first += BATCH) {
        size_t left = count - first, images = left < BATCH ? left : BATCH;
        batch work = {.own = &own, .pictures = pictures + first, .first = first};
        imp_first_failure_begin(&work.failure);
        imp_parallel(images, imp_parallel_threads(threads), prepare_one, &work);
        status = imp_first_failure_end(&work.failure, error);
        if (!status)
            status = embed_planes(&own, model, images, threads,
                                  embeddings + first * own.model->dimensions, error);
    }
    clear_desk(&own);
    return status;
}
