/*
 * model_files.c - classifies picture files by a few labelled ones, with the model built into the
 * library.
 *
 * The pictures are three drawings of each of three generated characters. Writes them as PNG files
 * to the current folder.
 *
 * Last line: 3 of 3 drawings are recognised
 */
#include <imp/imp.h>

#include "must.h"

enum { CHARACTERS = 3, KNOWN = 2, PICTURES = CHARACTERS * (KNOWN + 1), MOST = 64 };

/* Drawing `i` is of character i % 3; the first two of each are labelled. */
static void draw(char names[PICTURES][20])
{
    imp_dataset *glyphs;
    imp_error error;
    must(imp_dataset_open("glyphs", NULL, &glyphs, &error), &error);
    for (size_t i = 0; i < PICTURES; i++) {
        imp_class_info character = imp_dataset_class(glyphs, i % CHARACTERS);
        imp_sheet_cell cell = {.image = character.first_image + i / CHARACTERS};
        snprintf(names[i], sizeof names[i], "drawing%zu.png", i);
        must(imp_contact_sheet_save(glyphs, &cell, 1, 1, names[i], &error), &error);
    }
    imp_dataset_free(glyphs);
}

static void tell(size_t index, imp_status status, const char *sentence, void *context)
{
    (void)context;
    printf("file %zu: %s: %s\n", index, imp_status_name(status), sentence);
}

int main(void)
{
    char names[PICTURES][20];
    const char *paths[PICTURES];
    draw(names);
    for (size_t i = 0; i < PICTURES; i++)
        paths[i] = names[i];

    imp_model *model;
    imp_error error;
    must(imp_model_open(NULL, NULL, &model, &error), &error);
    const imp_model_info *info = imp_model_info_of(model);
    printf("%s, of %s, trained by %s\n", info->name, info->network, info->method);
    static float embeddings[PICTURES * MOST];
    must(imp_model_embed_files(model, paths, PICTURES, 0, tell, NULL, embeddings, &error), &error);

    int32_t labels[PICTURES], found[CHARACTERS];
    for (size_t i = 0; i < PICTURES; i++)
        labels[i] = (int32_t)(i % CHARACTERS);
    imp_mixture *mixture;
    size_t known = CHARACTERS * KNOWN, d = info->dimensions;
    imp_mixture_options options = imp_mixture_defaults();
    options.rule = info->rule;
    must(imp_mixture_fit(embeddings, labels, known, d, &options, &mixture, &error), &error);
    imp_mixture_predictions predictions = {.label = found};
    must(imp_mixture_predict(mixture, embeddings + known * d, CHARACTERS, d, false, &predictions,
                             &error),
         &error);
    int right = 0;
    for (size_t i = 0; i < CHARACTERS; i++)
        right += found[i] == labels[known + i];
    printf("%d of %d drawings are recognised\n", right, CHARACTERS);
    imp_mixture_free(mixture);
    imp_model_free(model);
    return 0;
}
