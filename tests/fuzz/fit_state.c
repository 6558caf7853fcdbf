/*
 * fit_state.c - any bytes at all as what a stopped fit of a mixture left: it goes on from there to
 * a mixture, or says a sentence.
 *
 * The points are few and fixed, so that a seed that a fit of these left is near; one label of each
 * class leaves nothing to choose, which would take most of the time.
 */
#define _GNU_SOURCE /* memfd_create */

#include "fuzz.h"

#include "methods/fit_state.h"
#include "methods/mixture.h"

enum { POINTS = 40, LABELED = 3, DIMENSIONS = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int32_t label[LABELED] = {0, 1, 2};
    float points[POINTS * DIMENSIONS];
    for (size_t i = 0; i < POINTS * DIMENSIONS; i++)
        points[i] = (float)(i * 37 % 11) + (float)(i / DIMENSIONS % 3 * 30);
    imp_point_source source = imp_source_of_rows(points, POINTS, DIMENSIONS);
    source.label = label;
    source.label_count = LABELED;
    size_t file_size;
    uint8_t *bytes = fuzz_safetensors(data, size, &file_size);
    fuzz_file file = fuzz_file_of(bytes, file_size);
    free(bytes);
    const imp_preset presets[] = {IMP_PRESET_AUTO, IMP_PRESET_PAPER};
    for (size_t p = 0; p < sizeof presets / sizeof *presets; p++) {
        imp_mixture_options options = imp_mixture_defaults();
        options.preset = presets[p];
        imp_fit_state fit = {.path = file.path, .resume = true};
        const imp_crew crew = {.threads = 1, .fit = &fit};
        imp_mixture *mixture = NULL;
        imp_error error = {0};
        imp_status status = imp_mixture_fit_source(&source, &options, &crew, &mixture, &error);
        fuzz_check(status, &error);
        if (!status) {
            int32_t found[POINTS];
            status = imp_mixture_predict(mixture, points, POINTS, DIMENSIONS, false,
                                         &(imp_mixture_predictions){.label = found}, &error);
            fuzz_check(status, &error);
            for (size_t i = 0; i < POINTS && !status; i++)
                if (found[i] < 0 || found[i] > 2)
                    abort();
        }
        imp_mixture_free(mixture);
    }
    close(file.descriptor);
    return 0;
}
