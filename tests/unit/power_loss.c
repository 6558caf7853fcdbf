/* power_loss.c - keeps the changes of a folder, and plays them again with parts left out. */
#define _GNU_SOURCE

#include "power_loss.h"

#include <dirent.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/checksum.h"
#include "system_calls.h"

enum { MOST_CHANGES = 4000, MOST_NAMES = 64, MOST_FILES = 1000, MOST_STATES = 20000 };

/* A change that is kept: its texts and bytes are its own, its file a number that no other file of
 * the recording has. */
typedef struct kept {
    file_change what;
    size_t file;
} kept;

static struct {
    char folder[PATH_MAX];
    kept changes[MOST_CHANGES];
    size_t count;
    size_t inode[MOST_FILES]; /* of each file, the newest last */
    size_t files;
} record;

static char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

/* The part of a path below the folder, or NULL if it is not there. */
static const char *below(const char *path)
{
    size_t length = strlen(record.folder);
    if (!path || strncmp(path, record.folder, length) != 0)
        return NULL;
    return path[length] == '/' ? path + length + 1 : path[length] == '\0' ? "" : NULL;
}

static size_t file_of(size_t inode)
{
    for (size_t i = record.files; i > 0; i--)
        if (record.inode[i - 1] == inode)
            return i - 1;
    return MOST_FILES;
}

static size_t add_file(size_t inode)
{
    assert_true(record.files < MOST_FILES);
    record.inode[record.files] = inode;
    return record.files++;
}

static void listen(const file_change *what, void *context)
{
    (void)context;
    bool named =
        what->kind != CHANGE_WRITE && what->kind != CHANGE_CUT && what->kind != CHANGE_SYNC;
    if (named && !below(what->path))
        return;
    size_t file = what->kind == CHANGE_CREATE ? add_file(what->inode) : file_of(what->inode);
    bool folder = what->kind == CHANGE_SYNC && file == MOST_FILES;
    if (folder ? !below(what->path) : !named && file == MOST_FILES)
        return;
    assert_true(record.count < MOST_CHANGES);
    kept *to = &record.changes[record.count++];
    *to = (kept){.what = *what, .file = file};
    to->what.path = copy_text(folder || named ? below(what->path) : NULL);
    to->what.to = copy_text(below(what->to));
    if (what->kind == CHANGE_WRITE) {
        void *bytes = malloc(what->size);
        memcpy(bytes, what->data, what->size);
        to->what.data = bytes;
    }
}

/* ---- a file system in memory ---- */

typedef struct content {
    uint8_t *bytes;
    size_t size;
} content;

typedef struct name {
    char *path;
    size_t file; /* MOST_FILES: a folder */
} name;

typedef struct disk {
    content files[MOST_FILES];
    name names[MOST_NAMES];
    size_t count;
} disk;

static void set_name(disk *on, const char *path, size_t file)
{
    for (size_t i = 0; i < on->count; i++)
        if (strcmp(on->names[i].path, path) == 0) {
            on->names[i].file = file;
            return;
        }
    assert_true(on->count < MOST_NAMES);
    on->names[on->count++] = (name){strdup(path), file};
}

static void remove_name(disk *on, const char *path)
{
    for (size_t i = 0; i < on->count; i++)
        if (strcmp(on->names[i].path, path) == 0) {
            free(on->names[i].path);
            on->names[i] = on->names[--on->count];
            return;
        }
}

static void resize(content *file, size_t size)
{
    if (size > file->size) {
        file->bytes = realloc(file->bytes, size);
        memset(file->bytes + file->size, 0, size - file->size);
    }
    file->size = size;
}

static void apply(disk *on, const kept *change)
{
    const file_change *what = &change->what;
    content *file = change->file < MOST_FILES ? &on->files[change->file] : NULL;
    switch (what->kind) {
    case CHANGE_WRITE:
        if (what->offset + what->size > file->size)
            resize(file, what->offset + what->size);
        memcpy(file->bytes + what->offset, what->data, what->size);
        break;
    case CHANGE_CUT:
        resize(file, what->size);
        break;
    case CHANGE_CREATE:
    case CHANGE_FOLDER:
        set_name(on, what->path, what->kind == CHANGE_FOLDER ? MOST_FILES : change->file);
        break;
    case CHANGE_RENAME:
        remove_name(on, what->path);
        set_name(on, what->to, change->file);
        break;
    case CHANGE_LINK:
        set_name(on, what->to, change->file);
        break;
    case CHANGE_UNLINK:
        remove_name(on, what->path);
        break;
    case CHANGE_SYNC:
        break;
    }
}

static void clear(disk *on)
{
    for (size_t i = 0; i < record.files; i++)
        free(on->files[i].bytes);
    for (size_t i = 0; i < on->count; i++)
        free(on->names[i].path);
    memset(on, 0, sizeof *on);
}

/* ---- what is safe ---- */

static bool is_data(const kept *change)
{
    return change->what.kind == CHANGE_WRITE || change->what.kind == CHANGE_CUT;
}

/* The folder that a name is in: its length. */
static size_t parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

/* Whether a change was flushed by one of those before `end`. */
static bool is_safe(size_t index, size_t end)
{
    const kept *change = &record.changes[index];
    if (change->what.kind == CHANGE_SYNC)
        return true;
    for (size_t i = index + 1; i < end; i++) {
        const kept *sync = &record.changes[i];
        if (sync->what.kind != CHANGE_SYNC)
            continue;
        if (is_data(change)
                ? sync->file == change->file
                : sync->file == MOST_FILES &&
                      strlen(sync->what.path) == parent(change->what.path) &&
                      strncmp(sync->what.path, change->what.path, strlen(sync->what.path)) == 0)
            return true;
    }
    return false;
}

/* Which of the changes that are not safe are there. */
typedef enum survival { NONE, ALL, FIRST, LAST, SURVIVALS } survival;

static bool survives(survival how, size_t rank, size_t count)
{
    return how == ALL || (how == FIRST && rank == 0) || (how == LAST && rank + 1 == count);
}

/* The disk after the first `end` changes and the loss. */
static void lose_power(disk *on, size_t end, survival data, survival names)
{
    size_t count[2] = {0}, rank[2] = {0};
    const survival how[2] = {names, data};
    for (size_t i = 0; i < end; i++)
        count[is_data(&record.changes[i])] += !is_safe(i, end);
    for (size_t i = 0; i < end; i++) {
        const kept *change = &record.changes[i];
        bool kind = is_data(change);
        if (is_safe(i, end) || survives(how[kind], rank[kind]++, count[kind]))
            apply(on, change);
    }
}

/* ---- making it real ---- */

static void remove_tree(const char *path)
{
    DIR *stream = opendir(path);
    if (!stream) {
        unlink(path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(stream));) {
        char inner[PATH_MAX];
        snprintf(inner, sizeof inner, "%.3000s/%.255s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_tree(inner);
    }
    closedir(stream);
    rmdir(path);
}

static bool has_parent(const disk *on, const char *path)
{
    size_t length = parent(path);
    for (size_t i = 0; i < on->count; i++)
        if (strlen(on->names[i].path) == length && on->names[i].file == MOST_FILES &&
            strncmp(on->names[i].path, path, length) == 0)
            return true;
    return length == 0;
}

/* Folders first; what is in a folder that is not there is lost with it. */
static void write_out(const disk *on, const char *where)
{
    remove_tree(where);
    assert_int_equal(mkdir(where, 0700), 0);
    for (int folders = 1; folders >= 0; folders--)
        for (size_t i = 0; i < on->count; i++) {
            char path[PATH_MAX];
            if ((on->names[i].file == MOST_FILES) != folders || !has_parent(on, on->names[i].path))
                continue;
            snprintf(path, sizeof path, "%.2000s/%.2000s", where, on->names[i].path);
            if (folders) {
                assert_int_equal(mkdir(path, 0700), 0);
                continue;
            }
            FILE *file = fopen(path, "wb");
            assert_non_null(file);
            const content *inside = &on->files[on->names[i].file];
            assert_int_equal(
                fwrite(inside->bytes ? inside->bytes : (uint8_t *)"", 1, inside->size, file),
                inside->size);
            assert_int_equal(fclose(file), 0);
        }
}

/* The same for the same names and bytes, in whatever order the names are. */
static uint64_t digest(const disk *on)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < on->count; i++) {
        uint64_t parts[2] = {imp_checksum(on->names[i].path, strlen(on->names[i].path)), 1};
        if (on->names[i].file < MOST_FILES) {
            const content *inside = &on->files[on->names[i].file];
            parts[1] = inside->size > 0 ? imp_checksum(inside->bytes, inside->size) : 0;
        }
        sum += imp_checksum(parts, sizeof parts);
    }
    return sum;
}

/* What is there at the beginning becomes changes that are flushed. */
static void record_present(const char *path)
{
    DIR *stream = opendir(path);
    assert_non_null(stream);
    for (struct dirent *entry; (entry = readdir(stream));) {
        char inner[PATH_MAX];
        struct stat about;
        snprintf(inner, sizeof inner, "%.3000s/%.255s", path, entry->d_name);
        if (entry->d_name[0] == '.' || stat(inner, &about) != 0)
            continue;
        if (S_ISDIR(about.st_mode)) {
            listen(&(file_change){.kind = CHANGE_FOLDER, .path = inner}, NULL);
            record_present(inner);
            continue;
        }
        uint8_t *bytes = malloc((size_t)about.st_size + 1);
        FILE *file = fopen(inner, "rb");
        assert_int_equal(fread(bytes, 1, (size_t)about.st_size, file), about.st_size);
        fclose(file);
        listen(&(file_change){.kind = CHANGE_CREATE, .path = inner, .inode = (size_t)about.st_ino},
               NULL);
        listen(&(file_change){.kind = CHANGE_WRITE,
                              .inode = (size_t)about.st_ino,
                              .data = bytes,
                              .size = (size_t)about.st_size},
               NULL);
        listen(&(file_change){.kind = CHANGE_SYNC, .inode = (size_t)about.st_ino}, NULL);
        free(bytes);
    }
    closedir(stream);
    listen(&(file_change){.kind = CHANGE_SYNC, .path = path, .inode = SIZE_MAX}, NULL);
}

static size_t first_change; /* of the recording proper */

void power_loss_watch(const char *folder)
{
    memset(&record, 0, sizeof record);
    assert_non_null(realpath(folder, record.folder));
    record_present(record.folder);
    first_change = record.count;
    system_calls_tell(listen, NULL);
}

size_t power_loss_replay(const char *where, power_loss_check *check, power_loss_check *settled,
                         void *context)
{
    static uint64_t seen[MOST_STATES];
    static disk on;
    size_t states = 0;
    system_calls_tell(NULL, NULL);
    for (size_t end = first_change; end <= record.count; end++)
        for (int data = 0; data < SURVIVALS; data++)
            for (int names = 0; names < SURVIVALS; names++) {
                lose_power(&on, end, (survival)data, (survival)names);
                uint64_t state = digest(&on);
                bool known = false;
                for (size_t i = 0; i < states && !known; i++)
                    known = seen[i] == state;
                if (!known) {
                    assert_true(states < MOST_STATES);
                    seen[states++] = state;
                    write_out(&on, where);
                    check(where, context);
                }
                clear(&on);
            }
    lose_power(&on, record.count, NONE, NONE);
    write_out(&on, where);
    settled(where, context);
    clear(&on);
    for (size_t i = 0; i < record.count; i++) {
        free((void *)record.changes[i].what.path);
        free((void *)record.changes[i].what.to);
        free((void *)record.changes[i].what.data);
    }
    remove_tree(where);
    return states;
}
