/* cache.c - any bytes at all as a cache of an embedder's vectors, and as the embedder's greeting: a
 * vector that is found is one that was added, and what is added is found.
 */
#define _GNU_SOURCE /* mkdtemp, memfd_create */

#include "fuzz.h"

#include <fcntl.h>

#include "base/json.h"
#include "data/checksum.h"
#include "model/embedding_cache.h"

enum { DIMENSIONS = 3 };

static imp_embedding_cache *open_cache(const char *folder)
{
    const imp_embedder_hello embedder = {
        .name = "fuzz", .version = "1", .dimensions = DIMENSIONS, .batch = 1};
    imp_embedding_cache *cache;
    if (imp_embedding_cache_open(folder, IMP_CACHE_LIMIT, &embedder, &cache, NULL))
        abort();
    return cache;
}

static void add(const char *folder, const uint8_t *digest, const float *row)
{
    imp_embedding_cache *cache = open_cache(folder);
    imp_embedding_cache_add(cache, digest, &row, 1);
    imp_embedding_cache_free(cache);
}

/* Records whose first byte is odd get the right checksum, which a mutation would seldom find. */
static uint8_t *with_checksums(const uint8_t *data, size_t size)
{
    enum { MAGIC = 32, BODY = IMP_CONTENT_BYTES + DIMENSIONS * sizeof(float) };
    uint8_t *file = malloc(size + 1);
    if (!file)
        abort();
    if (size > 0)
        memcpy(file, data, size);
    for (size_t at = MAGIC; at + BODY + sizeof(uint64_t) <= size; at += BODY + sizeof(uint64_t))
        if (file[at] & 1) {
            uint64_t sum = imp_checksum(file + at, BODY);
            memcpy(file + at + BODY, &sum, sizeof sum);
        }
    return file;
}

/* The file of vectors, which has the name of a digest. */
static int open_file(const char *folder)
{
    DIR *listed = opendir(folder);
    struct dirent *entry;
    int file = -1;
    while (listed && file < 0 && (entry = readdir(listed)))
        if (strstr(entry->d_name, ".vectors"))
            file = openat(dirfd(listed), entry->d_name, O_RDWR | O_CLOEXEC);
    if (file < 0)
        abort();
    closedir(listed);
    return file;
}

static void read_greeting(const uint8_t *data, size_t size)
{
    json_t *object;
    imp_error error = {0};
    imp_status status = imp_json_parse((const char *)data, size, &object, &error);
    fuzz_check(status, &error);
    if (status)
        return;
    imp_embedder_hello hello = {0};
    status = imp_embedder_hello_read(&hello, object, &error);
    fuzz_check(status, &error);
    if (!status && (!hello.name || !hello.version || hello.dimensions == 0))
        abort();
    imp_embedder_hello_clear(&hello);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *folder;
    static const uint8_t ours[IMP_CONTENT_BYTES] = {1, 2, 3};
    static const float row[DIMENSIONS] = {4, 5, 6};
    if (!folder) {
        folder = fuzz_folder();
        add(folder, ours, row);
    }
    int file = open_file(folder);
    uint8_t *records = with_checksums(data, size);
    if (ftruncate(file, 0) != 0 || pwrite(file, records, size, 0) != (ssize_t)size)
        abort();
    close(file);
    free(records);

    float found[DIMENSIONS];
    imp_embedding_cache *cache = open_cache(folder);
    for (size_t at = 0; at + IMP_CONTENT_BYTES <= size && at < 4096; at += 1 + at / 8)
        (void)imp_embedding_cache_find(cache, data + at, found);
    imp_embedding_cache_free(cache);

    add(folder, ours, row);
    cache = open_cache(folder);
    if (!imp_embedding_cache_find(cache, ours, found) || memcmp(found, row, sizeof row) != 0)
        abort();
    imp_embedding_cache_free(cache);
    read_greeting(data, size);
    return 0;
}
