/* test_trainer.c - what a run tells its model of the data it was trained on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pictures.h"
#include "scratch.h"
#include "tiny_run.h"
#include "train/embedder.h"
#include "train/model.h"
#include "train/run_folder.h"
#include "train/trainer.h"

/* A pack cannot be inverted when it is opened, so that the settings do not know; it does. */
static void a_model_knows_that_its_pack_was_inverted(void **state)
{
    scratch_path path = scratch_file(state, "pack");
    for (int invert = 0; invert <= 1; invert++) {
        imp_settings settings = tiny_settings("imp");
        settings.updates = 1;
        imp_dataset_options options = imp_settings_data(&settings, 1);
        options.invert = invert;
        imp_dataset *dataset;
        assert_int_equal(imp_dataset_open("glyphs", &options, &dataset, NULL), IMP_OK);
        assert_int_equal(imp_dataset_pack(dataset, path.text, NULL), IMP_OK);
        imp_dataset_free(dataset);
        assert_int_equal(imp_dataset_open(path.text, NULL, &dataset, NULL), IMP_OK);

        scratch_path run = scratch_file(state, invert ? "inverted" : "as-is");
        imp_train_options training = {.folder = run.text, .threads = 1};
        imp_train_result result;
        imp_error error;
        if (imp_train(&settings, dataset, &training, &result, &error) != IMP_OK)
            fail_msg("%s", error.message);
        imp_dataset_free(dataset);
        imp_model model;
        assert_int_equal(
            imp_model_load(imp_run_file(run.text, imp_model_name).text, 1, &model, NULL), IMP_OK);
        assert_int_equal(model.origin.inverted, invert);
        /* glyphs are bright unless inverted, and pictures are to look like them */
        assert_int_equal(imp_model_inversion(&model), invert ? IMP_INVERT_NONE : IMP_INVERT_LIGHT);
        imp_model_clear(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_model_knows_that_its_pack_was_inverted, scratch_setup,
                                        tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
