/*
 * log.c - writes the two logs of a run, line by line and unbuffered, so that a reader following
 * them is never more than a line behind.
 */
#include "train/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"

static const char json_name[] = "log.jsonl", csv_name[] = "log.csv";
static const char csv_header[] =
    "update,loss,accuracy,clusters,sigma_l,sigma_u,rate,"
    "gradient_norm,validation,images_per_second,seconds,validation_open\n";

enum { COLUMNS = 12 };

static imp_status cannot_write(const imp_log *log, const char *name, imp_error *error)
{
    return imp_fail(error, IMP_EIO, "cannot write '%s/%s': %s", log->folder, name, strerror(errno));
}

static imp_status append(const imp_log *log, const char *name, int descriptor, uint64_t *bytes,
                         const char *text, imp_error *error)
{
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t written = write(descriptor, text, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return cannot_write(log, name, error);
        text += written;
        left -= (size_t)written;
        *bytes += (uint64_t)written;
    }
    return IMP_OK;
}

/* ---- opening ---- */

static imp_status open_one(const imp_log *log, const char *name, uint64_t *bytes, int *descriptor,
                           imp_error *error)
{
    char path[4096];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", log->folder, name);
    *descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*descriptor < 0 || fstat(*descriptor, &about) != 0)
        return cannot_write(log, name, error);
    if (flock(*descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return imp_fail(error, IMP_EIO, "another process is training in '%s'", log->folder);
    if (about.st_size == 0)
        *bytes = 0; /* new, or removed meanwhile */
    if ((uint64_t)about.st_size < *bytes)
        return imp_fail(error, IMP_EFORMAT,
                        "'%s' is shorter than when the checkpoint was written; restore it, or "
                        "remove it to start a new one",
                        path);
    if (ftruncate(*descriptor, (off_t)*bytes) != 0 ||
        lseek(*descriptor, (off_t)*bytes, SEEK_SET) < 0)
        return cannot_write(log, name, error);
    return IMP_OK;
}

/* The number of columns the CSV file was started with: a log from an older version continues
 * without newer columns. */
static size_t count_columns(int descriptor)
{
    char header[sizeof csv_header] = "";
    ssize_t length = pread(descriptor, header, sizeof header - 1, 0);
    size_t count = 1;
    for (ssize_t i = 0; i < length && header[i] != '\n'; i++)
        count += header[i] == ',';
    return length > 0 && count < COLUMNS ? count : COLUMNS;
}

imp_status imp_log_open(imp_log *log, const char *folder, uint64_t json_bytes, uint64_t csv_bytes,
                        imp_error *error)
{
    *log = (imp_log){.json = -1,
                     .csv = -1,
                     .json_bytes = json_bytes,
                     .csv_bytes = csv_bytes,
                     .folder = imp_duplicate(folder)};
    imp_status status = log->folder ? IMP_OK : imp_fail_memory(error, "the log");
    if (!status)
        status = open_one(log, json_name, &log->json_bytes, &log->json, error);
    if (!status)
        status = open_one(log, csv_name, &log->csv_bytes, &log->csv, error);
    if (!status && log->csv_bytes == 0)
        status = append(log, csv_name, log->csv, &log->csv_bytes, csv_header, error);
    if (!status)
        log->csv_columns = count_columns(log->csv);
    if (status)
        imp_log_close(log);
    return status;
}

void imp_log_close(imp_log *log)
{
    if (log->json >= 0)
        close(log->json);
    if (log->csv >= 0)
        close(log->csv);
    imp_release(log->folder);
    *log = (imp_log){.json = -1, .csv = -1};
}

/* ---- writing ---- */

/* A missing number is "null" in JSON and empty in CSV. */
static void format(double value, const char *absent, char *text, size_t size)
{
    if (isfinite(value))
        imp_number_write(value, 9, text, size);
    else
        snprintf(text, size, "%s", absent);
}

static void format_line(const imp_train_line *line, const char *absent, char text[COLUMNS][32])
{
    const double values[] = {line->loss,    line->accuracy,       line->clusters,
                             line->sigma_l, line->sigma_u,        line->rate,
                             line->norm,    line->validation,     line->images_per_second,
                             line->seconds, line->validation_open};
    snprintf(text[0], sizeof text[0], "%" PRIu64, line->update);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        format(values[i], absent, text[i + 1], sizeof text[i + 1]);
}

imp_status imp_log_write(imp_log *log, const imp_train_line *line, imp_error *error)
{
    char field[COLUMNS][32], text[600];
    format_line(line, "null", field);
    snprintf(text, sizeof text,
             "{\"update\": %s, \"loss\": %s, \"accuracy\": %s, \"clusters\": %s, \"sigma_l\": %s, "
             "\"sigma_u\": %s, \"rate\": %s, \"gradient_norm\": %s, \"validation\": %s, "
             "\"images_per_second\": %s, \"seconds\": %s, \"validation_open\": %s}\n",
             field[0], field[1], field[2], field[3], field[4], field[5], field[6], field[7],
             field[8], field[9], field[10], field[11]);
    imp_status status = append(log, json_name, log->json, &log->json_bytes, text, error);
    if (status)
        return status;
    format_line(line, "", field);
    size_t used = 0;
    for (size_t i = 0; i < log->csv_columns; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? "," : "", field[i]);
    snprintf(text + used, sizeof text - used, "\n");
    return append(log, csv_name, log->csv, &log->csv_bytes, text, error);
}

imp_status imp_log_flush(imp_log *log, imp_error *error)
{
    if (fsync(log->json) != 0)
        return cannot_write(log, json_name, error);
    return fsync(log->csv) == 0 ? IMP_OK : cannot_write(log, csv_name, error);
}
