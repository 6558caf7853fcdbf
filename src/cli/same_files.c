/*
 * same_files.c - whether all ranks have the same file, or the same files in a folder.
 *
 * Ranks compare sizes and contents before they share work, because a rank with other data would
 * spoil the result silently, or leave the others waiting. Of a large file only pieces are compared:
 * it would take longer to read than to use.
 */
#define _POSIX_C_SOURCE 200809L /* scandir */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/job.h"
#include "data/checksum.h"

enum { PIECES = 64, PIECE = 1 << 16, DEEPEST = 16 };

static uint64_t add(uint64_t sum, const void *data, size_t size)
{
    const uint64_t both[2] = {sum, imp_checksum(data, size)};
    return imp_checksum(both, sizeof both);
}

/* A file of up to PIECES pieces is read completely; of others, pieces that are evenly spaced. */
static uint64_t add_file(uint64_t sum, int descriptor, off_t size)
{
    static char piece[PIECE];
    off_t last = size > PIECE ? size - PIECE : 0;
    for (off_t i = 0, before = -1; i < PIECES; i++) {
        off_t at = size > (off_t)PIECES * PIECE ? last * i / (PIECES - 1) : i * PIECE;
        if (at >= size || at == before)
            break;
        ssize_t got = pread(descriptor, piece, sizeof piece, at);
        if (got > 0)
            sum = add(sum, piece, (size_t)got);
        before = at;
    }
    return sum;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static uint64_t add_path(uint64_t sum, const char *path, int depth)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about = {0};
    if (descriptor >= 0 && fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode)) {
        const uint64_t size = (uint64_t)about.st_size;
        sum = add_file(add(sum, &size, sizeof size), descriptor, about.st_size);
    }
    if (descriptor >= 0)
        close(descriptor);
    struct dirent **entries = NULL;
    int count =
        S_ISDIR(about.st_mode) && depth < DEEPEST ? scandir(path, &entries, is_shown, by_bytes) : 0;
    for (int i = 0; i < count; i++) {
        char inner[4096];
        sum = add(sum, entries[i]->d_name, strlen(entries[i]->d_name));
        if (snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name) < (int)sizeof inner)
            sum = add_path(sum, inner, depth + 1);
        free(entries[i]);
    }
    free(entries);
    return sum;
}

int imp_job_agree(const char *command, const char *path)
{
    imp_error error;
    char what[300];
    if (!imp_ranks_any(imp_job_ranks()) || !path)
        return IMP_GO_ON;
    snprintf(what, sizeof what, "'%s'", path);
    return imp_ranks_agree(imp_job_ranks(), what, add_path(0, path, 0), &error)
               ? imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message)
               : IMP_GO_ON;
}
