/*
 * omniglot.c - downloads Omniglot and shows the progress.
 *
 *     omniglot FOLDER     the folder must exist; what is there already is not fetched again
 *
 * Last line: usage: omniglot FOLDER
 */
#include <inttypes.h>

#include <imp/dataset.h>

#include "must.h"

/* Returning false would stop the download and leave no partial file. */
static bool show(const char *file, uint64_t so_far, uint64_t total, void *context)
{
    (void)context;
    fprintf(stderr, "\r%s: %" PRIu64 " of %" PRIu64 " bytes", file, so_far, total);
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        puts("usage: omniglot FOLDER");
        return 0;
    }
    imp_error error;
    must(imp_download_omniglot(argv[1], NULL, show, NULL, &error), &error);
    printf("\n%s can be opened as omniglot:%s\n", argv[1], argv[1]);
    return 0;
}
