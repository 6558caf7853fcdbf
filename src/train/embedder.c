/*
 * embedder.c - pictures through a model, a few hundred at a time.
 */
#include "train/embedder.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "train/contestant.h"

imp_inversion imp_model_inversion(const imp_model *model)
{
    if (imp_network_options_of(model->network)->channels != 1)
        return model->origin.inverted ? IMP_INVERT_ALL : IMP_INVERT_NONE;
    /* Pictures have dark ink before they are inverted, glyphs after. */
    const char *kind = model->origin.data.kind;
    bool glyphs = strcmp(kind[0] ? kind : model->settings.data, "glyphs") == 0;
    bool bright_ink = model->origin.inverted != glyphs;
    return bright_ink ? IMP_INVERT_LIGHT : IMP_INVERT_NONE;
}

imp_mixture_options imp_model_mixture(const imp_model *model)
{
    imp_settings settings = model->settings;
    if (strcmp(settings.method, "imp") != 0 && strcmp(settings.method, "imp-tied") != 0)
        settings = imp_settings_for(&model->settings, "imp");
    imp_method_options learned = imp_settings_method(&settings);
    imp_mixture_options options;
    imp_mixture_options_init(&options);
    options.alpha = learned.alpha;
    options.sigma_l = learned.sigma_l;
    options.sigma_u = settings.unlabeled > 0 ? learned.sigma_u : learned.sigma_l;
    options.lambda = learned.lambda;
    options.cluster_steps = learned.cluster_steps;
    return options;
}

imp_status imp_model_summarize(const char *path, imp_model_summary *summary, imp_error *error)
{
    *summary = (imp_model_summary){0};
    imp_model model;
    imp_status status = imp_model_load(path, 1, &model, error);
    if (status)
        return status;
    const imp_network_options *input = imp_network_options_of(model.network);
    *summary = (imp_model_summary){.channels = input->channels,
                                   .height = input->height,
                                   .width = input->width,
                                   .inversion = imp_model_inversion(&model),
                                   .mixture = imp_model_mixture(&model)};
    imp_model_clear(&model);
    return IMP_OK;
}

imp_status imp_embedder_make(imp_embedder *embedder, const imp_model *model, imp_ink ink,
                             imp_error *error)
{
    *embedder = (imp_embedder){0};
    const imp_network_options *input = imp_network_options_of(model->network);
    if (input->height != input->width || (input->channels != 1 && input->channels != 3))
        return imp_fail(error, IMP_EUNSUPPORTED,
                        "the model's images are %zux%zux%zu; pictures are made square, and gray or "
                        "RGB",
                        input->channels, input->height, input->width);
    imp_status status = imp_encoder_create(model->network, &embedder->encoder, error);
    if (status)
        return status;
    embedder->dimensions = imp_encoder_output_size(embedder->encoder);
    embedder->format = (imp_picture_format){
        .size = (uint32_t)input->width,
        .channels = (uint32_t)input->channels,
        .inversion = ink == IMP_INK_OWN      ? imp_model_inversion(model)
                     : ink == IMP_INK_INVERT ? IMP_INVERT_ALL
                                             : IMP_INVERT_NONE,
    };
    return IMP_OK;
}

void imp_embedder_clear(imp_embedder *embedder)
{
    imp_encoder_free(embedder->encoder);
    *embedder = (imp_embedder){0};
}

/* ---- embedding ---- */

enum { BATCH = 256 };

/* The scale of imp_images_to_floats(). */
static float to_float(uint8_t value)
{
    return (float)value / 255.0f;
}

imp_status imp_model_images(const imp_model_summary *model, const uint8_t *pictures, size_t count,
                            float *images, imp_error *error)
{
    size_t channels = model->channels, pixels = model->height * model->width;
    if (model->inversion == IMP_INVERT_LIGHT && channels != 1 && channels != 3)
        return imp_fail(error, IMP_EINVAL,
                        "pictures of %zu channels have no light ground; it is told for gray and "
                        "RGB",
                        channels);
    for (size_t p = 0; p < count; p++, pictures += channels * pixels) {
        imp_image picture = {.width = (uint32_t)model->width,
                             .height = (uint32_t)model->height,
                             .channels = (uint32_t)channels,
                             .pixels = (uint8_t *)pictures};
        uint8_t flip = imp_image_inverts(&picture, model->inversion) ? 0xFF : 0;
        for (size_t c = 0; c < channels; c++)
            for (size_t i = 0; i < pixels; i++)
                *images++ = to_float(pictures[i * channels + c] ^ flip);
    }
    return IMP_OK;
}

static imp_status embed_batches(const imp_embedder *embedder, imp_gallery *gallery, int threads,
                                uint8_t *planes, float *pixels, float *embeddings, imp_error *error)
{
    const imp_picture_format *format = &embedder->format;
    size_t bytes = (size_t)format->channels * format->size * format->size;
    imp_status status = IMP_OK;
    for (size_t first = 0; first < gallery->count && !status; first += BATCH) {
        size_t left = gallery->count - first, count = left < BATCH ? left : BATCH;
        memset(planes, 0, count * bytes); /* of those that cannot be read */
        status = imp_gallery_read(gallery, first, count, format, threads, planes, error);
        if (status)
            break;
        for (size_t i = 0; i < count * bytes; i++)
            pixels[i] = to_float(planes[i]);
        status = imp_encoder_encode(embedder->encoder, pixels, count, threads,
                                    embeddings + first * embedder->dimensions, error);
    }
    return status;
}

/* Takes the pictures with faults out, and their rows. */
static void skip_broken(imp_gallery *gallery, size_t dimensions, imp_embed_skip *skip,
                        void *context, float *embeddings)
{
    size_t kept = 0;
    for (size_t i = 0; i < gallery->count; i++) {
        if (gallery->pictures[i].fault)
            skip(gallery->pictures[i].fault->sentence, context);
        else
            memmove(embeddings + kept++ * dimensions, embeddings + i * dimensions,
                    dimensions * sizeof *embeddings);
    }
    imp_gallery_drop_broken(gallery);
}

imp_status imp_embed(const imp_embedder *embedder, imp_gallery *gallery, int threads,
                     imp_embed_skip *skip, void *context, float *embeddings, imp_error *error)
{
    const imp_picture_format *format = &embedder->format;
    size_t bytes = (size_t)format->channels * format->size * format->size;
    size_t batch = gallery->count < BATCH ? gallery->count : BATCH;
    uint8_t *planes = imp_allocate(batch, bytes);
    float *pixels = imp_allocate(batch, bytes * sizeof *pixels);
    imp_status status = planes && pixels ? embed_batches(embedder, gallery, threads, planes, pixels,
                                                         embeddings, error)
                                         : imp_fail_memory(error, "pictures");
    imp_release(planes);
    imp_release(pixels);
    if (!status && skip)
        skip_broken(gallery, embedder->dimensions, skip, context, embeddings);
    const imp_fault *fault = imp_gallery_fault(gallery);
    return !status && fault ? imp_fail(error, fault->status, "%s", fault->sentence) : status;
}
