/*
 * embedding_cache.c - one file of checksummed records per embedder, and the limit on all of them.
 */
#define _DEFAULT_SOURCE /* futimens, st_mtim */

#include "model/embedding_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/create.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/lock.h"
#include "base/memory.h"
#include "data/checksum.h"
#include "data/source.h"

static const char magic[32] = "imp vectors 1\n"; /* start of a file of records */

/* A record is a digest, the vector, and the checksum of both. */
enum { SUM = sizeof(uint64_t) };

/* A hash table from digests to records, numbered from 1; 0 is an empty slot. */
typedef struct place {
    uint8_t digest[IMP_CONTENT_BYTES];
    size_t record;
} place;

struct imp_embedding_cache {
    char *folder, *path;
    uint64_t limit;
    size_t dimensions, record; /* bytes of one */
    int descriptor;            /* of the file as it was opened; -1: there is none */
    place *table;              /* open addressing; a power of two */
    size_t room;
};

/* ---- digests ---- */

static void digest_texts(const char *const *texts, size_t count, char *hex)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx state;
    sha256_init(&state);
    for (size_t i = 0; i < count; i++) {
        const char *text = texts[i] ? texts[i] : "";
        sha256_update(&state, strlen(text) + 1, (const uint8_t *)text);
    }
    sha256_digest(&state, sizeof digest, digest);
    imp_hex(digest, sizeof digest, hex);
}

static char *file_of(const char *folder, const char *const *texts, size_t count, const char *ending)
{
    char name[2 * SHA256_DIGEST_SIZE + 16];
    digest_texts(texts, count, name);
    strcat(name, ending);
    return imp_source_join(folder, name);
}

/* ---- opening ---- */

static place *find_place(const imp_embedding_cache *cache, const uint8_t *digest)
{
    size_t at;
    memcpy(&at, digest, sizeof at);
    for (at &= cache->room - 1;; at = (at + 1) & (cache->room - 1)) {
        place *found = &cache->table[at];
        if (found->record == 0 || memcmp(found->digest, digest, IMP_CONTENT_BYTES) == 0)
            return found;
    }
}

static uint64_t size_of(int descriptor)
{
    struct stat about;
    return fstat(descriptor, &about) == 0 ? (uint64_t)about.st_size : 0;
}

/* How many complete records the open file has; 0 also if it is not a file of records. */
static size_t count_records(const imp_embedding_cache *cache)
{
    char head[sizeof magic];
    if (cache->descriptor < 0 ||
        pread(cache->descriptor, head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head, magic, sizeof magic) != 0)
        return 0;
    return (size_t)((size_of(cache->descriptor) - sizeof magic) / cache->record);
}

static off_t offset_of(const imp_embedding_cache *cache, size_t record)
{
    return (off_t)(sizeof magic + record * cache->record);
}

static bool index_records(imp_embedding_cache *cache)
{
    size_t count = count_records(cache);
    cache->room = 16;
    while (cache->room < 2 * count)
        cache->room *= 2;
    cache->table = imp_allocate_zeroed(cache->room, sizeof *cache->table);
    if (!cache->table)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint8_t digest[IMP_CONTENT_BYTES];
        if (pread(cache->descriptor, digest, sizeof digest, offset_of(cache, i)) !=
            (ssize_t)sizeof digest)
            break;
        place *found = find_place(cache, digest);
        memcpy(found->digest, digest, sizeof digest);
        found->record = i + 1; /* the newest one counts */
    }
    return true;
}

imp_status imp_embedding_cache_open(const char *folder, uint64_t limit,
                                    const imp_embedder_hello *embedder, imp_embedding_cache **out,
                                    imp_error *error)
{
    *out = NULL;
    imp_embedding_cache *cache = imp_allocate_zeroed(1, sizeof *cache);
    if (!cache)
        return imp_fail_memory(error, "a cache of vectors");
    char dimensions[24];
    snprintf(dimensions, sizeof dimensions, "%zu", embedder->dimensions);
    const char *const key[] = {embedder->name, embedder->version, dimensions};
    *cache = (imp_embedding_cache){
        .folder = imp_duplicate(folder),
        .path = file_of(folder, key, 3, ".vectors"),
        .limit = limit,
        .dimensions = embedder->dimensions,
        .record = IMP_CONTENT_BYTES + embedder->dimensions * sizeof(float) + SUM,
        .descriptor = -1,
    };
    bool made = cache->folder && cache->path;
    if (made) {
        cache->descriptor = open(cache->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        made = index_records(cache);
    }
    if (!made) {
        imp_embedding_cache_free(cache);
        return imp_fail_memory(error, "a cache of vectors");
    }
    if (cache->descriptor >= 0)
        futimens(cache->descriptor, NULL); /* used now */
    *out = cache;
    return IMP_OK;
}

void imp_embedding_cache_free(imp_embedding_cache *cache)
{
    if (!cache)
        return;
    if (cache->descriptor >= 0)
        close(cache->descriptor);
    imp_release(cache->table);
    imp_release(cache->folder);
    imp_release(cache->path);
    imp_release(cache);
}

/* ---- finding ---- */

bool imp_embedding_cache_find(const imp_embedding_cache *cache, const uint8_t *digest, float *row)
{
    const place *found = find_place(cache, digest);
    if (found->record == 0)
        return false;
    uint8_t *record = imp_allocate(cache->record, 1);
    bool good = record && pread(cache->descriptor, record, cache->record,
                                offset_of(cache, found->record - 1)) == (ssize_t)cache->record;
    if (good) {
        uint64_t sum;
        memcpy(&sum, record + cache->record - SUM, SUM);
        good = sum == imp_checksum(record, cache->record - SUM) &&
               memcmp(record, digest, IMP_CONTENT_BYTES) == 0;
    }
    if (good)
        memcpy(row, record + IMP_CONTENT_BYTES, cache->dimensions * sizeof *row);
    imp_release(record);
    return good;
}

/* ---- adding ---- */

static uint8_t *make_records(const imp_embedding_cache *cache, const uint8_t *digests,
                             const float *const *rows, size_t count)
{
    uint8_t *records = imp_allocate(count, cache->record);
    for (size_t i = 0; records && i < count; i++) {
        uint8_t *record = records + i * cache->record;
        memcpy(record, digests + i * IMP_CONTENT_BYTES, IMP_CONTENT_BYTES);
        memcpy(record + IMP_CONTENT_BYTES, rows[i], cache->dimensions * sizeof(float));
        uint64_t sum = imp_checksum(record, cache->record - SUM);
        memcpy(record + cache->record - SUM, &sum, SUM);
    }
    return records;
}

static bool write_all(int descriptor, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t done = write(descriptor, bytes, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        size -= (size_t)done;
    }
    return true;
}

/* Replaces the file by the newest `kept` of its `count` records followed by the new ones. */
static void replace(const imp_embedding_cache *cache, int descriptor, size_t count, size_t kept,
                    const uint8_t *records, size_t added)
{
    imp_writer writer;
    if (imp_writer_open(&writer, cache->path, NULL))
        return;
    uint8_t *record = imp_allocate(cache->record, 1);
    bool good = record && !imp_writer_write(&writer, magic, sizeof magic, NULL);
    for (size_t i = count - kept; i < count && good; i++)
        good = pread(descriptor, record, cache->record, offset_of(cache, i)) ==
                   (ssize_t)cache->record &&
               !imp_writer_write(&writer, record, cache->record, NULL);
    if (good && !imp_writer_write(&writer, records, added * cache->record, NULL))
        (void)imp_writer_commit(&writer, NULL);
    imp_writer_abandon(&writer);
    imp_release(record);
}

/* Appends to the existing file. Another process may have appended to it or replaced it meanwhile;
 * the lock keeps them apart. */
static void append(const imp_embedding_cache *cache, const uint8_t *records, size_t count)
{
    imp_lock lock;
    if (imp_lock_take(&lock, cache->path, NULL))
        return;
    imp_embedding_cache now = *cache;
    now.descriptor = open(cache->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    size_t old = count_records(&now), most = (size_t)(cache->limit / 2 / cache->record);
    if (old + count > most) {
        size_t half = most / 2 > count ? most / 2 - count : 0;
        if (count <= most)
            replace(&now, now.descriptor, old, half < old ? half : old, records, count);
    } else if (now.descriptor >= 0) {
        /* Truncates a partial record left by a killed process, and anything that is not a file of
         * records. */
        off_t end = offset_of(&now, old);
        bool good = ftruncate(now.descriptor, old > 0 ? end : 0) == 0 &&
                    (old > 0 || write_all(now.descriptor, (const uint8_t *)magic, sizeof magic)) &&
                    lseek(now.descriptor, end, SEEK_SET) == end &&
                    write_all(now.descriptor, records, count * cache->record);
        if (!good)
            (void)!ftruncate(now.descriptor, end);
    }
    if (now.descriptor >= 0)
        close(now.descriptor);
    imp_lock_release(&lock);
}

/* A file of the cache and its last use. */
typedef struct used_file {
    char name[2 * SHA256_DIGEST_SIZE + 16];
    struct timespec when;
    uint64_t size;
} used_file;

static int compare_used(const void *a, const void *b)
{
    const struct timespec *left = &((const used_file *)a)->when;
    const struct timespec *right = &((const used_file *)b)->when;
    if (left->tv_sec != right->tv_sec)
        return left->tv_sec < right->tv_sec ? -1 : 1;
    return left->tv_nsec < right->tv_nsec ? -1 : left->tv_nsec > right->tv_nsec;
}

enum { MOST_FILES = 1000 };

/* Whether file_of() makes such names: the folder may hold other files. */
static bool is_own(const char *name)
{
    size_t digits = strspn(name, "0123456789abcdef");
    return digits == 2 * SHA256_DIGEST_SIZE &&
           (strcmp(name + digits, ".vectors") == 0 || strcmp(name + digits, ".json") == 0);
}

/* Removes files, least recently used first, until the rest is within the limit. */
static void prune(const imp_embedding_cache *cache)
{
    DIR *folder = opendir(cache->folder);
    used_file *files = imp_allocate(2 * MOST_FILES, sizeof *files);
    size_t count = 0;
    uint64_t total = 0;
    struct dirent *entry;
    while (folder && files && count < 2 * MOST_FILES && (entry = readdir(folder))) {
        struct stat about;
        if (!is_own(entry->d_name) ||
            fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(about.st_mode))
            continue;
        memcpy(files[count].name, entry->d_name, strlen(entry->d_name) + 1);
        files[count].when = about.st_mtim;
        files[count++].size = (uint64_t)about.st_size;
        total += (uint64_t)about.st_size;
    }
    if (count > 0)
        qsort(files, count, sizeof *files, compare_used);
    for (size_t i = 0; i < count && (total > cache->limit || count - i > MOST_FILES); i++)
        if (unlinkat(dirfd(folder), files[i].name, 0) == 0)
            total -= files[i].size;
    imp_release(files);
    if (folder)
        closedir(folder);
}

/* Only its owner can read the folder: vectors reveal something about the user's files. */
static bool make_folder(const char *path)
{
    char *above = imp_duplicate(path), *slash = above ? strrchr(above, '/') : NULL;
    bool made = above != NULL;
    if (slash && slash > above) {
        *slash = '\0';
        made = !imp_make_folders(above, NULL);
    }
    imp_release(above);
    return made && (mkdir(path, 0700) == 0 || errno == EEXIST);
}

void imp_embedding_cache_add(imp_embedding_cache *cache, const uint8_t *digests,
                             const float *const *rows, size_t count)
{
    if (count == 0 || !make_folder(cache->folder))
        return;
    int descriptor = open(cache->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    uint8_t *records = descriptor >= 0 ? make_records(cache, digests, rows, count) : NULL;
    if (descriptor >= 0)
        close(descriptor); /* there is a file to lock now */
    if (!records)
        return;
    append(cache, records, count);
    imp_release(records);
    prune(cache);
}

/* ---- embedders' greetings ---- */

/* What determines, besides the command, which program it starts. */
static char *memory_file(const char *folder, const char *command)
{
    char *here = getcwd(NULL, 0);
    const char *const key[] = {command, here, getenv("PATH"), getenv("PYTHONPATH")};
    char *path = here ? file_of(folder, key, 4, ".json") : NULL;
    free(here);
    return path;
}

/* "size mtime" of a file, as a string; false if there is no such file. */
static bool mark_of(const char *path, char mark[64])
{
    struct stat about;
    if (path[0] != '/' || stat(path, &about) != 0)
        return false;
    snprintf(mark, 64, "%lld %lld.%09ld", (long long)about.st_size, (long long)about.st_mtim.tv_sec,
             about.st_mtim.tv_nsec);
    return true;
}

bool imp_embedder_recall(const char *folder, const char *command, imp_embedder_hello *hello)
{
    *hello = (imp_embedder_hello){0};
    char *path = memory_file(folder, command);
    unsigned char *text = NULL;
    size_t size;
    json_t *memory = NULL;
    bool same = path && !imp_file_read(path, 1 << 20, &text, &size, NULL) &&
                !imp_json_parse((const char *)text, size, &memory, NULL);
    const char *file;
    json_t *known, *files = json_object_get(memory, "files");
    same = same && json_object_size(files) > 0;
    json_object_foreach(files, file, known)
    {
        char mark[64];
        const char *before = json_string_value(known);
        same = same && before && mark_of(file, mark) && strcmp(mark, before) == 0;
    }
    if (same)
        same = !imp_embedder_hello_read(hello, json_incref(json_object_get(memory, "hello")), NULL);
    json_decref(memory);
    imp_release(text);
    imp_release(path);
    return same;
}

void imp_embedder_remember(const char *folder, const char *command, const imp_embedder_hello *hello)
{
    json_t *named = json_object_get(hello->object, "files"), *files = json_object(), *file;
    bool good = json_array_size(named) > 0 && files && make_folder(folder);
    size_t index;
    json_array_foreach(named, index, file)
    {
        char mark[64];
        const char *path = json_string_value(file);
        good = good && path && mark_of(path, mark) &&
               json_object_set_new(files, path, json_string(mark)) == 0;
    }
    char *path = good ? memory_file(folder, command) : NULL;
    json_t *memory = path ? json_pack("{s:O, s:O}", "hello", hello->object, "files", files) : NULL;
    if (memory)
        (void)imp_json_save(path, memory, NULL);
    json_decref(memory);
    json_decref(files);
    imp_release(path);
}
