/*
 * test_file.c - whole files in, and files replaced in one step or not at all.
 *
 * Each test of the writer ends by counting what is in the folder: a temporary file left behind
 * would be the first sign of trouble.
 */
#define _DEFAULT_SOURCE

#include <dirent.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "failing_allocator.h"
#include "scratch.h"

#define OLD "the old content"
#define NEW "what replaces it"

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

/* ---- reading ---- */

static void reads_a_file_whole(void **state)
{
    const size_t sizes[] = {0, 1, 4095, 4096, 65535, 65536, 65537, 300000};
    scratch_path path = scratch_file(state, "file");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *expected = malloc(sizes[i] + 1);
        for (size_t j = 0; j < sizes[i]; j++)
            expected[j] = (unsigned char)(j * 31 >> 3);
        scratch_write(path.text, expected, sizes[i]);

        unsigned char *data;
        size_t size;
        imp_error error;
        /* The limit is inclusive. */
        assert_int_equal(imp_file_read(path.text, sizes[i], &data, &size, &error), IMP_OK);
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(data, expected, size);
        assert_int_equal(data[size], 0);
        imp_release(data);
        assert_int_equal(imp_file_read(path.text, SIZE_MAX, &data, &size, &error), IMP_OK);
        assert_int_equal(size, sizes[i]);
        imp_release(data);
        free(expected);
    }
}

static void refuses_to_read_beyond_the_limit(void **state)
{
    scratch_path path = scratch_file(state, "file");
    scratch_write(path.text, "12345", 5);
    unsigned char *data;
    size_t size;
    imp_error error;
    assert_int_equal(imp_file_read(path.text, 4, &data, &size, &error), IMP_EUNSUPPORTED);
    assert_null(data);
    assert_non_null(strstr(error.message, "it holds 5 bytes, and at most 4 are allowed"));
    assert_int_equal(imp_file_read(path.text, 0, &data, &size, NULL), IMP_EUNSUPPORTED);
}

static void reads_what_does_not_know_its_size(void **state)
{
    (void)state;
    unsigned char *data;
    size_t size;
    imp_error error;
    assert_int_equal(imp_file_read("/proc/self/status", 1 << 20, &data, &size, &error), IMP_OK);
    assert_true(size > 100);
    assert_non_null(strstr((char *)data, "VmSize"));
    imp_release(data);
    assert_int_equal(imp_file_read("/proc/self/status", 10, &data, &size, &error),
                     IMP_EUNSUPPORTED);
    assert_non_null(strstr(error.message, "more than the 10 bytes allowed"));
}

/* A child writes `size` bytes into a named pipe that the library reads. */
static imp_status read_from_pipe(const char *path, size_t size, size_t limit, unsigned char **data,
                                 size_t *got, imp_error *error)
{
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGPIPE, SIG_IGN);
        FILE *pipe = fopen(path, "wb");
        for (size_t i = 0; i < size && pipe != NULL; i++)
            if (fputc((int)(i % 251), pipe) == EOF)
                break;
        if (pipe != NULL)
            fclose(pipe);
        _exit(0);
    }
    imp_status status = imp_file_read(path, limit, data, got, error);
    waitpid(child, NULL, 0);
    remove(path);
    return status;
}

static void reads_a_pipe(void **state)
{
    const size_t sizes[] = {0, 10, 65536, 250000};
    scratch_path path = scratch_file(state, "pipe");
    unsigned char *data;
    size_t size;
    imp_error error;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(read_from_pipe(path.text, sizes[i], sizes[i], &data, &size, &error),
                         IMP_OK);
        assert_int_equal(size, sizes[i]);
        for (size_t j = 0; j < size; j++)
            assert_int_equal(data[j], j % 251);
        imp_release(data);
    }
    assert_int_equal(read_from_pipe(path.text, 100000, 99999, &data, &size, &error),
                     IMP_EUNSUPPORTED);
    assert_null(data);
}

static void says_why_it_cannot_read(void **state)
{
    unsigned char *data;
    size_t size;
    imp_error error;
    size_t before = open_descriptors();
    assert_int_equal(imp_file_read("no/such/file", 100, &data, &size, &error), IMP_EIO);
    assert_string_equal(error.message, "cannot read 'no/such/file': No such file or directory");
    assert_int_equal(imp_file_read(*state, 100, &data, &size, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "Is a directory"));
    assert_null(data);
    assert_int_equal(open_descriptors(), before);
}

/* A pipe of this size makes the buffer grow twice. */
static void reading_survives_lack_of_memory(void **state)
{
    scratch_path path = scratch_file(state, "pipe");
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        unsigned char *data;
        size_t size;
        imp_error error;
        imp_status status = read_from_pipe(path.text, 150000, 1 << 20, &data, &size, &error);
        imp_release(data);
        failing_allocator_expect(&memory, status);
    }
    assert_int_equal(memory.rounds, 4);
}

/* ---- replacing ---- */

static imp_status replace(const char *path, const char *text, imp_error *error)
{
    imp_writer writer;
    imp_status status = imp_writer_open(&writer, path, error);
    if (status == IMP_OK)
        status = imp_writer_write(&writer, text, strlen(text), error);
    if (status == IMP_OK)
        status = imp_writer_commit(&writer, error);
    return status;
}

static void writes_and_replaces(void **state)
{
    scratch_path path = scratch_file(state, "file");
    imp_error error;
    size_t before = open_descriptors();
    assert_int_equal(replace(path.text, OLD, &error), IMP_OK);
    assert_true(scratch_holds(path.text, OLD, strlen(OLD)));
    assert_int_equal(replace(path.text, NEW, &error), IMP_OK);
    assert_true(scratch_holds(path.text, NEW, strlen(NEW)));
    assert_int_equal(replace(path.text, "", &error), IMP_OK);
    assert_true(scratch_holds(path.text, "", 0));
    assert_int_equal(scratch_entries(state), 1);
    assert_int_equal(open_descriptors(), before);
}

static void target_is_old_until_the_commit(void **state)
{
    scratch_path path = scratch_file(state, "file");
    imp_error error;
    imp_writer writer;
    scratch_write(path.text, OLD, strlen(OLD));
    assert_int_equal(imp_writer_open(&writer, path.text, &error), IMP_OK);
    assert_int_equal(imp_writer_write(&writer, NEW, 4, &error), IMP_OK);
    assert_int_equal(imp_writer_write(&writer, NULL, 0, &error), IMP_OK);
    assert_int_equal(imp_writer_write(&writer, &NEW[4], strlen(NEW) - 4, &error), IMP_OK);
    assert_true(scratch_holds(path.text, OLD, strlen(OLD)));
    assert_int_equal(scratch_entries(state), 2);
    assert_int_equal(imp_writer_commit(&writer, &error), IMP_OK);
    assert_true(scratch_holds(path.text, NEW, strlen(NEW)));
    assert_int_equal(scratch_entries(state), 1);
}

static void abandoning_changes_nothing(void **state)
{
    scratch_path path = scratch_file(state, "file");
    imp_error error;
    imp_writer writer = {0};
    imp_writer_abandon(&writer); /* zeroed */
    size_t before = open_descriptors();
    scratch_write(path.text, OLD, strlen(OLD));
    assert_int_equal(imp_writer_open(&writer, path.text, &error), IMP_OK);
    assert_int_equal(imp_writer_write(&writer, NEW, strlen(NEW), &error), IMP_OK);
    imp_writer_abandon(&writer);
    imp_writer_abandon(&writer); /* closed */
    assert_true(scratch_holds(path.text, OLD, strlen(OLD)));
    assert_int_equal(scratch_entries(state), 1);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(imp_writer_write(&writer, NEW, 1, &error), IMP_EINVAL);
    assert_int_equal(imp_writer_commit(&writer, &error), IMP_EINVAL);
}

static void asking_changes_nothing(void **state)
{
    scratch_path path = scratch_file(state, "file");
    imp_error error;
    size_t before = open_descriptors();
    assert_int_equal(imp_writer_probe(path.text, &error), IMP_OK);
    assert_int_equal(scratch_entries(state), 0);
    scratch_write(path.text, OLD, strlen(OLD));
    assert_int_equal(imp_writer_probe(path.text, &error), IMP_OK);
    assert_true(scratch_holds(path.text, OLD, strlen(OLD)));
    assert_int_equal(scratch_entries(state), 1);
    assert_int_equal(imp_writer_probe("/no/such/file", &error), IMP_EIO);
    assert_int_equal(open_descriptors(), before);
}

/* A limit on the size of files stands in for a full disk. */
static void failed_write_changes_nothing(void **state)
{
    scratch_path path = scratch_file(state, "file");
    scratch_write(path.text, OLD, strlen(OLD));
    char *large = calloc(1, 100000);
    size_t before = open_descriptors();

    struct rlimit unlimited, limited;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
    limited = (struct rlimit){.rlim_cur = 50000, .rlim_max = unlimited.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limited), 0);
    imp_error error;
    imp_writer writer;
    imp_status opened = imp_writer_open(&writer, path.text, &error);
    imp_status written = imp_writer_write(&writer, large, 100000, &error);
    imp_status committed = imp_writer_commit(&writer, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
    signal(SIGXFSZ, SIG_DFL);
    free(large);

    assert_int_equal(opened, IMP_OK);
    assert_int_equal(written, IMP_EIO);
    assert_int_equal(committed, IMP_EINVAL); /* it has abandoned itself */
    assert_non_null(strstr(error.message, "cannot write '"));
    assert_non_null(strstr(error.message, "file': File too large"));
    assert_true(scratch_holds(path.text, OLD, strlen(OLD)));
    assert_int_equal(scratch_entries(state), 1);
    assert_int_equal(open_descriptors(), before);
}

static void failed_rename_leaves_nothing(void **state)
{
    scratch_path path = scratch_file(state, "file");
    imp_error error;
    imp_writer writer;
    size_t before = open_descriptors();
    assert_int_equal(imp_writer_open(&writer, path.text, &error), IMP_OK);
    assert_int_equal(mkdir(path.text, 0700), 0); /* somebody was faster */
    assert_int_equal(imp_writer_commit(&writer, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "Is a directory"));
    assert_int_equal(scratch_entries(state), 1);
    assert_int_equal(open_descriptors(), before);
}

static void modes_are_kept(void **state)
{
    imp_error error;
    mode_t mask = umask(027);
    scratch_path fresh = scratch_file(state, "fresh");
    assert_int_equal(replace(fresh.text, NEW, &error), IMP_OK);
    assert_int_equal(mode_of(fresh.text), 0640);

    const mode_t modes[] = {0600, 0644, 0666, 0755, 0400};
    scratch_path path = scratch_file(state, "file");
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        scratch_write(path.text, OLD, strlen(OLD));
        assert_int_equal(chmod(path.text, modes[i]), 0);
        assert_int_equal(replace(path.text, NEW, &error), IMP_OK);
        assert_int_equal(mode_of(path.text), modes[i]);
        assert_int_equal(remove(path.text), 0);
    }
    umask(mask);
}

static void symbolic_links_stay_links(void **state)
{
    imp_error error;
    scratch_path file = scratch_file(state, "file"), link = scratch_file(state, "link");
    scratch_write(file.text, OLD, strlen(OLD));
    assert_int_equal(symlink("file", link.text), 0);
    assert_int_equal(replace(link.text, NEW, &error), IMP_OK);
    assert_true(scratch_holds(file.text, NEW, strlen(NEW)));
    struct stat about;
    assert_int_equal(lstat(link.text, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(scratch_entries(state), 2);

    assert_int_equal(remove(file.text), 0);
    assert_int_equal(replace(link.text, NEW, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "a symbolic link that points to nothing"));
    assert_int_equal(scratch_entries(state), 1);

    scratch_path circle = scratch_file(state, "circle");
    assert_int_equal(symlink("circle", circle.text), 0);
    assert_int_equal(replace(circle.text, NEW, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "Too many levels of symbolic links"));
}

static void refuses_what_is_not_a_file(void **state)
{
    imp_error error;
    scratch_path pipe = scratch_file(state, "pipe");
    assert_int_equal(mkfifo(pipe.text, 0600), 0);
    assert_int_equal(replace(pipe.text, NEW, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "a device or a pipe, not a regular file"));
    assert_int_equal(replace("/dev/null", NEW, &error), IMP_EINVAL);
    assert_int_equal(replace(*state, NEW, &error), IMP_EINVAL);
    assert_non_null(strstr(error.message, "it is a folder"));
    assert_int_equal(imp_writer_probe("", &error), IMP_EIO); /* not only when it is renamed */
    assert_string_equal(error.message, "cannot write a file whose name is empty");
    assert_int_equal(replace("no/such/folder/file", NEW, &error), IMP_EIO);
    assert_string_equal(error.message,
                        "cannot write 'no/such/folder/file': No such file or directory");
    assert_int_equal(scratch_entries(state), 1);
}

static void long_names_work(void **state)
{
    imp_error error;
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    assert_int_equal(replace(scratch_file(state, name).text, NEW, &error), IMP_OK);
    assert_int_equal(scratch_entries(state), 1);

    char *path = malloc(10001);
    memset(path, 'p', 10000);
    path[10000] = '\0';
    assert_int_equal(replace(path, NEW, &error), IMP_EIO);
    free(path);
}

static void relative_paths_work(void **state)
{
    imp_error error;
    char before[1024];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(*state), 0);
    imp_status status = replace("file", NEW, &error);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(status, IMP_OK);
    assert_true(scratch_holds(scratch_file(state, "file").text, NEW, strlen(NEW)));
    assert_int_equal(scratch_entries(state), 1);
}

/* Whether permissions hold for this thread: root is above them, by capabilities it can do without.
 */
static void obey_permissions(bool obey)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    assert_int_equal(syscall(SYS_capget, &header, data), 0);
    data[0].effective = obey ? data[0].permitted & ~(1U << CAP_DAC_OVERRIDE) : data[0].permitted;
    assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

static void read_only_folder_is_refused(void **state)
{
    imp_error error;
    scratch_path path = scratch_file(state, "file");
    scratch_write(path.text, OLD, strlen(OLD));
    assert_int_equal(chmod(*state, 0500), 0);
    obey_permissions(true);
    imp_status status = replace(path.text, NEW, &error);
    obey_permissions(false);
    assert_int_equal(chmod(*state, 0700), 0);
    assert_int_equal(status, IMP_EIO);
    assert_non_null(strstr(error.message, "Permission denied"));
    assert_true(scratch_holds(path.text, OLD, strlen(OLD)));
}

/* ---- what others left ---- */

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void what_killed_processes_left_is_swept(void **state)
{
    imp_error error;
    scratch_path path = scratch_file(state, "file");
    scratch_path stale = scratch_file(state, ".imp-0123456789abcdef.tmp");
    pid_t child = fork();
    if (child == 0) {
        imp_writer writer;
        if (imp_writer_open(&writer, path.text, NULL) == IMP_OK)
            imp_writer_write(&writer, NEW, 4, NULL);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    assert_int_equal(scratch_entries(state), 1);
    scratch_write(stale.text, OLD, 3);
    assert_int_equal(replace(path.text, NEW, &error), IMP_OK);
    assert_int_equal(scratch_entries(state), 1);
    assert_true(scratch_holds(path.text, NEW, strlen(NEW)));
}

static void what_somebody_writes_is_not_swept(void **state)
{
    imp_error error;
    scratch_path path = scratch_file(state, "file"), other = scratch_file(state, "other");
    int ready[2], go_on[2];
    char byte;
    assert_int_equal(pipe(ready) | pipe(go_on), 0);
    pid_t child = fork();
    if (child == 0) {
        imp_writer writer;
        bool fine = imp_writer_open(&writer, path.text, NULL) == IMP_OK &&
                    imp_writer_write(&writer, NEW, strlen(NEW), NULL) == IMP_OK;
        fine = fine && write(ready[1], "r", 1) == 1 && read(go_on[0], &byte, 1) == 1;
        _exit(fine && imp_writer_commit(&writer, NULL) == IMP_OK ? 0 : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(replace(other.text, OLD, &error), IMP_OK);
    assert_int_equal(scratch_entries(state), 2);
    assert_int_equal(write(go_on[1], "g", 1), 1);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_true(scratch_holds(path.text, NEW, strlen(NEW)));
    assert_int_equal(scratch_entries(state), 2);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(go_on[i]);
    }
}

static void writers_beside_each_other_do_not_sweep(void **state)
{
    enum { WRITERS = 4, FILES = 300 };
    pid_t children[WRITERS];
    for (int w = 0; w < WRITERS; w++) {
        char name[] = {(char)('a' + w), 0};
        scratch_path path = scratch_file(state, name);
        children[w] = fork();
        if (children[w] == 0) {
            bool fine = true;
            for (int i = 0; i < FILES && fine; i++)
                fine = replace(path.text, NEW, NULL) == IMP_OK;
            _exit(fine ? 0 : 1);
        }
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        waitpid(children[w], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(scratch_entries(state), WRITERS);
}

static void what_is_not_ours_is_not_swept(void **state)
{
    imp_error error;
    const char *const names[] = {".imp-0123456789abcde.tmp", ".imp-0123456789abcdeg.tmp",
                                 ".imp-0123456789abcdef.tmp2", "imp-0123456789abcdef.tmp",
                                 ".imp-0123456789ABCDEF.tmp"};
    enum { NAMES = sizeof names / sizeof *names };
    for (size_t i = 0; i < NAMES; i++)
        scratch_write(scratch_file(state, names[i]).text, OLD, 3);
    scratch_path link = scratch_file(state, ".imp-0000000000000000.tmp");
    scratch_path pipe = scratch_file(state, ".imp-1111111111111111.tmp");
    assert_int_equal(symlink(names[0], link.text), 0);
    assert_int_equal(mkfifo(pipe.text, 0600), 0);
    assert_int_equal(replace(scratch_file(state, "file").text, NEW, &error), IMP_OK);
    assert_int_equal(scratch_entries(state), NAMES + 3);
}

/* ---- other ends of writing ---- */

static imp_status write_only(imp_writer *writer, const char *path, const char *text)
{
    imp_status status = imp_writer_open(writer, path, NULL);
    return status ? status : imp_writer_write(writer, text, strlen(text), NULL);
}

static void what_was_there_can_be_kept(void **state)
{
    scratch_path path = scratch_file(state, "file"), kept = scratch_file(state, "kept");
    imp_error error;
    imp_writer writer;
    /* Nothing is there to be kept. */
    assert_int_equal(write_only(&writer, path.text, "1"), IMP_OK);
    assert_int_equal(imp_writer_commit_keeping(&writer, kept.text, &error), IMP_OK);
    assert_int_equal(scratch_entries(state), 1);
    for (int round = 2; round < 5; round++) {
        char text[] = {(char)('0' + round), '\0'}, before[] = {(char)('0' + round - 1), '\0'};
        assert_int_equal(write_only(&writer, path.text, text), IMP_OK);
        assert_int_equal(imp_writer_commit_keeping(&writer, kept.text, &error), IMP_OK);
        assert_true(scratch_holds(path.text, text, 1));
        assert_true(scratch_holds(kept.text, before, 1));
        assert_int_equal(scratch_entries(state), 2);
    }
    /* Both names already stand for the same file. */
    assert_int_equal(remove(kept.text), 0);
    assert_int_equal(link(path.text, kept.text), 0);
    assert_int_equal(write_only(&writer, path.text, "5"), IMP_OK);
    assert_int_equal(imp_writer_commit_keeping(&writer, kept.text, &error), IMP_OK);
    assert_true(scratch_holds(path.text, "5", 1) && scratch_holds(kept.text, "4", 1));
    assert_int_equal(scratch_entries(state), 2);
    /* It cannot be kept: then it is not replaced either. */
    assert_int_equal(remove(kept.text), 0);
    assert_int_equal(mkdir(kept.text, 0700), 0);
    assert_int_equal(write_only(&writer, path.text, "6"), IMP_OK);
    assert_int_equal(imp_writer_commit_keeping(&writer, kept.text, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "cannot keep '"));
    assert_true(scratch_holds(path.text, "5", 1));
    assert_int_equal(scratch_entries(state), 2);
    assert_int_equal(rmdir(kept.text), 0);
}

static void of_two_new_files_the_first_stays(void **state)
{
    scratch_path path = scratch_file(state, "file");
    imp_error error;
    imp_writer one, two;
    assert_int_equal(write_only(&one, path.text, "1"), IMP_OK);
    assert_int_equal(write_only(&two, path.text, "2"), IMP_OK);
    assert_false(exists(path.text));
    assert_int_equal(imp_writer_commit_new(&two, &error), IMP_OK);
    assert_int_equal(imp_writer_commit_new(&one, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "File exists"));
    assert_true(scratch_holds(path.text, "2", 1));
    assert_int_equal(scratch_entries(state), 1);
}

static void writing_survives_lack_of_memory(void **state)
{
    scratch_path path = scratch_file(state, "file");
    scratch_write(path.text, OLD, strlen(OLD));
    failing_allocator memory = {0};
    while (failing_allocator_next(&memory)) {
        imp_error error;
        imp_status status = replace(path.text, NEW, &error);
        bool failed = failing_allocator_expect(&memory, status);
        assert_int_equal(scratch_entries(state), 1);
        assert_true(scratch_holds(path.text, failed ? OLD : NEW, strlen(failed ? OLD : NEW)));
    }
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(reads_a_file_whole),
        WITH_FOLDER(refuses_to_read_beyond_the_limit),
        WITH_FOLDER(reads_what_does_not_know_its_size),
        WITH_FOLDER(reads_a_pipe),
        WITH_FOLDER(says_why_it_cannot_read),
        WITH_FOLDER(reading_survives_lack_of_memory),
        WITH_FOLDER(writes_and_replaces),
        WITH_FOLDER(target_is_old_until_the_commit),
        WITH_FOLDER(abandoning_changes_nothing),
        WITH_FOLDER(asking_changes_nothing),
        WITH_FOLDER(failed_write_changes_nothing),
        WITH_FOLDER(failed_rename_leaves_nothing),
        WITH_FOLDER(modes_are_kept),
        WITH_FOLDER(symbolic_links_stay_links),
        WITH_FOLDER(refuses_what_is_not_a_file),
        WITH_FOLDER(long_names_work),
        WITH_FOLDER(relative_paths_work),
        WITH_FOLDER(read_only_folder_is_refused),
        WITH_FOLDER(what_killed_processes_left_is_swept),
        WITH_FOLDER(what_somebody_writes_is_not_swept),
        WITH_FOLDER(writers_beside_each_other_do_not_sweep),
        WITH_FOLDER(what_is_not_ours_is_not_swept),
        WITH_FOLDER(what_was_there_can_be_kept),
        WITH_FOLDER(of_two_new_files_the_first_stays),
        WITH_FOLDER(writing_survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
