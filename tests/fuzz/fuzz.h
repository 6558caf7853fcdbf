/*
 * fuzz.h - what the fuzzers share: an input as a file, a folder, and as a safetensors file whose
 * checksum and length do not stop it at the door.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <imp/status.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file in memory that has a path. */
typedef struct fuzz_file {
    int descriptor;
    char path[40];
} fuzz_file;

static inline fuzz_file fuzz_file_of(const uint8_t *data, size_t size)
{
    fuzz_file file = {.descriptor = memfd_create("input", MFD_CLOEXEC)};
    if (file.descriptor < 0 || write(file.descriptor, data, size) != (ssize_t)size)
        abort();
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.descriptor);
    return file;
}

static char fuzz_folder_path[4096];

static inline void fuzz_folder_remove(void)
{
    DIR *folder = opendir(fuzz_folder_path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(fuzz_folder_path);
}

/* A folder for what is found by its name, which goes when the program ends. */
static inline const char *fuzz_folder(void)
{
    const char *place = getenv("TMPDIR");
    snprintf(fuzz_folder_path, sizeof fuzz_folder_path, "%s/imp-fuzz.XXXXXX",
             place ? place : "/tmp");
    if (!mkdtemp(fuzz_folder_path))
        abort();
    atexit(fuzz_folder_remove);
    return fuzz_folder_path;
}

/* An input that begins with the header itself gets the right length before it, which a mutation
 * would seldom find; its data begins at the first zero byte. One that has a checksum loses its
 * name, so that it is a file without: mutations would seldom leave it right. Free the result. */
static inline uint8_t *fuzz_safetensors(const uint8_t *data, size_t size, size_t *file_size)
{
    size_t extra = size > 0 && data[0] == '{' ? 8 : 0;
    uint8_t *file = malloc(size + extra + 1);
    if (file == NULL)
        abort();
    if (extra > 0) {
        const uint8_t *end = memchr(data, '\0', size);
        size_t length = end != NULL ? (size_t)(end - data) : size;
        for (int i = 0; i < 8; i++)
            file[i] = (uint8_t)((uint64_t)length >> 8 * i);
    }
    if (size > 0)
        memcpy(file + extra, data, size);
    *file_size = size + extra;
    static const char key[] = "\"sha256\"";
    for (size_t at = 0; at + sizeof key - 1 <= *file_size; at++)
        if (memcmp(file + at, key, sizeof key - 1) == 0)
            file[at + 1] = 'S';
    return file;
}

/* A failure has a sentence, and a success none is needed for. */
static inline void fuzz_check(imp_status status, const imp_error *error)
{
    if (status != IMP_OK && (error->status != status || error->message[0] == '\0'))
        abort();
}

#endif
