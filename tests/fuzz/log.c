/* log.c - any text at all as the log of a run: lines in which updates have numbers, or a sentence.
 */
#define _GNU_SOURCE /* mkdtemp, memfd_create */

#include "fuzz.h"

#include <fcntl.h>

#include "base/memory.h"
#include "train/log_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *folder;
    static int log;
    if (!folder) {
        char path[4200];
        folder = fuzz_folder();
        snprintf(path, sizeof path, "%s/log.jsonl", folder);
        log = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    if (ftruncate(log, 0) != 0 || pwrite(log, data, size, 0) != (ssize_t)size)
        abort();
    imp_train_line *lines;
    size_t count;
    imp_error error = {0};
    imp_status status = imp_log_read(folder, &lines, &count, &error);
    fuzz_check(status, &error);
    if ((status != IMP_OK) != (lines == NULL))
        abort();
    imp_release(lines);
    return 0;
}
