/* download.h - one file over HTTP, whole and right or not at all. */
#ifndef IMP_DATA_DOWNLOAD_H
#define IMP_DATA_DOWNLOAD_H

#include <imp/dataset.h>

/* When to give a server up. */
typedef struct imp_download_limits {
    uint64_t bytes;   /* of a file */
    int attempts;     /* to get it whole */
    int least_speed;  /* in bytes a second, ... */
    int slow_seconds; /* which it may fall short of for so long */
} imp_download_limits;

extern const imp_download_limits imp_download_usual;

/* Fetches `url` to `path`; `md5` is 32 hexadecimal digits. A connection that breaks is taken up
 * again where it broke off, a few times. The file appears under its name only when it is as long as
 * the server said and its MD5 is right; until then, and after a failure, nothing is there that was
 * not before. A file of that MD5 that is there already is not fetched again.
 *
 * IMP_EIO when the network or the disk fails, or `progress` said to stop; IMP_EFORMAT when what
 * came is not what was expected. */
imp_status imp_download(const char *url, const char *path, const char *md5,
                        const imp_download_limits *limits, imp_download_progress *progress,
                        void *context, imp_error *error);

#endif
