/*
 * archive.c - any bytes at all as a zip or tar archive: its members in one order and, read, each
 * once, or a sentence.
 */
#define _GNU_SOURCE /* memfd_create */

#include "fuzz.h"

#include "data/source.h"

enum { KEPT = 1 << 20 };

static void visit(size_t member, const uint8_t *bytes, size_t size, const imp_error *fault,
                  void *context)
{
    unsigned char *seen = context;
    size_t sum = 0;
    if (seen[member]++ != 0 || (bytes == NULL) != (fault != NULL))
        abort();
    for (size_t i = 0; i < size; i++)
        sum += bytes[i];
    if (sum > 255 * size)
        abort();
}

/* `kept`: unpacked while it is listed, or not. */
static void read_archive(const char *path, size_t kept)
{
    imp_source source;
    imp_error error = {0};
    imp_status status = imp_source_open_keeping(&source, path, kept, &error);
    fuzz_check(status, &error);
    if (status)
        return;
    for (size_t i = 0; i + 1 < source.count; i++)
        if (strcmp(source.names[i], source.names[i + 1]) >= 0)
            abort();
    bool *wanted = malloc(source.count * sizeof *wanted);
    unsigned char *seen = calloc(source.count, 1);
    if (wanted != NULL && seen != NULL) {
        for (size_t i = 0; i < source.count; i++)
            wanted[i] = true;
        status = imp_source_read(&source, wanted, 1, visit, seen, &error);
        fuzz_check(status, &error);
    }
    free(wanted);
    free(seen);
    imp_source_clear(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file file = fuzz_file_of(data, size);
    read_archive(file.path, KEPT);
    read_archive(file.path, 0);
    close(file.descriptor);
    return 0;
}
