/*
 * project.c - any bytes at all as the file of a labelling project, and any object as a change to
 * one: a project that can be worked on, or a sentence.
 */
#define _GNU_SOURCE /* memfd_create */

#include "fuzz.h"

#include "data/checksum.h"
#include "label/project.h"

enum { N = 6, D = 2 };

static const float points[N * D] = {0, 0, 0, 1, 5, 5, 5, 6, 9, 0, 9, 1};
static const char *const names[N] = {"a", "b", "c", "d", "e", "f"};
static const uint64_t digests[N] = {1, 2, 3, 4, 5, 6};

/* Every line gets the checksum that is right for it: mutations would seldom find it. */
static char *with_checksums(const uint8_t *data, size_t size, size_t *made)
{
    char *text = malloc(18 * (size + 1) + size + 1);
    if (!text)
        abort();
    *made = 0;
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t length = end ? (size_t)(end - data) - at : size - at;
        *made += (size_t)sprintf(text + *made, "%016llx ",
                                 (unsigned long long)imp_checksum(data + at, length));
        memcpy(text + *made, data + at, length);
        *made += length;
        text[(*made)++] = '\n';
        at += length + 1;
    }
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t made;
    char *text = with_checksums(data, size, &made);
    fuzz_file file = fuzz_file_of((const uint8_t *)text, made);
    imp_project_pile pile = {"pictures", "pile", "model", names, digests, points, N, D};
    imp_project project;
    imp_project_news news;
    imp_error error = {0};
    imp_status status = imp_project_open(&project, file.path, &pile, 1, 1, &news, &error);
    fuzz_check(status, &error);
    if (!status) {
        imp_question question = imp_label_state_question(&project.state);
        if (question.item >= (int64_t)project.count)
            abort();
        json_t *change = json_loadb((const char *)data, size, 0, NULL);
        if (change) {
            status = imp_project_change(&project, change, &error);
            fuzz_check(status, &error);
        }
        json_decref(change);
        imp_project_close(&project);
    }
    close(file.descriptor);
    free(text);
    return 0;
}
