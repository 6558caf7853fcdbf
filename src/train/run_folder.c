/* run_folder.c - makes, recognises and reads the folder of a run. */
#include "train/run_folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "train/checkpoint.h"

const char imp_settings_name[] = "settings.json";
const char imp_checkpoint_name[] = "checkpoint.safetensors";
const char imp_kept_checkpoint_name[] = "checkpoint.previous.safetensors";
const char imp_model_name[] = "model.safetensors";

imp_training_path imp_training_file(const char *folder, const char *name)
{
    imp_training_path path;
    int length = snprintf(path.text, sizeof path.text, "%s/%s", folder, name);
    if (folder[0] == '\0' || length < 0 || (size_t)length >= sizeof path.text)
        path.text[0] = '\0'; /* opening it then fails without touching anything else */
    return path;
}

bool imp_training_has(const char *folder, const char *name)
{
    return access(imp_training_file(folder, name).text, F_OK) == 0;
}

/* JSON is UTF-8, so another string would not be restored exactly. */
static imp_status check_texts(const imp_settings *settings, imp_error *error)
{
    const imp_setting *setting;
    for (size_t i = 0; (setting = imp_setting_at(i)); i++) {
        if (setting->kind != IMP_SETTING_TEXT)
            continue;
        const char *text = *(const char *const *)((const char *)settings + setting->offset);
        if (!imp_is_utf8(text))
            return imp_fail(error, IMP_EUNSUPPORTED,
                            "'%s' is '%s', which is not UTF-8 and cannot be recorded with a run; "
                            "rename it, or make a symbolic link to it",
                            setting->name, text);
    }
    return IMP_OK;
}

static imp_status write_settings(const char *folder, const imp_settings *settings,
                                 imp_status (*save)(const char *, const json_t *, imp_error *),
                                 imp_error *error)
{
    imp_status status = check_texts(settings, error);
    if (status)
        return status;
    json_t *object = imp_settings_to_json(settings);
    if (!object)
        return imp_fail_memory(error, "the settings");
    status = save(imp_training_file(folder, imp_settings_name).text, object, error);
    json_decref(object);
    return status;
}

static bool is_taken(const char *folder)
{
    return imp_training_has(folder, imp_settings_name) ||
           imp_training_has(folder, imp_checkpoint_name) ||
           imp_training_has(folder, imp_kept_checkpoint_name);
}

/* Two processes may start a run in one folder at once: it belongs to the one that creates
 * settings.json, which fails if the file exists. */
imp_status imp_training_begin(const char *folder, const imp_settings *settings, imp_error *error)
{
    imp_status status = check_texts(settings, error);
    bool taken = is_taken(folder);
    if (!status && !taken)
        status = imp_make_folders(folder, error);
    if (!status && !taken) {
        status = write_settings(folder, settings, imp_json_save_new, error);
        taken = status && is_taken(folder);
    }
    if (taken)
        status = imp_fail(error, IMP_EINVAL,
                          "'%s' already holds a run; resume it, or choose another folder", folder);
    return status;
}

imp_status imp_training_write_settings(const char *folder, const imp_settings *settings,
                                       imp_error *error)
{
    return write_settings(folder, settings, imp_json_save, error);
}

/* ---- checkpoints ---- */

/* Reads a checkpoint from a path. */
typedef imp_status reader(const char *path, void *out, imp_error *error);

/* Reads the newest readable checkpoint, *name. If that is the previous one, `damage` says what is
 * wrong with the last. */
static imp_status read_newest(const char *folder, reader *read, void *out, const char **name,
                              imp_error *damage, imp_error *error)
{
    imp_training_path path = imp_training_file(folder, imp_checkpoint_name);
    *name = imp_checkpoint_name;
    imp_status status = read(path.text, out, damage);
    if (!status || status == IMP_ENOMEM || !imp_training_has(folder, imp_kept_checkpoint_name)) {
        if (status && error)
            *error = *damage;
        return status;
    }
    path = imp_training_file(folder, imp_kept_checkpoint_name);
    *name = imp_kept_checkpoint_name;
    imp_status second = read(path.text, out, error);
    if (second && second != IMP_ENOMEM && error) {
        *error = *damage; /* the newest checkpoint's error is more helpful */
        return status;
    }
    return second;
}

bool imp_training_has_checkpoint(const char *folder)
{
    return imp_training_has(folder, imp_checkpoint_name) ||
           imp_training_has(folder, imp_kept_checkpoint_name);
}

typedef struct loaded {
    int threads;
    imp_updater *updater;
    imp_checkpoint *checkpoint;
} loaded;

static imp_status load(const char *path, void *out, imp_error *error)
{
    loaded *into = out;
    return imp_checkpoint_load(path, into->threads, into->updater, into->checkpoint, error);
}

imp_status imp_training_load(const char *folder, int threads, imp_updater *updater,
                             imp_checkpoint *checkpoint, imp_error *damage, imp_error *error)
{
    loaded into = {threads, updater, checkpoint};
    const char *name;
    imp_error reason = {0};
    damage->message[0] = '\0';
    imp_status status = read_newest(folder, load, &into, &name, &reason, error);
    if (!status && name != imp_checkpoint_name)
        imp_fail(damage, IMP_EFORMAT,
                 "%s; the run continues from the previous checkpoint, of update %llu, '%s'",
                 reason.message, (unsigned long long)checkpoint->progress.update,
                 imp_training_file(folder, name).text);
    return status;
}

typedef struct glanced {
    imp_settings *settings;
    uint64_t update;
} glanced;

static imp_status glance(const char *path, void *out, imp_error *error)
{
    glanced *into = out;
    imp_settings_clear(into->settings);
    return imp_checkpoint_glance(path, into->settings, &into->update, error);
}

const char *imp_training_whole_checkpoint(const char *folder, uint64_t *update)
{
    imp_settings settings;
    imp_settings_init(&settings);
    glanced into = {.settings = &settings};
    const char *name;
    imp_error damage;
    imp_status status = read_newest(folder, glance, &into, &name, &damage, NULL);
    imp_settings_clear(&settings);
    *update = into.update;
    return status ? NULL : name;
}

imp_status imp_training_glance(const char *folder, imp_settings *settings, uint64_t *update,
                               imp_error *error)
{
    *update = 0;
    imp_settings_init(settings);
    if (imp_training_has_checkpoint(folder)) {
        glanced into = {.settings = settings};
        const char *name;
        imp_error damage;
        imp_status status = read_newest(folder, glance, &into, &name, &damage, error);
        *update = into.update;
        return status;
    }
    imp_training_path path = imp_training_file(folder, imp_settings_name);
    if (!imp_training_has(folder, imp_settings_name))
        return imp_fail(error, IMP_EINVAL, "there is no run in '%s': it has no settings.json",
                        folder);
    enum { LIMIT = 1 << 20 };
    unsigned char *text;
    size_t size;
    imp_status status = imp_file_read(path.text, LIMIT, &text, &size, error);
    if (status)
        return status;
    status = imp_settings_parse(settings, (const char *)text, error);
    imp_release(text);
    if (status)
        imp_error_prefix(error, path.text);
    return status;
}
