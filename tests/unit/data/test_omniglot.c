/*
 * test_omniglot.c - the built-in facts about Omniglot against the published lists and the data.
 *
 * Needs the reference data; counts that follow from the facts alone are checked without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/dataset.h"

static char folder[500];

static void names_that_omniglot_does_not_have(void **state)
{
    (void)state;
    const char *const names[] = {"",
                                 "Greek",
                                 "Greek/",
                                 "Greek/character00",
                                 "Greek/character25",
                                 "Greek/character1",
                                 "Greek/character001",
                                 "Greek/character01/x",
                                 "Greece/character01",
                                 "Gree/character01",
                                 "Japanese/character01"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(imp_omniglot_vinyals(names[i]), IMP_SPLIT_NONE);
        assert_int_equal(imp_omniglot_lake(names[i]), IMP_SPLIT_NONE);
    }
    assert_int_equal(imp_omniglot_vinyals("Greek/character24"), IMP_SPLIT_TRAIN);
    assert_int_equal(imp_omniglot_vinyals("Gurmukhi/character41"), IMP_SPLIT_TRAIN);
    assert_int_equal(imp_omniglot_vinyals("Gurmukhi/character42"), IMP_SPLIT_TEST);
}

static void vinyals_lists_and_counts(void **state)
{
    (void)state;
    const size_t expected[] = {1028, 172, 423};
    for (imp_split split = IMP_SPLIT_TRAIN; split <= IMP_SPLIT_TEST; split++) {
        char path[600], line[200];
        snprintf(path, sizeof path, "%s/split-%s.txt", folder, imp_split_name(split));
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        size_t count = 0;
        while (fgets(line, sizeof line, file) != NULL) {
            line[strcspn(line, "\n")] = '\0';
            if (imp_omniglot_vinyals(line) != split)
                fail_msg("%s is not in %s", line, imp_split_name(split));
            count++;
        }
        fclose(file);
        assert_int_equal(count, expected[split]);
    }
}

static void the_whole_of_omniglot(void **state)
{
    (void)state;
    char name[600];
    snprintf(name, sizeof name, "omniglot:%s", folder);
    imp_dataset *dataset;
    imp_error error;
    imp_dataset_options options = imp_dataset_defaults();
    options.rotations = 4;
    if (imp_dataset_open(name, &options, &dataset, &error) != IMP_OK)
        fail_msg("%s", error.message);
    assert_int_equal(imp_dataset_classes(dataset), 4 * 1623);
    assert_int_equal(imp_dataset_images(dataset), 4 * 32460);
    assert_int_equal(imp_dataset_super_classes(dataset), 50);
    size_t counts[4] = {0}, lake[4] = {0}, supers[4] = {0};
    for (size_t i = 0; i < imp_dataset_classes(dataset); i++) {
        imp_class_info about = imp_dataset_class(dataset, i);
        counts[about.split]++;
        assert_int_equal(about.images, 20);
        lake[i % 4 == 0 ? imp_omniglot_lake(about.name) : IMP_SPLIT_NONE]++;
        if (i == 0 || imp_dataset_class(dataset, i - 1).super_class != about.super_class)
            supers[about.split]++;
    }
    assert_int_equal(counts[IMP_SPLIT_TRAIN], 4112);
    assert_int_equal(counts[IMP_SPLIT_VALIDATION], 688);
    assert_int_equal(counts[IMP_SPLIT_TEST], 1692);
    assert_int_equal(lake[IMP_SPLIT_TRAIN], 964);
    assert_int_equal(lake[IMP_SPLIT_TEST], 659);
    assert_int_equal(supers[IMP_SPLIT_TRAIN], 33);
    assert_int_equal(supers[IMP_SPLIT_VALIDATION], 5);

    /* Ink is high and there is little of it. */
    uint8_t pixels[28 * 28];
    double sum = 0.0;
    for (size_t i = 0; i < imp_dataset_images(dataset); i += 997) {
        imp_dataset_image(dataset, i, pixels);
        for (size_t p = 0; p < sizeof pixels; p++)
            sum += pixels[p];
    }
    double mean = sum / ((double)(imp_dataset_images(dataset) / 997 + 1) * sizeof pixels) / 255.0;
    assert_true(mean > 0.03 && mean < 0.2);
    imp_dataset_free(dataset);
}

int main(void)
{
    const char *shared = getenv("IMP_SHARED");
    snprintf(folder, sizeof folder, "%s/data/omniglot", shared != NULL ? shared : "../shared");
    char path[600];
    snprintf(path, sizeof path, "%s/split-test.txt", folder);
    const struct CMUnitTest without_data[] = {
        cmocka_unit_test(names_that_omniglot_does_not_have),
    };
    int failed = cmocka_run_group_tests(without_data, NULL, NULL);
    if (failed)
        return failed;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        printf("skipped: there is no Omniglot in %s\n", folder);
        return 77;
    }
    fclose(file);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vinyals_lists_and_counts),
        cmocka_unit_test(the_whole_of_omniglot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
