/* test_suggest.c - which mistyped words are understood, and which are left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/suggest.h"

static const char *nearest(const char *word)
{
    static const char *const known[] = {"train", "evaluate", "embed", "bench", "demo", "k"};
    imp_suggestion suggestion = imp_suggestion_start(word);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        imp_suggestion_offer(&suggestion, known[i]);
    return suggestion.nearest;
}

static void slips_are_understood(void **state)
{
    (void)state;
    assert_string_equal(nearest("train"), "train");
    assert_string_equal(nearest("trian"), "train");  /* swapped */
    assert_string_equal(nearest("tran"), "train");   /* lost */
    assert_string_equal(nearest("trrain"), "train"); /* doubled */
    assert_string_equal(nearest("traim"), "train");  /* replaced */
    assert_string_equal(nearest("evaluaet"), "evaluate");
    assert_string_equal(nearest("dmeo"), "demo");
}

static void other_words_are_left_alone(void **state)
{
    (void)state;
    assert_null(nearest(""));
    assert_null(nearest("x"));    /* as near to "k" as one letter can be, and nothing like it */
    assert_null(nearest("domi")); /* half of it is wrong for "demo" */
    assert_null(nearest("wardrobe"));
    assert_null(nearest("a-word-that-is-longer-than-anybody-would-ever-mistype"));
}

static void the_nearest_wins(void **state)
{
    (void)state;
    imp_suggestion suggestion = imp_suggestion_start("batches");
    imp_suggestion_offer(&suggestion, "patch");
    imp_suggestion_offer(&suggestion, "batch");
    imp_suggestion_offer(&suggestion, "matches");
    imp_suggestion_offer(&suggestion, "latches");
    assert_string_equal(suggestion.nearest, "matches");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slips_are_understood),
        cmocka_unit_test(other_words_are_left_alone),
        cmocka_unit_test(the_nearest_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
