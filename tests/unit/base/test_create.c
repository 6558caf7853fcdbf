/* test_create.c - new files, links and folders come about only where there was nothing. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/create.h"
#include "failing_readdir.h"
#include "pictures.h"
#include "scratch.h"

static void a_folder_is_made_or_taken_if_empty(void **state)
{
    scratch_path path = scratch_file(state, "folder");
    imp_error error;
    assert_int_equal(imp_create_folder(path.text, &error), IMP_OK);
    assert_int_equal(imp_create_folder(path.text, &error), IMP_OK);
    scratch_path inside = scratch_file(state, "folder/.hidden");
    scratch_write(inside.text, "x", 1);
    assert_int_equal(imp_create_folder(path.text, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "' is not empty; name one that is new or empty"));
    assert_int_equal(imp_create_folder(inside.text, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "': Not a directory"));
    assert_int_equal(imp_create_folder("/no/such/folder", &error), IMP_EIO);
}

/* It may hold files that were not told of. */
static void a_folder_that_cannot_be_read_is_not_empty(void **state)
{
    imp_error error;
    for (unsigned n = 1; n <= 3; n++) {
        failing_readdir_set(n);
        imp_status status = imp_create_folder(*state, &error);
        failing_readdir_set(0);
        assert_int_equal(status, IMP_EIO);
        assert_non_null(strstr(error.message, "cannot read the folder '"));
        assert_non_null(strstr(error.message, "': Input/output error"));
    }
    assert_int_equal(imp_create_folder(*state, &error), IMP_OK);
}

static void asking_for_a_folder_leaves_none(void **state)
{
    scratch_path path = scratch_file(state, "folder");
    imp_error error;
    assert_int_equal(imp_create_folder_probe(path.text, &error), IMP_OK);
    assert_int_equal(access(path.text, F_OK), -1);
    assert_int_equal(imp_create_folder(path.text, &error), IMP_OK);
    assert_int_equal(imp_create_folder_probe(path.text, &error), IMP_OK);
    assert_int_equal(access(path.text, F_OK), 0);
    scratch_write(scratch_file(state, "folder/file").text, "x", 1);
    assert_int_equal(imp_create_folder_probe(path.text, &error), IMP_EINVAL);
    assert_int_equal(imp_create_folder_probe("/no/such/folder", &error), IMP_EIO);
}

static void folders_are_made_with_those_above(void **state)
{
    imp_error error;
    scratch_path path = scratch_file(state, "a/b//c/");
    assert_int_equal(imp_make_folders(path.text, &error), IMP_OK);
    scratch_path file = scratch_file(state, "a/b/c/file");
    scratch_write(file.text, "x", 1);
    assert_int_equal(imp_make_folders(path.text, &error), IMP_OK);
    assert_true(scratch_holds(file.text, "x", 1));
    assert_int_equal(imp_make_folders(scratch_file(state, "a/b/c/file/d").text, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "cannot make the folder '"));
    assert_non_null(strstr(error.message, "': Not a directory"));
    assert_int_equal(imp_make_folders("", &error), IMP_EINVAL);
}

static void a_file_is_never_overwritten(void **state)
{
    scratch_path path = scratch_file(state, "file");
    imp_error error;
    assert_int_equal(imp_create_file(path.text, "first", 5, &error), IMP_OK);
    assert_int_equal(imp_create_file(path.text, "second", 6, &error), IMP_EINVAL);
    assert_true(scratch_holds(path.text, "first", 5));
    assert_int_equal(imp_create_file(scratch_file(state, "no/such").text, "x", 1, &error), IMP_EIO);
    assert_int_equal(imp_create_file(scratch_file(state, "empty").text, NULL, 0, &error), IMP_OK);
    assert_true(scratch_holds(scratch_file(state, "empty").text, "", 0));
}

static void half_a_file_does_not_remain(void **state)
{
    scratch_path path = scratch_file(state, "large");
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 10;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    imp_error error;
    imp_status status = imp_create_file(path.text, "more than ten bytes", 19, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(status, IMP_EIO);
    assert_int_equal(access(path.text, F_OK), -1);
}

static void a_link_is_never_overwritten(void **state)
{
    scratch_path path = scratch_file(state, "link");
    char target[20] = "";
    assert_int_equal(imp_create_link(path.text, "there", NULL), IMP_OK);
    assert_int_equal(imp_create_link(path.text, "elsewhere", NULL), IMP_EINVAL);
    assert_int_equal(readlink(path.text, target, sizeof target), 5);
    assert_string_equal(target, "there");
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, tree_teardown)
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(a_folder_is_made_or_taken_if_empty),
        IN_A_FOLDER(a_folder_that_cannot_be_read_is_not_empty),
        IN_A_FOLDER(asking_for_a_folder_leaves_none),
        IN_A_FOLDER(folders_are_made_with_those_above),
        IN_A_FOLDER(a_file_is_never_overwritten),
        IN_A_FOLDER(half_a_file_does_not_remain),
        IN_A_FOLDER(a_link_is_never_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
