/*
 * mixture_choice.c - a metric chosen from the data, and points too far from all classes rejected.
 *
 * The second feature has another unit and says nothing about the classes; without a metric it would
 * dominate all distances.
 *
 * Last line: view 1 weighs 0.0
 */
#include <imp/mixture.h>

#include "must.h"

int main(void)
{
    const float points[] = {1, 300, 2, -900, 1, 800,  2, -200, 1, 500, /* class 0 */
                            7, 100, 8, -700, 7, -400, 8, 600,  7, 900,
                            /* class 1 */};
    const int32_t labels[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
    imp_error error;
    imp_mixture *mixture;
    must(imp_mixture_fit(points, labels, 10, 2, NULL, &mixture, &error), &error);

    imp_mixture_choice choice;
    imp_mixture_choice_of(mixture, &choice, sizeof choice);
    printf("metric %s%s: %zu points held out, %.0f%% of them right\n",
           imp_metric_name(choice.metric), choice.whitened ? ", whitened" : "", choice.held_out,
           100 * choice.accuracy);
    for (size_t i = 0; i < choice.candidates; i++) {
        imp_mixture_candidate tried = imp_mixture_candidate_at(mixture, i);
        printf("  tried %s%s: loss %.3f\n", imp_metric_name(tried.metric),
               tried.whitened ? ", whitened" : "", tried.loss);
    }

    const float queries[] = {2, 700, 7, 700, 1, 90000};
    float place[3 * 2];
    must(imp_mixture_transform(mixture, queries, 3, 2, place, &error), &error);
    printf("(2, 700) is compared at (%.2f, %.2f)\n", place[0], place[1]);

    int32_t found[3];
    const imp_mixture_predictions wanted = {.label = found};
    must(imp_mixture_set_open_set_rate(mixture, 0.01, &error), &error);
    must(imp_mixture_predict(mixture, queries, 3, 2, true, &wanted, &error), &error);
    printf("(2, 700) is class %d, (7, 700) is class %d\n", (int)found[0], (int)found[1]);
    printf("(1, 90000) is %s, class %d\n", found[2] < 0 ? "none of these" : "known", (int)found[2]);
    imp_mixture_free(mixture);

    /* The same features as two views: held-out points show that the second is useless. */
    imp_mixture_options options = imp_mixture_defaults();
    options.view_count = 2;
    options.view_dimensions = (const size_t[]){1, 1};
    must(imp_mixture_fit(points, labels, 10, 2, &options, &mixture, &error), &error);
    imp_mixture_choice_of(mixture, &choice, sizeof choice);
    for (size_t v = 0; v < choice.views; v++)
        printf("view %zu weighs %.1f\n", v, imp_mixture_view_at(mixture, v).weight);
    imp_mixture_free(mixture);
    return 0;
}
