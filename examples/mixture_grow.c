/*
 * mixture_grow.c - saves a mixture, adds a class to it later, and merges it with a mixture from
 * elsewhere.
 *
 * Last line: merged: 3 classes in 4 clusters
 */
#include <imp/mixture.h>

#include "must.h"

static void tell(const char *what, const imp_mixture *mixture)
{
    imp_mixture_summary summary = imp_mixture_summarize(mixture);
    printf("%s: %zu classes in %zu clusters\n", what, summary.classes, summary.clusters);
}

int main(void)
{
    const float begun[] = {0, 0, 0, 1, 10, 10, 10, 11};
    const int32_t begun_labels[] = {0, 0, 1, 1};
    imp_error error;
    imp_mixture *mixture, *loaded, *grown, *other, *merged;

    /* The paper's rule: merging then fuses clusters that are close together. */
    imp_mixture_options options = imp_mixture_defaults();
    options.preset = IMP_PRESET_PAPER;
    must(imp_mixture_fit(begun, begun_labels, 4, 2, &options, &mixture, &error), &error);
    must(imp_mixture_save(mixture, "mixture.safetensors", &error), &error);
    tell("fitted", mixture);

    /* A new class continues the numbering. The old mixture stays as it was. */
    const float more[] = {20, 0, 21, 0};
    const int32_t more_labels[] = {2, 2};
    must(imp_mixture_load("mixture.safetensors", &loaded, &error), &error);
    must(imp_mixture_add(loaded, more, more_labels, 2, 2, &grown, &error), &error);
    tell("grown", grown);

    /* Class 1 from another source: partly where we know it, partly where we do not. */
    const float theirs[] = {0, 1, 10, 10, -30, -30};
    const int32_t their_labels[] = {0, 1, 1};
    must(imp_mixture_fit(theirs, their_labels, 3, 2, &options, &other, &error), &error);
    must(imp_mixture_merge(grown, other, &merged, &error), &error);
    tell("merged", merged);

    imp_mixture_free(mixture);
    imp_mixture_free(loaded);
    imp_mixture_free(grown);
    imp_mixture_free(other);
    imp_mixture_free(merged);
    return 0;
}
