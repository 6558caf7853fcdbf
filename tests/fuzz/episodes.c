/*
 * episodes.c - any text at all as a file of episodes: episodes of the data, or a sentence.
 *
 * Unless an input begins with '!', it gets the first line that such a file must have, which names
 * the data by its fingerprint.
 */
#define _GNU_SOURCE /* memfd_create */

#include "fuzz.h"

#include <imp/dataset.h>
#include <imp/episode.h>

static const imp_dataset *some_data(void)
{
    static imp_dataset *data;
    if (data == NULL) {
        imp_dataset_options options = imp_dataset_defaults();
        options.threads = 1;
        options.size = 4;
        options.glyphs.alphabets = 3;
        options.glyphs.drawings = 3;
        if (imp_dataset_open("glyphs", &options, &data, NULL) != IMP_OK)
            abort();
    }
    return data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const imp_dataset *dataset = some_data();
    bool raw = size > 0 && data[0] == '!';
    size_t lines = 0, room = size + 300;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n' || i + 1 == size;
    char *text = malloc(room);
    if (text == NULL)
        abort();
    int head = raw ? 0
                   : snprintf(text, room,
                              "{\"format\":\"imp-episodes\",\"version\":1,\"fingerprint\":\"%s\","
                              "\"episodes\":%zu}\n",
                              imp_dataset_fingerprint(dataset), lines);
    if (size > raw)
        memcpy(text + head, data + raw, size - raw);
    fuzz_file file = fuzz_file_of((const uint8_t *)text, (size_t)head + size - raw);
    free(text);
    imp_episodes episodes;
    imp_error error = {0};
    imp_status status = imp_episodes_load(dataset, file.path, &episodes, &error);
    fuzz_check(status, &error);
    imp_episodes_clear(&episodes);
    close(file.descriptor);
    return 0;
}
