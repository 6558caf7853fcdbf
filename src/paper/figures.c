/* figures.c - collects the numbers of the figures, writes and draws them. */
#include "paper/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <imp/encoder.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "draw/chart.h"
#include "draw/scatter.h"
#include "draw/tsne.h"
#include "episode/pixels.h"
#include "paper/ledger.h"
#include "paper/tables.h"
#include "train/run_folder.h"

/* A text that is written piece by piece and then becomes a file. */
typedef struct text_file {
    FILE *stream;
    char *text;
    size_t size;
} text_file;

static imp_status text_begin(text_file *file, imp_error *error)
{
    *file = (text_file){0};
    file->stream = open_memstream(&file->text, &file->size);
    return file->stream ? IMP_OK : imp_fail_memory(error, "a figure's numbers");
}

/* Writes the text unless `status` is a failure; releases it in either case. */
static imp_status text_end(text_file *file, const char *path, imp_status status, imp_error *error)
{
    imp_writer writer;
    bool whole = fclose(file->stream) == 0;
    if (!status)
        status = whole ? imp_writer_open(&writer, path, error)
                       : imp_fail_memory(error, "a figure's numbers");
    if (!status)
        status = imp_writer_write(&writer, file->text, file->size, error);
    if (!status)
        status = imp_writer_commit(&writer, error);
    free(file->text);
    return status;
}

/* ---- accuracy over lambda ---- */

enum { MOST_CURVES = 8, MOST_STEPS = 200 };

typedef struct curve {
    const char *method;
    double lambda[MOST_STEPS], accuracy[MOST_STEPS], interval[MOST_STEPS]; /* in percent */
    size_t count, seeds;
} curve;

/* Adds the sweep of one seed to the means so far. */
static imp_status add_sweep(curve *mean, const json_t *evaluation, imp_error *error)
{
    const json_t *sweep = json_object_get(evaluation, "sweep");
    size_t count = json_array_size(sweep);
    if (count == 0 || count > MOST_STEPS || (mean->seeds > 0 && count != mean->count))
        return imp_fail(error, IMP_EFORMAT, "the lambda sweep of %s is damaged", mean->method);
    mean->count = count;
    double n = (double)++mean->seeds;
    for (size_t i = 0; i < count; i++) {
        imp_interval figure;
        const json_t *step = json_array_get(sweep, i);
        if (!imp_result_figure(step, "open_accuracy", &figure))
            return imp_fail(error, IMP_EFORMAT, "the lambda sweep of %s lacks an accuracy",
                            mean->method);
        mean->lambda[i] = json_number_value(json_object_get(step, "lambda"));
        mean->accuracy[i] += (100 * figure.mean - mean->accuracy[i]) / n;
        mean->interval[i] += (100 * figure.half_width - mean->interval[i]) / n;
    }
    return IMP_OK;
}

static imp_status gather_curve(const imp_paper_row *row, const char *folder, curve *mean,
                               imp_error *error)
{
    imp_paper_run run = imp_paper_run_at(imp_paper_run_find(row->run));
    imp_status status = IMP_OK;
    *mean = (curve){.method = row->method};
    for (int seed = 1; seed <= run.seeds && !status; seed++) {
        imp_result result;
        status = imp_result_load(folder, &run, seed, &result, error);
        const json_t *evaluation = status ? NULL : imp_result_evaluation(&result, row->options);
        if (evaluation && imp_result_is_open(evaluation)) /* older results must be measured again */
            status = add_sweep(mean, evaluation, error);
        imp_result_clear(&result);
    }
    return status;
}

static imp_status write_curves(const curve *curves, size_t count, const char *path,
                               imp_error *error)
{
    text_file file;
    imp_status status = text_begin(&file, error);
    if (status)
        return status;
    fputs("method,seeds,lambda,accuracy,interval\n", file.stream);
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < curves[c].count; i++)
            fprintf(file.stream, "%s,%zu,%g,%.4f,%.4f\n", curves[c].method, curves[c].seeds,
                    curves[c].lambda[i], curves[c].accuracy[i], curves[c].interval[i]);
    return text_end(&file, path, IMP_OK, error);
}

static imp_status draw_curves(const curve *curves, size_t count, const char *folder,
                              imp_error *error)
{
    imp_chart_series series[MOST_CURVES];
    for (size_t c = 0; c < count; c++)
        series[c] = (imp_chart_series){.name = curves[c].method,
                                       .x = curves[c].lambda,
                                       .y = curves[c].accuracy,
                                       .half_width = curves[c].interval,
                                       .count = curves[c].count,
                                       .marks = true};
    imp_chart chart = {.title = "Semi-supervised 5-way 1-shot Omniglot",
                       .x_title = "threshold λ",
                       .y_title = "open accuracy (%)",
                       .series = series,
                       .series_count = count};
    imp_status status = imp_chart_save(&chart, imp_training_file(folder, "lambda.png").text, error);
    return status ? status
                  : imp_chart_save(&chart, imp_training_file(folder, "lambda.svg").text, error);
}

imp_status imp_paper_draw_lambda(const char *folder, imp_error *error)
{
    curve *curves = imp_allocate(MOST_CURVES, sizeof *curves);
    size_t count = 0;
    imp_status status = curves ? IMP_OK : imp_fail_memory(error, "a figure");
    for (size_t i = 0; imp_paper_row_at(i).table && !status && count < MOST_CURVES; i++) {
        imp_paper_row row = imp_paper_row_at(i);
        if (!imp_paper_row_is_in(&row, "lambda"))
            continue;
        status = gather_curve(&row, folder, &curves[count], error);
        count += !status && curves[count].seeds > 0;
    }
    if (!status && count > 0)
        status = write_curves(curves, count, imp_training_file(folder, "lambda.csv").text, error);
    if (!status && count > 0)
        status = draw_curves(curves, count, folder, error);
    imp_release(curves);
    return status;
}

/* ---- the embedding in the plane ---- */

enum { ALPHABETS = 10, CHARACTERS = 10, DRAWINGS = 10, MOST_PANELS = 4 };

/* The images shown, alphabet by alphabet. */
typedef struct selection {
    uint32_t images[ALPHABETS * CHARACTERS * DRAWINGS];
    int32_t alphabet[ALPHABETS * CHARACTERS * DRAWINGS]; /* its index in names */
    const char *names[ALPHABETS];
    size_t count, alphabets;
} selection;

static bool is_shown(const imp_class_info *character, int64_t alphabet)
{
    return character->split == IMP_SPLIT_TEST && character->super_class == alphabet &&
           !strchr(character->name, '@'); /* upright */
}

static size_t count_characters(const imp_dataset *dataset, int64_t alphabet)
{
    size_t count = 0;
    for (size_t c = 0; c < imp_dataset_classes(dataset); c++) {
        imp_class_info character = imp_dataset_class(dataset, c);
        count += is_shown(&character, alphabet);
    }
    return count;
}

static void select_alphabet(selection *shown, const imp_dataset *dataset, int64_t alphabet)
{
    size_t characters = 0;
    for (size_t c = 0; c < imp_dataset_classes(dataset) && characters < CHARACTERS; c++) {
        imp_class_info character = imp_dataset_class(dataset, c);
        if (!is_shown(&character, alphabet))
            continue;
        characters++;
        for (size_t i = 0; i < character.images && i < DRAWINGS; i++) {
            shown->images[shown->count] = (uint32_t)(character.first_image + i);
            shown->alphabet[shown->count++] = (int32_t)shown->alphabets;
        }
    }
    shown->names[shown->alphabets++] = imp_dataset_super_class(dataset, (size_t)alphabet);
}

static imp_status select_images(selection *shown, const imp_dataset *dataset, imp_error *error)
{
    shown->count = shown->alphabets = 0;
    /* first try only alphabets with enough characters */
    for (size_t fewest = CHARACTERS; fewest > 0 && shown->alphabets < 2; fewest--) {
        shown->count = shown->alphabets = 0;
        for (size_t a = 0; a < imp_dataset_super_classes(dataset) && shown->alphabets < ALPHABETS;
             a++)
            if (count_characters(dataset, (int64_t)a) >= fewest)
                select_alphabet(shown, dataset, (int64_t)a);
    }
    return shown->count > 0
               ? IMP_OK
               : imp_fail(error, IMP_EINVAL, "there are no alphabets in the test split to show");
}

/* Embeds the images: (count, d), to be released. */
static imp_status embed(const imp_dataset *dataset, const selection *shown, const imp_model *model,
                        int threads, float **embeddings, size_t *d, imp_error *error)
{
    imp_status status = IMP_OK;
    size_t side = imp_dataset_size(dataset);
    size_t floats = imp_dataset_channels(dataset) * side * side;
    *d = imp_model_info_of(model)->dimensions;
    *embeddings = imp_allocate(shown->count, *d * sizeof **embeddings);
    float *pixels = imp_allocate(shown->count, floats * sizeof *pixels);
    if (*embeddings && pixels) {
        imp_images_to_floats(dataset, shown->images, shown->count, pixels);
        status = imp_model_embed(model, pixels, shown->count, threads, *embeddings, error);
    } else {
        status = imp_fail_memory(error, "the images of a figure");
    }
    imp_release(pixels);
    return status;
}

static imp_status lay_out(const imp_dataset *dataset, const selection *shown,
                          const imp_model *model, int threads, imp_scatter_point *points,
                          imp_error *error)
{
    float *embeddings = NULL;
    size_t d = 0;
    double *plane = imp_allocate(2 * shown->count, sizeof *plane);
    imp_tsne_options options = {.threads = threads};
    imp_status status = plane ? embed(dataset, shown, model, threads, &embeddings, &d, error)
                              : imp_fail_memory(error, "a figure");
    if (!status)
        status = imp_tsne(embeddings, shown->count, d, &options, plane, error);
    for (size_t i = 0; i < shown->count && !status; i++)
        points[i] = (imp_scatter_point){.x = plane[2 * i],
                                        .y = plane[2 * i + 1],
                                        .label = shown->alphabet[i],
                                        .mark = IMP_MARK_DOT};
    imp_release(embeddings);
    imp_release(plane);
    return status;
}

static imp_status write_points(const imp_dataset *dataset, const selection *shown,
                               const imp_scatter *scatter, const char *path, imp_error *error)
{
    text_file file;
    imp_status status = text_begin(&file, error);
    if (status)
        return status;
    fputs("model,alphabet,image,x,y\n", file.stream);
    for (size_t p = 0; p < scatter->panel_count; p++)
        for (size_t i = 0; i < shown->count; i++) {
            char name[1000];
            imp_dataset_image_name(dataset, shown->images[i], name, sizeof name);
            fprintf(file.stream, "%s,%s,%s,%.4f,%.4f\n", scatter->panels[p].title,
                    shown->names[shown->alphabet[i]], name, scatter->panels[p].points[i].x,
                    scatter->panels[p].points[i].y);
        }
    return text_end(&file, path, IMP_OK, error);
}

static imp_status draw_panels(const imp_dataset *dataset, const selection *shown,
                              const imp_paper_panel *panels, size_t count, int threads,
                              imp_scatter_point *points, const char *folder, imp_error *error)
{
    imp_scatter_panel drawn[MOST_PANELS];
    imp_status status = IMP_OK;
    for (size_t p = 0; p < count && !status; p++) {
        drawn[p] = (imp_scatter_panel){
            .title = panels[p].title, .points = points + p * shown->count, .count = shown->count};
        status =
            lay_out(dataset, shown, panels[p].model, threads, points + p * shown->count, error);
    }
    imp_scatter scatter = {.panels = drawn,
                           .panel_count = count,
                           .names = shown->names,
                           .name_count = shown->alphabets};
    if (!status)
        status = imp_scatter_save(&scatter, imp_training_file(folder, "embedding.png").text, error);
    if (!status)
        status = imp_scatter_save(&scatter, imp_training_file(folder, "embedding.svg").text, error);
    return status ? status
                  : write_points(dataset, shown, &scatter,
                                 imp_training_file(folder, "embedding.csv").text, error);
}

imp_status imp_paper_draw_embedding(const imp_dataset *dataset, const imp_paper_panel *panels,
                                    size_t count, int threads, const char *folder, imp_error *error)
{
    if (count == 0 || count > MOST_PANELS)
        return imp_fail(error, IMP_EINVAL, "from 1 to %d models can be shown side by side",
                        MOST_PANELS);
    selection *shown = imp_allocate_zeroed(1, sizeof *shown);
    imp_status status =
        shown ? select_images(shown, dataset, error) : imp_fail_memory(error, "a figure");
    if (!status) {
        imp_scatter_point *points = imp_allocate(count * shown->count, sizeof *points);
        status = points ? draw_panels(dataset, shown, panels, count, threads, points, folder, error)
                        : imp_fail_memory(error, "a figure");
        imp_release(points);
    }
    imp_release(shown);
    return status;
}
