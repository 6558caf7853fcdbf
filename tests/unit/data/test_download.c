/*
 * test_download.c - downloads over a network that breaks, lies and ends, onto a disk that is full.
 *
 * Each test ends by counting the files: either the right one is there or nothing is.
 */
#define _DEFAULT_SOURCE

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>
#include <nettle/md5.h>

#include "data/download.h"
#include "http_server.h"
#include "scratch.h"

enum { SIZE = 300000 };

typedef struct setting {
    http_server server;
    char content[SIZE];
    char md5[33], url[100];
    imp_error error;
} setting;

/* The scratch folder is the state; what else a test needs is here. */
static setting here;

static int set_up(void **state)
{
    memset(&here, 0, sizeof here);
    for (size_t i = 0; i < SIZE; i++)
        here.content[i] = (char)(i * i >> 7);
    struct md5_ctx md5;
    uint8_t digest[16];
    md5_init(&md5);
    md5_update(&md5, SIZE, (const uint8_t *)here.content);
    md5_digest(&md5, 16, digest);
    for (size_t i = 0; i < 16; i++)
        snprintf(here.md5 + 2 * i, 3, "%02x", digest[i]);
    here.server.content = here.content;
    here.server.size = SIZE;
    return scratch_setup(state);
}

static int tear_down(void **state)
{
    if (here.server.port != 0)
        http_server_stop(&here.server);
    return scratch_teardown(state);
}

/* The server starts with the first request, when the test has said how it shall behave. */
static void start_server(void)
{
    if (here.server.port != 0)
        return;
    http_server_start(&here.server);
    snprintf(here.url, sizeof here.url, "http://127.0.0.1:%d/file.zip", here.server.port);
}

static imp_status fetch_within(void **state, const imp_download_limits *limits)
{
    start_server();
    return imp_download(here.url, scratch_file(state, "file.zip").text, here.md5, limits, NULL,
                        NULL, &here.error);
}

static imp_status fetch(void **state)
{
    return fetch_within(state, &imp_download_usual);
}

/* Of that 1000 bytes a second are asked for. */
static void a_trickling_server_is_given_up(void **state)
{
    imp_download_limits hasty = imp_download_usual;
    hasty.slow_seconds = 1;
    hasty.attempts = 2;
    here.server.trickles = true;
    assert_int_equal(fetch_within(state, &hasty), IMP_EIO);
    assert_non_null(strstr(here.error.message, "too slow"));
    assert_int_equal(here.server.requests, 2);
    assert_int_equal(scratch_entries(state), 0);
}

static void an_endless_server_is_given_up(void **state)
{
    imp_download_limits modest = imp_download_usual;
    modest.bytes = 3 * SIZE;
    here.server.endless = true;
    assert_int_equal(fetch_within(state, &modest), IMP_EFORMAT);
    assert_non_null(strstr(here.error.message, "'file.zip' is larger than expected"));
    assert_int_equal(here.server.requests, 1);
    assert_int_equal(scratch_entries(state), 0);
}

static void arrives_whole(void **state)
{
    assert_int_equal(fetch(state), IMP_OK);
    assert_true(scratch_holds(scratch_file(state, "file.zip").text, here.content, SIZE));
    assert_int_equal(scratch_entries(state), 1);
    /* What is there and right is not fetched again. */
    assert_int_equal(fetch(state), IMP_OK);
    assert_int_equal(here.server.requests, 1);
}

static void a_cut_connection_is_taken_up(void **state)
{
    here.server.cut_after = SIZE / 3 + 1;
    assert_int_equal(fetch(state), IMP_OK);
    assert_true(scratch_holds(scratch_file(state, "file.zip").text, here.content, SIZE));
    assert_int_equal(here.server.requests, 3);
    assert_int_equal(here.server.ranges, 2);
    assert_int_equal(scratch_entries(state), 1);
}

static void a_server_without_ranges_starts_over(void **state)
{
    here.server.cut_after = SIZE / 2;
    here.server.ignores_ranges = true;
    assert_int_equal(fetch(state), IMP_EIO); /* it never gets beyond the half */
    assert_int_equal(scratch_entries(state), 0);
    assert_true(here.server.requests > 1);
}

static void starting_over_gives_the_right_file(void **state)
{
    here.server.cut_after = SIZE / 2;
    here.server.cuts = 1;
    here.server.ignores_ranges = true;
    assert_int_equal(fetch(state), IMP_OK);
    assert_true(scratch_holds(scratch_file(state, "file.zip").text, here.content, SIZE));
    assert_int_equal(here.server.requests, 3); /* cut, of no use to resume, whole */
}

static void a_connection_that_always_breaks(void **state)
{
    here.server.cut_after = 1000;
    assert_int_equal(fetch(state), IMP_EIO);
    assert_non_null(strstr(here.error.message, here.url));
    assert_int_equal(scratch_entries(state), 0);
}

static void a_wrong_checksum(void **state)
{
    scratch_path path = scratch_file(state, "file.zip");
    scratch_write(path.text, "old", 3);
    here.content[SIZE / 2] ^= 1;
    assert_int_equal(fetch(state), IMP_EFORMAT);
    assert_non_null(strstr(here.error.message, here.md5));
    assert_true(scratch_holds(path.text, "old", 3)); /* what was there stays */
    assert_int_equal(scratch_entries(state), 1);
}

static void a_missing_file_and_a_dead_server(void **state)
{
    here.server.missing = true;
    assert_int_equal(fetch(state), IMP_EIO);
    assert_non_null(strstr(here.error.message, "404"));
    snprintf(here.url, sizeof here.url, "http://127.0.0.1:1/file.zip");
    assert_int_equal(fetch(state), IMP_EIO);
    snprintf(here.url, sizeof here.url, "file:///etc/passwd");
    assert_int_equal(fetch(state), IMP_EIO);
    assert_int_equal(scratch_entries(state), 0);
}

static void a_full_disk(void **state)
{
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = SIZE / 2;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    imp_status status = fetch(state);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, IMP_EIO);
    assert_non_null(strstr(here.error.message, "file.zip"));
    assert_int_equal(scratch_entries(state), 0);
}

static bool stop(const char *file, uint64_t so_far, uint64_t total, void *context)
{
    (void)total;
    (void)context;
    assert_string_equal(file, "file.zip");
    return so_far == 0;
}

static void stopped_by_the_caller(void **state)
{
    start_server();
    assert_int_equal(imp_download(here.url, scratch_file(state, "file.zip").text, here.md5,
                                  &imp_download_usual, stop, NULL, &here.error),
                     IMP_EIO);
    assert_non_null(strstr(here.error.message, "was stopped"));
    assert_int_equal(scratch_entries(state), 0);
}

static void omniglot_from_somewhere_else(void **state)
{
    start_server();
    here.url[strlen(here.url) - strlen("/file.zip")] = '\0';
    assert_int_equal(imp_download_omniglot(*state, here.url, NULL, NULL, &here.error), IMP_EFORMAT);
    assert_non_null(strstr(here.error.message, "68d2efa1b9178cc56df9314c21c6e718"));
    assert_int_equal(scratch_entries(state), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(arrives_whole),
        TEST(a_cut_connection_is_taken_up),
        TEST(a_server_without_ranges_starts_over),
        TEST(starting_over_gives_the_right_file),
        TEST(a_connection_that_always_breaks),
        TEST(a_trickling_server_is_given_up),
        TEST(an_endless_server_is_given_up),
        TEST(a_wrong_checksum),
        TEST(a_missing_file_and_a_dead_server),
        TEST(a_full_disk),
        TEST(stopped_by_the_caller),
        TEST(omniglot_from_somewhere_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
