/*
 * mixture_edit.c - edits mixtures: names a cluster, merges with other numbers, forgets.
 *
 * Last line: the newest 4 points: 2 classes
 */
#include <imp/mixture.h>
#include <stdio.h>

#include "must.h"

static size_t classes(const imp_mixture *mixture)
{
    return imp_mixture_summarize(mixture).classes;
}

int main(void)
{
    const float x[] = {0, 0, 1, 0, 20, 0, 21, 0, 50, 50, 51, 50};
    const int32_t y[] = {0, 0, 1, 1, IMP_UNLABELED, IMP_UNLABELED};
    imp_error error;
    imp_mixture *mixture, *named, *merged, *less, *fewer, *recent, *chosen;

    /* The unlabelled points start a cluster of their own, which gets a class afterwards. */
    imp_mixture_options options = imp_mixture_defaults();
    options.rule = (imp_rule){.alpha = 0.1, .sigma_l = 1, .sigma_u = 1, .lambda = 25, .steps = 1};
    must(imp_mixture_fit(x, y, 6, 2, &options, &mixture, &error), &error);
    size_t stranger = 0;
    while (imp_mixture_cluster_at(mixture, stranger).label != IMP_UNLABELED)
        stranger++;
    must(imp_mixture_name_cluster(mixture, stranger, 2, &named, &error), &error);
    printf("%zu classes, then %zu\n", classes(mixture), classes(named));

    /* Class 0 of the second mixture is class 1 of the first, and its class 1 is class 0. */
    must(imp_mixture_merge_as(named, mixture, (const int32_t[]){1, 0}, &merged, &error), &error);
    must(imp_mixture_forget_class(merged, 2, &less, &error), &error);
    must(imp_mixture_forget_clusters(mixture, &stranger, 1, &fewer, &error), &error);
    printf("%zu classes without the last; %zu clusters without the unlabelled one\n", classes(less),
           imp_mixture_summarize(fewer).clusters);

    /* Only a mixture with options chosen from the data keeps a sample of its points. */
    const float stream[] = {0, 0, 20, 0, 1, 0, 21, 0, 0, 1, 20, 1};
    const int32_t labels[] = {0, 1, 0, 1, 0, 1};
    must(imp_mixture_fit(stream, labels, 6, 2, NULL, &chosen, &error), &error);
    must(imp_mixture_keep_newest(chosen, 4, &recent, &error), &error);
    printf("the newest 4 points: %zu classes\n", classes(recent));

    imp_mixture *all[] = {mixture, named, merged, less, fewer, recent, chosen};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        imp_mixture_free(all[i]);
    return 0;
}
