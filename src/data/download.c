/*
 * download.c - downloads files over HTTP with libcurl, and Omniglot in particular.
 *
 * Data is written to a temporary file beside the target while its MD5 is computed. An interrupted
 * transfer is resumed with a Range request, or from the beginning if the server does not support
 * ranges.
 */
#define _DEFAULT_SOURCE /* ftruncate, nanosleep */

#include "data/download.h"

#include "base/error.h"

#ifdef IMP_WITH_DOWNLOADS
#include <curl/curl.h>
#include <errno.h>
#include <nettle/md5.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/create.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/memory.h"

enum { CONNECT_SECONDS = 30 };

/* No file downloaded here is near this size, and even a telephone line is five times as fast: a
 * server that sends endlessly, or in a trickle, is given up on. */
const imp_download_limits imp_download_usual = {
    .bytes = (uint64_t)1 << 30, .attempts = 6, .least_speed = 1000, .slow_seconds = 30};

typedef struct transfer {
    CURL *curl;
    const imp_download_limits *limits;
    imp_writer writer;
    struct md5_ctx md5;
    uint64_t received; /* bytes in the file, over all attempts */
    uint64_t expected; /* the total length stated by the server; 0: unknown */
    bool first_bytes;  /* of this attempt */
    const char *file;
    imp_download_progress *progress;
    void *context;
    bool stopped;
    imp_status status; /* of writing */
    imp_error *error;
} transfer;

/* Restarts the file from the beginning. */
static imp_status rewind_file(transfer *state)
{
    md5_init(&state->md5);
    state->received = 0;
    if (ftruncate(state->writer.descriptor, 0) != 0 ||
        lseek(state->writer.descriptor, 0, SEEK_SET) != 0)
        return imp_fail(state->error, IMP_EIO, "cannot write '%s': %s", state->writer.path,
                        strerror(errno));
    return IMP_OK;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *argument)
{
    transfer *state = argument;
    size_t total = size * count;
    if (state->first_bytes) {
        state->first_bytes = false;
        curl_off_t length = -1;
        curl_easy_getinfo(state->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        state->expected = length >= 0 ? state->received + (uint64_t)length : 0;
    }
    if (!state->status && state->received + total > state->limits->bytes)
        state->status =
            imp_fail(state->error, IMP_EFORMAT, "'%s' is larger than expected", state->file);
    if (!state->status)
        state->status = imp_writer_write(&state->writer, bytes, total, state->error);
    if (state->status)
        return 0; /* makes libcurl abort */
    md5_update(&state->md5, total, (const uint8_t *)bytes);
    state->received += total;
    return total;
}

static int on_progress(void *argument, curl_off_t total, curl_off_t now, curl_off_t upload_total,
                       curl_off_t upload_now)
{
    (void)total;
    (void)now;
    (void)upload_total;
    (void)upload_now;
    transfer *state = argument;
    if (state->progress != NULL &&
        !state->progress(state->file, state->received, state->expected, state->context))
        state->stopped = true;
    return state->stopped;
}

static bool worth_another_try(CURLcode code)
{
    return code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING ||
           code == CURLE_SEND_ERROR || code == CURLE_OPERATION_TIMEDOUT ||
           code == CURLE_HTTP2_STREAM || code == CURLE_SSL_CONNECT_ERROR;
}

static void wait_a_little(int attempt)
{
    struct timespec pause = {.tv_nsec = 100000000L * attempt};
    nanosleep(&pause, NULL);
}

static void configure(transfer *state, const char *url, char *why)
{
    CURL *curl = state->curl;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)state->limits->least_speed);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)state->limits->slow_seconds);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "imp");
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, state);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, state);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

/* Runs the transfer to its end over as many attempts as it takes. */
static imp_status fetch(transfer *state, const char *url, imp_error *error)
{
    char why[CURL_ERROR_SIZE] = "";
    configure(state, url, why);
    for (int attempt = 1;; attempt++) {
        state->first_bytes = true;
        curl_easy_setopt(state->curl, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)state->received);
        CURLcode code = curl_easy_perform(state->curl);
        if (state->status)
            return state->status;
        if (state->stopped)
            return imp_fail(error, IMP_EIO, "the download of '%s' was stopped", url);
        if (code == CURLE_OK)
            return IMP_OK;
        if (code == CURLE_RANGE_ERROR && attempt < state->limits->attempts) {
            imp_status status = rewind_file(state);
            if (status)
                return status;
            continue;
        }
        if (!worth_another_try(code) || attempt >= state->limits->attempts)
            return imp_fail(error, IMP_EIO, "cannot download '%s': %s", url,
                            why[0] != '\0' ? why : curl_easy_strerror(code));
        wait_a_little(attempt);
    }
}

/* ---- checking ---- */

static void format_md5(struct md5_ctx *state, char text[2 * MD5_DIGEST_SIZE + 1])
{
    uint8_t digest[MD5_DIGEST_SIZE];
    md5_digest(state, sizeof digest, digest);
    imp_hex(digest, sizeof digest, text);
}

static bool already_there(const char *path, const char *md5)
{
    unsigned char *bytes;
    size_t size;
    if (imp_file_read(path, (size_t)imp_download_usual.bytes, &bytes, &size, NULL))
        return false;
    struct md5_ctx state;
    char text[2 * MD5_DIGEST_SIZE + 1];
    md5_init(&state);
    md5_update(&state, size, bytes);
    format_md5(&state, text);
    imp_release(bytes);
    return strcmp(text, md5) == 0;
}

static imp_status check(transfer *state, const char *url, const char *md5, imp_error *error)
{
    char text[2 * MD5_DIGEST_SIZE + 1];
    format_md5(&state->md5, text);
    if (state->expected != 0 && state->received != state->expected)
        return imp_fail(error, IMP_EFORMAT, "'%s' has %llu bytes and should have %llu", url,
                        (unsigned long long)state->received, (unsigned long long)state->expected);
    if (strcmp(text, md5) != 0)
        return imp_fail(error, IMP_EFORMAT,
                        "what came from '%s' has the MD5 %s and should have %s; nothing was kept",
                        url, text, md5);
    return IMP_OK;
}

imp_status imp_download(const char *url, const char *path, const char *md5,
                        const imp_download_limits *limits, imp_download_progress *progress,
                        void *context, imp_error *error)
{
    if (already_there(path, md5))
        return IMP_OK;
    const char *slash = strrchr(path, '/');
    transfer state = {.file = slash != NULL ? slash + 1 : path,
                      .limits = limits,
                      .progress = progress,
                      .context = context,
                      .error = error};
    md5_init(&state.md5);
    imp_status status = imp_writer_open(&state.writer, path, error);
    if (status)
        return status;
    state.curl = curl_easy_init();
    status = state.curl == NULL ? imp_fail_memory(error, "a download") : fetch(&state, url, error);
    curl_easy_cleanup(state.curl);
    if (!status)
        status = check(&state, url, md5, error);
    if (!status)
        return imp_writer_commit(&state.writer, error);
    imp_writer_abandon(&state.writer);
    return status;
}

/* ---- Omniglot ---- */

imp_status imp_download_omniglot(const char *folder, const char *base_url,
                                 imp_download_progress *progress, void *context, imp_error *error)
{
    static const struct {
        const char *file, *md5;
    } parts[] = {{"images_background.zip", "68d2efa1b9178cc56df9314c21c6e718"},
                 {"images_evaluation.zip", "6b91aef0f799c5bb55b94e3f2daec811"}};
    if (base_url == NULL)
        base_url = "https://raw.githubusercontent.com/brendenlake/omniglot/master/python";

    imp_status status = imp_make_folders(folder, error);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++) {
        size_t url_room = strlen(base_url) + strlen(parts[i].file) + 2;
        size_t path_room = strlen(folder) + strlen(parts[i].file) + 2;
        char *url = imp_allocate(url_room, 1), *path = imp_allocate(path_room, 1);
        if (url == NULL || path == NULL) {
            status = imp_fail_memory(error, "a path");
        } else {
            snprintf(url, url_room, "%s/%s", base_url, parts[i].file);
            snprintf(path, path_room, "%s/%s", folder, parts[i].file);
            status = imp_download(url, path, parts[i].md5, &imp_download_usual, progress, context,
                                  error);
        }
        imp_release(url);
        imp_release(path);
    }
    return status;
}

#else

imp_status imp_download_omniglot(const char *folder, const char *base_url,
                                 imp_download_progress *progress, void *context, imp_error *error)
{
    (void)base_url, (void)progress, (void)context;
    return imp_fail(error, IMP_EINVAL,
                    "this libimp was built without downloads; fetch images_background.zip and "
                    "images_evaluation.zip of Omniglot to '%s' by other means",
                    folder);
}

#endif
