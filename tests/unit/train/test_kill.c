/*
 * test_kill.c - kills the command at random moments, resumes it, and compares what it leaves behind
 * with a run that was never disturbed: model and checkpoint bit for bit, logs line for line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/safetensors.h"
#include "scratch.h"

/* A tiny run that does everything a run does, many times. */
/* clang-format off */
static const char *const tiny[] = {
    "train", "--size", "16", "--alphabets", "10",
    "--network", "conv3x3:8,bn,relu,pool,conv3x3:8,bn,relu,pool",
    "--task", "alphabets", "--way", "2", "--modes", "3", "--queries", "2", "--accumulate", "2",
    "--validate-every", "15", "--validation-episodes", "4", "--log-every", "5", NULL};
/* clang-format on */
static const char *const resuming[] = {"train", NULL};

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void pause_for(double seconds)
{
    struct timespec wait = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&wait, NULL);
}

static void append(char **argv, size_t room, size_t *count, const char *const *words)
{
    for (size_t i = 0; words[i]; i++) {
        assert_true(*count + 1 < room);
        argv[(*count)++] = (char *)words[i];
    }
}

/* Starts the command with these words and more; what it says goes to the file `errors`. */
static pid_t start(const char *const *words, const char *const *more, const char *errors)
{
    char *argv[64] = {getenv("IMP")};
    size_t room = sizeof argv / sizeof *argv, count = 1;
    append(argv, room, &count, words);
    append(argv, room, &count, more);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int output = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(output, STDERR_FILENO);
        execv(argv[0], argv);
        _exit(127);
    }
    return child;
}

static int wait_for(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void assert_finished(pid_t child, const char *errors)
{
    int status = wait_for(child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        unsigned char *text = NULL;
        size_t size;
        imp_file_read(errors, 1 << 20, &text, &size, NULL);
        fail_msg("the command ended with %d: %s", status, text ? (char *)text : "");
    }
}

/* ---- comparing ---- */

static char *read_text(const char *folder, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unsigned char *text = NULL;
    size_t size;
    imp_error error;
    if (imp_file_read(path, 1 << 24, &text, &size, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return (char *)text;
}

static void assert_same_file(const char *one, const char *other, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", one, name);
    unsigned char *bytes;
    size_t size;
    assert_int_equal(imp_file_read(path, 1 << 24, &bytes, &size, NULL), IMP_OK);
    snprintf(path, sizeof path, "%s/%s", other, name);
    if (!scratch_holds(path, bytes, size))
        fail_msg("%s differs", path);
    imp_release(bytes);
}

/* Everything but times: the seconds, the window's last number, and the logs' lengths. */
static void assert_same_checkpoint(const char *one, const char *other)
{
    char path[600];
    imp_safetensors *a, *b;
    snprintf(path, sizeof path, "%s/checkpoint.safetensors", one);
    assert_int_equal(imp_safetensors_load(path, &a, NULL), IMP_OK);
    snprintf(path, sizeof path, "%s/checkpoint.safetensors", other);
    assert_int_equal(imp_safetensors_load(path, &b, NULL), IMP_OK);
    assert_int_equal(imp_safetensors_count(a), imp_safetensors_count(b));
    for (size_t i = 0; i < imp_safetensors_count(a); i++) {
        const imp_tensor *left = imp_safetensors_at(a, i), *right = imp_safetensors_at(b, i);
        assert_string_equal(left->name, right->name);
        assert_int_equal(left->count, right->count);
        size_t count = left->count;
        if (strcmp(left->name, "training.seconds") == 0 ||
            strcmp(left->name, "training.window") == 0)
            count--;
        assert_memory_equal(left->data, right->data, count * imp_dtype_size(left->dtype));
    }
    static const char *const keys[] = {"update", "best_update", "settings", "data"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        assert_string_equal(imp_safetensors_metadata(a, keys[k]),
                            imp_safetensors_metadata(b, keys[k]));
    imp_safetensors_free(a);
    imp_safetensors_free(b);
}

/* Where column number `column` of a line begins. */
static const char *column_of(const char *line, int column)
{
    for (; column > 0; line++)
        column -= *line == ',';
    return line;
}

/* Line by line but for the two columns that are times. */
static void assert_same_log(const char *one, const char *other)
{
    enum { TIMES = 9, AFTER = TIMES + 2 };
    char *left = read_text(one, "log.csv"), *right = read_text(other, "log.csv");
    char *a = left, *b = right;
    while (*a && *b) {
        size_t a_length = strcspn(a, "\n"), b_length = strcspn(b, "\n");
        size_t before = (size_t)(column_of(a, TIMES) - a);
        assert_int_equal(before, column_of(b, TIMES) - b);
        assert_memory_equal(a, b, before);
        const char *a_rest = column_of(a, AFTER), *b_rest = column_of(b, AFTER);
        size_t rest = (size_t)(a + a_length - a_rest);
        assert_int_equal(rest, b + b_length - b_rest);
        assert_memory_equal(a_rest, b_rest, rest);
        a += a_length + (a[a_length] == '\n');
        b += b_length + (b[b_length] == '\n');
    }
    assert_true(*a == *b);
    imp_release(left);
    imp_release(right);
    left = read_text(one, "log.jsonl");
    right = read_text(other, "log.jsonl");
    size_t lines[2] = {0};
    for (const char *c = left; *c; c++)
        lines[0] += *c == '\n';
    for (const char *c = right; *c; c++)
        lines[1] += *c == '\n';
    assert_int_equal(lines[0], lines[1]);
    imp_release(left);
    imp_release(right);
}

/* ---- the tests ---- */

/* In bytes, or -1 when there is no such file. */
static long long size_of(const char *folder, const char *name)
{
    char path[600];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &about) == 0 ? (long long)about.st_size : -1;
}

/* Waits, however busy the machine is, until a file has this size or the child has ended. */
static void wait_until(const char *folder, const char *name, long long size, pid_t child)
{
    siginfo_t about = {0};
    while (size_of(folder, name) < size && about.si_pid == 0) {
        pause_for(0.002);
        assert_int_equal(waitid(P_PID, (id_t)child, &about, WEXITED | WNOHANG | WNOWAIT), 0);
    }
}

static size_t count_entries(const char *folder)
{
    void *state = (void *)folder;
    return scratch_entries(&state);
}

/* One process of a run of 120 updates: a new run where there is none yet. */
static pid_t go_on(const char *folder, const char *threads, const char *errors)
{
    if (size_of(folder, "settings.json") >= 0)
        return start(resuming, WORDS("--resume", folder, "--threads", threads), errors);
    return start(
        tiny,
        WORDS("--out", folder, "--threads", threads, "--updates", "120", "--checkpoint-every", "4"),
        errors);
}

static void test_kill(void **state)
{
    scratch_path whole = scratch_file(state, "whole"), torn = scratch_file(state, "torn");
    scratch_path errors = scratch_file(state, "errors");
    assert_finished(go_on(whole.text, "1", errors.text), errors.text);
    long long log_size = size_of(whole.text, "log.csv");
    imp_random random =
        imp_random_start((uint64_t)time(NULL), IMP_STREAM_ORDER, (uint64_t)getpid());
    static const char *const threads[] = {"1", "2", "3"};
    enum { ROUNDS = 12 };
    int killed = 0;
    for (int round = 0; round < ROUNDS; round++) { /* each gets a little further than the last */
        pid_t child = go_on(torn.text, threads[round % 3], errors.text);
        double progress = (round + imp_random_uniform(&random)) / (ROUNDS + 1);
        wait_until(torn.text, "log.csv", (long long)((double)log_size * progress), child);
        pause_for(0.01 * imp_random_uniform(&random));
        kill(child, SIGKILL);
        killed += WIFSIGNALED(wait_for(child));
    }
    assert_true(killed > 0);
    assert_finished(go_on(torn.text, "2", errors.text), errors.text);
    assert_same_file(whole.text, torn.text, "model.safetensors");
    assert_same_file(whole.text, torn.text, "settings.json");
    assert_same_checkpoint(whole.text, torn.text);
    assert_same_log(whole.text, torn.text);
    assert_int_equal(count_entries(torn.text), count_entries(whole.text));
}

static unsigned long long update_it_stopped_after(const char *messages)
{
    unsigned long long update;
    for (; *messages; messages++)
        if (sscanf(messages, "stopped after update %llu;", &update) == 1)
            return update;
    fail_msg("the command does not say that it stopped");
    return 0;
}

/* Ctrl-C ends the update, saves and says how to go on. */
static void test_interrupt(void **state)
{
    scratch_path whole = scratch_file(state, "whole"), torn = scratch_file(state, "torn");
    scratch_path errors = scratch_file(state, "errors");
    /* More updates than anyone waits for: only the signal can end them, and it has to save what
     * they did. */
    pid_t child = start(tiny,
                        WORDS("--out", torn.text, "--threads", "2", "--updates", "1000000000",
                              "--checkpoint-every", "1000000000"),
                        errors.text);
    wait_until(torn.text, "model.safetensors", 1, child);
    kill(child, SIGINT);
    int status = wait_for(child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    char *text = read_text(torn.text, "../errors");
    unsigned long long stopped = update_it_stopped_after(text);
    assert_non_null(strstr(text, "imp train --resume"));
    imp_release(text);

    char updates[24];
    snprintf(updates, sizeof updates, "%llu", stopped + 40);
    assert_finished(start(resuming,
                          WORDS("--resume", torn.text, "--threads", "1", "--updates", updates,
                                "--checkpoint-every", "1000"),
                          errors.text),
                    errors.text);
    assert_finished(start(tiny,
                          WORDS("--out", whole.text, "--threads", "2", "--updates", updates,
                                "--checkpoint-every", "1000"),
                          errors.text),
                    errors.text);
    assert_same_file(whole.text, torn.text, "model.safetensors");
    assert_same_checkpoint(whole.text, torn.text);
    assert_same_log(whole.text, torn.text);
}

int main(void)
{
    if (!getenv("IMP")) {
        puts("skipped: the variable IMP does not name the command");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kill, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_interrupt, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
