/* download.h - downloads a file over HTTP, completely and correctly or not at all. */
#ifndef IMP_DATA_DOWNLOAD_H
#define IMP_DATA_DOWNLOAD_H

#include <imp/dataset.h>

/* When to give up on a server. */
typedef struct imp_download_limits {
    uint64_t bytes;   /* of a file */
    int attempts;     /* to get it completely */
    int least_speed;  /* in bytes per second */
    int slow_seconds; /* for which it may be below that */
} imp_download_limits;

extern const imp_download_limits imp_download_usual;

/* Downloads `url` to `path`; `md5` is 32 hexadecimal digits. An interrupted transfer is resumed a
 * few times. The file gets its name only if its length is what the server stated and its MD5 is
 * right; until then, and after a failure, nothing is changed at `path`. An existing file with that
 * MD5 is not downloaded again.
 *
 * IMP_EIO if the network or the disk fails or `progress` stops it; IMP_EFORMAT if the content is
 * not as expected. */
imp_status imp_download(const char *url, const char *path, const char *md5,
                        const imp_download_limits *limits, imp_download_progress *progress,
                        void *context, imp_error *error);

#endif
