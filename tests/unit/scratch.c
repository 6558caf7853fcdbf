/* scratch.c - making, counting and removing the files of one test. */
#define _DEFAULT_SOURCE /* mkdtemp */

#include "scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_entry(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

int scratch_setup(void **state)
{
    const char *parent = getenv("TMPDIR");
    char path[256];
    snprintf(path, sizeof path, "%s/imp-test-XXXXXX", parent != NULL ? parent : "/tmp");
    *state = mkdtemp(path) != NULL ? strdup(path) : NULL;
    return *state != NULL ? 0 : -1;
}

/* A file, or a folder with all that is in it. */
static int remove_all(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return remove(path);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (is_entry(entry)) {
            char inner[1024];
            snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
            remove_all(inner);
        }
    closedir(folder);
    return rmdir(path);
}

int scratch_teardown(void **state)
{
    int failed = remove_all(*state);
    free(*state);
    return failed;
}

scratch_path scratch_file(void **state, const char *name)
{
    scratch_path path;
    snprintf(path.text, sizeof path.text, "%s/%s", (const char *)*state, name);
    return path;
}

size_t scratch_entries(void **state)
{
    size_t count = 0;
    DIR *folder = opendir(*state);
    if (folder == NULL)
        abort();
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += is_entry(entry);
    closedir(folder);
    return count;
}

void scratch_write(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

bool scratch_holds(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    char *found = malloc(size + 1);
    if (found == NULL)
        abort();
    bool same = fread(found, 1, size + 1, file) == size && memcmp(found, data, size) == 0;
    free(found);
    fclose(file);
    return same;
}
