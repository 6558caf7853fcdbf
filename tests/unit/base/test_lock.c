/*
 * test_lock.c - processes that replace one file after reading it, one after the other: nothing that
 * one of them wrote is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/lock.h"
#include "base/memory.h"
#include "scratch.h"

enum { PROCESSES = 4, TURNS = 25 };

/* Adds a byte to the file, as others do at the same time. */
static bool grow(const char *path)
{
    imp_lock lock;
    imp_writer writer;
    unsigned char *bytes;
    size_t size;
    if (imp_lock_take(&lock, path, NULL) || imp_file_read(path, 1 << 20, &bytes, &size, NULL))
        return false;
    bytes[size] = 'x'; /* in place of the final zero */
    imp_status status = imp_writer_open(&writer, path, NULL);
    if (!status)
        status = imp_writer_write(&writer, bytes, size + 1, NULL);
    if (!status)
        status = imp_writer_commit(&writer, NULL);
    imp_release(bytes);
    imp_lock_release(&lock);
    return !status;
}

static void nothing_is_lost(void **state)
{
    scratch_path path = scratch_file(state, "file");
    scratch_write(path.text, "", 0);
    for (int i = 0; i < PROCESSES; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child > 0)
            continue;
        alarm(1000); /* against hangs alone: a busy disk takes its time to flush */
        int turn = 0;
        while (turn < TURNS && grow(path.text))
            turn++;
        _exit(turn == TURNS ? 0 : 1);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    char expected[PROCESSES * TURNS];
    memset(expected, 'x', sizeof expected);
    assert_true(scratch_holds(path.text, expected, sizeof expected));
    assert_int_equal(scratch_entries(state), 1);
}

static void where_there_is_nothing_nothing_is_locked(void **state)
{
    imp_lock lock;
    imp_error error;
    assert_int_equal(imp_lock_take(&lock, scratch_file(state, "absent").text, &error), IMP_OK);
    assert_int_equal(lock.descriptor, -1);
    imp_lock_release(&lock);
    scratch_write(scratch_file(state, "file").text, "", 0);
    assert_int_equal(imp_lock_take(&lock, scratch_file(state, "file/below").text, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "cannot lock '"));
    assert_int_equal(lock.descriptor, -1);
    imp_lock_release(&lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_lost, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(where_there_is_nothing_nothing_is_locked, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
