/* destination.c - checks output paths without leaving a trace there. */
#define _DEFAULT_SOURCE /* realpath, strndup */

#include "cli/destination.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"
#include "base/file.h"
#include "cli/options.h"
#include "data/source.h"

/* The real path of what is, or would be, at `path`; false if nothing can be there. */
static bool resolve(const char *path, char real[PATH_MAX])
{
    if (realpath(path, real))
        return true;
    char above[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof above)
        return false;
    memcpy(above, path, length + 1);
    while (length > 1 && above[length - 1] == '/')
        above[--length] = '\0';
    char *slash = strrchr(above, '/');
    const char *name = slash ? slash + 1 : above;
    char folder[PATH_MAX];
    if (slash)
        *slash = '\0';
    if (!realpath(!slash ? "." : slash == above ? "/" : above, folder))
        return false;
    return snprintf(real, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

static bool are_same(const char *a, const char *b)
{
    char real_a[PATH_MAX], real_b[PATH_MAX];
    return resolve(a, real_a) && resolve(b, real_b) && strcmp(real_a, real_b) == 0;
}

static bool lies_in(const char *path, const char *folder)
{
    char inner[PATH_MAX], outer[PATH_MAX];
    if (!resolve(path, inner) || !resolve(folder, outer))
        return false;
    size_t length = strlen(outer);
    return strncmp(inner, outer, length) == 0 && inner[length] == '/';
}

static int check_file(const char *command, const imp_destination *file)
{
    if (imp_source_is_picture(file->path))
        return imp_complain(IMP_EXIT_USAGE, command,
                            "%s needs the name of %s, but '%s' is a picture", file->option,
                            file->kind, file->path);
    imp_error error;
    if (imp_writer_probe(file->path, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    return IMP_GO_ON;
}

int imp_check_files(const char *command, const imp_destination *files, size_t count)
{
    int status = IMP_GO_ON;
    for (size_t i = 0; i < count && status == IMP_GO_ON; i++) {
        if (!files[i].path)
            continue;
        for (size_t k = 0; k < i; k++)
            if (files[k].path && are_same(files[k].path, files[i].path))
                return imp_complain(IMP_EXIT_USAGE, command,
                                    "%s and %s would both be '%s'; each needs a file of its own",
                                    files[k].option, files[i].option, files[i].path);
        status = check_file(command, &files[i]);
    }
    return status;
}

int imp_check_folder(const char *command, const char *folder, const char *source)
{
    if (!folder)
        return IMP_GO_ON;
    if (lies_in(folder, source))
        return imp_complain(
            IMP_EXIT_USAGE, command,
            "'%s' is inside '%s' and would be sorted itself next time; name a folder outside it",
            folder, source);
    imp_error error;
    if (imp_create_folder_probe(folder, &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    return IMP_GO_ON;
}

int imp_check_inputs(const char *command, const char *output, const char *const *inputs,
                     size_t count)
{
    if (!output || access(output, F_OK) != 0)
        return IMP_GO_ON;
    for (size_t i = 0; i < count; i++) {
        if (!inputs[i])
            continue;
        if (are_same(output, inputs[i]))
            return imp_complain(
                IMP_EXIT_USAGE, command,
                "'%s' is an input and cannot be the output as well; name another file", output);
        if (lies_in(output, inputs[i]))
            return imp_complain(IMP_EXIT_USAGE, command,
                                "'%s' is part of the input '%s'; name another file", output,
                                inputs[i]);
    }
    return IMP_GO_ON;
}

char *imp_state_file(const char *output)
{
    static const char ending[] = ".state";
    char *path = malloc(strlen(output) + sizeof ending);
    if (path)
        sprintf(path, "%s%s", output, ending);
    return path;
}

void imp_state_remove(const char *output)
{
    char *path = imp_state_file(output);
    if (path)
        unlink(path);
    free(path);
}

char *imp_scratch_folder(const char *output)
{
    const char *temporary = getenv("TMPDIR");
    const char *slash = output ? strrchr(output, '/') : NULL;
    if (!output)
        return strdup(temporary && temporary[0] ? temporary : "/tmp");
    return slash ? strndup(output, (size_t)(slash - output) + 1) : strdup(".");
}
