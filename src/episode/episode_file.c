/*
 * episode_file.c - episode files: JSON Lines whose first line identifies the data by its
 * fingerprint.
 *
 * Programs that replay such a file instead of drawing score identical tasks.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "episode/draw.h"
#include "episode/episode_json.h"

#define FORMAT "imp-episodes"
enum { VERSION = 1 };
#define FILE_LIMIT ((size_t)4 << 30)

/* ---- writing ---- */

static imp_status write_line(imp_writer *writer, const char *text, imp_error *error)
{
    imp_status status = imp_writer_write(writer, text, strlen(text), error);
    return status ? status : imp_writer_write(writer, "\n", 1, error);
}

static imp_status write_episodes(imp_writer *writer, const imp_dataset *dataset,
                                 const imp_episode_plan *plan, uint64_t first, size_t count,
                                 imp_error *error)
{
    char head[200];
    snprintf(head, sizeof head,
             "{\"format\":\"" FORMAT "\",\"version\":%d,\"fingerprint\":\"%s\",\"episodes\":%zu}",
             VERSION, imp_dataset_fingerprint(dataset), count);
    imp_status status = write_line(writer, head, error);
    for (size_t i = 0; i < count && !status; i++) {
        imp_episode episode;
        char *text = NULL;
        status = imp_episode_draw_planned(dataset, plan, first + i, &episode, error);
        if (!status)
            status = imp_episode_to_json(dataset, &episode, &text, error);
        if (!status)
            status = write_line(writer, text, error);
        imp_episode_text_free(text);
        imp_episode_clear(&episode);
    }
    return status;
}

imp_status imp_episodes_save(const imp_dataset *dataset, const imp_episode_options *options,
                             uint64_t first, size_t count, const char *path, imp_error *error)
{
    imp_episode_plan plan;
    imp_status status = imp_episode_plan_make(&plan, dataset, options, error);
    if (status)
        return status;
    imp_writer writer;
    status = imp_writer_open(&writer, path, error);
    if (!status) {
        status = write_episodes(&writer, dataset, &plan, first, count, error);
        if (!status)
            status = imp_writer_commit(&writer, error);
        else
            imp_writer_abandon(&writer);
    }
    imp_episode_plan_clear(&plan);
    return status;
}

/* ---- reading ---- */

static imp_status check_head(const imp_dataset *dataset, const json_t *head, size_t *count,
                             imp_error *error)
{
    const char *format = json_string_value(json_object_get(head, "format"));
    const json_t *version = json_object_get(head, "version");
    const char *fingerprint = json_string_value(json_object_get(head, "fingerprint"));
    const json_t *episodes = json_object_get(head, "episodes");
    if (format == NULL || strcmp(format, FORMAT) != 0)
        return imp_fail(error, IMP_EFORMAT,
                        "the file does not begin with \"format\": \"" FORMAT "\"");
    if (json_integer_value(version) != VERSION)
        return imp_fail(error, IMP_EUNSUPPORTED, "only version %d of the format is read", VERSION);
    if (fingerprint == NULL || strcmp(fingerprint, imp_dataset_fingerprint(dataset)) != 0)
        return imp_fail(error, IMP_EINVAL,
                        "the episodes are of the data with fingerprint %.64s, and the dataset's is "
                        "%s",
                        fingerprint != NULL ? fingerprint : "(none)",
                        imp_dataset_fingerprint(dataset));
    if (!json_is_integer(episodes) || json_integer_value(episodes) < 0)
        return imp_fail(error, IMP_EFORMAT, "the number of \"episodes\" is missing");
    *count = (size_t)json_integer_value(episodes);
    return IMP_OK;
}

/* Handles line `number`, from 1: the header or one episode; the file has at most `most` episodes.
 */
static imp_status read_line(const imp_dataset *dataset, const char *line, size_t length,
                            size_t number, size_t most, size_t *count, imp_episodes *out,
                            imp_error *error)
{
    json_t *value;
    imp_status status = imp_json_parse(line, length, &value, error);
    if (status)
        return status;
    if (number == 1) {
        status = check_head(dataset, value, count, error);
        if (!status && *count > most)
            status = imp_fail(error, IMP_EFORMAT, "the file is too short for %zu episodes", *count);
        if (!status) {
            out->episodes = imp_allocate_zeroed(*count, sizeof *out->episodes);
            if (out->episodes == NULL)
                status = imp_fail_memory(error, "the episodes");
        }
    } else if (out->count == *count) {
        status =
            imp_fail(error, IMP_EFORMAT, "there are more than the %zu episodes announced", *count);
    } else {
        status = imp_episode_read_json(dataset, value, &out->episodes[out->count], error);
        out->count += !status;
    }
    json_decref(value);
    return status;
}

static imp_status read_lines(const imp_dataset *dataset, const char *text, size_t size,
                             imp_episodes *out, imp_error *error)
{
    size_t count = 0, number = 1, ends = 0;
    const char *end = text + size;
    for (const char *at = text; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        ends++;
    imp_status status = IMP_OK;
    for (const char *line = text; line < end && !status; number++) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL)
            stop = end;
        status = read_line(dataset, line, (size_t)(stop - line), number, ends, &count, out, error);
        line = stop + 1;
        if (status) {
            char where[50];
            snprintf(where, sizeof where, "line %zu", number);
            imp_error_prefix(error, where);
        }
    }
    if (!status && (number == 1 || out->count != count))
        status = imp_fail(error, IMP_EFORMAT, "the file ends after %zu of %zu episodes", out->count,
                          count);
    return status;
}

imp_status imp_episodes_load(const imp_dataset *dataset, const char *path, imp_episodes *out,
                             imp_error *error)
{
    *out = (imp_episodes){0};
    unsigned char *text;
    size_t size;
    imp_status status = imp_file_read(path, FILE_LIMIT, &text, &size, error);
    if (status)
        return status;
    status = read_lines(dataset, (const char *)text, size, out, error);
    imp_release(text);
    if (status) {
        imp_error_prefix(error, path);
        imp_episodes_clear(out);
    }
    return status;
}

void imp_episodes_clear(imp_episodes *episodes)
{
    for (size_t i = 0; i < episodes->count; i++)
        imp_episode_clear(&episodes->episodes[i]);
    imp_release(episodes->episodes);
    *episodes = (imp_episodes){0};
}
